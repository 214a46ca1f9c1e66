//===- ModuleLoader.h - Open the module of networks -------------*- C++ -*-===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef SHARDOPT_SEARCH_AGENT_MODULELOADER_H
#define SHARDOPT_SEARCH_AGENT_MODULELOADER_H

#include "shardopt/Search/Agent/Network.h"
#include "shardopt/Support/Error.h"

#include <memory>
#include <string>

namespace shardopt::agent {

/// The file name of the module.
inline constexpr const char *moduleFile = "libShardOptAgentTorch.so";
/// The environment variable that names another file.
inline constexpr const char *moduleVariable = "SHARDOPT_AGENT_TORCH";

/// Opens the module in the file that the environment names, else the one
/// that `findModule` finds. It stays open until the process ends. An error
/// tells searcher `user` what is missing and what to do, or which two versions
/// of the interface do not agree.
ErrorOr<const Module *> loadModule(const std::string &user);

/// The error in which a module's failure ends.
Error moduleError(const std::string &user, Failure failure);

ErrorOr<std::unique_ptr<HistoryNetwork>>
createHistoryNetwork(const std::string &user, const HistoryShape &shape,
                     Precision precision = Precision::Single);

ErrorOr<std::unique_ptr<EditNetwork>>
createEditNetwork(const std::string &user, const EditShape &shape,
                  Precision precision = Precision::Single);

} // namespace shardopt::agent

#endif // SHARDOPT_SEARCH_AGENT_MODULELOADER_H
