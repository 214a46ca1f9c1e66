//===- Validate.cpp - Whether a schedule is one, and what it costs --------===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "shardopt/Solvers/Schedule/Validate.h"

#include <algorithm>

using namespace shardopt;
using namespace shardopt::schedule;

int64_t Verdict::bubble() const {
  int64_t least = makespan;
  for (size_t d = 0; d < devices.size(); ++d)
    least = std::min(least, bubble(d));
  return least;
}

int64_t Verdict::totalBubble() const {
  int64_t total = 0;
  for (size_t d = 0; d < devices.size(); ++d)
    total += bubble(d);
  return total;
}

int64_t Verdict::ownSpan() const {
  int64_t span = 0;
  for (const DeviceUse &device : devices)
    span = std::max(span, device.last - device.first);
  return span;
}

int64_t Verdict::peakMemory() const {
  int64_t peak = 0;
  for (const DeviceUse &device : devices)
    peak = std::max(peak, device.peakMemory);
  return peak;
}

namespace {

class Validator {
public:
  Validator(const Instance &instance, const Schedule &schedule)
      : instance(instance), graph(instance.graph()), schedule(schedule) {}

  ErrorOr<Verdict> run();

private:
  std::optional<Error> checkPlaces();
  std::optional<Error> checkEdges();
  std::optional<Error> checkMachines();
  std::optional<Error> checkMemory();

  /// "op 'F3' of micro-batch 2, at 7 on device 1"
  std::string describe(int32_t op) const;

  const Instance &instance;
  const PlanGraph &graph;
  const Schedule &schedule;
  std::vector<int32_t> deviceOf; ///< of operators
  std::vector<int64_t> ends;     ///< of operators
  Verdict verdict;
};

} // namespace

std::string Validator::describe(int32_t op) const {
  return "op '" + instance.at(op).id + "' of micro-batch " +
         std::to_string(instance.microbatchOf(op)) + ", at " +
         std::to_string(schedule.starts[op]) + " on device " +
         std::to_string(deviceOf[op]);
}

std::optional<Error> Validator::checkPlaces() {
  if (schedule.devices.size() != graph.groups.size())
    return Error{"expected devices of " + std::to_string(graph.groups.size()) +
                 " groups, found " + std::to_string(schedule.devices.size())};
  if (schedule.starts.size() != size_t(instance.numOps()))
    return Error{"expected starts of " + std::to_string(instance.numOps()) +
                 " ops, found " + std::to_string(schedule.starts.size())};
  for (size_t g = 0; g < graph.groups.size(); ++g) {
    int32_t device = schedule.devices[g], fixed = graph.groups[g].device;
    if (device < 0 || device >= instance.numDevices())
      return Error{"group '" + graph.groups[g].name +
                   "': expected a device in [0, " +
                   std::to_string(instance.numDevices() - 1) + "], found " +
                   std::to_string(device)};
    if (fixed >= 0 && device != fixed)
      return Error{"group '" + graph.groups[g].name + "' is placed on device " +
                   std::to_string(fixed) + ", found it on device " +
                   std::to_string(device)};
  }
  for (int32_t op = 0; op < instance.numOps(); ++op) {
    deviceOf.push_back(schedule.devices[instance.at(op).group]);
    int64_t time = graph.time(op % instance.period(), deviceOf[op]);
    if (time < 0)
      return Error{describe(op) + ", cannot run on a '" +
                   graph.deviceKinds[graph.devices[deviceOf[op]].kind] + "'"};
    if (schedule.starts[op] < 0)
      return Error{describe(op) + ", starts before 0"};
    ends.push_back(schedule.starts[op] + time);
    verdict.makespan = std::max(verdict.makespan, ends.back());
  }
  return std::nullopt;
}

std::optional<Error> Validator::checkEdges() {
  for (int32_t c = 0; c < instance.copies(); ++c)
    for (const PlanEdge &edge : graph.edges) {
      int32_t from = edge.from + c * instance.period();
      int32_t to = edge.to + c * instance.period();
      int64_t ready = ends[from];
      if (deviceOf[from] != deviceOf[to])
        ready += graph.link.time(edge.bytes);
      if (schedule.starts[to] < ready)
        return Error{describe(to) + ", needs what " + describe(from) +
                     ", gives at " + std::to_string(ready)};
    }
  return std::nullopt;
}

