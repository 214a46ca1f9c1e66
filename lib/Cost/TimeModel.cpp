//===- TimeModel.cpp - From kernels and collectives to seconds ------------===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "shardopt/Cost/TimeModel.h"

using namespace shardopt;
using namespace shardopt::cost;

std::optional<Collective> cost::reshardCollective(Layout from, Layout to,
                                                  double rows, double rowBytes,
                                                  const Degrees &degrees,
                                                  GridAxis over) {
  const int64_t ranks = groupOf(over, degrees).size;
  if (ranks == 1 || from == to || from == Layout::R)
    return std::nullopt;
  const double bytes = rows * rowBytes;
  if (from == Layout::P)
    return Collective{to == Layout::R ? CollectiveKind::AllReduce
                                      : CollectiveKind::ReduceScatter,
                      over, bytes};
  if (to == Layout::R)
    return Collective{CollectiveKind::AllGather, over, bytes};
  return Collective{CollectiveKind::AllToAll, over,
                    bytes / static_cast<double>(ranks)};
}

double TimeModel::seconds(const OpCost &cost, const Degrees &degrees) const {
  double sum = 0;
  for (const Kernel &kernel : cost.kernels)
    sum += seconds(kernel);
  for (const Collective &collective : cost.collectives)
    sum += seconds(collective, degrees);
  return sum;
}

double TimeModel::reshard(Layout from, Layout to, double rows, double rowBytes,
                          const Degrees &degrees, GridAxis over) const {
  std::optional<Collective> collective =
      reshardCollective(from, to, rows, rowBytes, degrees, over);
  return collective ? seconds(*collective, degrees) : 0;
}

InlineVector<Collective, 2> TimeModel::transfer(Layout layout, double bytes,
                                                const Degrees &degrees) const {
  const Collective sendAll{CollectiveKind::Send, GridAxis::Pp, bytes};
  const Collective sendPart{CollectiveKind::Send, GridAxis::Pp,
                            bytes / static_cast<double>(degrees.tp)};
  if (layout != Layout::R)
    return {sendPart};
  const Collective gather{CollectiveKind::AllGather, GridAxis::Tp, bytes};
  if (seconds(sendAll, degrees) <=
      seconds(sendPart, degrees) + seconds(gather, degrees))
    return {sendAll};
  return {sendPart, gather};
}
