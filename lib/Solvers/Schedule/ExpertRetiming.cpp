//===- ExpertRetiming.cpp - Blocks as orders of operators -----------------===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "shardopt/Solvers/Schedule/ExpertOrders.h"

#include <algorithm>
#include <tuple>

using namespace shardopt;
using namespace shardopt::schedule;

namespace {

class BlockRetiming {
public:
  explicit BlockRetiming(const Instance &instance);

  MachineOrders run(const std::vector<std::vector<Block>> &blocks) const;

private:
  /// The operators of a pass, in topological order.
  void collect(const Block::Pass &pass, PlanOpPhase phase,
               std::vector<int32_t> &ops) const;
  /// Orders the operators of a block, each machine its own, as they would run
  /// if the block stood alone: what is ready earlier, then what has more after
  /// it.
  std::vector<int32_t> orderBlock(std::vector<int32_t> ops) const;

  const Instance &instance;
  std::vector<int64_t> tails; ///< of operators of the graph, within a chunk
};

} // namespace

BlockRetiming::BlockRetiming(const Instance &instance)
    : instance(instance), tails(instance.period(), 0) {
  const PlanGraph &graph = instance.graph();
  const std::vector<int32_t> &order = instance.order();
  for (size_t k = order.size(); k-- > 0;) {
    int32_t i = order[k];
    for (const Arc &arc : instance.successors(i))
      if (graph.ops[arc.op].group == graph.ops[i].group &&
          graph.ops[arc.op].phase == graph.ops[i].phase)
        tails[i] = std::max(tails[i], tails[arc.op]);
    tails[i] += graph.leastTime(i);
  }
}

void BlockRetiming::collect(const Block::Pass &pass, PlanOpPhase phase,
                            std::vector<int32_t> &ops) const {
  if (!pass.exists())
    return;
  for (int32_t i : instance.order()) {
    const PlanOp &op = instance.graph().ops[i];
    if (op.phase == phase && op.stage == pass.chunk &&
        (op.microbatch != 0) == (pass.direction != 0))
      ops.push_back(pass.microbatch * instance.period() + i);
  }
}

std::vector<int32_t> BlockRetiming::orderBlock(std::vector<int32_t> ops) const {
  const PlanGraph &graph = instance.graph();
  int32_t period = instance.period();
  std::vector<int32_t> result;
  std::vector<int64_t> ends(ops.size(), -1); ///< of those that were ordered
  int64_t idle[numMachineKinds] = {};
  while (result.size() < ops.size()) {
    // What can start soonest, gradients of inputs before forward passes before
    // gradients of weights.
    auto bestRank = std::tuple<int64_t, int, int64_t, size_t>();
    int64_t bestStart = -1;
    for (size_t k = 0; k < ops.size(); ++k) {
      if (ends[k] >= 0)
        continue;
      int32_t i = ops[k] % period, first = ops[k] - i;
      int64_t start = idle[int32_t(graph.ops[i].machine)];
      bool isReady = true;
      for (const Arc &arc : instance.predecessors(i)) {
        auto it = std::find(ops.begin(), ops.end(), first + arc.op);
        if (it == ops.end())
          continue;
        int64_t end = ends[it - ops.begin()];
        isReady &= end >= 0;
        start = std::max(start, end);
      }
      PlanOpPhase phase = graph.ops[i].phase;
      int late = phase == PlanOpPhase::WeightGradient  ? 2
                 : phase == PlanOpPhase::InputGradient ? 0
                                                       : 1;
      auto rank = std::make_tuple(start, late, -tails[i], k);
      if (isReady && (bestStart < 0 || rank < bestRank)) {
        bestRank = rank;
        bestStart = start;
      }
    }
    size_t best = std::get<3>(bestRank);
    int32_t i = ops[best] % period;
    ends[best] = bestStart + graph.leastTime(i);
    idle[int32_t(graph.ops[i].machine)] = ends[best];
    result.push_back(ops[best]);
  }
  return result;
}

MachineOrders
BlockRetiming::run(const std::vector<std::vector<Block>> &blocks) const {
  MachineOrders orders(instance.numMachines());
  for (size_t d = 0; d < blocks.size(); ++d)
    for (const Block &block : blocks[d]) {
      std::vector<int32_t> ops;
      collect(block.forward, PlanOpPhase::Forward, ops);
      collect(block.backward, PlanOpPhase::InputGradient, ops);
      collect(block.weight, PlanOpPhase::WeightGradient, ops);
      for (int32_t op : orderBlock(std::move(ops)))
        orders[d * numMachineKinds + int32_t(instance.at(op).machine)]
            .push_back(op);
    }
  return orders;
}

std::optional<Schedule>
schedule::retimeBlocks(const Instance &instance,
                       const std::vector<std::vector<Block>> &blocks) {
  return retime(instance, instance.placement(),
                BlockRetiming(instance).run(blocks));
}

Schedule schedule::scheduleOf(const Instance &instance,
                              const std::vector<std::vector<Block>> &blocks,
                              const BlockReplay &replay,
                              const PipelineTimes &times) {
  Schedule result{instance.placement(), {}};
  result.starts.assign(instance.numOps(), 0);
  const PlanGraph &graph = instance.graph();
  for (size_t d = 0; d < blocks.size(); ++d)
    for (size_t k = 0; k < blocks[d].size(); ++k) {
      const Block &block = blocks[d][k];
      int64_t now = replay.ends[d][k] - times.of(block);
      for (auto [pass, phase] :
           {std::pair(block.forward, PlanOpPhase::Forward),
            std::pair(block.backward, PlanOpPhase::InputGradient),
            std::pair(block.weight, PlanOpPhase::WeightGradient)})
        for (int32_t i = 0; pass.exists() && i < instance.period(); ++i) {
          const PlanOp &op = graph.ops[i];
          if (op.phase != phase || op.stage != pass.chunk ||
              (op.microbatch != 0) != (pass.direction != 0))
            continue;
          result.starts[pass.microbatch * instance.period() + i] = now;
          now += graph.time(i, int32_t(d));
        }
    }
  return result;
}
