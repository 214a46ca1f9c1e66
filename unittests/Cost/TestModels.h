//===- TestModels.h - Models and machines for tests of costs ----*- C++ -*-===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef SHARDOPT_UNITTESTS_COST_TESTMODELS_H
#define SHARDOPT_UNITTESTS_COST_TESTMODELS_H

#include "shardopt/Cost/CostModel.h"
#include "shardopt/Cost/Roofline.h"
#include "shardopt/Model/Machine/Machine.h"

#include <optional>
#include <string>

namespace shardopt::cost::test {

/// What the published config.json of a model says, as far as it costs anything.
struct ModelConfig {
  int64_t hidden = 0, layers = 0, vocab = 0;
  int64_t heads = 0, kvHeads = 0, headDim = 0;
  bool qkNorm = false;
  int64_t inner = 0; ///< of dense layers
  bool gated = true;

  int64_t experts = 0, topK = 0, expertInner = 0;
  int64_t denseLayers = 0; ///< leading ones of a model with experts
  int64_t sparseStep = 1;  ///< every how many layers there are experts
  int64_t sharedInner = 0; ///< 0: no shared experts

  // Latent attention, if latent is not 0.
  int64_t queryRank = 0, latent = 0, nope = 0, rope = 0, value = 0;

  /// Key heads of the gated delta nets of all layers but every fourth; 0: none.
  int64_t keyHeads = 0;
  /// Or heads and groups of the state spaces of these layers.
  int64_t spaceHeads = 0, spaceGroups = 1;

  int64_t window = 0; ///< of every second layer, starting with the first
  bool tied = false;
  WeightType linear = WeightType::Bf16;    ///< all but router, embedding, head
  std::optional<WeightType> expertWeights; ///< if other than `linear`
  double activationBytes = 2, cacheBytes = 2;
};

ModelConfig gptMoe(int64_t layers);
ModelConfig llama70B();
ModelConfig mixtral8x22B();
ModelConfig qwen3Moe235B();
ModelConfig deepSeekV3();
ModelConfig gptOss120B();
ModelConfig qwen35Dense27B();
/// Granite 4 without experts, or with more groups of heads.
ModelConfig graniteOfSpaces(int64_t groups);

/// The ops of such a model, as an importer makes them.
Model makeModel(const ModelConfig &config, const Workload &workload);

/// h100_sxm, h200_sxm and gb200.
Machine h100();
Machine h200();
Machine gb200();

/// `model` on `machine`, with an SLO of 50 ms (decode) or 2 s (prefill).
CostModel makeCosts(const ModelConfig &config, const Workload &workload,
                    const Machine &machine, CommModel comm = CommModel::Fast);

/// tp, ep, pp, batch and dims, one digit an op (2 = none).
Strategy strategy(const Degrees &degrees, const std::string &dims);

} // namespace shardopt::cost::test

#endif // SHARDOPT_UNITTESTS_COST_TESTMODELS_H
