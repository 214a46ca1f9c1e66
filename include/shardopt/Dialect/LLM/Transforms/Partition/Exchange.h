//===- Exchange.h - Token copies between dispatch and combine ---*- C++ -*-===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef SHARDOPT_DIALECT_LLM_TRANSFORMS_PARTITION_EXCHANGE_H
#define SHARDOPT_DIALECT_LLM_TRANSFORMS_PARTITION_EXCHANGE_H

#include "shardopt/Dialect/LLM/Transforms/Partition/LocalValues.h"

namespace shardopt::llm {

/// The exchange between dispatch and combine over ep, for rows that are
/// complete (R, H, P: a home for each tp rank) or a block (T: one home).
struct Exchange {
  mlir::Value origins; ///< of the copies, in the order of the wire
  mlir::Value send;    ///< [destinations, homes, experts]
  mlir::Value recv;    ///< [sources, homes, experts]
  mlir::Value homes;   ///< [homes, sources, experts]
};

/// What routers chose, and the exchanges that dispatches plan with it.
class Exchanges {
public:
  Exchanges(LocalValues &values, const RowSpaces &rows)
      : values(values), rows(rows) {}

  /// A router's indices or weights, as it made them in `layout` (R or T).
  void defineRouting(const Emitter &emit, mlir::Value global, mlir::Value local,
                     cost::Layout layout);
  bool isRouting(mlir::Value global) const { return routing.count(global); }
  mlir::Value getComplete(mlir::Value global) const {
    return routing.lookup(global).complete;
  }
  /// Routing for complete rows, or for this device's block (T), where rows of
  /// padding have `fill`. Null, with a diagnostic at `user`, for a value that
  /// is none.
  mlir::Value getRouting(const Emitter &emit, mlir::Operation *user,
                         mlir::Value global, cost::Layout layout, int fill);

  /// Makes the exchange of a dispatch, for rows in `layout`; null where there
  /// is a diagnostic.
  Exchange *begin(const Emitter &emit, DispatchOp op, cost::Layout layout);
  /// The exchange of `dispatch`, for values in `layout`.
  const Exchange *get(const Emitter &emit, DispatchOp dispatch,
                      cost::Layout layout);
  /// The counts of `dispatch` that products of values in `layout` read:
  /// [homes, sources, experts].
  mlir::Value getCounts(const Emitter &emit, DispatchOp dispatch,
                        cost::Layout layout);

private:
  struct RoutingCopies {
    mlir::Value complete, block;
  };
  struct Routed {
    Exchange complete, block;
    Exchange &get(bool blocks) { return blocks ? block : complete; }
  };

  mlir::LogicalResult plan(const Emitter &emit, DispatchOp dispatch,
                           Routed &routed, cost::Layout layout);

  LocalValues &values;
  const RowSpaces &rows;
  ::llvm::DenseMap<mlir::Value, RoutingCopies> routing;
  ::llvm::DenseMap<mlir::Operation *, Routed> routed; ///< by dispatch
};

} // namespace shardopt::llm

#endif // SHARDOPT_DIALECT_LLM_TRANSFORMS_PARTITION_EXCHANGE_H
