//===- FileRoles.h - Which files a command reads and writes -----*- C++ -*-===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef SHARDOPT_SUPPORT_FILEROLES_H
#define SHARDOPT_SUPPORT_FILEROLES_H

#include "shardopt/Support/Error.h"

#include <optional>
#include <string>
#include <vector>

namespace shardopt {

/// The files that a command reads and writes, each under the role that its user
/// knows it by ("'report'", "the program"). No file may be written that is read
/// or written in another role, through whatever spelling, symbolic or hard
/// link. Of a folder that is read, all files are.
///
/// An empty path is no file. Pipes, devices and "-" may have many roles.
class FileRoles {
public:
  void reads(std::string role, const std::string &path);
  /// As `reads`, of a file that the output of the tool may replace: a module
  /// that becomes a module.
  void transforms(std::string role, const std::string &path);
  void writes(std::string role, const std::string &path);

  /// The first conflict, one with an `OutputFile` that is open among them. It
  /// names both roles and the path. To be asked before an output is opened.
  std::optional<Error> check() const;

private:
  struct File {
    std::string role, path;
    bool isReplaceable = false; ///< by the output of the tool
  };
  static void add(std::vector<File> &files, File file);

  std::vector<File> inputs, outputs;
};

} // namespace shardopt

#endif // SHARDOPT_SUPPORT_FILEROLES_H
