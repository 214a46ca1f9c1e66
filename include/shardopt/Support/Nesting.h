//===- Nesting.h - Depth of brackets in a text ------------------*- C++ -*-===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef SHARDOPT_SUPPORT_NESTING_H
#define SHARDOPT_SUPPORT_NESTING_H

#include "shardopt/Support/Error.h"

#include <optional>
#include <string>
#include <string_view>

namespace shardopt {

/// An error, "file:line:column: …", where brackets of MLIR assembly nest deeper
/// than `limit`, which a recursive parser would not survive. Brackets in
/// strings and comments do not count; bytecode is not looked at.
std::optional<Error> checkNesting(const std::string &file,
                                  std::string_view text, unsigned limit = 1000);

} // namespace shardopt

#endif // SHARDOPT_SUPPORT_NESTING_H
