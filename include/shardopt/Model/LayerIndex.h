//===- LayerIndex.h - Layers of a model, counted by kind --------*- C++ -*-===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef SHARDOPT_MODEL_LAYERINDEX_H
#define SHARDOPT_MODEL_LAYERINDEX_H

#include "shardopt/Model/Model.h"

namespace shardopt::cost {

/// Layers that cost the same under every strategy.
struct LayerKind {
  unsigned body = 0;
  int64_t window = 0; ///< 0: full attention
};

/// Layers of `body` that are followed by a layer of `next`.
struct Transition {
  unsigned body = 0;
  unsigned next = 0;
};

/// What one pipeline stage holds. Equal neighbours are listed once.
struct Stage {
  int64_t repeats = 1;  ///< stages like this one
  bool isFirst = false; ///< has the embedding
  bool isLast = false;  ///< has the head
  /// Layers by LayerIndex::kinds, and those that are not the model's last by
  /// LayerIndex::transitions.
  std::vector<int64_t> kinds, transitions;
  unsigned nextBody = 0; ///< of the next stage's first layer, if there is one
};

/// The layers of a model by kind, so that a stage costs a few products however
/// many layers it has.
class LayerIndex {
public:
  explicit LayerIndex(const Model &model);

  int64_t numLayers() const { return int64_t(kindOf.size()); }
  const std::vector<LayerKind> &kinds() const { return kindList; }
  const std::vector<Transition> &transitions() const { return transitionList; }
  const LayerKind &kindOfLayer(int64_t layer) const {
    return kindList[kindOf[layer]];
  }
  unsigned kindNumberOfLayer(int64_t layer) const { return kindOf[layer]; }
  unsigned firstBody() const { return kindOfLayer(0).body; }
  unsigned lastBody() const { return kindOfLayer(numLayers() - 1).body; }

  /// First layer of stage `stage` of `degrees`; that of stage pp is
  /// `numLayers`.
  int64_t firstLayer(int64_t stage, const Degrees &degrees) const {
    return degrees.stages.firstLayer(numLayers(), stage, degrees.pp);
  }

  /// The stages of a pipeline in order.
  std::vector<Stage> stages(const Degrees &degrees) const;

private:
  std::vector<LayerKind> kindList;
  std::vector<Transition> transitionList;
  std::vector<unsigned> kindOf; ///< of every layer
  /// Of the first i layers, how many are of each kind and transition.
  std::vector<std::vector<int64_t>> kindsBefore, transitionsBefore;
};

} // namespace shardopt::cost

#endif // SHARDOPT_MODEL_LAYERINDEX_H
