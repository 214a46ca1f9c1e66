//===- Files.h - Reading files whole, and their names -----------*- C++ -*-===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef SHARDOPT_SUPPORT_FILES_H
#define SHARDOPT_SUPPORT_FILES_H

#include "shardopt/Support/Error.h"

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>

namespace shardopt {

/// The bytes of the file at `path`, which may be a pipe. Missing and unreadable
/// files, folders, and files of more than `limitBytes` are errors that name the
/// path and the reason. There is room for `spareBytes` behind those of a file.
/// Unless it is null, `mayBegin` says whether what is wanted may begin with the
/// first bytes of the file, as many as one read gives; if not, no more are read
/// and those are returned.
ErrorOr<std::string> readFile(const std::string &path, uint64_t limitBytes,
                              size_t spareBytes = 0,
                              bool (*mayBegin)(std::string_view) = nullptr);

/// Takes the first line off `rest` and returns it without its end ("\n" or
/// "\r\n"). The last line needs no end. Only for a `rest` that is not empty.
std::string_view takeLine(std::string_view &rest);

/// The same name for all ways to spell a path, be something there or not.
/// Symbolic links are followed.
std::filesystem::path canonicalPath(const std::string &path);

/// Whether both paths lead to one file, which need not exist.
bool isSameFile(const std::string &a, const std::string &b);

} // namespace shardopt

#endif // SHARDOPT_SUPPORT_FILES_H
