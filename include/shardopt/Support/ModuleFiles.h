//===- ModuleFiles.h - Modules that are opened on demand --------*- C++ -*-===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef SHARDOPT_SUPPORT_MODULEFILES_H
#define SHARDOPT_SUPPORT_MODULEFILES_H

#include "shardopt/Support/Error.h"

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <string>
#include <vector>

namespace shardopt {

/// Where the module of that file name is looked for: next to the program or the
/// shared library that holds this code, as the build tree and as an
/// installation have it.
std::vector<std::string> moduleCandidates(const std::string &file);

/// The first candidate that exists; empty if there is none.
std::string findModule(const std::string &file);

/// What a module exports, as `extern "C"`: it returns a structure that begins
/// with its version, a `uint32_t`.
using ModuleEntry = const void *();

/// A shared library that is opened when something in it is asked for.
struct ModuleFile {
  const char *file;     ///< "libShardOptResearch.so"
  const char *variable; ///< of the environment, which names another file
  const char *entry;    ///< the function that `openModule` calls
  uint32_t version;     ///< of the interface, which both sides have
  const char *remedy;   ///< what to do where the module is not found
};

/// Opens a module and calls its entry, a `ModuleEntry`. The file is what the
/// environment names, else what `findModule` finds, else what the system's
/// loader finds by that name. It stays open until the process ends. The error
/// begins with `user` and tells what is missing and what to do, or which two
/// versions do not agree.
ErrorOr<const void *> openModule(const ModuleFile &module,
                                 const std::string &user);

/// A version that changes with the layout of what crosses an interface in C++.
constexpr uint32_t layoutVersion(uint32_t number,
                                 std::initializer_list<size_t> sizes) {
  for (size_t size : sizes)
    number = number * 16777619u + uint32_t(size);
  return number;
}

} // namespace shardopt

#endif // SHARDOPT_SUPPORT_MODULEFILES_H
