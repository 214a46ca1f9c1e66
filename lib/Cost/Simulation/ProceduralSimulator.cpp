//===- ProceduralSimulator.cpp - Simulated decode steps -------------------===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "shardopt/Cost/Simulation/ProceduralSimulator.h"

#include "Rounds.h"
#include "Schedule.h"

#include <algorithm>
#include <cassert>

using namespace shardopt;
using namespace shardopt::simulation;

/// How much longer a kernel takes during a collective.
static constexpr double interference = 0.15;

/// What a runtime chooses from, in order of chunks.
static constexpr Schedule runtimeSchedules[] = {
    {false, 1, false, 1}, {true, 1, false, 1}, {true, 1, false, 2},
    {true, 2, false, 1},  {true, 2, true, 1},  {true, 4, true, 1},
};
static constexpr Schedule fixedSchedules[] = {{true, 2, true, 1}};

ProceduralSettings ProceduralSettings::runtime() { return {true, 0.1, 0}; }

ProceduralSettings ProceduralSettings::fixed() { return {false, 0.8, 0.6}; }

//===----------------------------------------------------------------------===//
// One decode step
//===----------------------------------------------------------------------===//

/// Simulates the decode steps of one strategy.
class ProceduralSimulator::Step {
public:
  Step(const ProceduralSimulator &simulator, const Strategy &strategy);

  Evaluation evaluate();

private:
  /// Time and memory of a step under one schedule.
  struct Outcome {
    double seconds = 0, bytes = 0;
  };

  bool buildPrograms(int64_t chunks);
  LayerContext context(size_t kind, int64_t begin, int64_t sequences) const;
  cost::Routing routing(size_t kind, int64_t rows, unsigned sample,
                        unsigned microBatchClass) const;
  void measureEnds();
  void measureBytes();
  Outcome simulate(const Schedule &schedule);
  double stageSeconds(const cost::Stage &stage, unsigned microBatchClass) const;
  double bufferBytes(const Schedule &schedule) const;

  LayerSamples samplesOf(size_t kind, unsigned microBatchClass) const {
    size_t first =
        (kind * numClasses + microBatchClass) * ExpertLoads::numSamples;
    return {programs.data() + first, ExpertLoads::numSamples};
  }
  const LayerProgram &anyOf(size_t kind) const { return samplesOf(kind, 0)[0]; }
  size_t kindOfBody(unsigned body) const;
  cost::Layout anchor(unsigned body) const {
    return walker.entering(body).layout;
  }

  const ProceduralSimulator &simulator;
  const cost::CostModel &costs;
  const Degrees &degrees;
  const cost::Context outer; ///< what embedding and head see
  const std::vector<cost::LayerKind> &kinds;
  const std::vector<cost::Stage> stages;
  const unsigned numClasses; ///< of micro-batches
  TaskMaker maker;
  LayerWalker walker;
  EventSimulation events;

  /// By kind, class and sample; of one number of chunks.
  std::vector<LayerProgram> programs;
  std::vector<LayerTimes> times; ///< by kind and class; of one schedule

  // Of all schedules.
  double embedSeconds = 0, headSeconds = 0;
  double stageBytes = 0; ///< weights and cache of the fullest stage
};

ProceduralSimulator::Step::Step(const ProceduralSimulator &simulator,
                                const Strategy &strategy)
    : simulator(simulator), costs(simulator.costs), degrees(strategy.degrees),
      outer(costs.context(degrees)), kinds(costs.layers().kinds()),
      stages(costs.layers().stages(degrees)),
      numClasses(unsigned(std::min<int64_t>(
          outer.microBatches,
          simulator.settings.contextSpread > 0 ? ExpertLoads::numClasses : 1))),
      maker(costs.time(), simulator.domainSize, degrees),
      walker(costs, maker, strategy), events(interference) {}

size_t ProceduralSimulator::Step::kindOfBody(unsigned body) const {
  for (size_t kind = 0; kind < kinds.size(); ++kind)
    if (kinds[kind].body == body)
      return kind;
  assert(false && "a body without layers");
  return 0;
}

