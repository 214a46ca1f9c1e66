//===- EventSimulation.cpp - Streams and links of devices -----------------===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "shardopt/Cost/Simulation/EventSimulation.h"

#include <algorithm>
#include <cassert>
#include <limits>

using namespace shardopt;
using namespace shardopt::simulation;

void EventSimulation::clear() {
  tasks.clear();
  finishes.clear();
  for (std::vector<int> &queue : queues)
    queue.clear();
}

int EventSimulation::add(const Task &task) {
  int number = int(tasks.size());
  for ([[maybe_unused]] int before : task.after)
    assert(before < number && "a task waits for an earlier one");
  tasks.push_back(task);
  assert(queueOf(task) < queues.size() && "a known device");
  queues[queueOf(task)].push_back(number);
  return number;
}

bool EventSimulation::isReady(const Task &task) const {
  for (int before : task.after)
    if (before != Task::none && finishes[size_t(before)] < 0)
      return false;
  return true;
}

/// Starts what can start; whether any task is running then. Tasks without
/// work end where they start, which may let others start.
bool EventSimulation::startTasks() {
  bool ended = true;
  bool anyRunning = false;
  while (ended) {
    ended = anyRunning = false;
    for (size_t s = 0; s < queues.size(); ++s) {
      Running &slot = running[s];
      while (slot.task == Task::none && heads[s] < queues[s].size()) {
        int next = queues[s][heads[s]];
        const Task &task = tasks[size_t(next)];
        if (!isReady(task))
          break;
        ++heads[s];
        if (task.seconds() > 0) {
          slot = {next, task.latency, task.work};
        } else {
          finishes[size_t(next)] = now;
          ended = true;
        }
      }
      anyRunning |= slot.task != Task::none;
    }
  }
  return anyRunning;
}

/// Work done in a second.
double EventSimulation::rate(const Task &task) const {
  const std::array<int, numLinks> &here = transfers[task.device];
  if (task.link != Link::None)
    return 1.0 / here[size_t(task.link)];
  int beside = here[size_t(Link::Domain)] + here[size_t(Link::Network)];
  return 1 / (1 + beside * interference);
}

/// Goes on to the next moment at which a latency or a task ends.
void EventSimulation::advance() {
  std::fill(transfers.begin(), transfers.end(), std::array<int, numLinks>());
  for (const Running &slot : running)
    if (slot.task != Task::none) {
      const Task &task = tasks[size_t(slot.task)];
      if (slot.isTransferring(task))
        ++transfers[task.device][size_t(task.link)];
    }

  double step = std::numeric_limits<double>::infinity();
  for (size_t s = 0; s < queues.size(); ++s) {
    const Running &slot = running[s];
    if (slot.task == Task::none)
      continue;
    rates[s] = slot.latency > 0 ? 1 : rate(tasks[size_t(slot.task)]);
    left[s] = (slot.latency > 0 ? slot.latency : slot.work) / rates[s];
    step = std::min(step, left[s]);
  }

  now += step;
  for (size_t s = 0; s < queues.size(); ++s) {
    Running &slot = running[s];
    if (slot.task == Task::none)
      continue;
    double &part = slot.latency > 0 ? slot.latency : slot.work;
    // What ends within rounding of this moment ends now, so that time always
    // goes on.
    bool ends = left[s] <= step * (1 + 1e-12);
    part = ends ? 0 : part - step * rates[s];
    if (slot.latency == 0 && slot.work == 0) {
      finishes[size_t(slot.task)] = now;
      slot.task = Task::none;
    }
  }
}

void EventSimulation::run() {
  finishes.assign(tasks.size(), -1);
  std::fill(heads.begin(), heads.end(), 0);
  std::fill(running.begin(), running.end(), Running());
  now = 0;
  while (startTasks())
    advance();
}
