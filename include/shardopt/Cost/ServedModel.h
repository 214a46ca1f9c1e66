//===- ServedModel.h - What a serving engine runs ---------------*- C++ -*-===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The sizes of a model from which the time of a step of a serving engine is
// composed (Serving.h). Counts are doubles, as in all formulas of time.
//
//===----------------------------------------------------------------------===//

#ifndef SHARDOPT_COST_SERVEDMODEL_H
#define SHARDOPT_COST_SERVEDMODEL_H

#include "shardopt/Support/Error.h"

#include <cstdint>
#include <string>
#include <vector>

namespace shardopt::cost {

/// How the weights of matrix products are stored and multiplied.
enum class ServedType : uint8_t { Bf16, Fp8, Fp8Block, Nvfp4, Mxfp4, Int4 };

/// Layers whose attention reaches equally far.
struct ServedSpan {
  double window = 0; ///< tokens; 0: all
  double layers = 0;
};

/// Gated delta nets, which some layers have in place of attention. Sizes of one
/// of `tp` devices have whole heads.
struct ServedNet {
  double layers = 0; ///< 0: none
  double heads = 0, valueHeads = 0, keyDim = 0, valueDim = 0;
  double taps = 0; ///< of the convolution

  double values(double tp) const;
  double channels(double tp) const; ///< queries, keys and values
  /// Numbers of the state of a sequence.
  double state(double tp) const { return values(tp) * keyDim; }
};

struct ServedModel {
  double vocab = 0;
  double hidden = 0;
  double denseLayers = 0;
  double expertLayers = 0;
  bool hasTiedEmbeddings = false;

  // Attention: of groups of heads, or latent.
  double heads = 0, kvHeads = 0, headDim = 0;
  std::vector<ServedSpan> spans; ///< of all such layers together
  bool hasQkNorm = false;
  bool isQkNormWhole = false; ///< over all heads at once, not over each
  bool isGated = false;       ///< a gate of the result beside each query
  bool isLatent = false;
  double queryRank = 0; ///< 0: queries are projected in one step
  double latentRank = 0, nopeDim = 0, ropeDim = 0, valueDim = 0;
  /// An indexer chooses the tokens that latent attention reads; 0: none.
  double indexHeads = 0, indexDim = 0, indexTopk = 0;

  ServedNet net;

  // Feed-forward networks.
  double gates = 2; ///< matrices of the first product: 2 where it is gated
  double denseInner = 0, sharedInner = 0;
  double experts = 0, topk = 0, expertInner = 0;

  /// Whether the constants of engines were found with runs of such models.
  bool isMeasured = false;

  // As the checkpoint says.
  ServedType attentionType = ServedType::Bf16;
  ServedType denseType = ServedType::Bf16; ///< and of shared experts
  ServedType expertType = ServedType::Bf16;
  /// Whether checkpoints in fp8 have a scale a block, not a matrix.
  bool hasFp8Blocks = false;
  /// Whether the program itself has caches of fp8.
  bool hasFp8Cache = false;

  double layers() const { return denseLayers + expertLayers; }
  double attentionLayers() const { return layers() - net.layers; }
  /// Counts a layer whose attention reaches `window` tokens, 0 for all.
  void addLayer(int64_t window, bool hasExperts);
  /// Counts a layer with a gated delta net.
  void addNetLayer(bool hasExperts);
};

/// The type called `name` ("fp8", "nvfp4", "awq"), the value of `option`.
ErrorOr<ServedType> servedType(const std::string &option,
                               const std::string &name);

/// What products of `asked` weights are with a model whose checkpoint has
/// `checkpoint`: fp8 has blocks where the model's has.
ServedType asServed(const ServedModel &model, ServedType asked,
                    ServedType checkpoint);

struct Model;

/// The sizes of `model`; an error where it has no attention. A program does not
/// say of which family it is, so that it counts as one that nobody measured.
ErrorOr<ServedModel> servedModelOf(const Model &model);

/// Whether engines keep caches in fp8 beside such products.
bool isWithFp8Cache(ServedType gemm);

} // namespace shardopt::cost

#endif // SHARDOPT_COST_SERVEDMODEL_H
