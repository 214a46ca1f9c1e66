//===- StepTimes.cpp - What steps of an engine take -----------------------===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "shardopt/Cost/Serving/StepTimes.h"

#include <algorithm>

using namespace shardopt;
using namespace shardopt::cost;

StepTimes::StepTimes(const CostModel &costs, const Strategy &strategy,
                     std::optional<double> skew, double reach, double spread,
                     const DraftHead &drafter)
    : model(costs), at(strategy.degrees) {
  at.batch = at.dp * at.pp;
  if (costs.structuralError(at))
    return;
  layers = std::make_shared<const LayerTimes>(costs, strategy, skew, reach,
                                              spread, drafter);
  stages = costs.layers().stages(at);
}

StepTimes::StepTimes(std::shared_ptr<const LayerTimes> given,
                     const Degrees &degrees)
    : model(given->costs()), layers(std::move(given)), at(degrees),
      stages(model.layers().stages(degrees)) {
  at.batch = at.dp * at.pp;
}

template <typename Visit>
void StepTimes::visitStages(const StepMix &mix, Visit visit) const {
  if (!isLegal())
    return;
  const LayerTimes::Step &step = layers->at(mix);
  const TimeModel &time = model.time();
  for (const Stage &stage : stages) {
    StepTerms terms;
    for (size_t k = 0; k < stage.kinds.size(); ++k)
      terms.add(step.kinds[k], double(stage.kinds[k]));
    for (size_t t = 0; t < stage.transitions.size(); ++t)
      if (stage.transitions[t] != 0)
        terms.add(step.transitions[t], double(stage.transitions[t]));
    if (stage.isFirst)
      LayerTimes::add(step.embed, terms);
    if (stage.isLast) {
      LayerTimes::add(step.head, terms);
      terms.add(step.drafts, 1);
    } else
      for (const Collective &send :
           time.transfer(layers->entering(stage.nextBody),
                         mix.rows() * model.model().rowBytes, at))
        terms.collectives += time.seconds(send, at);
    if (stage.isLast)
      if (std::optional<Collective> back = model.tokenReturn(at))
        terms.collectives += time.seconds(*back, at);
    visit(terms, stage.repeats);
  }
}

StepTerms StepTimes::terms(const StepMix &mix) const {
  StepTerms sum;
  visitStages(mix, [&](const StepTerms &stage, int64_t repeats) {
    for (int64_t i = 0; i < repeats; ++i)
      sum.add(stage, 1);
  });
  return sum;
}

double StepTimes::seconds(const StepMix &mix) const {
  double sum = 0, slowest = 0;
  visitStages(mix, [&](const StepTerms &stage, int64_t repeats) {
    double each = stage.sum();
    for (int64_t i = 0; i < repeats; ++i)
      sum += each;
    slowest = std::max(slowest, each);
  });
  return std::max(sum, double(at.pp) * slowest);
}

std::vector<StageMemory> StepTimes::memory(double context) const {
  const LayerTimes::Bytes &bytes = layers->memory(context);
  std::vector<StageMemory> all;
  for (const Stage &stage : stages) {
    StageMemory memory;
    for (size_t k = 0; k < stage.kinds.size(); ++k) {
      auto count = double(stage.kinds[k]);
      memory.weights += count * bytes.kinds[k].weights;
      memory.cache += count * bytes.kinds[k].cache;
    }
    if (stage.isFirst)
      memory.weights += bytes.embed;
    if (stage.isLast && !(stage.isFirst && bytes.isShared))
      memory.weights += bytes.head;
    if (stage.isLast) {
      memory.weights += bytes.drafts.weights;
      memory.cache += bytes.drafts.cache;
    }
    for (int64_t i = 0; i < stage.repeats; ++i)
      all.push_back(memory);
  }
  return all;
}

double StepTimes::cacheBytes(double context) const {
  double bytes = 0;
  for (const StageMemory &stage : memory(context))
    bytes += stage.cache;
  return bytes;
}
