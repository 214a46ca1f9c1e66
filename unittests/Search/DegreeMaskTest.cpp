//===- DegreeMaskTest.cpp - Degrees that cannot be feasible ---------------===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "shardopt/Search/DegreeMask.h"
#include "ToySimulator.h"

#include <gtest/gtest.h>

using namespace shardopt;
using namespace shardopt::search;

namespace {

/// Bounds that are infeasible for the reason that the batch encodes; counts how
/// often it is asked.
class Bounds : public Decomposition {
public:
  DegreeBound bound(const Degrees &degrees, const DimDomains &,
                    Goal) const override {
    ++calls;
    return {static_cast<Reason>(degrees.batch), 0};
  }
  std::optional<Plan> solve(const Degrees &, const DimDomains &, Goal,
                            std::optional<double>) const override {
    return std::nullopt;
  }
  mutable int calls = 0;
};

Degrees because(Reason reason) { return {1, 1, 1, int64_t(reason)}; }

} // namespace

TEST(DegreeMask, MasksIllegalDegreesAndThoseThatAreTooLarge) {
  Bounds bounds;
  StrategySpace space = makeSpace(1, {});
  DegreeMask mask(bounds, space.dimDomains(), Goal::Throughput);
  EXPECT_TRUE(mask.isHopeless(because(Reason::Structural)));
  EXPECT_TRUE(mask.isHopeless(because(Reason::Memory)));
  EXPECT_TRUE(mask.isHopeless(because(Reason::Activations)));
  EXPECT_FALSE(mask.isHopeless(because(Reason::Slo)));
  EXPECT_FALSE(mask.isHopeless(because(Reason::None)));
}

TEST(DegreeMask, BoundsEveryTupleOnce) {
  Bounds bounds;
  StrategySpace space = makeSpace(1, {});
  DegreeMask mask(bounds, space.dimDomains(), Goal::Throughput);
  for (int i = 0; i < 3; ++i) {
    mask.isHopeless(because(Reason::Memory));
    mask.isHopeless(because(Reason::Slo));
  }
  EXPECT_EQ(bounds.calls, 2);
}

TEST(DegreeMask, MasksNothingThatIsFeasible) {
  ToySimulator simulator(3, 1);
  simulator.capacityGb = 20;
  StrategySpace space = makeSpace(3, {});
  DegreeMask mask(simulator, space.dimDomains(), Goal::Throughput);
  size_t masked = 0;
  for (const Degrees &degrees : space.degreeTuples())
    masked += mask.isHopeless(degrees);
  EXPECT_GT(masked, 0u);
  forEachStrategy(space, [&](const Strategy &strategy) {
    bool isValid = simulator.evaluate(strategy).valid;
    EXPECT_FALSE(isValid && mask.isHopeless(strategy.degrees));
  });
}
