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

/// The exchange between dispatch and combine, for copies of rows of one or of
/// several homes: blocks of rows over etp.
///
/// By all-to-all, copies go to the expert group of their expert, and there to
/// the device with the own coordinate over etp. By gather, rows go to all
/// groups, and each device makes copies for the experts that it has; nothing is
/// sent then, and what a device has is what it "received" from one source.
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
  /// Routing for complete rows, or for those of this device (T, T.R), where
  /// rows of padding have `fill`. Null, with a diagnostic at `user`, for a
  /// value that is none.
  mlir::Value getRouting(const Emitter &emit, mlir::Operation *user,
                         mlir::Value global, cost::Layout layout, int fill);
  /// Routing for the rows that a gather brings together: those of all replicas,
  /// or of this device over etp (T).
  mlir::Value getGathered(const Emitter &emit, mlir::Operation *user,
                          mlir::Value global, cost::Layout inside, int fill);

  // `inside` is the layout over etp of what is exchanged.

  /// Makes the exchange of a dispatch; null where there is a diagnostic.
  Exchange *begin(const Emitter &emit, DispatchOp op, cost::Layout inside);
  /// The exchange of `dispatch`.
  const Exchange *get(const Emitter &emit, DispatchOp dispatch,
                      cost::Layout inside);
  /// The counts of `dispatch` that products read: [homes, sources, experts].
  mlir::Value getCounts(const Emitter &emit, DispatchOp dispatch,
                        cost::Layout inside);

private:
  /// Whose copies stand in a value over etp: the device's own, those of all
  /// devices with its coordinate over q, or all.
  enum class Homes : uint8_t { Own, OverC, All };
  struct RoutingCopies {
    mlir::Value complete, block, overQ, gathered;
  };
  struct Routed {
    Exchange exchanges[3];
    Exchange &get(Homes homes) { return exchanges[size_t(homes)]; }
  };

  static Homes homesIn(const Emitter &emit, cost::Layout inside);
  mlir::LogicalResult plan(const Emitter &emit, DispatchOp dispatch,
                           Routed &routed, cost::Layout inside);
  mlir::LogicalResult planGathered(const Emitter &emit, DispatchOp dispatch,
                                   Routed &routed, cost::Layout inside);

  LocalValues &values;
  const RowSpaces &rows;
  llvm::DenseMap<mlir::Value, RoutingCopies> routing;
  llvm::DenseMap<mlir::Operation *, Routed> routed; ///< by dispatch
};

/// The layout outside of the experts of the rows whose copies lie in `inside`.
cost::Layout rowsOfExchange(const Emitter &emit, cost::Layout inside);

} // namespace shardopt::llm

#endif // SHARDOPT_DIALECT_LLM_TRANSFORMS_PARTITION_EXCHANGE_H
