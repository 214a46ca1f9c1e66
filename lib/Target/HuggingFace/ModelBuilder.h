//===- ModelBuilder.h - Builds the layers of a model ------------*- C++ -*-===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The builder of one function. Its methods stand in the file of the idea that
// they belong to: Weights.cpp, Attention.cpp, FeedForward.cpp, and Import.cpp
// for what holds them together.
//
//===----------------------------------------------------------------------===//

#ifndef SHARDOPT_LIB_TARGET_HUGGINGFACE_MODELBUILDER_H
#define SHARDOPT_LIB_TARGET_HUGGINGFACE_MODELBUILDER_H

#include "ElementTypes.h"
#include "shardopt/Dialect/LLM/IR/ArgumentAttributes.h"

#include "mlir/IR/ImplicitLocOpBuilder.h"

namespace shardopt::hf {

/// A tensor of the checkpoint, one for each layer and expert that its pattern
/// names, that makes a param or a part of one.
struct HubTensor {
  std::string pattern;
  int64_t size = 0; ///< columns that it adds, where there are several parts
  bool transposed = false;
  bool deinterleave = false;
  double factor = 1;
  double shift = 0;
  int64_t offset = 0;   ///< where in the tensor it begins
  bool isPlain = false; ///< never quantised, whatever the others of its class
};

/// A run of adjacent layers of one kind: an `llm.repeat`.
struct Stack {
  bool experts = false;
  Mixer mixer = Mixer::Attention;
  LayerRope rope = LayerRope::Global;
  bool network = true;
  llvm::SmallVector<int64_t> layers; ///< their numbers in the checkpoint
  std::string opPrefix;              ///< "", "dense.", "moe.local.", …
  std::string paramPrefix;           ///< as `opPrefix`, "moe1." if not the only
};

class ModelBuilder {
public:
  ModelBuilder(mlir::OpBuilder &builder, mlir::Location loc,
               const ModelConfig &config, const ImportOptions &options);

  /// Fills the empty `function` in.
  void build(mlir::Block *entry, llvm::ArrayRef<Stack> stacks);

  /// The caches of one layer, `[sequences, …]`.
  llvm::SmallVector<mlir::Type> layerCaches(const Stack &stack) const;
  mlir::RankedTensorType logitsType() const;
  mlir::RankedTensorType indicesType() const;

private:
  //===--- Weights.cpp ----------------------------------------------------===//

  /// A weight matrix `[in, out]`, or a stack of one an expert in front of it.
  /// Its parts are interleaved in so many groups.
  mlir::Value matrix(llvm::StringRef name, llvm::ArrayRef<int64_t> shape,
                     WeightClass of, llvm::ArrayRef<HubTensor> parts,
                     int64_t groups = 1);
  /// A norm's weight, a bias or sinks.
  mlir::Value vector(llvm::StringRef name, llvm::ArrayRef<int64_t> shape,
                     llvm::ArrayRef<HubTensor> parts);
  mlir::Value param(llvm::StringRef name, llvm::ArrayRef<int64_t> shape,
                    mlir::Type element, mlir::DictionaryAttr source);
  mlir::DictionaryAttr source(llvm::ArrayRef<HubTensor> parts, int64_t axis,
                              std::optional<WeightClass> of, int64_t groups = 1,
                              int64_t inputs = 0);
  llm::SourcePart part(const HubTensor &tensor, bool alone,
                       std::optional<WeightClass> of, int64_t inputs);

  //===--- Attention.cpp --------------------------------------------------===//

  /// What mixes the tokens of a normed layer input, up to the output
  /// projection; `caches` are replaced by the new ones.
  mlir::Value attention(mlir::Value input, mlir::Value positions,
                        llvm::SmallVectorImpl<mlir::Value> &caches);
  mlir::Value groupedAttention(mlir::Value input, mlir::Value positions,
                               llvm::SmallVectorImpl<mlir::Value> &caches);
  mlir::Value latentAttention(mlir::Value input, mlir::Value positions,
                              llvm::SmallVectorImpl<mlir::Value> &caches);
  /// Queries of latent attention, and those of its indexer.
  struct LatentQueries {
    mlir::Value heads, index;
  };
  LatentQueries latentQueries(mlir::Value input);
  /// The tensors of `module` are its weight, of so many heads, and bias.
  mlir::Value outputProjection(mlir::Value heads, int64_t count,
                               int64_t headDim, const std::string &module,
                               bool bias);
  /// The pattern of a tensor of the layer's attention.
  std::string ofAttention(llvm::StringRef name) const;
  /// Null where the layer's heads are not turned. `dim`: features of a head.
  llm::RopeAttr layerRope(int64_t dim);

  //===--- DeltaNet.cpp ---------------------------------------------------===//

