//===- OpPartition.h - What an op is written with ---------------*- C++ -*-===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What an op needs in order to write itself as the per-rank program: its
// operands in the placement that its rule asks for, its slices of weights and
// caches, and collectives that say what the cost model charges for them.
//
//===----------------------------------------------------------------------===//

#ifndef SHARDOPT_DIALECT_LLM_TRANSFORMS_PARTITION_OPPARTITION_H
#define SHARDOPT_DIALECT_LLM_TRANSFORMS_PARTITION_OPPARTITION_H

#include "shardopt/Dialect/LLM/Transforms/Partition/Exchange.h"
#include "shardopt/Dialect/LLM/Transforms/Partition/Slices.h"
#include "shardopt/Model/OpModel.h"

namespace shardopt::llm {

/// What is known of a function while its program is written.
struct PartitionState {
  PartitionState(mlir::MLIRContext *context, DeviceGrid grid)
      : grid(std::move(grid)), builder(context), packings(this->grid.degrees),
        values(packings), slices(values, this->grid), exchanges(values, rows) {}

  DeviceGrid grid;
  mlir::OpBuilder builder;
  Packings packings;
  RowSpaces rows;
  LocalValues values;
  Slices slices;
  Exchanges exchanges;
};

/// The local value of any operand of `emit`'s op, `user`: complete where
/// devices have parts of it. Null, with a diagnostic, where every device has
/// its own.
mlir::Value getComplete(PartitionState &state, const Emitter &emit,
                        mlir::Value global, mlir::Operation *user);

/// What an op costs in some layers of the repeat that it stands in.
struct LayerCost {
  int64_t layers = 1; ///< consecutive iterations
  cost::OpCost cost;
};

/// One op at its dim.
class OpPartition : public Emitter {
public:
  /// `rule` and `costs` are those of the op at its dim in `context`. Activation
  /// operands are placed, over `over`.
  OpPartition(PartitionState &state, ShardableOpInterface op,
              const cost::Context &context, const cost::Rule &rule,
              llvm::SmallVector<LayerCost, 1> costs, Axis over);

  Dim getDim() const { return *op.getShardingDim(); }
  const cost::Context &getContext() const { return context; }
  Packings &getPackings() const { return state.packings; }

  /// The layout that the rule asks of activation operand `index`.
  cost::Layout getRequired(unsigned index = 0) const {
    return rule.operands[index].required.layout;
  }
  /// The layout that the rule leaves in result `index`.
  cost::Layout getResultLayout(unsigned index = 0) const {
    return rule.results[index].placement.layout;
  }

  /// A copy of `op` whose operands still are the global ones.
  template <typename OpTy> OpTy clone(OpTy op) {
    return mlir::cast<OpTy>(getBuilder().clone(*op.getOperation()));
  }

  //===--------------------------------------------------------------------===//
  // Collectives inside the op
  //===--------------------------------------------------------------------===//

  /// What the cost model charges the collective inside the op that it calls
  /// `name`. Each is written once.
  Charges own(llvm::StringRef name);
  /// Fails, with a diagnostic, unless all of them were, and no others.
  mlir::LogicalResult checkOwn();

  //===--------------------------------------------------------------------===//
  // Values
  //===--------------------------------------------------------------------===//

  const LocalValues::Placed &getPlaced(mlir::Value activation) const {
    return *state.values.lookup(activation, op);
  }
  /// The features of all rows of `value` in `layout` over the group of `over`,
  /// as exchanges want them; null where the layout does not cut any.
  const Packing *hiddenIn(mlir::Value value, cost::Layout layout, Axis over);
  /// An activation operand in `layout`, with the features of `packing` in H.
  mlir::Value get(mlir::Value activation, cost::Layout layout,
                  const Packing *packing = nullptr);
  const Packing *getContracted(mlir::Value activation,
                               const Packing *otherwise) {
    return state.values.getContracted(activation, otherwise);
  }
  /// An operand without placement: tokens, positions. Null, with a diagnostic,
  /// where there is no such value.
  mlir::Value getPlain(mlir::Value global) {
    return getComplete(state, *this, global, op);
  }
  /// Fails, with a diagnostic, unless the rows of `activation` are `space`.
  mlir::LogicalResult expectRows(mlir::Value activation, const RowSpace *space);

