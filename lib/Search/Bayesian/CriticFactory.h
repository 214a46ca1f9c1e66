//===- CriticFactory.h - The critic that the options ask for ----*- C++ -*-===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef SHARDOPT_LIB_SEARCH_BAYESIAN_CRITICFACTORY_H
#define SHARDOPT_LIB_SEARCH_BAYESIAN_CRITICFACTORY_H

#include "shardopt/Search/Bayesian/Critic.h"
#include "shardopt/Search/Bayesian/ScreenedSearch.h"

#include <memory>

namespace shardopt::search {

inline bool isBlackBox(const SearcherContext &context) {
  return !context.decomposition;
}

/// Whether that is the joint critic, which is no `Critic`; by default it is
/// where there is no prior. An unknown critic or prior, or a joint one with a
/// prior: an error.
ErrorOr<bool> asksForJointCritic(const SearcherContext &context);

/// The critic that `options.critic` and `options.criticPrior` name, null for
/// "none", where it is not the joint one.
ErrorOr<std::unique_ptr<Critic>> makeCritic(const SearcherContext &context,
                                            const ScreenedConstants &constants);

} // namespace shardopt::search

#endif // SHARDOPT_LIB_SEARCH_BAYESIAN_CRITICFACTORY_H
