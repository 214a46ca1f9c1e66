//===- MlpTest.cpp - Gradients against finite differences -----------------===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "shardopt/Search/Mlp.h"
#include "ToySimulator.h"

#include <gtest/gtest.h>

using namespace shardopt;
using namespace shardopt::search;

TEST(Mlp, EncodesCellsAndPlaces) {
  SpaceRequest request;
  request.lists[Degree::Tp] = {1, 2, 4};
  request.lists[Degree::Ep] = {1};
  request.lists[Degree::Pp] = {1, 2};
  request.lists[Degree::Batch] = {1, 2, 4, 8, 16};
  Mlp network(makeSpace(2, request), 4);
  Mlp::Input input = network.encode({2, 0, 0, 1, 1, 2});
  EXPECT_EQ(input.cells, (std::vector<uint32_t>{2, 3, 4, 7, 12, 16}));
  EXPECT_EQ(input.places, (std::vector<double>{1, 0, -1, -.5}));
}

TEST(Mlp, DerivativesAreThoseOfTheOutputs) {
  SpaceRequest request;
  request.lists[Degree::Tp] = {1, 2, 4};
  request.lists[Degree::Batch] = {1, 4, 16};
  StrategySpace space = makeSpace(3, request);
  Mlp network(space, 5);
  Rng rng(1);
  std::vector<double> weights = network.initialWeights(rng), hidden;
  // Biases and the skip too are to have derivatives of their own.
  for (double &weight : weights)
    weight += .1 * rng.real();
  const Targets slope = {.7, -1.3, .4};
  auto loss = [&](const Mlp::Input &input) {
    Targets outputs = network.forward(weights, input, hidden);
    double sum = 0;
    for (size_t t = 0; t < numTargets; ++t)
      sum += slope[t] * outputs[t];
    return sum;
  };
  constexpr double step = 1e-6;
  for (int i = 0; i < 5; ++i) {
    Mlp::Input input = network.encode(space.sample(rng));
    loss(input);
    std::vector<double> gradient(network.numWeights(), 0);
    network.backward(weights, input, hidden, slope, gradient);
    for (size_t w = 0; w < weights.size(); ++w) {
      double weight = weights[w];
      weights[w] = weight + step;
      double above = loss(input);
      weights[w] = weight - step;
      double below = loss(input);
      weights[w] = weight;
      EXPECT_NEAR(gradient[w], (above - below) / (2 * step), 1e-8) << w;
    }
  }
}
