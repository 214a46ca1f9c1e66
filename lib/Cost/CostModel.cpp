//===- CostModel.cpp - A model on a machine, ready to be costed -----------===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "shardopt/Cost/CostModel.h"

#include <algorithm>
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
  if (bounds.maxDevices && degrees.devices() > bounds.maxDevices)
    return false;
  if (degrees.pp > layerIndex.numLayers())
    return false;
  for (const Body &body : program.bodies)
    if (body.experts && degrees.ep > body.experts)
      return false;
  return true;
}

std::optional<std::string>
CostModel::structuralError(const Degrees &degrees) const {
  if (fits(degrees))
    return std::nullopt;
  auto excess = [](const char *what, int64_t found, const char *limit,
                   int64_t most) {
    return std::string(what) + " " + std::to_string(found) + " exceeds the " +
           limit + " " + std::to_string(most);
  };
  if (bounds.maxDevices && degrees.devices() > bounds.maxDevices)
    return excess("tp * ep * pp", degrees.devices(), "device limit",
                  bounds.maxDevices);
  if (degrees.pp > layerIndex.numLayers())
    return excess("pp", degrees.pp, "number of layers", layerIndex.numLayers());
  int64_t experts = degrees.ep;
  for (const Body &body : program.bodies)
    if (body.experts)
      experts = std::min(experts, body.experts);
  return excess("ep", degrees.ep, "number of experts", experts);
}

Context CostModel::context(const Degrees &degrees) const {
  return makeContext(program.workload, degrees);
}

Context CostModel::context(const Degrees &degrees,
                           const LayerKind &kind) const {
  Context context = makeContext(program.workload, degrees);
  context.window = kind.window;
  const Body &body = program.bodies[kind.body];
  if (body.experts)
    context.routing =
        makeRouting(body.experts, body.topK, context.rows, degrees.ep, skew);
  return context;
}

std::optional<Collective> CostModel::tokenReturn(const Degrees &degrees) const {
  if (degrees.pp == 1 || program.workload.phase == Phase::Prefill)
    return std::nullopt;
  return Collective{CollectiveKind::Send, GridAxis::Pp, 0};
}
