//===- EventSimulation.h - Streams and links of devices ---------*- C++ -*-===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef SHARDOPT_COST_SIMULATION_EVENTSIMULATION_H
#define SHARDOPT_COST_SIMULATION_EVENTSIMULATION_H

#include "shardopt/Model/StageGrid.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace shardopt::simulation {

/// Queues of a device: each runs its tasks one after the other, in the order in
/// which they were added. One computes, and each axis of the grid has one.
enum class Stream : uint8_t { Compute };
inline constexpr size_t numStreams = 1 + numGridAxes;

/// The stream of collectives along `axis`, innermost first.
constexpr Stream streamOf(Axis axis) {
  return Stream(numGridAxes - size_t(gridAxisOf(axis)));
}

/// What a task's work goes over. Work on one link shares its bandwidth
/// equally.
enum class Link : uint8_t {
  None,    ///< a kernel: the device itself
  Domain,  ///< the fast links of a domain
  Network, ///< the device's share of the network between domains
};
inline constexpr size_t numLinks = 3;

/// A kernel or a collective as a device sees it.
struct Task {
  static constexpr int none = -1;

  Stream stream = Stream::Compute;
  Link link = Link::None;
  double latency = 0; ///< seconds before the work; uses no link
  double work = 0;    ///< seconds that the rest takes if nothing else runs
  /// Numbers of tasks that must be finished first, or `none`; lower than the
  /// task's own.
  std::array<int, 3> after = {none, none, none};
  unsigned device = 0; ///< whose stream and links those are

  double seconds() const { return latency + work; }
};

/// Runs tasks on the streams of devices, event by event. Two things slow work
/// down, each on its own device: n transfers at once on one link run at 1/n of
/// its bandwidth, and a kernel during n transfers runs at
/// 1 / (1 + n * interference), because collectives take processors and memory
/// bandwidth. Reusable; allocates only to grow.
class EventSimulation {
public:
  explicit EventSimulation(double interference, unsigned devices = 1)
      : interference(interference), queues(devices * numStreams),
        heads(queues.size()), running(queues.size()), left(queues.size()),
        rates(queues.size()), transfers(devices) {}

  /// Forgets all tasks.
  void clear();

  /// Adds a task to the end of its stream, and returns its number.
  int add(const Task &task);

  /// Runs all tasks, from second 0.
  void run();

  /// When a task was finished. Valid after `run`.
  double finish(int task) const { return finishes[size_t(task)]; }

private:
  /// The task that a stream works on.
  struct Running {
    int task = Task::none;
    double latency = 0; ///< left
    double work = 0;    ///< left

    bool isTransferring(const Task &spec) const {
      return spec.link != Link::None && latency == 0;
    }
  };

  static size_t queueOf(const Task &task) {
    return task.device * numStreams + size_t(task.stream);
  }
  bool isReady(const Task &task) const;
  bool startTasks();
  double rate(const Task &task) const;
  void advance();

  const double interference;
  std::vector<Task> tasks;
  std::vector<double> finishes; ///< by task; negative: not yet
  // By device and stream.
  std::vector<std::vector<int>> queues;
  std::vector<size_t> heads;
  std::vector<Running> running;
  std::vector<double> left, rates; ///< at this moment
  /// By device and link, at this moment.
  std::vector<std::array<int, numLinks>> transfers;
  double now = 0;
};

} // namespace shardopt::simulation

#endif // SHARDOPT_COST_SIMULATION_EVENTSIMULATION_H
