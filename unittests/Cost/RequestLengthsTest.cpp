//===- RequestLengthsTest.cpp - Moments of lengths ------------------------===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "shardopt/Cost/Serving/RequestLengths.h"

#include <gtest/gtest.h>

#include <cmath>
#include <random>

using namespace shardopt::cost;

TEST(RequestLengths, OfOneLengthAreThatLength) {
  RequestLengths equal({{4000, 500, 1}});
  RequestLengths halves({{4000, 500, 0.5}, {4000, 500, 0.5}});
  for (const RequestLengths &lengths : {equal, halves}) {
    EXPECT_EQ(lengths.inputTokens, 4000);
    EXPECT_EQ(lengths.outputTokens, 500);
    EXPECT_EQ(lengths.prompt(), 4000);
    EXPECT_EQ(lengths.context(), 4250);
    EXPECT_EQ(lengths.longestInput(), 4000);
    EXPECT_EQ(lengths.longestContext(), 4250);
    EXPECT_EQ(lengths.deviation(), 0);
  }
}

/// Token by token, over whole numbers of requests.
TEST(RequestLengths, AreMeansOverTokensAndSteps) {
  std::mt19937 random(3);
  for (int round = 0; round != 50; ++round) {
    std::vector<LengthShare> shares;
    double count = 0, in = 0, square = 0, steps = 0, contexts = 0;
    std::vector<double> counts;
    for (int i = 0; i != 4; ++i) {
      counts.push_back(double(1 + random() % 9));
      shares.push_back({double(1 + random() % 500), double(1 + random() % 90)});
      count += counts.back();
    }
    for (int i = 0; i != 4; ++i) {
      auto &[input, output, share] = shares[i];
      share = counts[i] / count;
      in += counts[i] * input;
      square += counts[i] * input * input;
      for (double token = 0.5; token < output; ++token) {
        steps += counts[i];
        contexts += counts[i] * (input + token);
      }
    }
    ASSERT_EQ(whyNoLengths(shares), std::nullopt);
    RequestLengths lengths(shares);
    EXPECT_NEAR(lengths.inputTokens, in / count, 1e-9 * in);
    EXPECT_NEAR(lengths.outputTokens, steps / count, 1e-9 * steps);
    EXPECT_NEAR(lengths.prompt(), square / in, 1e-9 * square);
    EXPECT_NEAR(lengths.context(), contexts / steps, 1e-9 * contexts);
    double mean = in / count;
    EXPECT_NEAR(lengths.deviation(),
                std::sqrt(std::max(0.0, square / count - mean * mean)) / mean,
                1e-6);
  }
}

TEST(RequestLengths, SayWhatIsNoDistribution) {
  auto why = [](std::vector<LengthShare> shares) {
    return whyNoLengths(shares).value_or("");
  };
  EXPECT_EQ(why({{100, 10, 0.5}, {50, 10, 0.5}}), "");
  EXPECT_EQ(why({{0, 10, 1}}),
            "'isl' of the lengths has 0, expected tokens from 1 to 2147483647");
  EXPECT_EQ(why({{10, -1, 1}}), "'osl' of the lengths has -1, expected tokens "
                                "from 1 to 2147483647");
  EXPECT_EQ(why({{100, 10, 0.5}, {50, 10, 0.4}}),
            "the shares of the lengths sum to 0.9, expected 1");
  EXPECT_EQ(why({{100, 10, 1.5}, {50, 10, -0.5}}),
            "a share of the lengths is 1.5, expected a number above 0, and at "
            "most 1");
  EXPECT_EQ(why({}), "the shares of the lengths sum to 0, expected 1");
}
