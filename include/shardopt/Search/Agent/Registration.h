//===- Registration.h - The searchers that learn a policy -------*- C++ -*-===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef SHARDOPT_SEARCH_AGENT_REGISTRATION_H
#define SHARDOPT_SEARCH_AGENT_REGISTRATION_H

#include "shardopt/Search/SearcherRegistry.h"

namespace shardopt::agent {

/// Adds the searchers whose policy is a network. The module that holds the
/// networks is opened when one of them is created, which fails with what is
/// missing where there is none.
void addAgentSearchers(search::SearcherRegistry &registry);

/// Opens that module now where `searcher` is one of these, which takes half a
/// second once, so that nobody who creates it waits. Errors are those of
/// creation.
void openNetworks(const std::string &searcher);

} // namespace shardopt::agent

#endif // SHARDOPT_SEARCH_AGENT_REGISTRATION_H