//===----------------------------------------------------------------------===//
// Layers
//===----------------------------------------------------------------------===//

/// What ops of the layers of `kind` see when `sequences` of the sequences of
/// each group are computed at once, from number `begin` on.
LayerContext ProceduralSimulator::Step::context(size_t kind, int64_t begin,
                                                int64_t sequences) const {
  cost::Context seen = outer;
  seen.window = kinds[kind].window;
  seen.microBatch = sequences;
  seen.rows = seen.sequences = double(sequences);
  LayerContext context{seen, seen};
  auto longest = [&](int64_t parts) {
    return simulator.lengths[kind].longest(degrees.dp, outer.groupBatch, begin,
                                           sequences, parts);
  };
  context.whole.workload.context = longest(1);
  context.cut.workload.context = longest(degrees.tp);
  return context;
}

cost::Routing
ProceduralSimulator::Step::routing(size_t kind, int64_t rows, unsigned sample,
                                   unsigned microBatchClass) const {
  const cost::Body &body = costs.model().bodies[kinds[kind].body];
  if (const auto &loads = simulator.loads[kinds[kind].body])
    return loads->route(rows, degrees.dp, degrees.ep, sample, microBatchClass);
  if (body.experts)
    return cost::makeRouting(body.experts, body.topK, double(rows), degrees,
                             std::nullopt);
  cost::Routing dense;
  dense.meanCopies = dense.copies = double(rows);
  return dense;
}

/// Makes the programs of all kinds of layers for micro-batches in `chunks`
/// chunks; false if a dim is illegal.
bool ProceduralSimulator::Step::buildPrograms(int64_t chunks) {
  int64_t sequences = cost::ceilDiv(outer.microBatch, chunks);
  programs.resize(kinds.size() * numClasses * ExpertLoads::numSamples);
  auto program = programs.begin();
  for (size_t kind = 0; kind < kinds.size(); ++kind)
    for (unsigned c = 0; c < numClasses; ++c) {
      // The chunks of a micro-batch are as slow as its first.
      LayerContext seen = context(kind, c * outer.microBatch, sequences);
      for (unsigned sample = 0; sample < ExpertLoads::numSamples; ++sample) {
        seen.whole.routing = seen.cut.routing =
            routing(kind, sequences, sample, c);
        if (!walker.program(kinds[kind].body, seen, *program++))
          return false;
      }
    }
  return true;
}

//===----------------------------------------------------------------------===//
// What no schedule changes
//===----------------------------------------------------------------------===//

/// Embedding and head, with the way into the first layer and out of the last.
void ProceduralSimulator::Step::measureEnds() {
  const cost::Model &model = costs.model();
  auto rows = double(outer.rows);
  Dim embedDim = walker.dimOf(model.embed);
  cost::Placement made =
      model.embed.op->rule(embedDim, {}, outer).results[0].placement;
  embedSeconds =
      costs.time().seconds(model.embed.op->cost(embedDim, {}, outer), degrees) +
      costs.time().reshard(made.layout, anchor(costs.layers().firstBody()),
                           rows, made.rowBytes, degrees);

  const LayerProgram &last = anyOf(kindOfBody(costs.layers().lastBody()));
  Dim headDim = walker.dimOf(model.head);
  cost::Placement incoming{last.end.outputLayout(), model.rowBytes};
  Span<const cost::Placement> operands(&incoming, 1);
  cost::OperandRule taken =
      model.head.op->rule(headDim, operands, outer).operands[0];
  // The last layer ends in the head, and not in a layer like it.
  headSeconds =
      costs.time().seconds(model.head.op->cost(headDim, operands, outer),
                           degrees) +
      walker.leaveSeconds(last.end, taken.required.layout, taken.rows) -
      walker.leaveSeconds(last.end, last.anchor, rows);
}

