//===- ScriptedEditNetwork.h - An edit network without tensors --*- C++ -*-===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef SHARDOPT_UNITTESTS_SEARCH_AGENT_SCRIPTEDEDITNETWORK_H
#define SHARDOPT_UNITTESTS_SEARCH_AGENT_SCRIPTEDEDITNETWORK_H

#include "shardopt/Search/Agent/Network.h"

#include <algorithm>
#include <numeric>
#include <string>
#include <vector>

namespace shardopt::agent {

/// Has the parameters of an edit network without attention, all 0 after a
/// reset, and remembers how it was used. A step adds the learning rate to every
/// parameter.
class ScriptedEditNetwork final : public EditNetwork {
public:
  explicit ScriptedEditNetwork(const EditShape &shape) {
    size_t values =
        std::accumulate(shape.choices.begin(), shape.choices.end(), size_t(0));
    size_t steps = 0;
    for (size_t j = 0; j < shape.ordered; ++j)
      steps += 2 * shape.choices[j] - 1;
    auto add = [&](const char *name, size_t size) {
      names.push_back(name);
      parameters.emplace_back(size);
    };
    add("state.bias", shape.hidden);
    add("state.values", values * shape.hidden);
    add("state.edited", shape.choices.size() * shape.hidden);
    add("state.slack", EditShape::slacks * shape.hidden);
    add("out.weight", shape.hidden * (values + 1 + steps));
    add("out.bias", values + 1 + steps);
  }

  Failure reset(uint64_t) override {
    for (std::vector<double> &block : parameters)
      std::fill(block.begin(), block.end(), 0);
    return nullptr;
  }
  size_t numBlocks() const override { return parameters.size(); }
  ParameterBlock block(size_t index) const override {
    return {names[index], parameters[index].size()};
  }
  Failure readParameters(size_t index, Span<double> values) const override {
    std::copy(parameters[index].begin(), parameters[index].end(),
              values.begin());
    return nullptr;
  }
  Failure writeParameters(size_t index, Span<const double> values) override {
    parameters[index].assign(values.begin(), values.end());
    return nullptr;
  }
  Failure readGradients(size_t, Span<double>) const override { return nullptr; }

  Failure step(double learningRate, double) override {
    learningRates.push_back(learningRate);
    for (std::vector<double> &block : parameters)
      for (double &value : block)
        value += learningRate;
    return failure;
  }
  Failure evaluate(const EditBatch &, Span<double> logProbs) override {
    std::fill(logProbs.begin(), logProbs.end(), -1);
    ++numEvaluations;
    return nullptr;
  }
  Failure computeLoss(const EditBatch &batch, const EditWeights &,
                      EditLoss &) override {
    advantages.assign(batch.advantages.begin(), batch.advantages.end());
    logProbs.assign(batch.logProbs.begin(), batch.logProbs.end());
    imitated.push_back(batch.imitated);
    return nullptr;
  }

  std::vector<const char *> names;
  std::vector<std::vector<double>> parameters;
  Failure failure = nullptr; ///< of every step

  std::vector<double> learningRates;        ///< of every step
  std::vector<size_t> imitated;             ///< of every loss
  std::vector<double> advantages, logProbs; ///< of the last loss
  int numEvaluations = 0;
};

} // namespace shardopt::agent

#endif // SHARDOPT_UNITTESTS_SEARCH_AGENT_SCRIPTEDEDITNETWORK_H
