//===- TimeModel.cpp - From kernels and collectives to seconds ------------===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "shardopt/Cost/TimeModel.h"

#include <cassert>

using namespace shardopt;
using namespace shardopt::cost;

const char *cost::spell(TimeOrigin origin) {
  static constexpr const char *names[] = {"measured", "extrapolated",
                                          "data_sheet"};
  return names[size_t(origin)];
}

std::optional<Collective> cost::reshardCollective(Layout from, Layout to,
                                                  double rows, double rowBytes,
                                                  const Degrees &degrees,
                                                  Axis over) {
  int64_t ranks = groupOf(over, degrees).size;
  if (ranks == 1 || from == to || from == Layout::R)
    return std::nullopt;
  double bytes = rows * rowBytes;
  if (from == Layout::P)
    return Collective{to == Layout::R ? CollectiveKind::AllReduce
                                      : CollectiveKind::ReduceScatter,
                      over, bytes};
  if (to == Layout::R)
    return Collective{CollectiveKind::AllGather, over, bytes};
  return Collective{CollectiveKind::AllToAll, over, bytes / double(ranks)};
}

Reshard cost::reshardCollectives(Layout from, Layout to, double rows,
                                 double rowBytes, const Degrees &degrees,
                                 Axis over) {
  Reshard steps;
  auto add = [&](const std::optional<Collective> &step) {
    if (step)
      steps.push_back(*step);
  };
  if (from == to || from == Layout::R)
    return steps;
  if (!isTwoAxis(from) && !isTwoAxis(to)) {
    add(reshardCollective(from, to, rows, rowBytes, degrees, over));
    return steps;
  }
  StageGrid grid(degrees);
  double bytes = rows * rowBytes;
  auto q = double(grid.q());
  double held = bytes / double(grid.size(over));
  if ((from == Layout::H && to == Layout::TH) ||
      (from == Layout::TH && to == Layout::H))
    return {{CollectiveKind::AllToAll, Axis::Q, held}};
  if (from == Layout::P && to == Layout::TP)
    return {{CollectiveKind::ReduceScatter, Axis::Q, bytes}};

  // By way of T.
  if (from == Layout::TH)
    add(Collective{CollectiveKind::AllToAll, Axis::C, held});
  else if (from == Layout::TP)
    add(Collective{CollectiveKind::ReduceScatter, Axis::C, bytes / q});
  else if (from != Layout::TR)
    add(reshardCollective(from, Layout::T, rows, rowBytes, degrees, over));
  assert(to != Layout::TP && "a sum of T.P is made of a sum only");
  if (to == Layout::TH)
    add(Collective{CollectiveKind::AllToAll, Axis::C, held});
  else if (to == Layout::TR)
    add(Collective{CollectiveKind::AllGather, Axis::C, bytes / q});
  else
    add(reshardCollective(Layout::T, to, rows, rowBytes, degrees, over));
  return steps;
}

double TimeModel::seconds(const OpCost &cost, const Degrees &degrees) const {
  double sum = 0;
  for (const Kernel &kernel : cost.kernels)
    sum += seconds(kernel);
  for (const Pass &pass : cost.passes)
    sum += seconds(pass);
  for (const Collective &collective : cost.collectives)
    sum += seconds(collective, degrees);
  return sum;
}

double TimeModel::reshard(Layout from, Layout to, double rows, double rowBytes,
                          const Degrees &degrees, Axis over) const {
  double sum = 0;
  for (const Collective &step :
       reshardCollectives(from, to, rows, rowBytes, degrees, over))
    sum += seconds(step, degrees);
  return sum;
}

InlineVector<Collective, 2> TimeModel::transfer(Layout layout, double bytes,
                                                const Degrees &degrees) const {
  Collective sendAll{CollectiveKind::Send, Axis::Pp, bytes};
  Collective sendPart{CollectiveKind::Send, Axis::Pp,
                      bytes / double(degrees.tp)};
  if (layout != Layout::R)
    return {sendPart};
  Collective gather{CollectiveKind::AllGather, Axis::Tp, bytes};
  if (seconds(sendAll, degrees) <=
      seconds(sendPart, degrees) + seconds(gather, degrees))
    return {sendAll};
  return {sendPart, gather};
}
