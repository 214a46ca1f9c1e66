//===- Retype.h - Other types of weights and caches -------------*- C++ -*-===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// "What if it were fp8?": the types of a program's weights and caches, whatever
// it was made of.
//
//===----------------------------------------------------------------------===//

#ifndef SHARDOPT_TARGET_RETYPE_H
#define SHARDOPT_TARGET_RETYPE_H

#include "shardopt/Support/Error.h"
#include "shardopt/Support/TypeChoice.h"

#include "mlir/IR/BuiltinOps.h"

#include <optional>

namespace shardopt {

/// Gives weights and caches of `module`, a program that is not partitioned, the
/// types of `choice`; the rest stays. A plain type is that of every weight
/// matrix. Another one quantises as the method of that name does, without
/// exceptions: mxfp4 routed experts, all others every matrix but embedding,
/// router and head, and what is not quantised has the type of the embedding.
/// Where nothing computes with such weights the module is planned only.
/// Errors: an unknown type; nothing that the type is of.
std::optional<Error> retype(mlir::ModuleOp module, const TypeChoice &choice);

} // namespace shardopt

#endif // SHARDOPT_TARGET_RETYPE_H
