//===- StageCut.cpp - The layers of each pipeline stage -------------------===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "shardopt/Model/StageCut.h"
#include "shardopt/Model/Degrees.h"
#include "shardopt/Support/Suggest.h"

#include <algorithm>
#include <numeric>

using namespace shardopt;

int64_t shardopt::firstLayerOfStage(int64_t numLayers, int64_t stage,
                                    int64_t pp) {
  int64_t each = numLayers / pp, extra = numLayers % pp;
  int64_t firstWithExtra = pp - 1 - extra;
  return stage * each +
         std::min(extra, std::max<int64_t>(0, stage - firstWithExtra));
}

int64_t StageCut::total() const {
  return std::accumulate(layers.begin(), layers.end(), int64_t(0));
}

bool StageCut::isEven() const {
  return isEmpty() || *this == evenCut(total(), int64_t(layers.size()));
}

int64_t StageCut::firstLayer(int64_t numLayers, int64_t stage,
                             int64_t pp) const {
  if (isEmpty())
    return firstLayerOfStage(numLayers, stage, pp);
  return std::accumulate(layers.begin(), layers.begin() + stage, int64_t(0));
}

StageCut shardopt::evenCut(int64_t numLayers, int64_t pp) {
  StageCut cut;
  for (int64_t stage = 0; stage < pp; ++stage)
    cut.layers.push_back(firstLayerOfStage(numLayers, stage + 1, pp) -
                         firstLayerOfStage(numLayers, stage, pp));
  return cut;
}

std::string shardopt::spell(const StageCut &cut) {
  std::string text;
  for (int64_t layers : cut.layers)
    text += (text.empty() ? "" : ", ") + std::to_string(layers);
  return text;
}

std::string shardopt::abbreviate(const StageCut &cut) {
  std::string text;
  for (size_t begin = 0, end; begin < cut.layers.size(); begin = end) {
    end = begin + 1;
    while (end < cut.layers.size() && cut.layers[end] == cut.layers[begin])
      ++end;
    text += (text.empty() ? "" : ", ") +
            (end - begin > 1 ? std::to_string(end - begin) + " x " : "") +
            std::to_string(cut.layers[begin]);
  }
  return text;
}

ErrorOr<StageCut> shardopt::parseStageCut(std::string_view text) {
  StageCut cut;
  std::string_view rest = text;
  for (bool isLast = text.empty(); !isLast;) {
    size_t end = std::min(rest.find(','), rest.size());
    // A stage is as a degree is: a positive number that is not too large.
    std::optional<int64_t> layers =
        parseDegreeValue(Degree::Pp, rest.substr(0, end));
    if (!layers)
      return Error{std::string("'") + StageCut::key + "' is '" +
                   abbreviate(text) +
                   "', expected the layers of each stage, positive integers "
                   "joined by commas"};
    cut.layers.push_back(*layers);
    isLast = end == rest.size();
    rest.remove_prefix(isLast ? end : end + 1);
  }
  return cut;
}

std::optional<std::string> shardopt::stageCutError(const StageCut &cut,
                                                   std::optional<int64_t> pp) {
  std::string name = std::string("'") + StageCut::key + "'";
  for (size_t stage = 0; stage < cut.layers.size(); ++stage)
    if (cut.layers[stage] < 1 || cut.layers[stage] > maxDegree)
      return name + " has " + std::to_string(cut.layers[stage]) +
             " layers in stage " + std::to_string(stage) + ", expected 1 to " +
             std::to_string(maxDegree);
  auto found = int64_t(cut.layers.size());
  if (pp && found && found != *pp)
    return name + " has the layers of " + std::to_string(found) +
           (found == 1 ? " stage" : " stages") + ", expected as many as pp, " +
           std::to_string(*pp);
  return std::nullopt;
}

std::optional<std::string>
shardopt::stageCutError(const StageCut &cut, int64_t pp, int64_t numLayers) {
  if (cut.isEmpty())
    return std::nullopt;
  if (auto error = stageCutError(cut, pp))
    return error;
  int64_t total = cut.total();
  if (total == numLayers)
    return std::nullopt;
  std::string text = std::string("'") + StageCut::key + "' adds up to " +
                     std::to_string(total) + " layers, expected all " +
                     std::to_string(numLayers);
  if (pp <= numLayers)
    text += ", such as " + abbreviate(evenCut(numLayers, pp));
  return text;
}
