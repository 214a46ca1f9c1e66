//===- FileRoles.cpp - Which files a command reads and writes -------------===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "shardopt/Support/FileRoles.h"

#include "shardopt/Support/Files.h"
#include "shardopt/Support/OutputFile.h"

#include <filesystem>

using namespace shardopt;
namespace fs = std::filesystem;

/// Whether writing to `path` writes into a pipe, a device or the like.
static bool isStream(const std::string &path) {
  std::error_code error;
  return path == "-" || fs::is_other(path, error);
}

void FileRoles::add(std::vector<File> &files, File file) {
  if (!file.path.empty() && !isStream(file.path))
    files.push_back(std::move(file));
}

void FileRoles::reads(std::string role, const std::string &path) {
  std::error_code error; // no folder, or one that says so when it is read
  for (const auto &entry : fs::directory_iterator(path, error))
    add(inputs, {role, entry.path().string()});
  add(inputs, {std::move(role), path});
}

void FileRoles::transforms(std::string role, const std::string &path) {
  add(inputs, {std::move(role), path, /*isReplaceable=*/true});
}

void FileRoles::writes(std::string role, const std::string &path) {
  add(outputs, {std::move(role), path});
}

std::optional<Error> FileRoles::check() const {
  for (const std::vector<File> *files : {&inputs, &outputs})
    for (const File &file : *files)
      if (!file.isReplaceable && OutputFile::isOpen(file.path))
        return Error{file.role + " is '" + file.path +
                     "', which is the output too; expected two files"};
  for (size_t i = 0; i < outputs.size(); ++i) {
    std::vector<File> others = inputs;
    others.insert(others.end(), outputs.begin(), outputs.begin() + i);
    for (const File &other : others)
      if (isSameFile(outputs[i].path, other.path))
        return Error{other.role + " and " + outputs[i].role + " are both '" +
                     outputs[i].path + "', expected two files"};
  }
  return std::nullopt;
}
