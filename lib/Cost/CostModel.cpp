//===- CostModel.cpp - A model on a machine, ready to be costed -----------===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "shardopt/Cost/CostModel.h"

#include <utility>

using namespace shardopt;
using namespace shardopt::cost;

CostModel::CostModel(Model model, std::shared_ptr<const TimeModel> time,
                     std::optional<double> skew, const Limits &limits)
    : program(std::move(model)), clock(std::move(time)), skew(skew),
      bounds(limits), layerIndex(program) {
  for (const Body &body : program.bodies)
    bodyIndices.emplace_back(body);
}

bool CostModel::fits(const Degrees &degrees) const {
  return !program.findExcess(degrees, bounds.maxDevices);
}

Context CostModel::context(const Degrees &degrees) const {
  return makeContext(program.workload, degrees);
}

Context CostModel::context(const Degrees &degrees,
                           const LayerKind &kind) const {
  const Body &body = program.bodies[kind.body];
  return makeContext(program.workload, degrees,
                     {kind.window, body.experts, body.topK}, skew);
}

std::optional<Collective> CostModel::tokenReturn(const Degrees &degrees) const {
  if (degrees.pp == 1 || program.workload.phase == Phase::Prefill)
    return std::nullopt;
  return Collective{CollectiveKind::Send, GridAxis::Pp, 0};
}
