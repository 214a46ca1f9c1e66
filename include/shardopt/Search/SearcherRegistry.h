//===- SearcherRegistry.h - Searchers by name -------------------*- C++ -*-===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef SHARDOPT_SEARCH_SEARCHERREGISTRY_H
#define SHARDOPT_SEARCH_SEARCHERREGISTRY_H

#include "shardopt/Search/ExactSearch.h"
#include "shardopt/Search/Objective.h"
#include "shardopt/Search/Searcher.h"
#include "shardopt/Search/SearcherOptions.h"
#include "shardopt/Search/Simulator.h"
#include "shardopt/Search/StrategySpace.h"
#include "shardopt/Support/Error.h"

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace shardopt::search {

/// A pointer to what the caller keeps alive as long as the pointer lives; may
/// be null.
template <typename T> std::shared_ptr<const T> unowned(const T *object) {
  return {std::shared_ptr<const void>(), object};
}

/// What a searcher is built from, and shares.
struct SearcherContext {
  std::shared_ptr<const StrategySpace> space;
  /// The inside of what evaluates; null for a black box.
  std::shared_ptr<const Decomposition> decomposition;
  Objective objective;
  uint64_t seed = 0;
  uint64_t budget = 4000; ///< evaluations, for schedules that end with it
  unsigned threads = 1;
  std::function<bool()> stopRequested =
      {}; ///< polled in long steps; may be empty
  bool isStopped() const { return stopRequested && stopRequested(); }

  SearcherOptions options = {};
  /// A decomposable model of the same space whose evaluations are free: the
  /// simulator itself where it can be opened, else what resembles it. Null
  /// where there is none.
  std::shared_ptr<const Simulator> freeModel = nullptr;
  /// Whether no strategy of these degrees can be feasible: they are structural,
  /// or what weights and caches take at least exceeds the memory. Costs no
  /// evaluation. Empty where this is not known, as for a black box.
  std::function<bool(const Degrees &)> isHopeless = {};
  /// Where a searcher that bounds all of the space leaves what it bounded, as
  /// `findOptimum` does; may be null.
  BatchIntervals *bounded = nullptr;
};

/// What there is to know of a searcher before one is built.
struct SearcherTraits {
  std::string summary; ///< what it does, in one sentence
  /// Whether black boxes are refused for it.
  bool needsDecomposition = false;
  /// The options that it reads, by their names in `SearcherOptions::named`;
  /// others are refused for it.
  std::vector<std::string> options = {};
  /// Its constants as `ConstantTable::markdown` prints them; empty if it has
  /// none. Where it has some, it reads "agent-options".
  std::function<std::string()> constants = {};
};

/// The searchers that `searcher=` can name, in the order in which they were
/// added.
class SearcherRegistry {
public:
  using Factory = std::function<ErrorOr<std::unique_ptr<Searcher>>(
      const SearcherContext &)>;

  /// The searchers of this library.
  static SearcherRegistry builtin();

  /// Adds a searcher, or replaces the one of that name.
  void add(std::string name, Factory factory, SearcherTraits traits = {});

  std::vector<std::string> names() const;

  /// A page in Markdown with a section a searcher: what it does, the options
  /// that it reads and its constants.
  std::string markdown() const;

  /// Builds the searcher `name`. Errors: an unknown name, with the known ones,
  /// closest first; a black box that it does not apply to; an option that is
  /// given and that it does not read, with those that do.
  ErrorOr<std::unique_ptr<Searcher>>
  create(const std::string &name, const SearcherContext &context) const;

private:
  struct Entry {
    std::string name;
    Factory factory;
    SearcherTraits traits;

    bool reads(const std::string &option) const;
  };

  /// An option that is given and that `entry` does not read, if there is one.
  std::optional<Error> findUnread(const Entry &entry,
                                  const SearcherOptions &options) const;

  std::vector<Entry> entries;
};

} // namespace shardopt::search

#endif // SHARDOPT_SEARCH_SEARCHERREGISTRY_H
