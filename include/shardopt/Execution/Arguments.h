//===- Arguments.h - What the functions of a program are given --*- C++ -*-===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef SHARDOPT_EXECUTION_ARGUMENTS_H
#define SHARDOPT_EXECUTION_ARGUMENTS_H

#include "shardopt/Execution/Run.h"

namespace shardopt::execution {

/// The sizes of a global tensor: dynamic ones are rows, or prompts and
/// positions of a cache.
tensors::Shape resolveShape(const Operand &operand, const RunRequest &request);

/// An argument that is no weight, as a global tensor: the request's, or else
/// random numbers for its name, or zeros for a cache that begins empty. An
/// error where the request's is none.
ErrorOr<tensors::Tensor> makeArgument(const Operand &operand,
                                      const RunRequest &request);

/// An error, which says how much is needed and how much there is, where the
/// arguments of these ranks do not fit into the memory of this machine.
std::optional<Error> expectRoom(const ProgramInterface &interface,
                                const RunRequest &request,
                                Span<const int64_t> ranks);

/// The same for `bytes` of `what`; nothing stands for more than can be counted.
std::optional<Error> expectRoom(const std::string &what,
                                std::optional<int64_t> bytes);

} // namespace shardopt::execution

#endif // SHARDOPT_EXECUTION_ARGUMENTS_H