void ProceduralSimulator::Step::measureBytes() {
  const cost::Model &model = costs.model();
  auto weightsOf = [&](const cost::Node &node,
                       Span<const cost::Placement> operands) {
    return node.op->cost(walker.dimOf(node), operands, outer).weightBytes;
  };
  cost::Placement incoming{cost::Layout::R, model.rowBytes};
  bool sharesTable =
      degrees.pp == 1 &&
      model.sharesTable(walker.dimOf(model.embed), walker.dimOf(model.head));
  double embed = weightsOf(model.embed, {});
  double head = sharesTable ? 0 : weightsOf(model.head, {&incoming, 1});

  std::vector<double> layerBytes;
  for (size_t kind = 0; kind < kinds.size(); ++kind) {
    // Caches of all sequences; ops see a micro-batch at a time.
    LayerContext all = context(kind, 0, outer.groupBatch);
    for (cost::Context *seen : {&all.whole, &all.cut}) {
      seen->microBatch = outer.microBatch;
      seen->rows = seen->sequences = double(outer.microBatch);
      seen->routing = routing(kind, outer.rows, 0, 0);
    }
    layerBytes.push_back(walker.bytes(kinds[kind].body, all));
  }
  for (const cost::Stage &stage : stages) {
    double bytes = (stage.isFirst ? embed : 0) + (stage.isLast ? head : 0);
    for (size_t kind = 0; kind < kinds.size(); ++kind)
      bytes += double(stage.kinds[kind]) * layerBytes[kind];
    stageBytes = std::max(stageBytes, bytes);
  }
}

//===----------------------------------------------------------------------===//
// Schedules
//===----------------------------------------------------------------------===//

/// Activations of a device: what an op of each chunk reads, what collectives
/// send and receive, and residuals on their way between stages.
double ProceduralSimulator::Step::bufferBytes(const Schedule &schedule) const {
  double operands = 0, collectives = 0;
  for (const LayerProgram &program : programs) {
    operands = std::max(operands, program.operandBytes);
    collectives = std::max(collectives, program.collectiveBytes);
  }
  auto chunks = double(schedule.chunks);
  double residual = double(outer.rows) * costs.model().rowBytes;
  // What overlaps needs a second buffer.
  double copies = schedule.overlaps ? 2 : 1;
  return chunks * (operands + copies * collectives) +
         (degrees.pp > 1 ? copies * residual : 0);
}

double ProceduralSimulator::Step::stageSeconds(const cost::Stage &stage,
                                               unsigned microBatchClass) const {
  double seconds =
      (stage.isFirst ? embedSeconds : 0) + (stage.isLast ? headSeconds : 0);
  double fill = 0;
  for (size_t kind = 0; kind < kinds.size(); ++kind) {
    if (stage.kinds[kind] == 0)
      continue;
    const LayerTimes &layers = times[kind * numClasses + microBatchClass];
    seconds += double(stage.kinds[kind]) * layers.layer;
    fill = std::max(fill, layers.fill);
  }
  // Between layers of two bodies.
  for (size_t t = 0; t < stage.transitions.size(); ++t) {
    const cost::Transition &transition = costs.layers().transitions()[t];
    if (transition.body == transition.next || stage.transitions[t] == 0)
      continue;
    const LayerProgram &from = anyOf(kindOfBody(transition.body));
    auto rows = double(outer.rows);
    seconds += double(stage.transitions[t]) *
               (walker.leaveSeconds(from.end, anchor(transition.next), rows) -
                walker.leaveSeconds(from.end, from.anchor, rows));
  }
  return seconds + fill;
}

