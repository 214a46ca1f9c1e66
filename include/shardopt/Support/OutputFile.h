//===- OutputFile.h - Output that appears whole or not at all ---*- C++ -*-===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef SHARDOPT_SUPPORT_OUTPUTFILE_H
#define SHARDOPT_SUPPORT_OUTPUTFILE_H

#include "shardopt/Support/Error.h"

#include <optional>
#include <string>
#include <string_view>

namespace shardopt {

/// An output of a tool: `-o`, `report=`, `trace=`, `checkpoint=`.
///
/// A regular file is written under a temporary name in the folder of its target
/// and takes the target's name in `keep()`; without `keep()` the temporary file
/// is removed and what stood at the target is untouched. A symbolic link is
/// followed, so that what it points to is replaced; the permissions of a file
/// that is replaced are kept.
///
/// `-` is the standard output. It, devices, pipes and sockets are written
/// directly, in order, and are never renamed over or removed. A pipe whose
/// reader has left is an error; only of the standard output it is SIGPIPE.
///
/// Where a tool calls `handleSignals()`, no signal that can be caught leaves a
/// temporary file. One that a SIGKILL leaves is nobody's to sweep: its name has
/// the id of a process, which may be alive on another host or in another
/// container that shares the folder.
class OutputFile {
public:
  /// Opens `path` for writing. Errors name the path and the reason. A file that
  /// another `OutputFile` is about to replace is one.
  static ErrorOr<OutputFile> open(const std::string &path);

  /// Whether an `OutputFile` is about to replace the file at `path`.
  static bool isOpen(const std::string &path);

  OutputFile(OutputFile &&other) noexcept;
  OutputFile &operator=(OutputFile &&other) noexcept;
  /// Discards the output unless it was kept.
  ~OutputFile();

  /// Appends `text`. A failure (a full disk) is reported by `flush()` or
  /// `keep()`; what is written after it is dropped.
  void write(std::string_view text);

  /// Hands all text so far to the system, so that the reader of a pipe sees it.
  std::optional<Error> flush();

  /// Ends the output and publishes it. Called at most once; nothing is written
  /// after it. On an error the target is untouched.
  [[nodiscard]] std::optional<Error> keep();

private:
  OutputFile() = default;
  /// Claims the target, unless another output has.
  bool claim();
  /// Hands the buffer to the system; notes the first failure.
  void drain();
  /// Closes what is open and removes what was not published.
  void release();

  std::string path;        ///< as the user gave it, for messages
  std::string target;      ///< what `temporary` becomes, links followed
  std::string claimed;     ///< its canonical name, while no other may have it
  std::string temporary;   ///< empty if the output is written directly
  std::string buffer;      ///< text not yet handed to the system
  int descriptor = -1;     ///< -1 once closed
  bool isStandard = false; ///< the standard output
  int writeError = 0;      ///< errno of the first failed write
};

} // namespace shardopt

#endif // SHARDOPT_SUPPORT_OUTPUTFILE_H
