//===- AskTell.h - A searcher that is asked and told ------------*- C++ -*-===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef SHARDOPT_PYTHON_ASKTELL_H
#define SHARDOPT_PYTHON_ASKTELL_H

#include "shardopt/Planning/Planner.h"
#include "shardopt/Search/Searcher.h"

#include <memory>
#include <string>
#include <vector>

namespace shardopt {

/// A searcher over the space of a request, and what it refers to. Whoever holds
/// it evaluates: to the searcher that is a black box, beside which it has the
/// cost model for nothing.
class AskTell {
public:
  /// `request.stop` is heard until it is made.
  static ErrorOr<std::unique_ptr<AskTell>>
  create(std::shared_ptr<const Scenario> scenario, const PlanRequest &request);

  AskTell(const AskTell &) = delete;
  AskTell &operator=(const AskTell &) = delete;

  const std::string &name() const { return searcherName; }
  std::vector<Strategy> ask(size_t n) { return searcher->ask(n); }
  void tell(const Strategy &strategy, const Evaluation &evaluation) {
    searcher->tell({strategy}, {evaluation});
  }
  bool done() const { return searcher->done(); }
  std::optional<Error> finish() { return searcher->finish(); }
  /// Whether `a` is better than `b`.
  bool better(const Evaluation &a, const Evaluation &b) const {
    return objective.better(a, b);
  }

private:
  AskTell(std::shared_ptr<const Scenario> scenario, search::StrategySpace space,
          search::Objective objective)
      : scenario(std::move(scenario)), space(std::move(space)),
        objective(objective) {}

  const std::shared_ptr<const Scenario> scenario;
  const search::StrategySpace space;
  const search::Objective objective;
  const StopToken *stop = nullptr; ///< while it is made
  std::string searcherName;
  std::unique_ptr<search::Searcher> searcher; ///< refers to the others
};

} // namespace shardopt

#endif // SHARDOPT_PYTHON_ASKTELL_H
