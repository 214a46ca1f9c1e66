//===- ControlledMemoryOrders.cpp - Pipelines folded into a V -------------===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Passes take a slot each. V-Half and V-Min repeat the passes of a micro-batch
// every six slots. How long it stays sets the memory, and gradients of weights
// take the slots that stay free. Before and after the steady phase, passes then
// move into earlier slots where memory permits.
//
//===----------------------------------------------------------------------===//

#include "BlockWriter.h"

#include <array>
#include <set>
#include <tuple>

using namespace shardopt;
using namespace shardopt::schedule;

std::vector<Block> schedule::zeroBubbleBlocks(int32_t devices, int32_t d,
                                              int32_t microbatches) {
  BlockWriter writer({0, d, -1}, {0, 2 * devices - 1 - d, -1});
  int32_t numNear = 0, numFar = 0; // forward passes
  auto forward = [&](int which) {
    writer.forward(which);
    ++(which ? numFar : numNear);
  };
  auto backward = [&](int which) {
    writer.backward(which, false);
    writer.weight(which);
  };
  for (int32_t i = 0; i < 2 * (devices - d) - 1; ++i)
    forward(0);
  for (int32_t i = 0; i < d; ++i) {
    forward(1);
    forward(0);
  }
  for (int32_t i = 0; i < devices - d; ++i) {
    forward(1);
    backward(1);
  }
  while (numFar < microbatches) {
    if (numNear < microbatches)
      forward(0);
    backward(0);
    forward(1);
    backward(1);
  }
  for (int32_t i = 0; i < d; ++i) {
    writer.backward(0, false);
    writer.backward(1, false);
  }
  for (int32_t i = 0; i < devices - d; ++i) {
    writer.backward(0, false);
    writer.weight(0);
  }
  for (int32_t i = 0; i < d; ++i)
    writer.weight(1);
  while (writer.numPending())
    writer.weight();
  return std::move(writer.blocks);
}

namespace {

/// Passes of a device, in the order in which a micro-batch goes through them.
enum Kind : int32_t { NearForward, FarForward, FarBackward, NearBackward };
constexpr int32_t numKinds = 4, weightKind = 4;

/// Slots of a device: of passes by micro-batch, and of weight gradients, of
/// which the k-th is of the k-th gradient that was made.
using DeviceSlots = std::array<std::vector<int32_t>, numKinds + 1>;

struct Event {
  int32_t slot, device, kind, index;
  bool operator<(const Event &other) const {
    return std::tie(slot, device, kind, index) <
           std::tie(other.slot, other.device, other.kind, other.index);
  }
};

/// The repeated passes of all devices.
class SlotTable {
public:
  SlotTable(ExpertOrder order, int32_t devices, int32_t microbatches);

  /// Moves what is before and after the steady phase: first all of it, then
  /// passes after it alone, and gradients of weights take what stays free.
  void move();

  std::vector<std::vector<Block>> blocks() const;

private:
  void move(bool movesWeights);
  /// Starts all passes as early as the order of their slots permits.
  void squeeze();
  std::vector<Event> events() const;
  /// The last slot that an event of it has to be behind, -1 for none.
  int32_t before(const Event &event) const;
  /// The largest number of activations.
  int32_t peakOf(int32_t device) const;

  int32_t microbatches;
  std::vector<DeviceSlots> slots;
};

} // namespace

SlotTable::SlotTable(ExpertOrder order, int32_t devices, int32_t microbatches)
    : microbatches(microbatches), slots(devices) {
  bool isHalf = order == ExpertOrder::VHalf;
  // Between forward and backward, so that no two passes fall into one slot.
  int32_t gap = isHalf ? 3 * (devices % 2 == 0) : 2 * (devices % 3 == 0);
  constexpr int32_t interval = 6;
  for (int32_t d = 0; d < devices; ++d) {
    int32_t firsts[numKinds] = {d, 2 * devices - 1 - d, 2 * devices + gap + d,
                                4 * devices + gap - 1 - d};
    int32_t halves[numKinds] = {2 * d, 3 * devices - 2 - d,
                                3 * devices + gap + 2 * d - 1,
                                6 * devices + gap - 2 - d};
    for (int32_t kind = 0; kind < numKinds; ++kind)
      for (int32_t m = 0; m < microbatches; ++m)
        slots[d][kind].push_back((isHalf ? halves : firsts)[kind] +
                                 interval * m);
  }
}

std::vector<Event> SlotTable::events() const {
  std::vector<Event> result;
  for (size_t d = 0; d < slots.size(); ++d)
    for (size_t kind = 0; kind < slots[d].size(); ++kind)
      for (size_t k = 0; k < slots[d][kind].size(); ++k)
        result.push_back(
            {slots[d][kind][k], int32_t(d), int32_t(kind), int32_t(k)});
  std::sort(result.begin(), result.end());
  return result;
}

