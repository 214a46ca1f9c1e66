//===- ActivationsTest.cpp - Values between ops, as they live -------------===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "shardopt/Search/Dims/Activations.h"

#include "shardopt/Cost/LayerWalk.h"
#include "shardopt/Cost/LiveValues.h"
#include "shardopt/Model/LayerState.h"
#include "shardopt/Search/Dims/ScaledProblem.h"
#include "shardopt/Solvers/Selection/Verify.h"

#include "WiredModels.h"

#include <gtest/gtest.h>
#include <random>

using namespace shardopt;
using namespace shardopt::cost;
using namespace shardopt::cost::test;
using namespace shardopt::selection;

namespace {

/// What a device holds while each op of a layer runs, followed op by op.
class NaiveActivations {
public:
  NaiveActivations(const CostModel &costs, unsigned body)
      : body(costs.model().bodies[body]), index(costs.body(body)),
        lives(this->body.numValues) {
    std::vector<size_t> reads(lives.size());
    for (size_t op = 0; op < this->body.nodes.size(); ++op) {
      for (ValueId v : this->body.nodes[op].operands) {
        lives[v].last = op;
        if (op == 0)
          continue;
        lives[v].keepsCopies = ++reads[v] > 1;
        if (index.values[v].root != v)
          ++reads[index.values[v].root];
      }
      for (ValueId v : this->body.nodes[op].results)
        lives[v].made = lives[v].last = op;
    }
    for (ValueId v : this->body.exitResiduals)
      lives[v].last = this->body.nodes.size();
    for (ValueId v : this->body.exitOutputs)
      lives[v].last = this->body.nodes.size();
  }

  // Of a `LayerWalk`:
  void begin(const WalkedOp &) {}
  int reshard(const WalkedOp &op, unsigned i, int, const Reshard &) {
    if (bytes.empty())
      return 0;
    const OperandRule &rule = op.rule.operands[i];
    ValueId v = op.node.operands[i], root = index.values[v].root;
    for (ValueId value : {v, root}) {
      Life &life = lives[value];
      life.rows = std::max(life.rows, rule.rows);
      life.during |= life.copies;
      if (!(life.copies & bit(Layout::R)))
        life.during |= bit(rule.required.layout);
      if (rule.copy == OperandRule::Copy::Required && life.keepsCopies)
        life.copies = with(life.copies, rule.required.layout);
    }
    return 0;
  }
  int run(const WalkedOp &op) {
    for (unsigned i = 0; i < op.incoming.size(); ++i) {
      ValueId v = op.node.operands[i], root = index.values[v].root;
      if (op.rule.operands[i].copy == OperandRule::Copy::Whole &&
          !bytes.empty())
        for (ValueId value : {v, root})
          if (lives[value].keepsCopies)
            lives[value].copies = bit(Layout::R);
    }
    if (bytes.empty())
      leave(body.residual, op.incoming[0]);
    for (size_t i = 0; i < op.node.results.size(); ++i)
      leave(op.node.results[i], op.rule.results[i].placement);
    held.emplace_back();
    bytes.push_back(0);
    for (ValueId v = 0; v < lives.size(); ++v) {
      Life &life = lives[v];
      ValueId root = index.values[v].root;
      size_t now = bytes.size() - 1;
      bool isLive = life.made <= now && now <= life.last &&
                    (root == v || now > lives[root].last);
      if (isLive)
        held.back().push_back({v, LayoutSet(life.copies | life.during)});
      life.during = 0;
    }
    return 0;
  }
  /// How many rows a value has, its readers say.
  std::vector<double> total(const Context &context) {
    for (size_t op = 0; op < held.size(); ++op)
      for (auto [v, layouts] : held[op])
        for (Layout layout : allLayouts)
          if (layouts & bit(layout))
            bytes[op] += context.heldBytes(
                {layout, lives[v].rowBytes, lives[v].over},
                lives[v].rows > 0 ? lives[v].rows : double(context.rows));
    return bytes;
  }

private:
  struct Life {
    size_t made = 0, last = 0;
    bool keepsCopies = false;
    LayoutSet copies = 0, during = 0;
    double rows = 0, rowBytes = 0;
    Axis over = Axis::Tp;
  };

  static LayoutSet with(LayoutSet copies, Layout copy) {
    copies |= bit(copy);
    return copies & bit(Layout::R) ? bit(Layout::R) : copies;
  }
  void leave(ValueId v, const Placement &at) {
    lives[v].copies = bit(at.layout);
    lives[v].rowBytes = at.rowBytes;
    lives[v].over = at.over;
  }

