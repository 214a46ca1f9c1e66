//===- ModuleLoader.cpp - Open the module of networks ---------------------===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "shardopt/Search/Agent/ModuleLoader.h"
#include "shardopt/Support/ModuleFiles.h"

#include <dlfcn.h>

#include <cstdlib>

namespace shardopt::agent {

/// The file to open; empty if there is none.
static std::string findNetworks() {
  if (const char *named = std::getenv(moduleVariable); named && *named)
    return named;
  return findModule(moduleFile);
}

static Error needs(const std::string &user, const std::string &problem) {
  return {"searcher '" + user + "' needs the module " + moduleFile + ", " +
          problem};
}

ErrorOr<const Module *> loadModule(const std::string &user) {
  std::string file = findNetworks();
  if (file.empty())
    return needs(user,
                 "which is not next to shardopt: install LibTorch "
                 "(libtorch-dev) in a checkout of this version, run './dev "
                 "build ShardOptAgentTorch', and set " +
                     std::string(moduleVariable) + " to its build/lib/" +
                     moduleFile);
  void *library = dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (!library)
    return needs(user, "which cannot be opened: " + std::string(dlerror()));
  auto entry = reinterpret_cast<ModuleEntry *>(dlsym(library, moduleEntryName));
  const Module *module = entry ? entry() : nullptr;
  if (!module)
    return needs(user, "which '" + file + "' is not: it " +
                           (entry ? "gives nothing by " : "exports no ") +
                           std::string(moduleEntryName));
  if (module->interfaceVersion != interfaceVersion)
    return needs(user, "and '" + file + "' has version " +
                           std::to_string(module->interfaceVersion) +
                           " of its interface instead of " +
                           std::to_string(interfaceVersion) +
                           ": build both from the same sources");
  return module;
}

Error moduleError(const std::string &user, Failure failure) {
  return {"searcher '" + user + "': " + failure};
}

/// Calls one of the functions of the module that create a network.
template <typename Made, typename Shape>
static ErrorOr<std::unique_ptr<Made>>
create(const std::string &user, const Shape &shape, Precision precision,
       Failure (*Module::*function)(const Shape &, Precision, Made *&)) {
  ErrorOr<const Module *> module = loadModule(user);
  if (!module)
    return module.error();
  Made *network = nullptr;
  if (Failure failure = ((*module)->*function)(shape, precision, network))
    return moduleError(user, failure);
  return std::unique_ptr<Made>(network);
}

ErrorOr<std::unique_ptr<HistoryNetwork>>
createHistoryNetwork(const std::string &user, const HistoryShape &shape,
                     Precision precision) {
  return create(user, shape, precision, &Module::createHistoryNetwork);
}

ErrorOr<std::unique_ptr<EditNetwork>> createEditNetwork(const std::string &user,
                                                        const EditShape &shape,
                                                        Precision precision) {
  return create(user, shape, precision, &Module::createEditNetwork);
}

} // namespace shardopt::agent
