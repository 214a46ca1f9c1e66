//===- BalancedCut.cpp - The best division of layers into stages ----------===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Whether some cut keeps every stage below given seconds and bytes: where all
// stages send alike, one is found by giving each stage as many layers as it may
// have, since what it takes grows with them. Elsewhere it is a walk over
// prefixes of layers: which of them s stages can have, and what these send at
// least. The best cut is found by halving what is asked for; each answer is a
// cut, so that the next question goes on from what it has.
//
//===----------------------------------------------------------------------===//

#include "shardopt/Cost/Tables/BalancedCut.h"

#include "shardopt/Support/ChainDivision.h"

#include <algorithm>
#include <cassert>
#include <functional>
#include <limits>
#include <optional>

using namespace shardopt;
using namespace shardopt::cost;

static constexpr double unlimited = std::numeric_limits<double>::infinity();

/// A search ends where the value is known to this part of itself.
static constexpr double precision = 1e-13;

namespace {

/// What a cut may have at most.
struct CutLimits {
  double stageSeconds = unlimited; ///< of each stage
  double allSeconds = unlimited;   ///< of all stages together
  double stageBytes = unlimited;   ///< of each stage
};

class Cutter {
public:
  Cutter(const LayerChain &chain, int64_t pp);

  /// Of the cuts within `most`, one of the least seconds of all stages.
  std::optional<StageCut> find(const CutLimits &most);

  double allSeconds(const StageCut &cut) const;
  double stageSeconds(const StageCut &cut) const {
    return largest(cut, &Cutter::seconds);
  }
  double stageBytes(const StageCut &cut) const {
    return largest(cut, &Cutter::bytes);
  }
  /// No cut has less of them.
  double leastAllSeconds() const {
    return allLayers + chain.embedSeconds + chain.headSeconds +
           double(pp - 1) * leastSend;
  }

private:
  std::optional<StageCut> fill(const CutLimits &most) const;
  std::optional<StageCut> walk(const CutLimits &most);

  bool mayHave(size_t begin, size_t end, const CutLimits &most) const {
    return seconds(begin, end) <= most.stageSeconds &&
           bytes(begin, end) <= most.stageBytes;
  }
  /// Of the stage of layers [begin, end).
  double seconds(size_t begin, size_t end) const {
    return secondsBefore[end] - secondsBefore[begin] +
           (begin == 0 ? chain.embedSeconds : 0) + sent(end);
  }
  double bytes(size_t begin, size_t end) const {
    return bytesBefore[end] - bytesBefore[begin] +
           (begin == 0 ? chain.embedBytes : 0) +
           (end == numLayers ? chain.headBytes : 0);
  }
  /// What follows the layers of a stage.
  double sent(size_t end) const {
    return end == numLayers ? chain.headSeconds : chain.sendSeconds[end - 1];
  }
  double largest(const StageCut &cut,
                 double (Cutter::*value)(size_t, size_t) const) const;

  const LayerChain &chain;
  const size_t numLayers;
  const int64_t pp;
  std::vector<double> secondsBefore{0}, bytesBefore{0}; ///< of the first i
  double allLayers = 0;
  bool sendsAlike = true; ///< wherever a stage ends
  double leastSend = unlimited;
  /// By number of stages: what they send at least.
  std::vector<ChainPrefixes<double>> least;
};

} // namespace

Cutter::Cutter(const LayerChain &chain, int64_t pp)
    : chain(chain), numLayers(chain.seconds.size()), pp(pp) {
  assert(int64_t(numLayers) >= pp && "a stage has layers");
  for (size_t layer = 0; layer < numLayers; ++layer) {
    secondsBefore.push_back(secondsBefore.back() + chain.seconds[layer]);
    bytesBefore.push_back(bytesBefore.back() + chain.bytes[layer]);
    if (layer + 1 == numLayers)
      break;
    sendsAlike &= chain.sendSeconds[layer] == chain.sendSeconds[0];
    leastSend = std::min(leastSend, chain.sendSeconds[layer]);
  }
  allLayers = secondsBefore.back();
}

std::optional<StageCut> Cutter::find(const CutLimits &most) {
  std::optional<StageCut> cut = sendsAlike ? fill(most) : walk(most);
  if (cut && allSeconds(*cut) > most.allSeconds)
    return std::nullopt;
  return cut;
}

std::optional<StageCut> Cutter::fill(const CutLimits &most) const {
  StageCut cut;
  size_t begin = 0;
  for (int64_t left = pp - 1; left >= 0; --left) {
    size_t end = left ? begin + 1 : numLayers;
    if (!mayHave(begin, end, most))
      return std::nullopt;
    while (left && end < numLayers - left && mayHave(begin, end + 1, most))
      ++end;
    cut.layers.push_back(int64_t(end - begin));
    begin = end;
  }
  return cut;
}

