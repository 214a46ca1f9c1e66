//===- PolicyFile.h - Weights of a policy in a file -------------*- C++ -*-===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef SHARDOPT_SEARCH_AGENT_POLICYFILE_H
#define SHARDOPT_SEARCH_AGENT_POLICYFILE_H

#include "shardopt/Search/Agent/Network.h"
#include "shardopt/Search/StrategySpace.h"
#include "shardopt/Support/Error.h"
#include "shardopt/Support/OutputFile.h"

#include <optional>
#include <string>

namespace shardopt::agent {

/// The variables of a space and their values, in order, as a policy file names
/// them: "tp 1,2,4; ep 1; pp 1,2; batch 1,8; embed 0,1,2". A dim is 0, 1 or 2,
/// which is none. A policy is of use for the same variables only.
std::string describeVariables(const search::StrategySpace &space);

/// Writes the parameters of `network` as JSON: `variables`, and `parameters` by
/// name; keeps the file. Parameters that are not finite are an error.
std::optional<Error> savePolicy(OutputFile &file, const Network &network,
                                const search::StrategySpace &space);

/// Reads them back. A file that is for other variables or for a network of
/// another shape is refused, with what both are; nothing has changed then.
std::optional<Error> loadPolicy(const std::string &path, Network &network,
                                const search::StrategySpace &space);

} // namespace shardopt::agent

#endif // SHARDOPT_SEARCH_AGENT_POLICYFILE_H
