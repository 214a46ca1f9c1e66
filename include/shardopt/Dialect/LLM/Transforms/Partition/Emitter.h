//===- Emitter.h - Ops of one device, and their collectives -----*- C++ -*-===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef SHARDOPT_DIALECT_LLM_TRANSFORMS_PARTITION_EMITTER_H
#define SHARDOPT_DIALECT_LLM_TRANSFORMS_PARTITION_EMITTER_H

#include "shardopt/Cost/TimeModel.h"
#include "shardopt/Dialect/LLM/Transforms/Partition/Packing.h"
#include "shardopt/Dialect/LLM/Transforms/Partition/RowSpaces.h"
#include "shardopt/Model/ProgramGrid.h"

#include <map>

namespace shardopt::llm {

/// The devices that run the program.
struct DeviceGrid {
  mlir::FlatSymbolRefAttr symbol;
  Degrees degrees;
  ProgramGrid axes;                      ///< of the degrees
  const cost::TimeModel *time = nullptr; ///< what collectives cost
  /// Of this device, an index, along those axes that are asked for and longer
  /// than 1.
  std::map<Axis, mlir::Value> coordinates;

  const StageGrid &groups() const { return axes.groups(); }
  int64_t size(Axis axis) const { return groups().size(axis); }
};

/// What the cost model has for one collective of the program, in some layers
/// of the repeat that it stands in.
struct Charge {
  int64_t layers = 1;    ///< consecutive iterations
  llvm::StringRef cause; ///< empty: the op that needs it
  /// Collectives of the model that this one stands for, all of one kind, or a
  /// share of them where several stand for it. None: not charged.
  llvm::SmallVector<cost::Collective, 2> counted;
  double share = 1;
  double bytes = 0; ///< what is moved where nothing is charged
};

/// One entry, or one for each run of layers that are charged alike.
using Charges = llvm::SmallVector<Charge, 1>;

/// `collective` is charged, in full.
Charges charged(const cost::Collective &collective);
/// `bytes` are moved, which the model does not count.
Charges uncharged(double bytes);
/// The share of `charges` that this collective has.
Charges scaled(Charges charges, double share);

/// What the collectives of a reshard are charged for, one after the other.
using StepCharges = llvm::SmallVector<Charges, 2>;
/// As the cost model has it.
StepCharges charged(const cost::Reshard &reshard);

/// Writes ops of one device for one op of the source program.
class Emitter {
public:
  /// `cause` is named on collectives, as the one that needed them. They are
  /// between the devices along `over`.
  Emitter(const DeviceGrid &grid, mlir::OpBuilder &builder, mlir::Location loc,
          llvm::StringRef cause, Axis over = Axis::Tp)
      : grid(grid), builder(builder), loc(loc), cause(cause), over(over) {}

  /// The same between other devices.
  Emitter along(Axis axis) const { return {grid, builder, loc, cause, axis}; }

  mlir::OpBuilder &getBuilder() const { return builder; }
  mlir::Location getLoc() const { return loc; }
  const DeviceGrid &getGrid() const { return grid; }
  int64_t getSize(Axis axis) const { return grid.size(axis); }
  Axis getOver() const { return over; }
  /// How many devices collectives are between.
  int64_t ranks() const { return grid.size(over); }

  template <typename OpTy, typename... Args> OpTy create(Args &&...args) const {
    return OpTy::create(builder, loc, std::forward<Args>(args)...);
  }
  mlir::Value getIndex(int64_t value) const;
  /// This device's coordinate, an index, times `scale`.
  mlir::Value getOffset(int64_t scale) const;
  mlir::Value getOffset(mlir::Value scale) const;

  // Over one device collectives are their operand.
  mlir::Value allReduce(mlir::Value value, const Charges &charges,
                        bool max = false) const;
  mlir::Value allGather(mlir::Value value, int64_t dim,
                        const Charges &charges) const;
  mlir::Value reduceScatter(mlir::Value value, int64_t dim,
                            const Charges &charges) const;
  mlir::Value allToAll(mlir::Value value, int64_t splitDim, int64_t concatDim,
                       const Charges &charges) const;
  /// Rows: `send` go to each device, and `recv` come from it.
  mlir::Value allToAllV(mlir::Value rows, mlir::Value send, mlir::Value recv,
                        const Charges &charges) const;
  /// The block of dim `dim` that belongs to this device.
  mlir::Value allSlice(mlir::Value value, int64_t dim) const;

  /// Rows as [outer, rows / outer, ...], and back.
  mlir::Value openRows(mlir::Value value, int64_t outer) const;
  mlir::Value closeRows(mlir::Value value) const;
  /// This device's block of rows that stand [outer][rows].
  mlir::Value sliceRows(mlir::Value value, int64_t outer) const;

  /// Rows padded to whole blocks with `fill`, in the order of the blocks; a
  /// tensor of any rank. Over one device there is one block of them.
  mlir::Value padRows(mlir::Value value, const RowSpace &space,
                      int fill = 0) const;
  /// The true rows of a value gathered from blocks.
  mlir::Value trimRows(mlir::Value value, const RowSpace &space) const;
  /// The same where the blocks of one device are padded too: those of all
  /// replicas are alike.
  mlir::Value toBlocks(mlir::Value value, const RowSpace &space,
                       int fill = 0) const;
  mlir::Value fromBlocks(mlir::Value value, const RowSpace &space) const;
  /// A static choice of columns, or `value` itself where it keeps all of them.
  mlir::Value selectColumns(mlir::Value value,
                            const std::vector<Run> &runs) const;
  /// Columns [begin, begin + size).
  mlir::Value sliceColumns(mlir::Value value, int64_t begin,
                           int64_t size) const;
  /// `value` with zeros behind its columns, `size` in all.
  mlir::Value widen(mlir::Value value, int64_t size) const;
  mlir::Value concatColumns(llvm::ArrayRef<mlir::Value> values) const;

private:
  /// Says on `op` why it is there and what it costs.
  void annotate(mlir::Operation *op, cost::CollectiveKind kind,
                const Charges &charges) const;
  /// The axes of the grid, as ops name them.
  mlir::DenseI16ArrayAttr getAxes() const;

  const DeviceGrid &grid;
  mlir::OpBuilder &builder;
  mlir::Location loc;
  llvm::StringRef cause;
  Axis over;
};

} // namespace shardopt::llm

#endif // SHARDOPT_DIALECT_LLM_TRANSFORMS_PARTITION_EMITTER_H