  /// Says what a result is on this device. `rowBytes` is that of a whole row,
  /// as reshards are charged for it.
  void define(mlir::Value global, LocalCopy copy, const RowSpace *space,
              double rowBytes);
  /// As the rule says of result `index`, in the row space of `like`.
  void defineResult(mlir::OpResult global, mlir::Value local, mlir::Value like,
                    const Packing *packing = nullptr,
                    ActivationAttr pending = nullptr);
  /// `global` is `passed` itself, in the layout in which the op took it.
  void definePassed(mlir::OpResult global, mlir::Value passed);
  void definePlain(mlir::Value global, mlir::Value local) {
    state.values.definePlain(global, local);
  }
  /// `global` is what the op made of the cache `cache`.
  void defineCache(mlir::Value global, mlir::Value local, mlir::Value cache);

  const RowSpace *getTokens() const { return state.rows.getTokens(); }
  const RowSpace *getPrompts(int64_t sequence) const {
    return state.rows.getPrompts(sequence);
  }
  /// The rows that `op`, which is a dispatch, sends.
  const RowSpace *addExperts(DispatchOp op) {
    return state.rows.addExperts(op, context.routing.copies);
  }
  LocalCopy reshard(LocalCopy from, cost::Layout to, const Packing *packing,
                    const RowSpace &space, const StepCharges &steps) {
    return llm::reshard(*this, state.packings, from, to, packing, space, steps);
  }
  /// What the cost model charges for a reshard of `activation` from `from`.
  StepCharges chargeReshard(mlir::Value activation, cost::Layout from,
                            cost::Layout to);
  /// Another copy of an activation operand.
  void addCopy(mlir::Value activation, const LocalCopy &copy) {
    state.values.addCopy(activation, copy);
  }

  //===--------------------------------------------------------------------===//
  // Weights and caches
  //===--------------------------------------------------------------------===//

  /// The slice of a weight or cache, one cut for each dim; null, with a
  /// diagnostic, where there is none.
  mlir::Value slice(mlir::Value global, llvm::ArrayRef<Cut> cuts) {
    return state.slices.slice(*this, op, global, cuts);
  }
  /// A one-dimensional weight; null for null. A null packing keeps it whole.
  mlir::Value sliceVector(mlir::Value global, const Packing *packing) {
    return global ? slice(global, cutBy(packing)) : mlir::Value();
  }
  /// Over the devices that the op is over.
  Cut cutBy(const Packing *packing) const {
    return Cut::over(packing, getOver());
  }
  Cut overRows(cost::Layout layout) const {
    return state.slices.overRows(layout);
  }
  Cut overExperts(int64_t experts);

  //===--------------------------------------------------------------------===//
  // Experts
  //===--------------------------------------------------------------------===//

  /// Whether experts and rows are all on this device, so that nothing is
  /// exchanged and dispatch and combine stay as they are.
  bool exchangesNothing() const { return getSize(Axis::Stage) == 1; }
  /// What sent the rows of `activation`, as `counts` say it; null, with a
  /// diagnostic, where the counts are of other rows.
  mlir::FailureOr<DispatchOp> getDispatch(mlir::Value activation,
                                          mlir::Value counts);
  /// The counts that GEMMs on `activation` read.
  mlir::Value getCounts(mlir::Value activation, mlir::Value counts,
                        cost::Layout layout);
  Exchange *beginExchange(DispatchOp dispatch, cost::Layout layout) {
    return state.exchanges.begin(*this, dispatch, layout);
  }
  const Exchange *getExchange(DispatchOp dispatch, cost::Layout layout) {
    return state.exchanges.get(*this, dispatch, layout);
  }
  Exchanges &getExchanges() { return state.exchanges; }
  void defineRouting(mlir::Value global, mlir::Value local,
                     cost::Layout layout) {
    state.exchanges.defineRouting(*this, global, local, layout);
  }
  mlir::Value getRouting(mlir::Value global, cost::Layout layout, int fill) {
    return state.exchanges.getRouting(*this, op, global, layout, fill);
  }

private:
  void markValue(const LocalCopy &copy, mlir::Value global,
                 const RowSpace *space);

  PartitionState &state;
  mutable ShardableOpInterface op;
  const cost::Context &context;
  const cost::Rule &rule;
  llvm::SmallVector<LayerCost, 1> costs;
  llvm::SmallVector<llvm::StringRef, 3> written; ///< names, by `own`
};

} // namespace shardopt::llm

#endif // SHARDOPT_DIALECT_LLM_TRANSFORMS_PARTITION_OPPARTITION_H
