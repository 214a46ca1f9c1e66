//===- Slices.h - Slices of weights and caches ------------------*- C++ -*-===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef SHARDOPT_DIALECT_LLM_TRANSFORMS_PARTITION_SLICES_H
#define SHARDOPT_DIALECT_LLM_TRANSFORMS_PARTITION_SLICES_H

#include "shardopt/Dialect/LLM/IR/LoweredAttributes.h"
#include "shardopt/Dialect/LLM/Transforms/Partition/LocalValues.h"

#include "mlir/Interfaces/FunctionInterfaces.h"

namespace shardopt::llm {

/// How one dim of a weight or of a cache is cut.
struct Cut {
  Axis axis = Axis::Tp;
  const Packing *packing =
      nullptr; ///< static entries; null: not sharded on them
  llvm::SmallVector<Axis, 2> rows; ///< axes that cut a dynamic dim
  bool areRowsAlike = false;       ///< see lowered::SliceDim
  std::optional<Axis> stride;      ///< cuts a dynamic dim by turns

  static Cut over(const Packing *packing, Axis axis = Axis::Tp) {
    Cut cut;
    cut.axis = axis;
    cut.packing = packing;
    return cut;
  }
};

/// What devices have of the weights and caches of a function.
class Slices {
public:
  Slices(LocalValues &values, const DeviceGrid &grid)
      : values(values), grid(grid) {}

  /// Rows of a program's arguments: over replicas, and over tp too in layout T.
  Cut overRows(cost::Layout layout) const;

  /// Params that the body `block` reads from outside are written before
  /// `repeat`.
  void enterBody(mlir::Block *block, mlir::Operation *repeat) {
    repeats[block] = repeat;
  }

  /// The slice of a weight or cache, which `user` reads; one cut for each dim.
  /// Null, with a diagnostic, for one that is computed, or that is cut in
  /// another way elsewhere.
  mlir::Value slice(const Emitter &emit, mlir::Operation *user,
                    mlir::Value global, llvm::ArrayRef<Cut> cuts);
  /// Whether `local`, which `user` reads whole, is: an argument may be cut.
  mlir::LogicalResult expectWhole(mlir::Value global, mlir::Value local,
                                  mlir::Operation *user);

  /// `local`, the counterpart of `argument`, is rows of activations.
  void describeRows(mlir::Value local, mlir::BlockArgument argument,
                    mlir::Operation *user, mlir::Builder &builder);
  /// `local` is what an op made of the cache `cache`.
  void inherit(mlir::Value local, mlir::Value cache);
  /// A slice that a body made of an argument is one of the operand that the
  /// repeat has for it, and of its result.
  mlir::LogicalResult leaveBody(RepeatOp from, RepeatOp to);
  /// Says on the signature of `func` what arguments and results are slices of.
  mlir::LogicalResult describeSignature(mlir::FunctionOpInterface func,
                                        mlir::Block &body,
                                        mlir::Builder &builder);
  /// The entries of every coordinate over a group, as lists of runs.
  mlir::ArrayAttr describeRuns(const Packing *packing, mlir::Builder &builder);

private:
  struct Known {
    std::optional<lowered::Slice> slice; ///< none: read whole
    mlir::Operation *user = nullptr; ///< the first one; null where it follows
  };

  /// Whether something reads a part of `local`.
  bool isSliced(mlir::Value local) const {
    auto found = known.find(local);
    return found != known.end() && found->second.slice;
  }
  /// Whether devices have the same parts of both.
  bool areCutAlike(mlir::Value one, mlir::Value other) const;
  lowered::Slice describe(llvm::StringRef name, mlir::RankedTensorType type,
                          llvm::ArrayRef<Cut> cuts, mlir::Builder &builder);
  mlir::Value sliceParam(const Emitter &emit, mlir::Operation *user,
                         ParamOp param, mlir::RankedTensorType type,
                         llvm::ArrayRef<Cut> cuts);
  mlir::Value sliceArgument(const Emitter &emit, mlir::Operation *user,
                            mlir::BlockArgument argument,
                            mlir::RankedTensorType type,
                            llvm::ArrayRef<Cut> cuts);
  /// `local`, the counterpart of `argument`, is the slice `description` of it.
  mlir::LogicalResult take(mlir::Value local, mlir::BlockArgument argument,
                           lowered::Slice slice, mlir::RankedTensorType type,
                           mlir::Operation *user);
  mlir::LogicalResult agreeOnCaches(RepeatOp from, RepeatOp to);
  mlir::LogicalResult checkCaches(mlir::FunctionOpInterface func,
                                  mlir::Block &body);
  /// The operand `outer` of a repeat is cut in `dims`, as its body wants it.
  mlir::LogicalResult follow(mlir::Value outer, mlir::BlockArgument argument,
                             std::vector<lowered::SliceDim> dims,
                             mlir::RankedTensorType type,
                             mlir::Operation *user);

  LocalValues &values;
  const DeviceGrid &grid;
  /// Slices made of a param so far, by their description.
  llvm::DenseMap<std::pair<mlir::Value, mlir::Attribute>, mlir::Value> params;
  llvm::DenseMap<mlir::Value, unsigned> slicesOfParam;
  /// What local arguments, and caches made of them, are slices of.
  llvm::DenseMap<mlir::Value, Known> known;
  llvm::DenseMap<const Packing *, mlir::ArrayAttr> runsOf;
  /// The new repeat that the ops of an old body go into.
  llvm::DenseMap<mlir::Block *, mlir::Operation *> repeats;
};

} // namespace shardopt::llm

#endif // SHARDOPT_DIALECT_LLM_TRANSFORMS_PARTITION_SLICES_H