/// Slots of the gradients of inputs, ascending.
static std::vector<int32_t> gradientsOf(const DeviceSlots &device) {
  std::vector<int32_t> result = device[FarBackward];
  result.insert(result.end(), device[NearBackward].begin(),
                device[NearBackward].end());
  std::sort(result.begin(), result.end());
  return result;
}

/// Puts gradients of weights into the slots that passes leave free.
static void fillWeights(DeviceSlots &device) {
  std::set<int32_t> taken;
  for (int32_t kind = 0; kind < numKinds; ++kind)
    taken.insert(device[kind].begin(), device[kind].end());
  device[weightKind].clear();
  int32_t slot = 0;
  for (int32_t gradient : gradientsOf(device)) {
    slot = std::max(slot, gradient + 1);
    while (taken.count(slot))
      ++slot;
    device[weightKind].push_back(slot++);
  }
}

int32_t SlotTable::peakOf(int32_t device) const {
  const DeviceSlots &own = slots[device];
  std::vector<std::pair<int32_t, int32_t>> changes;
  for (int32_t kind : {int32_t(NearForward), int32_t(FarForward)})
    for (int32_t slot : own[kind])
      changes.push_back({slot, 1});
  for (int32_t slot : own[weightKind])
    changes.push_back({slot, -1});
  std::sort(changes.begin(), changes.end());
  int32_t live = 0, peak = 0;
  for (auto [slot, change] : changes)
    peak = std::max(peak, live += change);
  return peak;
}

int32_t SlotTable::before(const Event &event) const {
  const DeviceSlots &own = slots[event.device];
  if (event.kind == weightKind)
    return std::max(gradientsOf(own)[event.index],
                    event.index ? own[weightKind][event.index - 1] : -1);
  bool isDown = event.kind == NearForward || event.kind == FarBackward;
  int32_t other = event.device + (isDown ? -1 : 1);
  int32_t last = -1;
  if (other >= 0 && other < int32_t(slots.size()))
    last = slots[other][event.kind][event.index];
  if (event.kind != NearForward)
    last = std::max(last, own[event.kind - 1][event.index]);
  if (event.index)
    last = std::max(last, own[event.kind][event.index - 1]);
  return last;
}

void SlotTable::move(bool movesWeights) {
  int32_t most = 0;
  for (size_t d = 0; d < slots.size(); ++d)
    most = std::max(most, peakOf(int32_t(d)));
  std::vector<std::set<int32_t>> taken(slots.size());
  enum { Filling, Steady, Draining } phase = Filling;
  for (const Event &event : events()) {
    if (!movesWeights && event.kind == weightKind)
      continue;
    int32_t &slot = slots[event.device][event.kind][event.index];
    bool isLastForward =
        event.kind == NearForward && event.index + 1 == microbatches;
    if (phase == Filling && event.kind == NearBackward && event.device == 0)
      phase = Steady;
    bool stays = phase == Steady || (phase == Filling && !movesWeights);
    if (phase == Steady && isLastForward)
      phase = Draining;
    for (int32_t earlier = stays ? event.slot : before(event) + 1;
         earlier < event.slot; ++earlier) {
      if (taken[event.device].count(earlier))
        continue;
      slot = earlier;
      if (!movesWeights)
        fillWeights(slots[event.device]);
      if (peakOf(event.device) <= most)
        break;
      slot = event.slot;
      if (!movesWeights)
        fillWeights(slots[event.device]);
    }
    taken[event.device].insert(slot);
  }
}

void SlotTable::squeeze() {
  std::vector<int32_t> idle(slots.size(), 0);
  std::vector<Event> ordered = events();
  for (const Event &event : ordered) {
    int32_t &slot = slots[event.device][event.kind][event.index];
    slot = std::max(before(event) + 1, idle[event.device]);
    idle[event.device] = slot + 1;
  }
}

void SlotTable::move() {
  for (bool movesWeights : {true, false}) {
    for (DeviceSlots &device : slots)
      fillWeights(device);
    move(movesWeights);
    if (movesWeights)
      squeeze();
  }
}

std::vector<std::vector<Block>> SlotTable::blocks() const {
  std::vector<std::vector<Block>> result;
  int32_t devices = int32_t(slots.size());
  for (int32_t d = 0; d < devices; ++d) {
    BlockWriter writer({0, d, -1}, {0, 2 * devices - 1 - d, -1});
    std::vector<Event> own;
    for (const Event &event : events())
      if (event.device == d)
        own.push_back(event);
    for (const Event &event : own)
      switch (event.kind) {
      case NearForward:
      case FarForward:
        writer.forward(event.kind == FarForward);
        break;
      case FarBackward:
      case NearBackward:
        writer.backward(event.kind == FarBackward, false);
        break;
      default:
        writer.weight();
      }
    result.push_back(std::move(writer.blocks));
  }
  return result;
}

std::vector<std::vector<Block>>
schedule::makeRepeatedBlocks(ExpertOrder order, int32_t devices,
                             int32_t microbatches) {
  SlotTable table(order, devices, microbatches);
  table.move();
  return table.blocks();
}
