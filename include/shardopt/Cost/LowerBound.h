//===- LowerBound.h - Times that nothing is below ---------------*- C++ -*-===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef SHARDOPT_COST_LOWERBOUND_H
#define SHARDOPT_COST_LOWERBOUND_H

#include "shardopt/Cost/Roofline.h"

namespace shardopt::cost {

/// The roofline of the peaks of a data sheet, without launches and latencies:
/// arithmetic and memory, the slower of the two, and bytes over links. Fitted
/// times are not below it, but for what docs/Calibration.md says of caches.
class LowerBound final : public TimeModel {
public:
  /// `machine` has constants of measured kernels, which have its data sheet.
  explicit LowerBound(const Machine &machine);

  using TimeModel::seconds;
  double seconds(const Kernel &kernel) const override;
  double seconds(const Collective &collective,
                 const Degrees &degrees) const override;
  bool isComputeBound(const Kernel &kernel) const override;

private:
  double arithmetic(const Kernel &kernel) const;

  DataSheet sheet;
  Roofline links; ///< only its collectives count
};

} // namespace shardopt::cost

#endif // SHARDOPT_COST_LOWERBOUND_H
