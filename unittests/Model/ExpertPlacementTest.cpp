//===- ExpertPlacementTest.cpp - The fullest rank of experts --------------===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "shardopt/Model/ExpertPlacement.h"

#include "shardopt/Support/Rng.h"

#include <gtest/gtest.h>

#include <numeric>

using namespace shardopt;
using namespace shardopt::cost;

namespace {

constexpr int64_t experts = 64, topK = 4;

ExpertShares zipf(double exponent) { return *ExpertShares::zipf(exponent); }

Degrees degreesOf(int64_t ep, int64_t eplb) {
  Degrees degrees(1, ep, 1, ep);
  degrees.eplb = eplb;
  return degrees;
}

ExpertPlacement placed(const ExpertShares &shares, int64_t ep, int64_t eplb) {
  return ExpertPlacement(shares, experts, topK, degreesOf(ep, eplb),
                         /*reach=*/1, /*spread=*/1);
}

/// A token visits `topK` experts, each with its chance (systematic sampling in
/// a random order).
std::vector<size_t> visits(const std::vector<double> &chances, Rng &rng) {
  std::vector<size_t> order(chances.size()), visited;
  std::iota(order.begin(), order.end(), 0);
  rng.shuffle(order);
  double next = rng.real(), sum = 0;
  for (size_t expert : order) {
    sum += chances[expert];
    if (sum <= next)
      continue;
    visited.push_back(expert);
    next += 1;
  }
  return visited;
}

struct Simulated {
  double copies = 0, active = 0;
};

/// The mean over samples of the most that a rank has; experts lie in a random
/// order.
Simulated simulate(double exponent, int64_t ep, int64_t tokens, Rng &rng) {
  constexpr int samples = 150;
  std::vector<double> chances =
      zipf(exponent).chances(experts, topK, /*isOrdered=*/false).front();
  Simulated mean;
  for (int sample = 0; sample < samples; ++sample) {
    rng.shuffle(chances);
    std::vector<int64_t> count(chances.size());
    for (int64_t token = 0; token < tokens; ++token)
      for (size_t expert : visits(chances, rng))
        ++count[expert];
    int64_t mostCopies = 0, mostActive = 0;
    for (int64_t rank = 0; rank < ep; ++rank) {
      int64_t copies = 0, active = 0;
      for (int64_t e = rank * experts / ep; e < (rank + 1) * experts / ep;
           ++e) {
        copies += count[size_t(e)];
        active += count[size_t(e)] > 0;
      }
      mostCopies = std::max(mostCopies, copies);
      mostActive = std::max(mostActive, active);
    }
    mean.copies += double(mostCopies) / samples;
    mean.active += double(mostActive) / samples;
  }
  return mean;
}

} // namespace

TEST(ExpertPlacement, EvenSharesAreThoseOfRouting) {
  for (int64_t ep : {2, 8, 16}) {
    ExpertPlacement placement(zipf(0), experts, topK, degreesOf(ep, eplbOff),
                              /*reach=*/0.6, /*spread=*/0.4);
    for (double rows : {1.0, 3.0, 50.0, 1000.0}) {
      Routing even =
          makeRouting(experts, topK, rows, degreesOf(ep, eplbOff), std::nullopt,
                      0.6, 0.4 * deviationsOfLargest(double(ep)));
      Routing found = placement.route(rows * double(ep));
      EXPECT_NEAR(found.copies, even.copies, 1e-9 * even.copies);
      EXPECT_NEAR(found.activeExperts, even.activeExperts,
                  0.01 * even.activeExperts);
    }
  }
}

TEST(ExpertPlacement, TheFullestRankIsThatOfASimulation) {
  // Counts of few tokens are not normal.
  Rng rng(7);
  for (double exponent : {0.0, 0.5, 1.0})
    for (int64_t tokens : {4, 16, 64, 512}) {
      SCOPED_TRACE(testing::Message() << exponent << ", " << tokens);
      Routing found = placed(zipf(exponent), 8, eplbOff).route(double(tokens));
      Simulated drawn = simulate(exponent, 8, tokens, rng);
      double tolerance = tokens == 4 ? 0.08 : 0.03;
      EXPECT_NEAR(found.copies, drawn.copies, tolerance * drawn.copies);
      EXPECT_NEAR(found.activeExperts, drawn.active,
                  (0.02 + tolerance) * drawn.active);
    }
}