/// The step under `schedule`, with its `programs`.
ProceduralSimulator::Step::Outcome
ProceduralSimulator::Step::simulate(const Schedule &schedule) {
  // The way of a micro-batch to the next stage, by kind of its first layer.
  double residual = double(outer.rows) * costs.model().rowBytes;
  std::vector<Task> sends(kinds.size());
  for (size_t kind = 0; kind < kinds.size() && degrees.pp > 1; ++kind)
    sends[kind] = maker.sequence(
        costs.time().transfer(anyOf(kind).anchor, residual, degrees));

  StageTimes pipeline;
  bool sendsBeside = schedule.overlaps && outer.microBatches > 1;
  times.clear();
  for (size_t kind = 0; kind < kinds.size(); ++kind)
    for (unsigned c = 0; c < numClasses; ++c) {
      times.push_back(simulateLayers(events, samplesOf(kind, c), schedule,
                                     sendsBeside ? sends[kind] : Task()));
      if (sendsBeside)
        pipeline.travel = std::max(pipeline.travel, times.back().send);
    }

  pipeline.numClasses = numClasses;
  for (const cost::Stage &stage : stages)
    for (int64_t repeat = 0; repeat < stage.repeats; ++repeat)
      for (unsigned c = 0; c < numClasses; ++c) {
        double seconds = stageSeconds(stage, c);
        if (!sendsBeside && !stage.isLast)
          seconds += sends[kindOfBody(stage.nextBody)].seconds();
        pipeline.busy.push_back(seconds);
      }
  if (std::optional<cost::Collective> back = costs.tokenReturn(degrees))
    pipeline.back = costs.time().seconds(*back, degrees);
  return {roundSeconds(pipeline, outer.microBatches),
          stageBytes + bufferBytes(schedule)};
}

Evaluation ProceduralSimulator::Step::evaluate() {
  auto schedules = simulator.settings.picksSchedule
                       ? Span<const Schedule>(runtimeSchedules)
                       : Span<const Schedule>(fixedSchedules);
  double capacity = costs.limits().memoryBytes;
  std::optional<Outcome> best;
  int64_t chunks = 0; // of `programs`
  for (Schedule schedule : schedules) {
    // A sequence is not divided.
    schedule.chunks = std::min(schedule.chunks, outer.microBatch);
    if (schedule.chunks != chunks) {
      chunks = schedule.chunks;
      if (!buildPrograms(chunks))
        return Evaluation();
      if (!best) {
        measureEnds();
        measureBytes();
      }
    }
    Outcome outcome = simulate(schedule);
    bool fits = outcome.bytes <= capacity;
    bool bestFits = best && best->bytes <= capacity;
    bool isBetter = !best || (fits != bestFits ? fits
                              : fits           ? outcome.seconds < best->seconds
                                               : outcome.bytes < best->bytes);
    if (isBetter)
      best = outcome;
  }
  cost::Pipeline whole;
  whole.sumSeconds = best->seconds;
  whole.maxBytes = best->bytes;
  return cost::judge(whole, outer, costs.limits());
}

//===----------------------------------------------------------------------===//
// The simulator
//===----------------------------------------------------------------------===//

ProceduralSimulator::ProceduralSimulator(const cost::CostModel &costs,
                                         const Machine &machine,
                                         const ProceduralSettings &settings)
    : costs(costs), domainSize(machine.domainSize), settings(settings) {
  const cost::Model &model = costs.model();
  assert(model.workload.phase == cost::Phase::Decode && "for decode only");
  // Seeds tell the layers of a model apart, and nothing else.
  uint64_t seed = uint64_t(model.numLayers());
  for (const cost::Body &body : model.bodies) {
    ++seed;
    loads.emplace_back();
    if (body.experts && settings.routingExponent)
      loads.back().emplace(body.experts, body.topK, *settings.routingExponent,
                           seed);
  }
  // All kinds of layers see the same sequences.
  for (const cost::LayerKind &kind : costs.layers().kinds())
    lengths.emplace_back(model.workload.context, kind.window,
                         settings.contextSpread, uint64_t(model.numLayers()));
}

Evaluation ProceduralSimulator::evaluate(const Strategy &strategy) const {
  assert(strategy.dims.size() == costs.model().numVariables() &&
         "one dim for every op");
  if (!costs.fits(strategy.degrees))
    return Evaluation();
  return Step(*this, strategy).evaluate();
}
