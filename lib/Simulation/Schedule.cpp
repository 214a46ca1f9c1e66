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
  Issuer(EventSimulation &events, LayerSamples samples, int64_t chunks)
      : events(events), samples(samples),
        opsPerLayer(static_cast<int64_t>(samples[0].numOps())),
        chunks(static_cast<size_t>(chunks)) {}

  /// Ops of `layers` layers. Each chunk is `lag` ops behind the one before.
  void issue(int64_t layers, int64_t lag);

  /// When layer number `layer` is finished in all chunks. After the run.
  double finish(int64_t layer) const;

private:
  struct Chunk {
    std::vector<int> tasks; ///< numbers of those of the layer at hand
    std::vector<int> ends;  ///< numbers of the last task of each layer
  };
  void issueOp(Chunk &chunk, int64_t op);

  EventSimulation &events;
  const LayerSamples samples;
  const int64_t opsPerLayer;
  std::vector<Chunk> chunks;
};

} // namespace

void Issuer::issue(int64_t layers, int64_t lag) {
  const int64_t numOps = layers * opsPerLayer;
  const int64_t numSlots =
      numOps + lag * (static_cast<int64_t>(chunks.size()) - 1);
  for (int64_t slot = 0; slot < numSlots; ++slot) {
    int64_t op = slot;
    for (Chunk &chunk : chunks) {
      if (op >= 0 && op < numOps)
        issueOp(chunk, op);
      op -= lag;
    }
  }
}

void Issuer::issueOp(Chunk &chunk, int64_t op) {
  const auto layer = static_cast<size_t>(op / opsPerLayer);
  const auto inLayer = static_cast<size_t>(op % opsPerLayer);
  const LayerProgram &program = samples[layer % samples.size()];
  if (inLayer == 0)
    chunk.tasks.clear();
  const bool isLast = inLayer + 1 == program.numOps();
  const size_t end =
      isLast ? program.tasks.size() : program.firstTasks[inLayer + 1];
  for (size_t i = program.firstTasks[inLayer]; i < end; ++i) {
    Task task = program.tasks[i];
    for (int &before : task.after) {
      if (before == LayerProgram::entry)
        before = chunk.ends.empty() ? Task::none : chunk.ends.back();
      else if (before != Task::none)
        before = chunk.tasks[static_cast<size_t>(before)];
    }
    chunk.tasks.push_back(events.add(task));
  }
  if (isLast)
    chunk.ends.push_back(chunk.tasks.back());
}

double Issuer::finish(int64_t layer) const {
  double last = 0;
  for (const Chunk &chunk : chunks)
    last =
        std::max(last, events.finish(chunk.ends[static_cast<size_t>(layer)]));
  return last;
}

/// One after the other.
static LayerTimes serialTimes(LayerSamples samples, const Task &send) {
  double sum = 0;
  for (const LayerProgram &program : samples)
    sum += program.seconds();
  return {0, sum / static_cast<double>(samples.size()), send.seconds()};
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
  const auto numSamples = static_cast<int64_t>(samples.size());
  events.clear();
  const int sent = events.add(send);
  Issuer issuer(events, samples, schedule.chunks);
  const auto lag =
      schedule.isStaggered ? static_cast<int64_t>(samples[0].numOps() / 2) : 0;
  issuer.issue(2 * numSamples, lag);
  events.run();

  const double half = issuer.finish(numSamples - 1);
  const double all = issuer.finish(2 * numSamples - 1);
  LayerTimes times;
  times.layer = (all - half) / static_cast<double>(numSamples);
  times.fill = std::max(0.0, half - (all - half));
  times.send = events.finish(sent);
  return times;
}
