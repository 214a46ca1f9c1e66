//===- Files.h - Reading files whole ----------------------------*- C++ -*-===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef SHARDOPT_SUPPORT_FILES_H
#define SHARDOPT_SUPPORT_FILES_H

#include "shardopt/Support/Error.h"

#include <cstdint>
#include <string>
#include <string_view>

namespace shardopt {

/// The bytes of the file at `path`, which may be a pipe. Missing and unreadable
/// files, folders, and files of more than `limitBytes` are errors that name the
/// path and the reason.
ErrorOr<std::string> readFile(const std::string &path, uint64_t limitBytes);

/// Takes the first line off `rest` and returns it without its end ("\n" or
/// "\r\n"). The last line needs no end. Only for a `rest` that is not empty.
std::string_view takeLine(std::string_view &rest);

} // namespace shardopt

#endif // SHARDOPT_SUPPORT_FILES_H
