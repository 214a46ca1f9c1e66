//===- ToySimulator.h - A small decomposable simulator ----------*- C++ -*-===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef SHARDOPT_UNITTESTS_SEARCH_TOYSIMULATOR_H
#define SHARDOPT_UNITTESTS_SEARCH_TOYSIMULATOR_H

#include "shardopt/Search/SearcherRegistry.h"
#include "shardopt/Search/Simulator.h"

#include <gtest/gtest.h>

#include <array>
#include <functional>
#include <limits>
#include <string>
#include <vector>

namespace shardopt::search {

/// A chain of ops with small integer costs. As in a real model, an op runs
/// faster and stores less where it is sharded, neighbours that disagree pay for
/// a reshard, the batch fills the memory, and the degrees are coupled through
/// it. All quotients are by powers of two, so that sums are exact and equal
/// costs compare equal.
class ToySimulator : public Simulator, public Decomposition {
public:
  /// Costs drawn from `seed` for `numOps` ops.
  ToySimulator(size_t numOps, uint64_t seed);

  Evaluation evaluate(const Strategy &strategy) const override;
  const Decomposition *decomposition() const override { return this; }

  DegreeBound bound(const Degrees &degrees, const DimDomains &domains,
                    Goal goal) const override;
  /// Dynamic programming over the ops on labels (time, memory).
  std::optional<Plan> solve(const Degrees &degrees, const DimDomains &domains,
                            Goal goal,
                            std::optional<double> incumbent) const override;

  Objective objective(Goal goal = Goal::Throughput) const {
    return {goal, sloMs, capacityGb};
  }

  double sloMs = 6000;
  double capacityGb = 80;
  int64_t layers = 8;
  double looseness = 1; ///< by which a bound is weaker than it could be

private:
  double opTime(const Degrees &degrees, size_t op, Dim dim) const;
  double opMemory(const Degrees &degrees, size_t op, Dim dim) const;
  double reshardTime(const Degrees &degrees, Dim from, Dim to) const;
  /// The metrics that follow from the time and memory of all ops.
  Evaluation finish(const Degrees &degrees, double time, double memory) const;

  std::vector<double> weight;              ///< GB
  std::vector<double> cache;               ///< GB a sequence
  std::vector<std::array<double, 3>> work; ///< ms a sequence, by dim
};

/// Gives the evaluations of another simulator, without its inside.
class BlackBox : public Simulator {
public:
  explicit BlackBox(const Simulator &inner) : inner(inner) {}
  Evaluation evaluate(const Strategy &strategy) const override {
    return inner.evaluate(strategy);
  }

private:
  const Simulator &inner;
};

/// A context whose parts the test keeps alive, and the simulator to ask.
struct ToyContext : SearcherContext {
  ToyContext(const StrategySpace &space, const Simulator &simulator,
             const Objective &objective, uint64_t seed = 0,
             uint64_t budget = 4000)
      : SearcherContext{unowned(&space), unowned(simulator.decomposition()),
                        objective, seed, budget},
        simulator(simulator) {}

  const Simulator &simulator;
};

/// The name of a searcher as that of a test.
std::string searcherTestName(const testing::TestParamInfo<std::string> &info);

/// Calls `visit` for every strategy of `space`, in ascending order.
void forEachStrategy(const StrategySpace &space,
                     const std::function<void(const Strategy &)> &visit);

/// The first of the best valid strategies of `space`, by enumeration.
std::optional<Plan> bruteForce(const StrategySpace &space,
                               const Simulator &simulator,
                               const Objective &objective);

/// A space of `numOps` ops called op0, op1, ... whose request is valid.
StrategySpace makeSpace(size_t numOps, const SpaceRequest &request);

} // namespace shardopt::search

#endif // SHARDOPT_UNITTESTS_SEARCH_TOYSIMULATOR_H