  mlir::Value deltaNet(mlir::Value input, mlir::Value positions,
                       llvm::SmallVectorImpl<mlir::Value> &caches);
  llvm::SmallVector<mlir::Type> deltaNetCaches() const;
  /// The rows that a convolution keeps, and a state of these sizes.
  llvm::SmallVector<mlir::Type>
  stateCaches(int64_t taps, int64_t channels,
              llvm::ArrayRef<int64_t> state) const;

  //===--- Mamba2.cpp -----------------------------------------------------===//

  mlir::Value mamba2(mlir::Value input, mlir::Value positions,
                     llvm::SmallVectorImpl<mlir::Value> &caches);
  llvm::SmallVector<mlir::Type> mamba2Caches() const;

  //===--- FeedForward.cpp ------------------------------------------------===//

  mlir::Value denseNetwork(mlir::Value input);
  /// Columns of what routed experts read and give.
  int64_t expertWidth() const;
  /// The projection in front of routed experts or behind them, where they have
  /// a width of their own; `input` itself where they have not.
  mlir::Value expertLatent(llvm::StringRef name, llvm::StringRef hubName,
                           mlir::Value input, int64_t from, int64_t to,
                           double factor);
  /// Routed experts, and the sum with the shared ones.
  mlir::Value expertNetwork(mlir::Value input);
  mlir::Value sharedExperts(mlir::Value input);
  /// An up- and a down-projection over all rows, in the ops `up` and `down`,
  /// with the tensors of `module`.
  mlir::Value network(mlir::Value input, const std::string &up,
                      const std::string &down, int64_t inner, bool bias,
                      WeightClass of, const std::string &module,
                      mlir::Value rowGate = {});
  mlir::Value upProjection(llvm::StringRef name, mlir::Value input,
                           mlir::Value weight, mlir::Value bias,
                           mlir::Value counts, mlir::Value rowGate,
                           int64_t inner);
  mlir::Value downProjection(llvm::StringRef name, mlir::Value input,
                             mlir::Value weight, mlir::Value bias,
                             mlir::Value counts, int64_t width);
  mlir::Value routedExperts(mlir::Value rows, mlir::Value counts);
  llvm::SmallVector<HubTensor> upTensors(const std::string &module,
                                         llvm::StringRef gate,
                                         llvm::StringRef up, int64_t inner,
                                         llvm::StringRef suffix);

  //===--- Import.cpp -----------------------------------------------------===//

  mlir::Value repeat(const Stack &stack, mlir::Value residual,
                     mlir::Value positions, mlir::ValueRange caches,
                     llvm::SmallVectorImpl<mlir::Value> &newCaches);
  void layer(mlir::Block *body);
  /// A norm of `input`, and of the residual added first where there is one:
  /// norm and sum.
  mlir::ResultRange norm(llvm::StringRef name, mlir::Value input,
                         mlir::Value residual, llvm::StringRef hubName);
  /// The residual and a norm of `input`, which is added to it.
  mlir::Value addNorm(llvm::StringRef name, mlir::Value input,
                      mlir::Value residual, llvm::StringRef hubName);
  /// What leaves a layer of four forms: norms in front, norms behind alone,
  /// attention and network in parallel, and one of the two alone.
  mlir::Value layerOfNorms(mlir::Value residual, mlir::Value positions,
                           llvm::SmallVectorImpl<mlir::Value> &caches);
  mlir::Value layerOfNormsBehind(mlir::Value residual, mlir::Value positions,
                                 llvm::SmallVectorImpl<mlir::Value> &caches);
  mlir::Value parallelLayer(mlir::Value residual, mlir::Value positions,
                            llvm::SmallVectorImpl<mlir::Value> &caches);
  mlir::Value layerOfOne(mlir::Value residual, mlir::Value positions,
                         llvm::SmallVectorImpl<mlir::Value> &caches);
  /// The feed-forward network of a layer.
  mlir::Value update(mlir::Value input);
  /// The weight of a root-mean-square norm.
  mlir::Value normWeight(llvm::StringRef name, int64_t size,
                         llvm::StringRef tensor);
  mlir::Type rows(int64_t columns) const;
  std::string opName(llvm::StringRef name) const;
  /// The pattern of a tensor of the layer: "model.layers.{layer}.…".
  std::string ofLayer(llvm::StringRef name) const;

  mlir::ImplicitLocOpBuilder builder;
  const ModelConfig &config;
  const ImportOptions &options;
  ElementTypes types;
  int64_t sequence; ///< rows of a prompt
  /// The stack that is being built; null outside of all.
  const Stack *stack = nullptr;
};

} // namespace shardopt::hf

#endif // SHARDOPT_LIB_TARGET_HUGGINGFACE_MODELBUILDER_H
