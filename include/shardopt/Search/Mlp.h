//===- Mlp.h - A network with one hidden layer ------------------*- C++ -*-===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef SHARDOPT_SEARCH_MLP_H
#define SHARDOPT_SEARCH_MLP_H

#include "shardopt/Search/Cells.h"
#include "shardopt/Search/Regressor.h"
#include "shardopt/Search/Rng.h"

#include <array>
#include <cstdint>
#include <vector>

namespace shardopt::search {

/// The shape of a network from strategies to targets: a hidden layer of
/// rectifiers, and a linear skip from the inputs to the outputs. Inputs are one
/// cell for every (variable, value) and the place of each degree in its domain,
/// from -1 to 1.
///
/// The weights, all in one row, are the caller's.
class Mlp {
public:
  Mlp(const StrategySpace &space, size_t hidden);

  struct Input {
    std::vector<uint32_t> cells; ///< those that are 1
    std::vector<double> places;  ///< of the degrees
  };
  Input encode(const Point &point) const;

  size_t numWeights() const { return layout.size; }

  /// Normal weights, of a variance that keeps that of the outputs near 1; the
  /// skip and the biases begin at zero.
  std::vector<double> initialWeights(Rng &rng) const;

  /// The outputs. `hidden` receives the activations, for `backward`.
  Targets forward(const std::vector<double> &weights, const Input &input,
                  std::vector<double> &hidden) const;

  /// Adds to `gradient` the derivatives of a loss by the weights, where `slope`
  /// are those by the outputs and `hidden` is of the same input.
  void backward(const std::vector<double> &weights, const Input &input,
                const std::vector<double> &hidden, const Targets &slope,
                std::vector<double> &gradient) const;

private:
  /// Where the parts of the weights begin: hidden weights, hidden biases,
  /// output weights, output biases, skip.
  struct Layout {
    size_t hiddenBias, output, outputBias, skip, size;
  };

  Cells cells;
  size_t width; ///< of the hidden layer
  Layout layout;
};

} // namespace shardopt::search

#endif // SHARDOPT_SEARCH_MLP_H
