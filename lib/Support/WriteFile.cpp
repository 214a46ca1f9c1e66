//===- WriteFile.cpp - Outputs in one call --------------------------------===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "shardopt/Support/WriteFile.h"

using namespace shardopt;

std::optional<Error> shardopt::writeFile(const std::string &path,
                                         std::string_view text) {
  ErrorOr<OutputFile> file = OutputFile::open(path);
  if (!file)
    return file.error();
  file->write(text);
  return file->keep();
}

ErrorOr<std::optional<OutputFile>>
shardopt::openIfNamed(const std::string &path) {
  if (path.empty())
    return std::optional<OutputFile>();
  ErrorOr<OutputFile> file = OutputFile::open(path);
  if (!file)
    return file.error();
  return std::optional<OutputFile>(std::move(*file));
}
