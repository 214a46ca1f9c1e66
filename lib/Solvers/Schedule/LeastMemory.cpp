//===- LeastMemory.cpp - The least memory in which a schedule fits --------===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "FittingOrder.h"
#include "shardopt/Solvers/Schedule/Backends.h"
#include "shardopt/Solvers/Schedule/Sequential.h"

using namespace shardopt;
using namespace shardopt::schedule;

namespace {

class LeastMemory : public Backend {
public:
  const char *name() const override { return "least-memory"; }
  void improve(Incumbent &incumbent, const Budget &budget) override;
};

} // namespace

void LeastMemory::improve(Incumbent &incumbent, const Budget &budget) {
  const Instance &instance = incumbent.instance();
  if (!incumbent.exists())
    return;
  // In the order of the graph, which is mostly the least, and large graphs have
  // no more.
  Schedule sequential =
      scheduleSequentially(instance, incumbent.schedule().devices);
  if (validate(instance, sequential))
    incumbent.offer(sequential, name());
  int64_t low = incumbent.bound();
  bool isRefuted = true; // what is below `low`
  while (low < incumbent.value() && !budget.isOver()) {
    int64_t middle = low + (incumbent.value() - low) / 2;
    Instance limited = instance.withAtMost(middle);
    std::optional<Schedule> schedule;
    Answer answer = FittingOrder(limited, budget).find(schedule);
    if (answer == Answer::Yes && incumbent.offer(*schedule, name()))
      continue;
    isRefuted &= answer == Answer::No;
    low = middle + 1;
    if (isRefuted)
      incumbent.raiseMemoryBound(low);
  }
}

std::unique_ptr<Backend> schedule::makeLeastMemory() {
  return std::make_unique<LeastMemory>();
}
