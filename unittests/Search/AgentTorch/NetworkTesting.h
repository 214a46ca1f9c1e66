//===- NetworkTesting.h - A network as numbers ------------------*- C++ -*-===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef SHARDOPT_UNITTESTS_SEARCH_AGENTTORCH_NETWORKTESTING_H
#define SHARDOPT_UNITTESTS_SEARCH_AGENTTORCH_NETWORKTESTING_H

#include "shardopt/Search/Agent/Network.h"
#include "shardopt/Support/Rng.h"

#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <map>
#include <string>
#include <vector>

namespace shardopt::agent {

using Numbers = std::vector<double>;
/// Blocks of parameters, or their gradients, by name.
using Blocks = std::map<std::string, Numbers>;

inline Blocks readParameters(const Network &network) {
  Blocks blocks;
  for (size_t i = 0; i < network.numBlocks(); ++i) {
    Numbers &values = blocks[network.block(i).name];
    values.resize(network.block(i).size);
    EXPECT_EQ(network.readParameters(i, values), nullptr);
  }
  return blocks;
}

inline Blocks readGradients(const Network &network) {
  Blocks blocks;
  for (size_t i = 0; i < network.numBlocks(); ++i) {
    Numbers &values = blocks[network.block(i).name];
    values.resize(network.block(i).size);
    EXPECT_EQ(network.readGradients(i, values), nullptr);
  }
  return blocks;
}

inline double randomNumber(Rng &rng) { return 2 * rng.real() - 1; }

inline Numbers randomNumbers(size_t n, Rng &rng) {
  Numbers numbers(n);
  for (double &number : numbers)
    number = randomNumber(rng);
  return numbers;
}

/// Gives every parameter, biases and norms too, a value that matters.
inline void scramble(Network &network, uint64_t seed) {
  Rng rng(seed);
  for (size_t i = 0; i < network.numBlocks(); ++i)
    ASSERT_EQ(
        network.writeParameters(i, randomNumbers(network.block(i).size, rng)),
        nullptr);
}

/// Compares `gradients` with central differences of `loss`, a function of the
/// parameters, at some parameters of every block.
inline void expectGradients(const Blocks &gradients, Blocks parameters,
                            const std::function<double(const Blocks &)> &loss) {
  constexpr double step = 1e-6;
  Rng rng(1);
  for (auto &[name, values] : parameters)
    for (int i = 0; i < 5; ++i) {
      size_t index = rng.below(values.size());
      double here = values[index];
      values[index] = here + step;
      double above = loss(parameters);
      values[index] = here - step;
      double below = loss(parameters);
      values[index] = here;
      EXPECT_NEAR(gradients.at(name)[index], (above - below) / (2 * step), 1e-6)
          << name << "[" << index << "]";
    }
}

/// y = W x + b, W [out, in].
inline Numbers linear(const Numbers &weight, const Numbers &bias,
                      const Numbers &x) {
  Numbers y = bias;
  for (size_t i = 0; i < y.size(); ++i)
    for (size_t j = 0; j < x.size(); ++j)
      y[i] += weight[i * x.size() + j] * x[j];
  return y;
}

inline Numbers logSoftmax(const Numbers &logits) {
  double total = 0;
  for (double logit : logits)
    total += std::exp(logit);
  Numbers result = logits;
  for (double &value : result)
    value -= std::log(total);
  return result;
}

} // namespace shardopt::agent

#endif // SHARDOPT_UNITTESTS_SEARCH_AGENTTORCH_NETWORKTESTING_H