  const Body &body;
  const BodyIndex &index;
  std::vector<Life> lives;
  std::vector<std::vector<std::pair<ValueId, LayoutSet>>> held;
  std::vector<double> bytes; ///< by op
};

/// By moment, what `choice` makes live.
std::vector<double> activationsUnder(const Activations &activations,
                                     const Choice &choice) {
  std::vector<double> bytes(activations.moments.size());
  for (const Buffer &buffer : activations.buffers)
    for (size_t moment = buffer.begin; moment < buffer.end; ++moment)
      bytes[moment] += buffer.bytes[size_t(choice[buffer.node])];
  return bytes;
}

/// Those of all bodies, one behind the other.
std::vector<double> naiveActivations(const CostModel &costs,
                                     const Degrees &degrees,
                                     const std::vector<Dim> &dims) {
  std::vector<double> all;
  Strategy strategy{degrees, dims};
  for (unsigned body = 0; body < costs.model().bodies.size(); ++body) {
    NaiveActivations naive(costs, body);
    LayerWalk<int> walk(costs, strategy);
    for (const LayerKind &kind : costs.layers().kinds())
      if (kind.body == body) {
        Context context = costs.context(degrees, kind);
        EXPECT_TRUE(walk.walk(body, context, 0, naive));
        for (double bytes : naive.total(context))
          all.push_back(bytes);
        break;
      }
  }
  return all;
}

void expectSameActivations(const CostModel &costs) {
  std::mt19937 random(23);
  int numCompared = 0;
  for (int i = 0; i < 8; ++i) {
    Degrees degrees = {int64_t{1} << random() % 4, int64_t{1} << random() % 3,
                       1, int64_t{1} << (3 + random() % 6)};
    std::vector<DimSet> domains(costs.model().numVariables(), 7);
    StrategyGraph graph(costs, degrees, domains);
    Activations activations = activationsOf(graph);
    for (int k = 0; k < 60; ++k) {
      std::vector<Dim> dims;
      for (size_t v = 0; v < domains.size(); ++v)
        dims.push_back(Dim(random() % 3));
      std::optional<Choice> choice = graph.follow(dims);
      if (!choice)
        continue;
      std::vector<double> found = activationsUnder(activations, *choice);
      std::vector<double> expected = naiveActivations(costs, degrees, dims);
      ASSERT_EQ(found.size(), expected.size());
      std::vector<LiveMoment> moments = liveMoments(costs, {degrees, dims});
      ASSERT_EQ(moments.size(), expected.size());
      double peak = 0;
      for (size_t moment = 0; moment < found.size(); ++moment) {
        EXPECT_NEAR(found[moment], expected[moment], 1e-9 * expected[moment])
            << spell(degrees) << " at " << activations.moments[moment];
        EXPECT_EQ(moments[moment].op, activations.moments[moment]);
        EXPECT_NEAR(moments[moment].bytes, expected[moment],
                    1e-9 * expected[moment]);
        peak = std::max(peak, expected[moment]);
      }
      ++numCompared;
      // As a limit: what fits, and what does not.
      for (double room : {0.99, 1.01}) {
        Aim aim{std::vector<double>(graph.stages().size(), 1), {}};
        aim.activationBytes = room * peak;
        ScaledProblem scaled = makeProblem(graph, aim);
        ASSERT_FALSE(scaled.problem.check());
        EXPECT_EQ(scaled.resources.size(), activations.moments.size());
        auto verdict =
            solve::verify(scaled.problem, scaled.solutionOf(*choice));
        ASSERT_TRUE(verdict);
        EXPECT_EQ(verdict->feasible, room > 1);
      }
    }
  }
  EXPECT_GT(numCompared, 20);
}

TEST(Activations, AreWhatAWalkThroughTheLayerHolds) {
  Workload decode{Phase::Decode, 16384}, prefill{Phase::Prefill, 2048};
  for (const ModelConfig &config :
       {llama70B(), mixtral8x22B(), deepSeekV3(), gptOss120B()})
    expectSameActivations(makeCosts(config, decode, h100()));
  expectSameActivations(makeCosts(deepSeekV3(), prefill, h100()));
  for (const Body &body : {makeParallelBlock(4096), makePostNorm(4096),
                           makeTowers(4096, 2), makeTowers(4096, 6)})
    for (const Workload &workload : {decode, prefill})
      expectSameActivations(wiredCosts(body, workload));
}

/// One device, two values at a time and both in bytes that anyone can count.
TEST(Activations, OfOneDeviceAreWholeValues) {
  CostModel costs = makeCosts(llama70B(), {Phase::Decode, 1024}, h100());
  Degrees degrees{1, 1, 1, 16};
  StrategyGraph graph(costs, degrees,
                      std::vector<DimSet>(costs.model().numVariables(), 7));
  Activations activations = activationsOf(graph);
  std::vector<Dim> dims(costs.model().numVariables(), Dim::None);
  std::optional<Choice> choice = graph.follow(dims);
  ASSERT_TRUE(choice);
  std::vector<double> bytes = activationsUnder(activations, *choice);
  // Residual and what the norm made, 16 rows of 8192 elements of two bytes.
  EXPECT_EQ(activations.moments.front(), "attn_norm");
  EXPECT_EQ(bytes.front(), 2 * 16 * 8192 * 2);
  // Residual, what was normed, and q, k and v: 64 + 2 * 8 heads of 128.
  EXPECT_EQ(activations.moments[1], "qkv_proj");
  EXPECT_EQ(bytes[1], 16 * (2 * 8192 + (64 + 2 * 8) * 128) * 2);
}

} // namespace
