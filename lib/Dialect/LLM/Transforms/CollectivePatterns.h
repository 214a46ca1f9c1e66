//===- CollectivePatterns.h - What patterns over them share -----*- C++ -*-===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef SHARDOPT_LIB_DIALECT_LLM_TRANSFORMS_COLLECTIVEPATTERNS_H
#define SHARDOPT_LIB_DIALECT_LLM_TRANSFORMS_COLLECTIVEPATTERNS_H

#include "shardopt/Cost/TimeModel.h"
#include "shardopt/Dialect/LLM/IR/LoweredAttributes.h"
#include "shardopt/Model/ProgramGrid.h"

#include "mlir/Dialect/Shard/IR/ShardOps.h"
#include "mlir/IR/PatternMatch.h"

namespace shardopt::llm {

/// What collectives on the module's grid cost. Their bytes are those that they
/// are charged for: in the layer where that is most.
class CollectivePrices {
public:
  CollectivePrices(const cost::TimeModel &time, const Degrees &degrees)
      : time(time), degrees(degrees), grid(degrees) {}

  int64_t size(Axis axis) const { return grid.groups().size(axis); }
  /// The groups that a collective is between; none where no degree has them.
  template <typename OpTy> std::optional<Axis> axisOf(OpTy op) const {
    return grid.find(op.getGridAxes().vec());
  }

  /// Bytes of the full tensor of a collective annotated with `of`.
  double fullBytes(Axis axis, const lowered::Collective &of) const;
  /// Seconds of a collective of `kind` on the tensor of one annotated with
  /// `of`.
  double seconds(cost::CollectiveKind kind, Axis axis,
                 const lowered::Collective &of) const;
  /// Seconds to read and write `bytes`, as part of another kernel.
  double memory(double bytes) const {
    return time.seconds(cost::memoryKernel(bytes, /*launch=*/false));
  }

  /// Annotates `op`, which is of `kind`, with the causes of the collective that
  /// it replaces.
  void annotate(mlir::Operation *op, cost::CollectiveKind kind, Axis axis,
                const lowered::Collective &of) const;

private:
  double fullBytes(Axis axis, const lowered::Collective::Charge &charge) const;
  double seconds(cost::CollectiveKind kind, Axis axis, double full) const;
  /// What the cost model calls the bytes of a collective on such a tensor.
  double bytesOf(cost::CollectiveKind kind, Axis axis, double full) const;

  const cost::TimeModel &time;
  Degrees degrees;
  ProgramGrid grid;
};

/// What `op` says of itself, or nothing; of a module that
/// `checkCollectives` accepts.
std::optional<lowered::Collective> readCollective(mlir::Operation *op);
/// Fails, with a diagnostic, where a collective says of itself what cannot be.
mlir::LogicalResult checkCollectives(mlir::ModuleOp module);

inline bool isSum(mlir::shard::ReductionKind kind) {
  return kind == mlir::shard::ReductionKind::Sum;
}

template <typename OpTy>
struct CollectivePattern : public mlir::OpRewritePattern<OpTy> {
  CollectivePattern(mlir::MLIRContext *context, const CollectivePrices &prices)
      : mlir::OpRewritePattern<OpTy>(context), prices(prices) {}
  const CollectivePrices &prices;
};

/// Norms of reduced rows, done on blocks of them.
void addNormInBlocks(mlir::RewritePatternSet &patterns,
                     const CollectivePrices &prices);

} // namespace shardopt::llm

#endif // SHARDOPT_LIB_DIALECT_LLM_TRANSFORMS_COLLECTIVEPATTERNS_H
