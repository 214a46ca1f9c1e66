//===- ModuleFiles.cpp - Where modules that are opened on demand lie ------===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "shardopt/Support/ModuleFiles.h"

#include <dlfcn.h>

#include <filesystem>

namespace fs = std::filesystem;

namespace shardopt {

/// The folders of the object file that holds this code and of the program. They
/// differ where this is part of a plugin; the first may be unknown (a program
/// found through PATH is known to the loader by its bare name).
static std::vector<fs::path> ownFolders() {
  std::vector<fs::path> folders;
  auto add = [&](const fs::path &file) {
    std::error_code error;
    fs::path whole = fs::canonical(file, error);
    if (!error)
      folders.push_back(whole.parent_path());
  };
  Dl_info info;
  if (dladdr(reinterpret_cast<const void *>(&ownFolders), &info) &&
      fs::path(info.dli_fname).has_parent_path())
    add(info.dli_fname);
  add("/proc/self/exe");
  if (folders.size() == 2 && folders[0] == folders[1])
    folders.pop_back();
  return folders;
}

std::vector<std::string> moduleCandidates(const std::string &file) {
  // Of a program, of a shared library and of the Python package, in a build
  // tree and installed.
  const fs::path places[] = {
      fs::path("..") / "lib", ".", fs::path("..") / ".." / "lib",
      fs::path("..") / SHARDOPT_INSTALL_LIBDIR / "shardopt", "shardopt"};
  std::vector<std::string> candidates;
  for (const fs::path &folder : ownFolders())
    for (const fs::path &place : places)
      candidates.push_back((folder / place / file).lexically_normal().string());
  return candidates;
}

std::string findModule(const std::string &file) {
  for (const std::string &candidate : moduleCandidates(file)) {
    std::error_code error;
    if (fs::exists(candidate, error))
      return candidate;
  }
  return "";
}

} // namespace shardopt
