//===- EditPolicy.h - What proposes edits of a strategy ---------*- C++ -*-===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef SHARDOPT_SEARCH_BAYESIAN_EDITPOLICY_H
#define SHARDOPT_SEARCH_BAYESIAN_EDITPOLICY_H

#include "shardopt/Search/Bayesian/NichedArchive.h"
#include "shardopt/Search/StrategySpace.h"
#include "shardopt/Support/Rng.h"

#include <cstdint>
#include <vector>

namespace shardopt::search {

/// One variable of a strategy is given another value of its domain (an index).
struct Edit {
  uint32_t variable;
  uint32_t value;
};

/// How far a strategy is from the limits: log(memory / capacity) and
/// log(latency / SLO), within [-2, 2]; positive where the limit is exceeded, 0
/// where the limit is unknown. Known of evaluated strategies, predicted of
/// imagined ones.
struct Slack {
  double memory = 0;
  double latency = 0;
};

/// A strategy to edit.
struct EditStart {
  Point point;
  Slack slack;
};

/// A start and its edits: 1 to `EditPolicy::maxEdits`, of different variables,
/// each to a value other than the present one. None where the space leaves no
/// variable a choice.
struct EditSequence {
  EditStart start;
  std::vector<Edit> edits;

  /// The strategy that the edits lead to. It may exceed the device limit.
  Point result() const;
};

/// What came of a proposal that was evaluated.
struct EditOutcome {
  /// Edited in a row, each from the result of the one before.
  std::vector<EditSequence> trajectory;
  /// At least 0 and at most 1: how much better the result is than the parent,
  /// the first start.
  double reward = 0;
  /// Whether it is better by more than a thousandth, or newly valid.
  bool improved = false;
};

/// A distribution over edits, which may learn.
class EditPolicy {
public:
  static constexpr size_t maxEdits = 3;

  virtual ~EditPolicy();

  /// One sequence for every start, drawn with `rng` only. `archive` holds the
  /// elites so far; parents may be others.
  virtual std::vector<EditSequence> draw(const std::vector<EditStart> &starts,
                                         const NichedArchive &archive,
                                         Rng &rng) = 0;

  /// Told of every proposal that was evaluated, in order, before the next draw.
  /// `archive` is as it was when the proposal was drawn.
  virtual void learn(const EditOutcome &outcome, const NichedArchive &archive) {
  }
};

/// Every edit of a variable that is not edited yet, and after the first edit an
/// end, are equally likely: the distribution of a policy that knows nothing.
class UniformEdits final : public EditPolicy {
public:
  explicit UniformEdits(const StrategySpace &space) : space(space) {}

  std::vector<EditSequence> draw(const std::vector<EditStart> &starts,
                                 const NichedArchive &archive,
                                 Rng &rng) override;

private:
  const StrategySpace &space;
};

} // namespace shardopt::search

#endif // SHARDOPT_SEARCH_BAYESIAN_EDITPOLICY_H
