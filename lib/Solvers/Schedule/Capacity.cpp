//===- Capacity.cpp - What memory has to hold in any order ----------------===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "shardopt/Solvers/Schedule/Bounds.h"

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

namespace {

/// What a device holds at its worst time, at least.
struct LeastPeak {
  int64_t activations = 0; ///< that something frees, of a single micro-batch
  int64_t kept = 0;        ///< that nothing frees, of all micro-batches
  int64_t bytes() const { return activations + kept; }
};

} // namespace

static void raise(LeastPeak &peak, const LeastPeak &other) {
  if (other.bytes() > peak.bytes())
    peak = other;
}

/// Of each device, what lives at the start of an operator whatever the order:
/// bytes that were born before it, or by it, and wait for it or for what comes
/// after it. When its last repetition starts, what is before it has run in all
/// of them, and what nothing frees is there as often.
static std::vector<LeastPeak> leastPeaks(const Instance &instance,
                                         const std::vector<int32_t> &devices) {
  const PlanGraph &graph = instance.graph();
  int32_t count = instance.period();
  std::vector<LeastPeak> peaks(instance.numDevices()), ends(peaks);
  auto deviceOf = [&](int32_t i) { return devices[graph.ops[i].group]; };
  for (int32_t i = 0; i < count; ++i) {
    int64_t bytes = graph.ops[i].birthBytes;
    if (deviceOf(i) < 0)
      continue;
    if (instance.freers(i).empty())
      ends[deviceOf(i)].kept += bytes * instance.copies();
    else
      raise(peaks[deviceOf(i)], {bytes, 0});
  }
  for (int32_t d = 0; d < instance.numDevices(); ++d)
    raise(peaks[d], ends[d]);
  constexpr int32_t mostOps = 1500;
  if (count > mostOps)
    return peaks;
  std::vector<std::vector<bool>> before = findAncestors(instance);
  for (int32_t at = 0; at < count; ++at) {
    std::vector<LeastPeak> live(instance.numDevices());
    for (int32_t birth = 0; birth < count; ++birth) {
      int64_t bytes = graph.ops[birth].birthBytes;
      if (!bytes || deviceOf(birth) < 0 || (birth != at && !before[at][birth]))
        continue;
      const std::vector<int32_t> &freers = instance.freers(birth);
      LeastPeak &peak = live[deviceOf(birth)];
      if (freers.empty())
        peak.kept += bytes * instance.copies();
      else if (std::any_of(freers.begin(), freers.end(), [&](int32_t freer) {
                 return freer == at || before[freer][at];
               }))
        peak.activations += bytes;
    }
    for (int32_t d = 0; d < instance.numDevices(); ++d)
      raise(peaks[d], live[d]);
  }
  return peaks;
}

static std::vector<int64_t> sumParameters(const Instance &instance,
                                          const std::vector<int32_t> &devices) {
  std::vector<int64_t> parameters(instance.numDevices(), 0);
  for (const PlanOp &op : instance.graph().ops)
    if (devices[op.group] >= 0)
      parameters[devices[op.group]] += op.parameterBytes;
  return parameters;
}

std::vector<int64_t>
schedule::leastMemory(const Instance &instance,
                      const std::vector<int32_t> &devices) {
  std::vector<int64_t> bytes = sumParameters(instance, devices);
  std::vector<LeastPeak> peaks = leastPeaks(instance, devices);
  for (size_t d = 0; d < bytes.size(); ++d)
    bytes[d] += peaks[d].bytes();
  return bytes;
}

std::optional<Error>
schedule::checkCapacity(const Instance &instance,
                        const std::vector<int32_t> &devices) {
  const PlanGraph &graph = instance.graph();
  std::vector<int64_t> parameters = sumParameters(instance, devices);
  std::vector<LeastPeak> peaks = leastPeaks(instance, devices);
  for (int32_t d = 0; d < instance.numDevices(); ++d) {
    const std::optional<int64_t> &memory = graph.devices[d].memory;
    const LeastPeak &peak = peaks[d];
    int64_t wanted = parameters[d] + peak.bytes();
    if (!memory || wanted <= *memory)
      continue;
    std::string text =
        "device " + std::to_string(d) + " cannot hold even one micro-batch: " +
        std::to_string(peak.activations) + " of activations and " +
        std::to_string(parameters[d]) + " of parameters";
    if (peak.kept)
      text += " and " + std::to_string(peak.kept) + " that nothing frees";
    return Error{text + " are " + std::to_string(wanted - *memory) +
                 " more than its memory of " + std::to_string(*memory) +
                 "; a memory of " + std::to_string(wanted) + " would fit"};
  }
  return std::nullopt;
}
