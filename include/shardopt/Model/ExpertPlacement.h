//===- ExpertPlacement.h - The fullest rank of experts ----------*- C++ -*-===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef SHARDOPT_MODEL_EXPERTPLACEMENT_H
#define SHARDOPT_MODEL_EXPERTPLACEMENT_H

#include "shardopt/Model/Context.h"
#include "shardopt/Model/ExpertShares.h"

#include <map>
#include <memory>
#include <tuple>
#include <vector>

namespace shardopt::cost {

/// Experts of uneven load on the ranks of an expert-parallel group, and what
/// the fullest rank has, in the mean over layers.
///
/// Without EPLB each rank has experts that follow each other. With it, as in
/// DeepSeek's balancer, the expert whose replicas have the highest load gets
/// one more until all slots are taken, and replicas go by descending load to
/// the rank with the least that has a free slot. Replicas of an expert share
/// its tokens evenly.
///
/// The copies on rank g are taken as normal with mean T m_g and, as for
/// independent visits, at most the variance T m_g; its deviation counts
/// `spread` times. The fullest rank has what all ranks are below with the
/// chance at which Blom has the mean of the largest: where ranks are alike,
/// `deviationsOfLargest` above the mean. Experts with tokens are no more than
/// under an even load with `reach`, which is fitted to runs whose loads are not
/// known, and counts what tokens have in common. More tokens are never fewer
/// copies on the fullest rank, nor fewer active experts, and never a greater
/// imbalance.
class ExpertPlacement {
public:
  /// Of `degrees` only ep and eplb count; `reach` and `spread` are as in
  /// `makeRouting` and StepTimes.
  ExpertPlacement(const ExpertShares &shares, int64_t experts, int64_t topK,
                  const Degrees &degrees, double reach, double spread);

  /// Of `tokens`, over all replicas.
  Routing route(double tokens) const;
  /// Of so many tokens that chance does not count: the load of the fullest rank
  /// over the mean.
  double imbalance() const { return full; }

private:
  /// At a number of tokens.
  struct Node {
    double copies = 0;   ///< on the fullest rank
    double fraction = 0; ///< of all slots, those with tokens
    double active = 0;   ///< slots with tokens, on the rank of most
  };
  double copiesAt(double tokens) const;

  int64_t experts, topK;
  Degrees degrees;
  int64_t ranks, slots;
  double reach, deviations;
  double full = 1;
  std::vector<Node> nodes; ///< at 2^(i/2) tokens
};

/// The placements of the layouts of one machine, each made once. Of one thread.
class ExpertPlacements {
public:
  ExpertPlacements(std::shared_ptr<const ExpertShares> shares, double reach,
                   double spread)
      : shares(std::move(shares)), reach(reach), spread(spread) {}

  /// Lives as long as this.
  const ExpertPlacement &of(int64_t experts, int64_t topK,
                            const Degrees &degrees);

private:
  std::shared_ptr<const ExpertShares> shares;
  double reach, spread;
  std::map<std::tuple<int64_t, int64_t, int64_t, int64_t>, ExpertPlacement>
      known;
};

} // namespace shardopt::cost

#endif // SHARDOPT_MODEL_EXPERTPLACEMENT_H
