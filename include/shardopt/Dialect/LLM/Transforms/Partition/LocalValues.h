//===- LocalValues.h - What devices have of each value ----------*- C++ -*-===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// For every value of the source program that has a placement, the local copies
// made of it so far. The first one is what its producer left; a copy in another
// layout is made once, from the copy that is cheapest to convert, which is what
// the cost model charges. The others, tokens, positions and caches, have one
// local counterpart, and what a router chose has two.
//
// Example, over tp: a norm leaves T. A projection that wants R adds a gathered
// copy; a second one takes that copy; one that wants H cuts it, for R to H is
// free and T to H is not.
//
// Values are [rows, features]. In R, H and P a device holds the true number of
// rows; in T it holds a block of them, the last blocks padded with zeros. Each
// reshard into T pads, each reshard out of it slices to the true number.
//
//===----------------------------------------------------------------------===//

#ifndef SHARDOPT_DIALECT_LLM_TRANSFORMS_PARTITION_LOCALVALUES_H
#define SHARDOPT_DIALECT_LLM_TRANSFORMS_PARTITION_LOCALVALUES_H

#include "shardopt/Dialect/LLM/Transforms/Partition/Emitter.h"

#include "llvm/ADT/DenseMap.h"

namespace shardopt::llm {

/// One local copy of a global value.
struct LocalCopy {
  mlir::Value value;
  cost::Layout layout = cost::Layout::R;
  const Packing *packing = nullptr; ///< of the features; layouts H and T.H
  /// A raw projection whose activation follows its reduction; layout P only.
  ActivationAttr pending = nullptr;
};

/// Whether a layout cuts features, so that a copy in it has a packing.
constexpr bool cutsFeatures(cost::Layout layout) {
  return layout == cost::Layout::H || layout == cost::Layout::TH;
}

/// `activation` of a raw projection that is complete.
mlir::Value activate(const Emitter &emit, mlir::Value value,
                     ActivationAttr activation);

/// `from`, with the rows of `space`, in another layout. What that moves stands
/// for `steps`, one after the other as `cost::reshardCollectives` has them.
LocalCopy reshard(const Emitter &emit, Packings &packings, LocalCopy from,
                  cost::Layout to, const Packing *packing,
                  const RowSpace &space, const StepCharges &steps);

/// How the cost model has the residual leave the last layer, where that is not
/// how the program does it: there each summand goes straight to where the
/// next reader wants it, and here through the layout of the layers' loop.
struct LeftLayers {
  cost::Layout layout = cost::Layout::R; ///< in which the model has it arrive
  /// What the model counts that no collective of the last layer stands for.
  llvm::SmallVector<cost::Collective, 2> counted;
};

class LocalValues {
public:
  struct Placed {
    llvm::SmallVector<LocalCopy, 2> copies;
    const RowSpace *space = nullptr;
    double rowBytes = 0; ///< of a whole row, as reshards are charged for it
    mlir::Value root;    ///< the value that this one merely passes on
    std::optional<LeftLayers> left;
  };

  explicit LocalValues(Packings &packings) : packings(packings) {}

  bool isPlaced(mlir::Value global) const { return placed.count(global); }
  /// Null, with a diagnostic at its reader `user`, for a value that has no
  /// placement over devices.
  const Placed *lookup(mlir::Value global, mlir::Operation *user) const;
  /// The local counterpart of a value without placement, or null.
  mlir::Value lookupPlain(mlir::Value global) const {
    return plain.lookup(global);
  }

  /// The value, which is placed, in `layout`, with the features of `packing` in
  /// H. Reshards, for `rows` rows, where there is no such copy yet; others will
  /// find the new one where it `isKept`.
  mlir::Value get(const Emitter &emit, mlir::Value global, cost::Layout layout,
                  const Packing *packing, double rows, bool isKept = true);
  /// Another copy of `global`, which is placed.
  void addCopy(mlir::Value global, const LocalCopy &copy);
  /// The features that `global`, which is placed, has in H already, else those
  /// of `otherwise`: what an op contracts whose result does not depend on their
  /// order.
  const Packing *getContracted(mlir::Value global,
                               const Packing *otherwise) const;

  /// Forgets what was known of `global`.
  void define(mlir::Value global, Placed value) {
    placed[global] = std::move(value);
  }
  /// `global` is `passed` itself, in `layout`, in which its reader took it.
  void definePassed(mlir::Value global, mlir::Value passed,
                    cost::Layout layout);
  void definePlain(mlir::Value global, mlir::Value local) {
    plain[global] = local;
  }

private:
  Packings &packings;
  llvm::DenseMap<mlir::Value, Placed> placed;
  llvm::DenseMap<mlir::Value, mlir::Value> plain;
};

} // namespace shardopt::llm

#endif // SHARDOPT_DIALECT_LLM_TRANSFORMS_PARTITION_LOCALVALUES_H
