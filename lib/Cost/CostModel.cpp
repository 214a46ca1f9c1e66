//===- CostModel.cpp - A model on a machine, ready to be costed -----------===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "shardopt/Cost/CostModel.h"

#include <algorithm>
#include <cassert>
#include <utility>

using namespace shardopt;
using namespace shardopt::cost;

CostModel::CostModel(Model model, std::shared_ptr<const TimeModel> time,
                     std::optional<double> skew, const Limits &limits,
                     StageDivision division)
    : program(std::move(model)), clock(std::move(time)), skew(skew),
      bounds(limits), stageDivision(division), layerIndex(program) {
  for (const Body &body : program.bodies)
    bodyIndices.emplace_back(body);
}

bool CostModel::fits(const Degrees &degrees) const {
  return program.hasGrid(degrees) && program.hasStages(degrees) &&
         !program.findExcess(degrees, bounds.maxDevices);
}

bool CostModel::hasTrellis(unsigned number) const {
  for (const std::vector<ValueId> &live : bodyIndices[number].liveAfter)
    if (live.size() > Body::maxLiveValues)
      return false;
  for (const Node &node : program.bodies[number].nodes)
    if (node.operands.size() > maxOperands)
      return false;
  return true;
}

bool CostModel::hasTrellises() const {
  if (program.bodies.size() > Model::maxBodies)
    return false;
  for (unsigned body = 0; body < program.bodies.size(); ++body)
    if (!hasTrellis(body))
      return false;
  return true;
}

/// The context that `make` makes of degrees, relaxed to `range` if there is
/// one.
template <typename Make>
static Context inRange(const Degrees &degrees,
                       const std::optional<BatchRange> &range, Make make) {
  Context context = make(degrees);
  if (range) {
    Degrees most = degrees;
    most.batch = range->most;
    relax(context, make(most), *range);
  }
  return context;
}

Context CostModel::context(const Degrees &degrees,
                           const std::optional<BatchRange> &range) const {
  return inRange(degrees, range, [&](const Degrees &at) {
    return makeContext(program.workload, at);
  });
}

Context CostModel::context(const Degrees &degrees, const LayerKind &kind,
                           const std::optional<BatchRange> &range) const {
  const Body &body = program.bodies[kind.body];
  return inRange(degrees, range, [&](const Degrees &at) {
    return makeContext(program.workload, at,
                       {kind.window, body.experts, body.topK}, skew);
  });
}

Context CostModel::contextOfBody(const Degrees &degrees, unsigned body) const {
  const std::vector<LayerKind> &kinds = layerIndex.kinds();
  auto first = std::find_if(kinds.begin(), kinds.end(),
                            [&](auto &kind) { return kind.body == body; });
  assert(first != kinds.end() && "a body without layers");
  return context(degrees, *first);
}

std::optional<Collective> CostModel::tokenReturn(const Degrees &degrees) const {
  if (degrees.pp == 1 || program.workload.phase == Phase::Prefill)
    return std::nullopt;
  return Collective{CollectiveKind::Send, Axis::Pp, 0};
}