std::optional<Error> Validator::checkMachines() {
  std::vector<std::vector<int32_t>> machines(instance.numMachines());
  for (int32_t op = 0; op < instance.numOps(); ++op) {
    DeviceUse &use = verdict.devices[deviceOf[op]];
    MachineKind kind = instance.at(op).machine;
    (kind == MachineKind::Compute ? use.work : use.commWork) +=
        ends[op] - schedule.starts[op];
    if (ends[op] > schedule.starts[op])
      machines[deviceOf[op] * numMachineKinds + int32_t(kind)].push_back(op);
  }
  for (size_t m = 0; m < machines.size(); ++m) {
    std::vector<int32_t> &ops = machines[m];
    std::sort(ops.begin(), ops.end(), [&](int32_t a, int32_t b) {
      return schedule.starts[a] < schedule.starts[b];
    });
    for (size_t i = 1; i < ops.size(); ++i)
      if (schedule.starts[ops[i]] < ends[ops[i - 1]])
        return Error{describe(ops[i]) + ", overlaps " + describe(ops[i - 1]) +
                     ", which ends at " + std::to_string(ends[ops[i - 1]])};
    if (m % numMachineKinds == size_t(MachineKind::Compute) && !ops.empty()) {
      verdict.devices[m / numMachineKinds].first = schedule.starts[ops[0]];
      verdict.devices[m / numMachineKinds].last = ends[ops.back()];
    }
  }
  return std::nullopt;
}

std::optional<Error> Validator::checkMemory() {
  /// Bytes that come or, being negative, go, and whose they are.
  struct Change {
    int64_t time, bytes;
    int32_t op;
  };
  std::vector<std::vector<Change>> changes(instance.numDevices());
  for (int32_t op = 0; op < instance.numOps(); ++op) {
    int64_t bytes = instance.at(op).birthBytes;
    if (!bytes)
      continue;
    int32_t first = instance.copyOf(op) * instance.period();
    const std::vector<int32_t> &freers = instance.freers(op - first);
    int64_t death = 0;
    for (int32_t freer : freers)
      death = std::max(death, ends[first + freer]);
    if (!freers.empty() && death <= schedule.starts[op])
      continue;
    changes[deviceOf[op]].push_back({schedule.starts[op], bytes, op});
    if (!freers.empty())
      changes[deviceOf[op]].push_back({death, -bytes, op});
  }
  std::vector<int64_t> parameters(instance.numDevices(), 0);
  for (const PlanOp &op : graph.ops)
    parameters[schedule.devices[op.group]] += op.parameterBytes;

  for (int32_t d = 0; d < instance.numDevices(); ++d) {
    const std::optional<int64_t> &limit = graph.devices[d].memory;
    DeviceUse &use = verdict.devices[d];
    int64_t bytes = use.peakMemory = parameters[d];
    if (limit && bytes > *limit)
      return Error{"device " + std::to_string(d) + " holds " +
                   std::to_string(bytes) + " bytes of parameters, " +
                   std::to_string(bytes - *limit) +
                   " more than its memory of " + std::to_string(*limit)};
    // At one time, what goes goes before what comes.
    std::sort(changes[d].begin(), changes[d].end(),
              [](const Change &a, const Change &b) {
                return std::make_pair(a.time, a.bytes) <
                       std::make_pair(b.time, b.bytes);
              });
    for (const Change &change : changes[d]) {
      bytes += change.bytes;
      if (bytes <= use.peakMemory)
        continue;
      use.peakMemory = bytes;
      use.peakTime = change.time;
      if (limit && bytes > *limit)
        return Error{describe(change.op) + ", makes " + std::to_string(bytes) +
                     " bytes, " + std::to_string(bytes - *limit) +
                     " more than the memory of " + std::to_string(*limit)};
    }
  }
  return std::nullopt;
}

ErrorOr<Verdict> Validator::run() {
  verdict.devices.resize(instance.numDevices());
  if (std::optional<Error> error = checkPlaces())
    return *error;
  if (std::optional<Error> error = checkEdges())
    return *error;
  if (std::optional<Error> error = checkMachines())
    return *error;
  if (std::optional<Error> error = checkMemory())
    return *error;
  return verdict;
}

ErrorOr<Verdict> schedule::validate(const Instance &instance,
                                    const Schedule &schedule) {
  return Validator(instance, schedule).run();
}
