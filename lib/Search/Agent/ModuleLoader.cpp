//===- ModuleLoader.cpp - Open the module of networks ---------------------===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "shardopt/Search/Agent/ModuleLoader.h"
#include "shardopt/Support/ModuleFiles.h"

namespace shardopt::agent {

ErrorOr<const Module *> loadModule(const std::string &user) {
  ModuleFile networks = {
      moduleFile, moduleVariable, moduleEntryName, interfaceVersion,
      "install LibTorch (libtorch-dev) in a checkout of this version, run "
      "'./dev build ShardOptAgentTorch', and set SHARDOPT_AGENT_TORCH to its "
      "build/lib/libShardOptAgentTorch.so"};
  auto module = openModule(networks, "searcher '" + user + "'");
  if (!module)
    return module.error();
  return static_cast<const Module *>(*module);
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
