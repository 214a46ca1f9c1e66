//===- SearcherRegistry.h - Searchers by name -------------------*- C++ -*-===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef SHARDOPT_SEARCH_SEARCHERREGISTRY_H
#define SHARDOPT_SEARCH_SEARCHERREGISTRY_H

#include "shardopt/Search/Objective.h"
#include "shardopt/Search/Searcher.h"
#include "shardopt/Search/SearcherOptions.h"
#include "shardopt/Search/Simulator.h"
#include "shardopt/Search/StrategySpace.h"
#include "shardopt/Support/Error.h"

#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace shardopt::search {

/// What a searcher is built from. The references outlive it.
struct SearcherContext {
  const StrategySpace &space;
  const Simulator &simulator; ///< only for its decomposition
  Objective objective;
  uint64_t seed = 0;
  uint64_t budget = 4000; ///< evaluations, for schedules that end with it
  unsigned threads = 1;
  std::function<bool()> stopRequested =
      {}; ///< polled in long steps; may be empty

  SearcherOptions options = {};
  /// A decomposable model of the same space whose evaluations are free: the
  /// simulator itself where it can be opened, else what resembles it. Null
  /// where there is none.
  const Simulator *freeModel = nullptr;
  /// Whether no strategy of these degrees can be feasible: they are structural,
  /// or what weights and caches take at least exceeds the memory. Costs no
  /// evaluation. Empty where this is not known, as for a black box.
  std::function<bool(const Degrees &)> isHopeless = {};
};

/// The searchers that `searcher=` can name, in the order in which they were
/// added.
class SearcherRegistry {
public:
  using Factory = std::function<ErrorOr<std::unique_ptr<Searcher>>(
      const SearcherContext &)>;

  /// The searchers of this library.
  static SearcherRegistry builtin();

  /// Adds a searcher, or replaces the one of that name. Black boxes are refused
  /// for it if it needs a decomposition.
  void add(std::string name, Factory factory, bool needsDecomposition = false);

  std::vector<std::string> names() const;

  /// Builds the searcher `name`. An unknown name is an error with the known
  /// ones, closest first.
  ErrorOr<std::unique_ptr<Searcher>>
  create(const std::string &name, const SearcherContext &context) const;

private:
  struct Entry {
    std::string name;
    Factory factory;
    bool needsDecomposition;
  };
  std::vector<Entry> entries;
};

} // namespace shardopt::search

#endif // SHARDOPT_SEARCH_SEARCHERREGISTRY_H
