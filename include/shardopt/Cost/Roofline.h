//===- Roofline.h - The roofline simulator ----------------------*- C++ -*-===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef SHARDOPT_COST_ROOFLINE_H
#define SHARDOPT_COST_ROOFLINE_H

#include "shardopt/Cost/TimeModel.h"
#include "shardopt/Model/Machine/Machine.h"

namespace shardopt::cost {

/// How collectives are implemented.
enum class CommModel : uint8_t {
  Fast,   ///< best of one-shot, two-shot and in-network reduction
  Direct, ///< two-shot only
  Ring,   ///< NCCL's rings, with the latencies of its own tuner
};

/// max(flops / peak, bytes / bandwidth) plus a launch for kernels; latency plus
/// volume over bandwidth for collectives, over two levels of links.
class Roofline final : public TimeModel {
public:
  explicit Roofline(const Machine &machine, CommModel comm = CommModel::Fast);

  using TimeModel::seconds;
  double seconds(const Kernel &kernel) const override;
  double seconds(const Collective &collective,
                 const Degrees &degrees) const override;
  bool isComputeBound(const Kernel &kernel) const override;

private:
  /// `n` ranks at equal distance, `inside` of them in each of `domains`
  /// domains.
  struct Group {
    double n, inside, domains;
    double domainSteps; ///< ceil(log2(domains))
  };
  Group group(const AxisGroup &along) const;
  double latency(const Group &group) const;
  double volume(const Group &group, double bytes) const;
  double gather(const Group &group, double bytes) const;
  double allReduce(const Group &group, double bytes) const;
  double allToAll(const Group &group, double bytes) const;
  double send(double bytes, int64_t devices) const;
  double peak(WeightType weights) const;

  Machine machine;
  CommModel comm;
  double collectiveLatency; ///< a_c of the chosen communication model
};

} // namespace shardopt::cost

#endif // SHARDOPT_COST_ROOFLINE_H