TEST(ExpertPlacement, MoreTokensAreMoreWorkAndMoreEven) {
  for (double exponent : {0.3, 0.8, 2.0})
    for (int64_t eplb : {eplbOff, eplbWith(0), eplbWith(2)}) {
      ExpertPlacement placement = placed(zipf(exponent), 16, eplb);
      Routing last = placement.route(0.1);
      for (double tokens = 0.2; tokens < 1e9; tokens *= 1.3) {
        Routing next = placement.route(tokens);
        EXPECT_GE(next.copies, last.copies * (1 - 1e-12));
        EXPECT_GE(next.activeExperts, last.activeExperts * (1 - 1e-12));
        EXPECT_LE(next.imbalance, last.imbalance * (1 + 1e-3));
        EXPECT_GE(next.imbalance, 1);
        last = next;
      }
      EXPECT_NEAR(last.imbalance, placement.imbalance(), 1e-3);
    }
}

TEST(ExpertPlacement, ReplicasEvenTheLoad) {
  for (double exponent : {0.3, 0.8, 1.5})
    for (int64_t ep : {4, 16, 64}) {
      double last = placed(zipf(exponent), ep, eplbOff).imbalance();
      for (int64_t redundant : {0, 1, 2, 4, 8}) {
        double next =
            placed(zipf(exponent), ep, eplbWith(redundant)).imbalance();
        // Greedy, so that a little can be lost.
        EXPECT_LE(next, last * 1.01) << exponent << ", " << ep;
        last = next;
      }
      EXPECT_LT(last, 1.1);
    }
}

TEST(ExpertPlacement, MeasuredSharesLieInTheirOrder) {
  // All on the experts of the first rank; or one hot expert, which every token
  // visits.
  std::vector<double> first(64, 0), hot(64, 0.75 / 63);
  std::fill(first.begin(), first.begin() + 16, 1.0 / 16);
  hot[5] = 0.25;
  ExpertShares both = *ExpertShares::measured({first, hot});
  double withHot = 1 + 15 * 4 * 0.75 / 63;
  EXPECT_NEAR(placed(both, 4, eplbOff).imbalance(), (4 + withHot) / 2, 1e-9);
  // Without a slot to spare it has no replica.
  EXPECT_NEAR(placed(both, 4, eplbWith(0)).imbalance(), (1 + withHot) / 2,
              1e-9);
  EXPECT_LT(placed(both, 4, eplbWith(1)).imbalance(), 1.06);
  // The 64 experts of rank order on 128 slots: none lies idle.
  EXPECT_EQ(placed(both, 64, eplbWith(1)).route(1e6).localExperts, 2);
}

TEST(ExpertShares, SayWhatCannotBe) {
  auto error = [](auto shares) { return shares.error().message; };
  EXPECT_EQ(error(ExpertShares::parse("zipf:-1")),
            "the exponent of expert loads is -1, expected a number from 0 "
            "(even) to 4");
  EXPECT_EQ(error(ExpertShares::parse("zipf:inf")),
            "the exponent of expert loads is inf, expected a number from 0 "
            "(even) to 4");
  EXPECT_EQ(error(ExpertShares::parse("zipf:1x")),
            "'zipf:1x' is no load of experts, expected zipf: and an exponent, "
            "such as zipf:0.8");
  EXPECT_EQ(error(ExpertShares::measured({{0.5, 0.5}, {0.5, 0.4}})),
            "the expert loads of layer 2 add up to 0.9, expected shares that "
            "add up to 1");
  EXPECT_EQ(error(ExpertShares::measured({{1.5, -0.5}})),
            "the expert loads of layer 1 have 1.5 for expert 1, expected a "
            "share from 0 to 1");
  ExpertShares two = *ExpertShares::measured({{0.5, 0.5}, {0.25, 0.75}});
  EXPECT_EQ(two.whyNot(2, 2), std::nullopt);
  EXPECT_EQ(two.whyNot(2, 3), "the expert loads have 2 layers, expected 1 or "
                              "3, as the model has with experts");
  EXPECT_EQ(two.whyNot(4, 2), "the expert loads of layer 1 are of 2 experts, "
                              "expected 4");
  EXPECT_EQ(two.whyNot(0, 0),
            "loads of experts are given, and the model has no experts");
}
