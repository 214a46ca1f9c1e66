//===- Schedule.cpp - How a stage interleaves its work --------------------===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Schedule.h"

#include <algorithm>
#include <cassert>

using namespace shardopt;
using namespace shardopt::simulation;

namespace {

/// Adds the tasks of some layers to an event simulation, op by op.
class Issuer {
public:
  Issuer(EventSimulation &events, LayerSamples samples,
         const Schedule &schedule)
      : events(events), samples(samples), schedule(schedule),
        opsPerLayer(int64_t(samples[0].numOps())),
        chunks(size_t(schedule.chunks)) {}

  /// Ops of `layers` layers.
  void issue(int64_t layers);

  /// When layer number `layer` is finished in all chunks. After the run.
  double finish(int64_t layer) const;

private:
  struct Chunk {
    std::vector<int> tasks; ///< numbers of those of the layer at hand
    std::vector<int> ends;  ///< numbers of the last task of each layer
  };
  void issueOp(Chunk &chunk, int64_t op);
  int addSliced(Task task, bool followsSlices);

  EventSimulation &events;
  const LayerSamples samples;
  const Schedule &schedule;
  const int64_t opsPerLayer;
  std::vector<Chunk> chunks;
};

} // namespace

void Issuer::issue(int64_t layers) {
  int64_t lag = schedule.isStaggered ? opsPerLayer / 2 : 0; // of a chunk
  int64_t numOps = layers * opsPerLayer;
  int64_t numSlots = numOps + lag * (int64_t(chunks.size()) - 1);
  for (int64_t slot = 0; slot < numSlots; ++slot) {
    int64_t op = slot;
    for (Chunk &chunk : chunks) {
      if (op >= 0 && op < numOps)
        issueOp(chunk, op);
      op -= lag;
    }
  }
}

/// Adds `task` in slices, and returns the number of the last one. A collective
/// follows those of its kernel one by one; its latency counts once.
int Issuer::addSliced(Task task, bool followsSlices) {
  int last = task.after[0];
  task.work /= schedule.slices;
  int added = Task::none;
  for (int slice = 0; slice < schedule.slices; ++slice) {
    if (followsSlices)
      task.after[0] = last - (schedule.slices - 1 - slice);
    added = events.add(task);
    task.latency = 0;
  }
  return added;
}

void Issuer::issueOp(Chunk &chunk, int64_t op) {
  auto layer = size_t(op / opsPerLayer);
  auto inLayer = size_t(op % opsPerLayer);
  const LayerProgram &program = samples[layer % samples.size()];
  if (inLayer == 0)
    chunk.tasks.clear();
  bool isLast = inLayer + 1 == program.numOps();
  size_t end = isLast ? program.tasks.size() : program.firstTasks[inLayer + 1];
  for (size_t i = program.firstTasks[inLayer]; i < end; ++i) {
    Task task = program.tasks[i];
    for (int &before : task.after) {
      if (before == LayerProgram::entry)
        before = chunk.ends.empty() ? Task::none : chunk.ends.back();
      else if (before != Task::none)
        before = chunk.tasks[size_t(before)];
    }
    bool sends = program.sendsKernel(i);
    chunk.tasks.push_back(program.isSent[i] || sends ? addSliced(task, sends)
                                                     : events.add(task));
  }
  if (isLast)
    chunk.ends.push_back(chunk.tasks.back());
}

double Issuer::finish(int64_t layer) const {
  double last = 0;
  for (const Chunk &chunk : chunks)
    last = std::max(last, events.finish(chunk.ends[size_t(layer)]));
  return last;
}

/// One after the other.
static LayerTimes serialTimes(LayerSamples samples, const Task &send) {
  double sum = 0;
  for (const LayerProgram &program : samples)
    sum += program.seconds();
  return {0, sum / double(samples.size()), send.seconds()};
}

LayerTimes simulation::simulateLayers(EventSimulation &events,
                                      LayerSamples samples,
                                      const Schedule &schedule,
                                      const Task &send) {
  if (!schedule.overlaps) {
    assert(schedule.chunks == 1 && "nothing to do in turns");
    return serialTimes(samples, send);
  }
  // Every sample once until a steady state is reached, and once in it.
  auto numSamples = int64_t(samples.size());
  events.clear();
  int sent = events.add(send);
  Issuer issuer(events, samples, schedule);
  issuer.issue(2 * numSamples);
  events.run();

  double half = issuer.finish(numSamples - 1);
  double all = issuer.finish(2 * numSamples - 1);
  LayerTimes times;
  times.layer = (all - half) / double(numSamples);
  times.fill = std::max(0.0, half - (all - half));
  times.send = events.finish(sent);
  return times;
}
