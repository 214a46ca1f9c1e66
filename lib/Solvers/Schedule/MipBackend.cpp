//===- MipBackend.cpp - Makespans decided by a mixed-integer solver -------===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The step formulation: a step is a binary variable, an edge a row of two of
// them for each time, a machine and a memory a row of differences.
//
//===----------------------------------------------------------------------===//

#include "CbcProgram.h"
#include "Mirror.h"
#include "shardopt/Solvers/Schedule/Backends.h"

#include <algorithm>
#include <map>
#include <set>

using namespace shardopt;
using namespace shardopt::schedule;

namespace {

/// Rows of a model.
class RowSink : public StepSink {
public:
  /// A step is the variable of its `first`; empty: each has its own.
  RowSink(int64_t numSteps, std::vector<Step> first) : first(std::move(first)) {
    for (int64_t k = 0; k < numSteps; ++k)
      newStep();
  }
  Step newStep() override { return program.addVariable(0, 1, true); }
  void implies(Step a, Step b) override;
  void anyOf(const std::vector<Step> &some,
             const std::vector<Step> &unless) override;
  void exclusive(const std::vector<Stream> &streams) override {
    capacity(streams, 1);
  }
  void capacity(const std::vector<Stream> &streams, int64_t limit) override;

  CbcProgram program;

  Step variableOf(Step step) const {
    return step >= 0 && size_t(step) < first.size() ? first[step] : step;
  }

private:
  using Terms = std::vector<std::pair<int32_t, double>>;
  /// Unless there is the same row already, of the image of what it says.
  void addRow(Terms terms, double most);

  std::vector<Step> first;
  std::set<std::pair<Terms, double>> rows; ///< where steps share variables
};

class MipBackend : public Backend {
public:
  const char *name() const override { return "mip"; }
  void improve(Incumbent &incumbent, const Budget &budget) override;
};

} // namespace

void RowSink::addRow(Terms terms, double most) {
  if (!first.empty()) {
    std::map<int32_t, double> factors;
    for (auto [step, factor] : terms)
      factors[variableOf(step)] += factor;
    terms.clear();
    for (auto [variable, factor] : factors)
      if (factor != 0)
        terms.push_back({variable, factor});
    if (!rows.insert({terms, most}).second)
      return;
  }
  program.addRow(terms, most);
}

void RowSink::implies(Step a, Step b) {
  a = variableOf(a);
  b = variableOf(b);
  if (a == neverStep || b == alwaysStep || a == b)
    return;
  if (a == alwaysStep && b >= 0)
    program.raiseLeast(b, 1);
  else if (b == neverStep && a >= 0)
    program.lowerMost(a, 0);
  else
    addRow({{a, 1}, {b, -1}}, 0);
}

/// sum of `unless` - sum of `some` <= what `unless` has, less one
void RowSink::anyOf(const std::vector<Step> &some,
                    const std::vector<Step> &unless) {
  Terms terms;
  double most = -1;
  for (Step step : some) {
    if (step == alwaysStep)
      return;
    if (step != neverStep)
      terms.push_back({step, -1});
  }
  for (Step step : unless) {
    if (step == neverStep)
      return;
    if (step != alwaysStep) {
      terms.push_back({step, 1});
      most += 1;
    }
  }
  addRow(std::move(terms), most);
}

void RowSink::capacity(const std::vector<Stream> &streams, int64_t limit) {
  Terms terms;
  double most = double(limit);
  for (const Stream &stream : streams) {
    double weight = double(stream.weight);
    for (const Between &between : stream.repetitions) {
      if (between.from == alwaysStep)
        most -= weight;
      else if (between.from >= 0)
        terms.push_back({between.from, weight});
      if (between.until >= 0)
        terms.push_back({between.until, -weight});
    }
  }
  addRow(std::move(terms), most);
}

/// Where steps of a mirror image share variables; that may have no solution
/// where the model has some.
static std::vector<Step> stepsWithImage(const StepModel &model,
                                        const std::vector<int32_t> &image) {
  return model.stepsWithImage(image);
}
static std::vector<Step> stepsWithImage(const FreeModel &,
                                        const std::vector<int32_t> &) {
  return {};
}

/// Of `effort`, what rounds pay for: a node takes the longer the larger the
/// model is, and the first one the longest. None: the model is not asked.
static int64_t nodesOf(int64_t effort, const Budget &budget, int64_t size) {
  constexpr int64_t sizePerRound = 200, most = 1'000'000'000;
  if (!budget.rounds())
    return effort;
  int64_t rounds = std::min(budget.rounds(), most);
  return std::min(effort, rounds * sizePerRound / std::max<int64_t>(1, size));
}

void MipBackend::improve(Incumbent &incumbent, const Budget &budget) {
  constexpr int64_t nodes = 20'000;
  // Of what is its own mirror image, half of the variables decide: soon, or not
  // at all. Then the whole is asked.
  constexpr double partOfImages = 0.2;
  constexpr int64_t nodesOfWhole = 100; ///< for one of the images
  std::optional<std::vector<int32_t>> image =
      findMirror(incumbent.instance().graph());
  improveByDeciding(
      incumbent, budget, nodes, [&](const auto &model, int64_t effort) {
        effort = nodesOf(effort, budget, model.size());
        if (!effort)
          return Answer::Unknown;
        auto ask = [&](std::vector<Step> first, const Budget &budget,
                       int64_t effort) {
          RowSink sink(model.numSteps(), std::move(first));
          if (!model.build(sink, &budget))
            return Answer::Unknown;
          CbcProgram::Outcome outcome = sink.program.solve(budget, effort);
          if (outcome.answer == Answer::Yes)
            if (std::optional<Schedule> schedule = model.read([&](Step step) {
                  return outcome.values[sink.variableOf(step)] > 0.5;
                }))
              incumbent.offer(*schedule, name());
          return outcome.answer;
        };
        if (image)
          if (std::vector<Step> first = stepsWithImage(model, *image);
              !first.empty() && ask(std::move(first), budget.part(partOfImages),
                                    effort / nodesOfWhole) == Answer::Yes)
            return Answer::Yes;
        return ask({}, budget, effort);
      });
}

std::unique_ptr<Backend> schedule::makeMipBackend() {
  return std::make_unique<MipBackend>();
}
