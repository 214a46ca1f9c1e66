//===- Searcher.h - Ask for strategies, tell evaluations --------*- C++ -*-===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef SHARDOPT_SEARCH_SEARCHER_H
#define SHARDOPT_SEARCH_SEARCHER_H

#include "shardopt/Support/Error.h"
#include "shardopt/Support/Strategy.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

namespace shardopt::search {

/// What a searcher knows of the optimum beyond the evaluations it was told.
struct Certificate {
  /// No strategy of the space has a better value of the goal (throughput in
  /// tokens/s per device, or latency in ms). None: nothing is known, or the
  /// space holds no valid strategy (then `proved` tells the two apart).
  std::optional<double> bound;
  /// The best evaluation told is the optimum, or nothing is feasible.
  bool proved = false;
};

/// Proposes strategies and learns from their evaluations.
///
/// The sequence of strategies depends on the space, the options and the
/// evaluations only: not on how many are asked for at a time, nor on threads.
/// A searcher that needs evaluations before it can go on returns fewer than
/// asked. Everything that steers the sequence is a plain member.
class Searcher {
public:
  virtual ~Searcher();

  /// The next strategies, at most `n`; none if there are no more. Every one of
  /// them is told about before the next call.
  virtual std::vector<Strategy> ask(size_t n) = 0;

  /// The evaluations of what the last `ask` returned, in its order. A search
  /// that ends may tell fewer, from the front.
  virtual void tell(const std::vector<Strategy> &strategies,
                    const std::vector<Evaluation> &evaluations) = 0;

  /// Whether the searcher has no more strategies to propose.
  virtual bool done() const { return false; }

  /// Draws that the searcher discarded itself; they cost no evaluation.
  virtual uint64_t rejected() const { return 0; }

  /// Called once when the search has ended, whatever the reason: writes what
  /// the searcher leaves behind. An error is what could not be written, or why
  /// the searcher could not go on; it was then done.
  virtual std::optional<Error> finish() { return std::nullopt; }

  virtual Certificate certificate() const { return {}; }
};

} // namespace shardopt::search

#endif // SHARDOPT_SEARCH_SEARCHER_H