std::optional<StageCut> Cutter::walk(const CutLimits &most) {
  least.assign(pp + 1, ChainPrefixes<double>(numLayers));
  least[0].best[0] = 0;
  auto sends = [&](size_t begin, size_t end) {
    return mayHave(begin, end, most) ? std::optional(sent(end)) : std::nullopt;
  };
  for (size_t stage = 1; stage <= size_t(pp); ++stage) {
    size_t first = stage == size_t(pp) ? numLayers : stage;
    size_t last = numLayers - (pp - stage);
    addChainStage({0, 1, first, last}, least[stage - 1], least[stage], sends,
                  std::plus<>());
  }
  if (least[pp].best[numLayers] == unlimited)
    return std::nullopt;
  StageCut cut;
  cut.layers.resize(pp);
  size_t end = numLayers;
  for (size_t stage = pp; stage > 0; --stage) {
    size_t begin = least[stage].from[end];
    cut.layers[stage - 1] = int64_t(end - begin);
    end = begin;
  }
  return cut;
}

double Cutter::allSeconds(const StageCut &cut) const {
  double sum = allLayers + chain.embedSeconds;
  size_t end = 0;
  for (int64_t layers : cut.layers)
    sum += sent(end += layers);
  return sum;
}

double Cutter::largest(const StageCut &cut,
                       double (Cutter::*value)(size_t, size_t) const) const {
  double most = 0;
  size_t begin = 0;
  for (int64_t layers : cut.layers) {
    most = std::max(most, (this->*value)(begin, begin + layers));
    begin += layers;
  }
  return most;
}

/// The cut of the least value, which is at least `least`: `ask` finds a cut of
/// at most some value. Goes on from `known`, if that is one. None if there is
/// none at all.
static std::optional<StageCut>
minimise(double least, const std::optional<StageCut> &known,
         const std::function<double(const StageCut &)> &valueOf,
         const std::function<std::optional<StageCut>(double)> &ask) {
  std::optional<StageCut> best = known ? known : ask(unlimited);
  if (!best)
    return std::nullopt;
  double value = valueOf(*best);
  // Halve a few times, then ask for anything better at all: there are few
  // different values where layers are alike.
  for (int step = 0; least < value * (1 - precision); ++step) {
    double wanted =
        step % 6 == 5 ? value * (1 - precision) : (least + value) / 2;
    std::optional<StageCut> found = ask(wanted);
    if (!found) {
      least = wanted;
      continue;
    }
    value = std::min(wanted, valueOf(*found));
    best = std::move(found);
  }
  return best;
}

StageCut cost::balancedCut(const LayerChain &chain, const Context &context,
                           const Limits &limits) {
  int64_t pp = context.degrees.pp;
  Cutter cutter(chain, pp);
  bool isPrefill = context.isPrefill();
  double rounds = isPrefill ? 1 : double(context.microBatches);
  auto valueOf = [&](const StageCut &cut) {
    double slowest = rounds * cutter.stageSeconds(cut);
    return isPrefill ? slowest : std::max(slowest, cutter.allSeconds(cut));
  };
  auto within = [&](double bytes, double seconds) {
    return [&cutter, bytes, seconds, rounds, isPrefill](double value) {
      CutLimits most{value / rounds, isPrefill ? seconds : value, bytes};
      return cutter.find(most);
    };
  };
  StageCut even = evenCut(int64_t(chain.seconds.size()), pp);
  double all = cutter.leastAllSeconds();
  double least = std::max(isPrefill ? 0 : all, rounds * all / double(pp));
  // Limits that rounding alone exceeds are met.
  double memory = limits.memoryBytes * (1 + precision);
  double slo = limits.latencySeconds * (1 + precision);
  bool isEvenAllowed = cutter.stageBytes(even) <= memory &&
                       (!isPrefill || cutter.allSeconds(even) <= slo);
  std::optional<StageCut> best =
      minimise(least, isEvenAllowed ? std::optional(even) : std::nullopt,
               valueOf, within(memory, slo));
  if (!best && isPrefill)
    best = cutter.find({unlimited, unlimited, memory}); // of least latency
  if (!best)
    return *minimise(
        0, even, [&](const StageCut &cut) { return cutter.stageBytes(cut); },
        [&](double bytes) {
          return cutter.find({unlimited, unlimited, bytes});
        });
  // What says nothing, where that is as good.
  bool isEvenAsGood =
      cutter.stageBytes(even) <= limits.memoryBytes &&
      valueOf(even) <= valueOf(*best) * (1 + precision) &&
      cutter.allSeconds(even) <= cutter.allSeconds(*best) * (1 + precision);
  return isEvenAsGood ? even : *best;
}
