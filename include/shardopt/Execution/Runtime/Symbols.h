//===- Symbols.h - Functions that compiled code calls -----------*- C++ -*-===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef SHARDOPT_EXECUTION_RUNTIME_SYMBOLS_H
#define SHARDOPT_EXECUTION_RUNTIME_SYMBOLS_H

#include <string>
#include <utility>
#include <vector>

namespace shardopt::runtime {

/// Names and addresses of all functions that `--convert-shard-to-runtime`
/// calls, in MLIR's C interface (`_mlir_ciface_shardopt_all_gather_f32_2`, …):
/// one for each collective, element type and rank. Memrefs are passed by
/// pointers to descriptors, the result's first; its memory is from malloc. They
/// act for the current process of their thread.
std::vector<std::pair<std::string, void *>> symbols();

} // namespace shardopt::runtime

#endif // SHARDOPT_EXECUTION_RUNTIME_SYMBOLS_H
