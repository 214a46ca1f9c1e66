//===- ModelFile.h - From a file to a model to plan for ---------*- C++ -*-===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The way in for programs that plan in their own process and see no compiler:
// MLIR stays behind this header.
//
//===----------------------------------------------------------------------===//

#ifndef SHARDOPT_TARGET_MODELFILE_H
#define SHARDOPT_TARGET_MODELFILE_H

#include "shardopt/Model/Model.h"
#include "shardopt/Model/Strategy.h"
#include "shardopt/Support/Error.h"
#include "shardopt/Support/TypeChoice.h"

#include <optional>
#include <string>
#include <string_view>

namespace shardopt {

/// What plans are made for: a model's costs, and its program.
struct LoadedModel {
  std::string name;    ///< empty if the module has none
  std::string machine; ///< that `llm.machine` names; empty if it names none
  std::string module;  ///< text of the module
  cost::Model costs;
  /// What the module carries, if nothing is missing, and else what is:
  /// "'batch' of 'llm.strategy'".
  std::optional<Strategy> strategy;
  std::string missing;
};

/// Imports the Hugging Face config at `path`, with the types of `types` (see
/// Retype.h). Errors are those of the importer, with the file and the JSON
/// pointer.
ErrorOr<LoadedModel> importConfigFile(const std::string &path,
                                      const cost::Workload &workload,
                                      const TypeChoice &types = {});
/// The same of sizes alone: a config may leave out what only numbers depend on.
ErrorOr<LoadedModel> importConfigSizes(const std::string &path,
                                       const cost::Workload &workload);

/// Reads the module at `path`, which says its workload itself. Errors are the
/// diagnostics, one a line.
ErrorOr<LoadedModel> readModuleFile(const std::string &path,
                                    const TypeChoice &types = {});
/// The same of a text; `name` stands for it in messages.
ErrorOr<LoadedModel> readModuleText(std::string_view text,
                                    const std::string &name,
                                    const TypeChoice &types = {});

} // namespace shardopt

#endif // SHARDOPT_TARGET_MODELFILE_H
