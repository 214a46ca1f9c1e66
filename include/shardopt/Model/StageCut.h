//===- StageCut.h - The layers of each pipeline stage -----------*- C++ -*-===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef SHARDOPT_MODEL_STAGECUT_H
#define SHARDOPT_MODEL_STAGECUT_H

#include "shardopt/Support/Error.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace shardopt {

/// First layer of stage `stage` of `pp`, for `numLayers` layers; that of stage
/// `pp` is `numLayers`. Layers are divided evenly; of the L mod pp that are
/// left over, the stages just before the last get one each.
int64_t firstLayerOfStage(int64_t numLayers, int64_t stage, int64_t pp);

/// How many layers each stage has; empty: they are divided evenly. What a
/// strategy says of it is called `key` wherever strategies are written, as a
/// degree is called by its name.
struct StageCut {
  static constexpr const char *key = "stages";
  static constexpr const char *wanted = "a list of the layers of each stage";

  std::vector<int64_t> layers;

  bool isEmpty() const { return layers.empty(); }
  /// All layers.
  int64_t total() const;
  /// Whether all layers divided evenly over as many stages are this.
  bool isEven() const;
  /// First layer of stage `stage` of `pp`, of a model of `numLayers` layers.
  int64_t firstLayer(int64_t numLayers, int64_t stage, int64_t pp) const;

  friend bool operator==(const StageCut &a, const StageCut &b) {
    return a.layers == b.layers;
  }
  friend bool operator!=(const StageCut &a, const StageCut &b) {
    return !(a == b);
  }
};

/// `numLayers` layers divided evenly over `pp` stages.
StageCut evenCut(int64_t numLayers, int64_t pp);

/// "8, 8, 7".
std::string spell(const StageCut &cut);
/// The same, short however many stages there are: "2 x 8, 7".
std::string abbreviate(const StageCut &cut);

/// Reads "8,8,7"; empty text is an empty cut.
ErrorOr<StageCut> parseStageCut(std::string_view text);

/// Why `cut` is none of `pp` stages (no value: of any number) that all have
/// layers.
std::optional<std::string> stageCutError(const StageCut &cut,
                                         std::optional<int64_t> pp);
/// The same of a model of `numLayers` layers, which it has to divide.
std::optional<std::string> stageCutError(const StageCut &cut, int64_t pp,
                                         int64_t numLayers);

} // namespace shardopt

#endif // SHARDOPT_MODEL_STAGECUT_H
