//===- Exchange.h - What dispatch and combine share -------------*- C++ -*-===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef SHARDOPT_LIB_MODEL_OPS_EXCHANGE_H
#define SHARDOPT_LIB_MODEL_OPS_EXCHANGE_H

#include "Detail.h"

#include "shardopt/Model/OpModel.h"

namespace shardopt::cost::detail {

/// What one device exchanges by all-to-all in (T over q, layout over c).
struct ExchangedBytes {
  double outside = 0; ///< of its rows, topK copies of each
  double inside = 0;  ///< of the copies that it holds for its experts
};

/// Rows of `rowBytes` bytes. The c axis alone counts: what it shares, each of
/// its devices exchanges.
inline ExchangedBytes exchangedBytes(Layout layout, double topK,
                                     double rowBytes, const Context &context) {
  const StageGrid &grid = context.grid;
  auto rows = context.rows;
  double own = rows, copies = context.routing.copies;
  if (!grid.isQOutside())
    copies /= context.ranks(Axis::Q);
  else if (grid.q() > 1)
    own = std::min(rows, context.ranks(Axis::C) *
                             std::ceil(context.rows / context.tp()));
  if (layout == Layout::H)
    rowBytes *= 1 / context.ranks(Axis::C);
  return {context.localRows(layout, own, Axis::C) * topK * rowBytes,
          context.localRows(layout, copies, Axis::C) * rowBytes};
}

/// Rows of all replicas of a stage.
inline double stageRows(const Context &context) {
  return context.rows * double(context.degrees.dp);
}

/// A pass over rows on their way to experts, or back.
inline Kernel expertsKernel(double bytes) {
  Kernel kernel = memoryKernel(bytes);
  kernel.inExperts = true;
  return kernel;
}

/// Bytes of `rows` rows of `rowBytes` on one device of an expert group.
inline double heldBytes(Layout layout, double rows, double rowBytes,
                        const Context &context) {
  return context.heldBytes({layout, rowBytes, Axis::Etp}, rows);
}

} // namespace shardopt::cost::detail

#endif // SHARDOPT_LIB_MODEL_OPS_EXCHANGE_H
