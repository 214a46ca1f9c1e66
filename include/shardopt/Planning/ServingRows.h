//===- ServingRows.h - Tables of serving runs -------------------*- C++ -*-===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef SHARDOPT_PLANNING_SERVINGROWS_H
#define SHARDOPT_PLANNING_SERVINGROWS_H

#include "shardopt/Cost/Serving/ServingEngine.h"
#include "shardopt/Model/Model.h"
#include "shardopt/Support/Error.h"

#include <functional>
#include <string>
#include <string_view>

namespace shardopt {

/// Loads a model, in decode, by the name that rows give it.
using ProgramLoader = std::function<ErrorOr<cost::Model>(const std::string &)>;

/// Rows of serving runs, as comma-separated values (docs/ServingRuns.md), with
/// a prediction behind each; `options` replace constants of engines. Messages
/// name `fileName`.
ErrorOr<std::string>
predictServing(std::string_view text, const std::string &fileName,
               const ProgramLoader &loadProgram,
               const std::vector<cost::ServingOption> &options = {});

} // namespace shardopt

#endif // SHARDOPT_PLANNING_SERVINGROWS_H
