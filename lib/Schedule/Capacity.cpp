//===- Capacity.cpp - What memory has to hold in any order ----------------===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "shardopt/Schedule/Bounds.h"

#include <algorithm>

using namespace shardopt;
using namespace shardopt::schedule;

/// Which operators come before each: a bit for each pair.
static std::vector<std::vector<bool>> findAncestors(const Instance &instance) {
  size_t count = instance.period();
  std::vector<std::vector<bool>> before(count, std::vector<bool>(count));
  for (int32_t i : instance.order())
    for (const Arc &arc : instance.predecessors(i)) {
      for (size_t k = 0; k < count; ++k)
        if (before[arc.op][k])
          before[i][k] = true;
      before[i][arc.op] = true;
    }
  return before;
}

/// Of each device, the most bytes of one micro-batch that live at once whatever
/// the order: those that were born before an operator, or by it, and wait for
/// it or for what comes after it.
static std::vector<int64_t> leastPeaks(const Instance &instance,
                                       const std::vector<int32_t> &devices) {
  const PlanGraph &graph = instance.graph();
  std::vector<int64_t> peaks(instance.numDevices(), 0);
  auto deviceOf = [&](int32_t i) { return devices[graph.ops[i].group]; };
  for (int32_t i = 0; i < instance.period(); ++i)
    if (deviceOf(i) >= 0)
      peaks[deviceOf(i)] =
          std::max(peaks[deviceOf(i)], graph.ops[i].birthBytes);
  constexpr int32_t mostOps = 1500;
  if (instance.period() > mostOps)
    return peaks;
  std::vector<std::vector<bool>> before = findAncestors(instance);
  auto isLive = [&](int32_t birth, int32_t at) {
    if (birth != at && !before[at][birth])
      return false;
    const std::vector<int32_t> &freers = instance.freers(birth);
    return freers.empty() ||
           std::any_of(freers.begin(), freers.end(), [&](int32_t freer) {
             return freer == at || before[freer][at];
           });
  };
  for (int32_t at = 0; at < instance.period(); ++at) {
    std::vector<int64_t> bytes(instance.numDevices(), 0);
    for (int32_t birth = 0; birth < instance.period(); ++birth)
      if (graph.ops[birth].birthBytes && deviceOf(birth) >= 0 &&
          isLive(birth, at))
        bytes[deviceOf(birth)] += graph.ops[birth].birthBytes;
    for (int32_t d = 0; d < instance.numDevices(); ++d)
      peaks[d] = std::max(peaks[d], bytes[d]);
  }
  return peaks;
}

/// Bytes without an operator that frees them stay for all micro-batches.
static std::vector<int64_t> keptBytes(const Instance &instance,
                                      const std::vector<int32_t> &devices) {
  std::vector<int64_t> kept(instance.numDevices(), 0);
  for (int32_t i = 0; i < instance.period(); ++i) {
    const PlanOp &op = instance.graph().ops[i];
    if (devices[op.group] >= 0 && instance.freers(i).empty())
      kept[devices[op.group]] += op.birthBytes * (instance.copies() - 1);
  }
  return kept;
}

std::optional<Error>
schedule::checkCapacity(const Instance &instance,
                        const std::vector<int32_t> &devices) {
  const PlanGraph &graph = instance.graph();
  std::vector<int64_t> parameters(instance.numDevices(), 0);
  for (const PlanOp &op : graph.ops)
    if (devices[op.group] >= 0)
      parameters[devices[op.group]] += op.parameterBytes;
  std::vector<int64_t> activations = leastPeaks(instance, devices);
  std::vector<int64_t> kept = keptBytes(instance, devices);
  for (int32_t d = 0; d < instance.numDevices(); ++d) {
    const std::optional<int64_t> &memory = graph.devices[d].memory;
    int64_t wanted = parameters[d] + activations[d] + kept[d];
    if (!memory || wanted <= *memory)
      continue;
    std::string text =
        "device " + std::to_string(d) +
        " cannot hold even one micro-batch: " + std::to_string(activations[d]) +
        " of activations and " + std::to_string(parameters[d]) +
        " of parameters";
    if (kept[d])
      text += " and " + std::to_string(kept[d]) + " that nothing frees";
    return Error{text + " are " + std::to_string(wanted - *memory) +
                 " more than its memory of " + std::to_string(*memory) +
                 "; a memory of " + std::to_string(wanted) + " would fit"};
  }
  return std::nullopt;
}
