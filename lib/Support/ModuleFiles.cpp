//===- ModuleFiles.cpp - Modules that are opened on demand ----------------===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "shardopt/Support/ModuleFiles.h"

#include <dlfcn.h>

#include <cstdlib>
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

/// Where modules lie seen from a program, a shared library and the Python
/// package, in a build tree and installed.
static const char *const places[] = {"../lib", ".", "../../lib",
                                     "../" SHARDOPT_INSTALL_LIBDIR "/shardopt",
                                     "shardopt"};

std::vector<std::string> moduleCandidates(const std::string &file) {
  std::vector<std::string> candidates;
  for (const fs::path &folder : ownFolders())
    for (const char *place : places)
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

/// What was searched: "., ../lib of /a and /b".
static std::string searchedPlaces() {
  std::string text;
  for (const char *place : places)
    text += (text.empty() ? "" : ", ") + std::string(place);
  std::string folders;
  for (const fs::path &folder : ownFolders())
    folders += (folders.empty() ? " of " : " and ") + folder.string();
  return text + folders;
}

ErrorOr<const void *> openModule(const ModuleFile &module,
                                 const std::string &user) {
  auto needs = [&](const std::string &problem) {
    return Error{user + " needs the module " + module.file + ", " + problem};
  };
  const char *named = std::getenv(module.variable);
  std::string file = named && *named ? named : findModule(module.file);
  bool isFound = !file.empty();
  if (!isFound)
    file = module.file;
  void *library = dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (!library && !isFound)
    return needs("which is not next to shardopt (searched: " +
                 searchedPlaces() + "): " + module.remedy);
  if (!library)
    return needs("which cannot be opened: " + std::string(dlerror()));
  auto *entry = reinterpret_cast<ModuleEntry *>(dlsym(library, module.entry));
  const void *found = entry ? entry() : nullptr;
  if (!found)
    return needs("which '" + file + "' is not: it " +
                 (entry ? "gives nothing by " : "exports no ") + module.entry);
  uint32_t version = *static_cast<const uint32_t *>(found);
  if (version != module.version)
    return needs("and '" + file + "' has version " + std::to_string(version) +
                 " of its interface instead of " +
                 std::to_string(module.version) +
                 ": build both from the same sources");
  return found;
}

} // namespace shardopt
