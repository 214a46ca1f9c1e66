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
                     const Degrees &degrees, Overlap overlap)
    : model(given->costs()), layers(std::move(given)), at(degrees),
      stages(model.layers().stages(degrees)), overlap(overlap) {
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

//===----------------------------------------------------------------------===//
// Two micro-batches
//===----------------------------------------------------------------------===//

/// Compute of one micro-batch during the exchange of the other, which takes
/// `share` of the device.
static double overlapped(double compute, double exchange, double share) {
  return std::max(exchange, compute + share * exchange);
}

/// The halves a and b hand over at each exchange: b computes what is in front
/// of its experts while a sends, a its experts while b sends, b its experts
/// while the rows of a come back, and a goes on while those of b do.
StepTerms StepTimes::inHalves(const StepMix &mix) const {
  StepMix half = mix;
  half.sequences /= 2;
  half.tokens /= 2;
  double share = mix.sequences > 0 ? decodeExchangeShare : promptExchangeShare;
  const Stage &stage = stages.front();
  StepTerms terms;
  const LayerTimes::Step &step = layers->at(half);
  for (size_t t = 0; t < stage.transitions.size(); ++t)
    terms.add(step.transitions[t], 2 * double(stage.transitions[t]));
  size_t last =
      model.layers().kindNumberOfLayer(model.layers().numLayers() - 1);
  for (size_t k = 0; k < stage.kinds.size(); ++k) {
    auto count = double(stage.kinds[k]);
    terms.add(step.kinds[k], 2 * count);
    const auto &[dispatch, experts, combine] = step.exchanges[k];
    double front = step.kinds[k].sum() - dispatch - experts - combine;
    auto hidden = [&](double compute, double exchange) {
      return compute + exchange - overlapped(compute, exchange, share);
    };
    terms.collectives -=
        count * (hidden(front, dispatch) + hidden(experts, dispatch) +
                 hidden(experts, combine) + hidden(front, combine));
    if (k == last) // nothing follows
      terms.collectives += hidden(front, combine);
  }
  const LayerTimes::Step &whole = layers->at(mix);
  LayerTimes::add(whole.embed, terms);
  LayerTimes::add(whole.head, terms);
  terms.add(whole.drafts, 1);
  return terms;
}

bool StepTimes::takesHalves(const StepMix &mix, double once,
                            double halves) const {
  bool hasTwo = mix.sequences >= 2 || mix.tokens >= 2;
  return (overlap == Overlap::Always && hasTwo) || halves < once;
}

bool StepTimes::overlaps(const StepMix &mix) const {
  return overlap != Overlap::Never &&
         takesHalves(mix, onceThrough(mix).sum(), inHalves(mix).sum());
}

StepTerms StepTimes::terms(const StepMix &mix) const {
  StepTerms once = onceThrough(mix);
  if (overlap == Overlap::Never)
    return once;
  StepTerms halves = inHalves(mix);
  return takesHalves(mix, once.sum(), halves.sum()) ? halves : once;
}

StepTerms StepTimes::onceThrough(const StepMix &mix) const {
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
  double once = std::max(sum, double(at.pp) * slowest);
  if (overlap == Overlap::Never)
    return once;
  double halves = inHalves(mix).sum();
  return takesHalves(mix, once, halves) ? halves : once;
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
