//===- Mlp.cpp - A network with one hidden layer --------------------------===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "shardopt/Search/Mlp.h"

#include <algorithm>
#include <cmath>

namespace shardopt::search {

Mlp::Mlp(const StrategySpace &space, size_t hidden)
    : cells(space), width(hidden) {
  size_t numInputs = cells.size() + cells.numDegrees();
  layout.hiddenBias = numInputs * width;
  layout.output = layout.hiddenBias + width;
  layout.outputBias = layout.output + width * numTargets;
  layout.skip = layout.outputBias + numTargets;
  layout.size = layout.skip + numInputs * numTargets;
}

/// A normal draw (Box and Muller).
static double normal(Rng &rng) {
  constexpr double twoPi = 6.283185307179586;
  double radius = std::sqrt(-2 * std::log(1 - rng.real()));
  return radius * std::cos(twoPi * rng.real());
}

std::vector<double> Mlp::initialWeights(Rng &rng) const {
  std::vector<double> weights(layout.size);
  // As many inputs are on as there are variables.
  double inputScale = 1 / std::sqrt(double(cells.numVariables()));
  double outputScale = 1 / std::sqrt(double(width));
  for (size_t i = 0; i < layout.hiddenBias; ++i)
    weights[i] = inputScale * normal(rng);
  for (size_t i = layout.output; i < layout.outputBias; ++i)
    weights[i] = outputScale * normal(rng);
  return weights;
}

Mlp::Input Mlp::encode(const Point &point) const {
  Input input{cells.of(point), std::vector<double>(cells.numDegrees())};
  for (size_t i = 0; i < input.places.size(); ++i) {
    double last = double(cells.begin(i + 1) - cells.begin(i)) - 1;
    input.places[i] = last > 0 ? 2 * point[i] / last - 1 : 0;
  }
  return input;
}

/// Calls `visit(index, value)` for every input that is not zero.
template <typename Input, typename Visit>
static void forEachInput(const Input &input, size_t firstPlace, Visit visit) {
  for (uint32_t cell : input.cells)
    visit(size_t(cell), 1.);
  for (size_t i = 0; i < input.places.size(); ++i)
    visit(firstPlace + i, input.places[i]);
}

Targets Mlp::forward(const std::vector<double> &weights, const Input &input,
                     std::vector<double> &hidden) const {
  Targets outputs;
  for (size_t t = 0; t < numTargets; ++t)
    outputs[t] = weights[layout.outputBias + t];
  auto bias = weights.begin() + layout.hiddenBias;
  hidden.assign(bias, bias + width);
  forEachInput(input, cells.size(), [&](size_t i, double value) {
    for (size_t j = 0; j < width; ++j)
      hidden[j] += value * weights[i * width + j];
    for (size_t t = 0; t < numTargets; ++t)
      outputs[t] += value * weights[layout.skip + i * numTargets + t];
  });
  for (size_t j = 0; j < width; ++j) {
    hidden[j] = std::max(0., hidden[j]);
    for (size_t t = 0; t < numTargets; ++t)
      outputs[t] += hidden[j] * weights[layout.output + j * numTargets + t];
  }
  return outputs;
}

void Mlp::backward(const std::vector<double> &weights, const Input &input,
                   const std::vector<double> &hidden, const Targets &slope,
                   std::vector<double> &gradient) const {
  std::vector<double> hiddenSlope(width, 0);
  for (size_t t = 0; t < numTargets; ++t)
    gradient[layout.outputBias + t] += slope[t];
  for (size_t j = 0; j < width; ++j) {
    for (size_t t = 0; t < numTargets; ++t) {
      gradient[layout.output + j * numTargets + t] += slope[t] * hidden[j];
      if (hidden[j] > 0)
        hiddenSlope[j] +=
            slope[t] * weights[layout.output + j * numTargets + t];
    }
    gradient[layout.hiddenBias + j] += hiddenSlope[j];
  }
  forEachInput(input, cells.size(), [&](size_t i, double value) {
    for (size_t j = 0; j < width; ++j)
      gradient[i * width + j] += value * hiddenSlope[j];
    for (size_t t = 0; t < numTargets; ++t)
      gradient[layout.skip + i * numTargets + t] += value * slope[t];
  });
}

} // namespace shardopt::search
