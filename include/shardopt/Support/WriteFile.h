//===- WriteFile.h - Outputs in one call ------------------------*- C++ -*-===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef SHARDOPT_SUPPORT_WRITEFILE_H
#define SHARDOPT_SUPPORT_WRITEFILE_H

#include "shardopt/Support/OutputFile.h"

namespace shardopt {

/// Opens, writes and keeps the `OutputFile` at `path`.
std::optional<Error> writeFile(const std::string &path, std::string_view text);

/// The `OutputFile` at `path` for an output that need not be asked for: none
/// where `path` is empty.
ErrorOr<std::optional<OutputFile>> openIfNamed(const std::string &path);

} // namespace shardopt

#endif // SHARDOPT_SUPPORT_WRITEFILE_H
