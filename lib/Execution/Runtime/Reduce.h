//===- Reduce.h - Sums and largest elements of tensors ----------*- C++ -*-===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef SHARDOPT_LIB_EXECUTION_RUNTIME_REDUCE_H
#define SHARDOPT_LIB_EXECUTION_RUNTIME_REDUCE_H

#include "shardopt/Execution/Runtime/Collectives.h"

namespace shardopt::runtime {

/// Element by element over tensors of one shape and type, at least one, from
/// the first to the last. Bytes are not reduced.
Tensor reduce(const std::vector<std::shared_ptr<const Tensor>> &tensors,
              Reduction reduction);

} // namespace shardopt::runtime

#endif // SHARDOPT_LIB_EXECUTION_RUNTIME_REDUCE_H
