//===- OpsTest.cpp - Rules of ops -----------------------------------------===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "shardopt/Model/Heads.h"
#include "shardopt/Model/Ops/Combine.h"
#include "shardopt/Model/Ops/Dispatch.h"
#include "shardopt/Model/Ops/Ffn.h"
#include "shardopt/Model/Ops/GatedDeltaNet.h"
#include "shardopt/Model/Ops/GqaAttention.h"
#include "shardopt/Model/Ops/Linear.h"
#include "shardopt/Model/Ops/Mamba2.h"
#include "shardopt/Model/Ops/MlaAttention.h"
#include "shardopt/Model/Ops/OutProj.h"
#include "shardopt/Model/Ops/QkvProj.h"
#include "shardopt/Model/Ops/Router.h"

#include <gtest/gtest.h>

using namespace shardopt;
using namespace shardopt::cost;

namespace {

class Rules : public testing::Test {
protected:
  /// The rule of `op` for one operand in `layout`, with rows of 100 bytes.
  Rule rule(const OpModel &op, Dim dim, Layout layout) {
    Placement incoming{layout, 100};
    return op.rule(dim, Span<const Placement>(&incoming, 1), context);
  }

  Layout wanted(const OpModel &op, Dim dim, Layout layout) {
    return rule(op, dim, layout).operands[0].required.layout;
  }

  Layout left(const OpModel &op, Dim dim, Layout layout) {
    return rule(op, dim, layout).results[0].placement.layout;
  }

  Context context = makeContext({Phase::Decode, 1024}, {4, 2, 1, 64});
};

TEST_F(Rules, WeightOpsContractOrCutColumnsOrFollowRows) {
  Linear op;
  op.in = op.out = 64;
  for (Layout in : {Layout::R, Layout::T, Layout::H, Layout::P}) {
    EXPECT_EQ(wanted(op, Dim::Zero, in), Layout::H);
    EXPECT_EQ(left(op, Dim::Zero, in), Layout::P);
    EXPECT_EQ(wanted(op, Dim::One, in), Layout::R);
    EXPECT_EQ(left(op, Dim::One, in), Layout::H);
    Layout none = in == Layout::T ? Layout::T : Layout::R;
    EXPECT_EQ(wanted(op, Dim::None, in), none);
    EXPECT_EQ(left(op, Dim::None, in), none);
  }
}

TEST_F(Rules, WeightsOnTwoAxesOfTpTakeAndLeaveCutFeatures) {
  FfnUp up;
  up.hidden = 64, up.inner = 96, up.gated = true;
  EXPECT_FALSE(rule(up, dimBoth, Layout::H).isLegal()); // tp2 is 1
  Degrees degrees{8, 2, 1, 64};
  degrees.tp2 = 4;
  context = makeContext({Phase::Decode, 1024}, degrees);
  for (Layout in : {Layout::R, Layout::T, Layout::H, Layout::P}) {
    EXPECT_EQ(wanted(up, dimBoth, in), Layout::H);
    EXPECT_EQ(left(up, dimBoth, in), Layout::H);
  }
  // 32 rows of two bytes: 64 / 4 columns over tp1, 2 * 96 / 2 over tp2.
  Placement incoming{Layout::H, 128};
  OpCost cost = up.cost(dimBoth, {&incoming, 1}, context);
  EXPECT_EQ(cost.weightBytes, 2 * 64 * 192 / 8);
  ASSERT_EQ(cost.collectives.size(), 2u);
  EXPECT_EQ(cost.collectives[0].axis, Axis::Tp1);
  EXPECT_EQ(cost.collectives[0].bytes, 32 * 2 * 16);
  EXPECT_EQ(cost.collectives[1].axis, Axis::Tp2);
  EXPECT_EQ(cost.collectives[1].bytes, 32 * 2 * 96);

  // Of the way back 96 / 2 over tp2 and 64 / 4 over tp1.
  FfnDown down;
  down.hidden = 64, down.inner = 96;
  cost = down.cost(dimBoth, {&incoming, 1}, context);
  EXPECT_EQ(cost.weightBytes, 2 * 96 * 64 / 8);
  EXPECT_EQ(cost.collectives[0].axis, Axis::Tp2);
  EXPECT_EQ(cost.collectives[0].bytes, 32 * 2 * 48);
  EXPECT_EQ(cost.collectives[1].axis, Axis::Tp1);
  EXPECT_EQ(cost.collectives[1].bytes, 32 * 2 * 16);

  up.gatesRows = true;
  EXPECT_FALSE(rule(up, dimBoth, Layout::H).isLegal());
  down.kind = FfnKind::Grouped;
  EXPECT_FALSE(rule(down, dimBoth, Layout::H).isLegal());
  EXPECT_EQ(numDims(down.choices()), 3u);
}

TEST_F(Rules, RouterPassesTheTokensOnAsItTookThem) {
  Router op;
  op.hidden = 64, op.experts = 8, op.topK = 2;
  Rule cut = rule(op, Dim::Zero, Layout::T);
  EXPECT_EQ(cut.results[0].passes, 0);
  EXPECT_EQ(cut.results[0].placement.layout, Layout::H);
  EXPECT_EQ(cut.results[1].passes, -1);
  EXPECT_EQ(cut.results[1].placement.layout, Layout::R);
  // Replicated tokens are cut without a copy.
  EXPECT_EQ(left(op, Dim::Zero, Layout::R), Layout::R);
  EXPECT_EQ(left(op, Dim::One, Layout::T), Layout::R);
  EXPECT_EQ(left(op, Dim::None, Layout::T), Layout::T);
  EXPECT_EQ(left(op, Dim::None, Layout::H), Layout::R);
}

TEST_F(Rules, RouterThatScalesTokensMakesThem) {
  Router op;
  op.hidden = 64, op.experts = 8, op.topK = 1;
  op.scalesTokens = true;
  Rule cut = rule(op, Dim::Zero, Layout::T);
  EXPECT_EQ(cut.results[0].passes, -1);
  EXPECT_EQ(cut.results[0].placement.layout, Layout::H);
  Placement incoming{Layout::T, 128};
  OpCost cost =
      op.cost(Dim::Zero, Span<const Placement>(&incoming, 1), context);
  ASSERT_EQ(cost.kernels.size(), 2u);
  // 32 rows of a quarter of 64 features, read and written.
  EXPECT_EQ(cost.kernels[1].bytes, 2 * 32 * 16 * 2);
}

TEST_F(Rules, CombineDefersTheSumOfPartialResults) {
  Combine op;
  op.hidden = 64, op.topK = 2;
  EXPECT_EQ(left(op, Dim::None, Layout::P), Layout::P);
  EXPECT_EQ(left(op, Dim::None, Layout::T), Layout::T);
  EXPECT_EQ(left(op, Dim::None, Layout::H), Layout::R);
  Dispatch dispatch;
  dispatch.hidden = 64, dispatch.topK = 2;
  EXPECT_EQ(left(dispatch, Dim::None, Layout::H), Layout::R);
}

TEST_F(Rules, ReshardsBetweenDispatchAndCombineAreOfTheBusiestGroup) {
  context.routing = makeRouting(8, 2, context.rows, Degrees(1, 2, 1, 2), 0.1);
  FfnUp op;
  op.kind = FfnKind::Grouped;
  op.hidden = 64, op.inner = 32;
  EXPECT_EQ(rule(op, Dim::One, Layout::T).operands[0].rows,
            context.routing.copies);
  op.kind = FfnKind::Shared;
  EXPECT_EQ(rule(op, Dim::One, Layout::T).operands[0].rows, 32);
}

TEST_F(Rules, PartialSumsOfAGatedProjectionHoldGateAndUp) {
  FfnUp op;
  op.hidden = 64, op.inner = 32, op.gated = true;
  auto rowBytes = [&](Dim dim) {
    return rule(op, dim, Layout::R).results[0].placement.rowBytes;
  };
  EXPECT_EQ(rowBytes(Dim::Zero), 2 * 32 * 2);
  EXPECT_EQ(rowBytes(Dim::One), 32 * 2);
  EXPECT_EQ(rowBytes(Dim::None), 32 * 2);
  op.gated = false;
  EXPECT_EQ(rowBytes(Dim::Zero), 32 * 2);
}

TEST_F(Rules, AttentionOverBlocksOfTokensNeedsWholePrompts) {
  GqaAttention op;
  op.heads = 8, op.kvHeads = 2, op.headDim = 16;
  EXPECT_EQ(left(op, Dim::None, Layout::T), Layout::T);
  context = makeContext({Phase::Prefill, 128}, {4, 1, 1, 8});
  EXPECT_EQ(left(op, Dim::None, Layout::T), Layout::T);
  context = makeContext({Phase::Prefill, 128}, {4, 1, 1, 6});
  EXPECT_EQ(left(op, Dim::None, Layout::T), Layout::R);
}

TEST_F(Rules, PositionsOfPromptsAreCutOverAllOfTp) {
  GqaAttention op;
  op.heads = 8, op.kvHeads = 2, op.headDim = 16;
  context = makeContext({Phase::Prefill, 128}, {4, 1, 1, 3});
  Placement rows{Layout::T, 100}, complete{Layout::R, 100};
  OpCost whole = op.cost(Dim::None, {&complete, 1}, context);
  context.degrees.cp = 2; // a device has positions, but not their tokens
  EXPECT_FALSE(rule(op, Dim::None, Layout::T).isLegal());
  context.degrees.cp = 4;
  EXPECT_TRUE(rule(op, Dim::Zero, Layout::H).isLegal());
  for (Layout in : {Layout::R, Layout::T, Layout::H, Layout::P})
    EXPECT_EQ(left(op, Dim::None, in), Layout::T);

  // A device has its part of the pairs and of the cache, and all keys.
  OpCost cut = op.cost(Dim::None, {&rows, 1}, context);
  EXPECT_DOUBLE_EQ(4 * cut.kernels[0].flops, whole.kernels[0].flops);
  EXPECT_DOUBLE_EQ(4 * cut.cacheBytes, whole.cacheBytes);
  ASSERT_EQ(cut.collectives.size(), 1u);
  EXPECT_EQ(cut.collectives[0].kind, CollectiveKind::AllGather);
  EXPECT_EQ(cut.collectives[0].bytes, 3 * 128 * 2 * 2 * 16 * 2);
  EXPECT_EQ(op.cost(Dim::None, {&complete, 1}, context).collectives.size(), 0u);

  MlaAttention latent;
  const Placement both[] = {{Layout::T, 100}, {Layout::T, 100}};
  EXPECT_EQ(latent.rule(Dim::None, both, context).operands[1].required.layout,
            Layout::R);
  context = makeContext({Phase::Decode, 128}, {4, 1, 1, 3});
  context.degrees.cp = 4;
  EXPECT_FALSE(rule(op, Dim::None, Layout::T).isLegal());
}

TEST_F(Rules, AttentionSaysWhyItCannotCutTheHeadSize) {
  GqaAttention op;
  op.heads = 8, op.kvHeads = 2, op.headDim = 16;
  EXPECT_TRUE(rule(op, Dim::One, Layout::H).isLegal());
  op.headDim = 12; // not in multiples of 2 * 4
  EXPECT_STREQ(rule(op, Dim::One, Layout::H).illegal,
               "sharding dim 1 needs a head size divisible by 2 * tp");
  MlaAttention latent;
  const Placement both[] = {{Layout::H, 100}, {Layout::R, 100}};
  EXPECT_FALSE(latent.rule(Dim::One, both, context).isLegal());
}

TEST_F(Rules, AnIndexerIsWholeAndReadsWhatItRanks) {
  MlaAttention op;
  op.heads = 8, op.latent = 16, op.nope = 8, op.rope = 4, op.value = 8;
  const Placement incoming[] = {
      {Layout::H, 100}, {Layout::R, 40}, {Layout::R, 60}};
  Span<const Placement> both(incoming, 2), all(incoming, 3);
  OpCost dense = op.cost(Dim::Zero, both, context);
  EXPECT_EQ(op.rule(Dim::Zero, both, context).operands.size(), 2u);

  op.indexHeads = 3, op.indexDim = 6, op.indexTopk = 256;
  Rule rule = op.rule(Dim::Zero, all, context);
  ASSERT_EQ(rule.operands.size(), 3u);
  EXPECT_EQ(rule.operands[2].required.layout, Layout::R);
  OpCost sparse = op.cost(Dim::Zero, all, context);
  ASSERT_EQ(sparse.kernels.size(), 4u);
  // A quarter of the context is read; all of it is ranked, by every head.
  EXPECT_EQ(sparse.kernels[2].flops, dense.kernels[2].flops / 4);
  EXPECT_EQ(sparse.kernels[3].flops,
            2.0 * double(context.microBatch) * 1024 * 3 * 6);
  EXPECT_EQ(sparse.cacheBytes, dense.cacheBytes * 26 / 20);
  // Of what all is read, the cost is that of reading all, and ranking.
  op.indexTopk = 2048;
  EXPECT_EQ(op.cost(Dim::Zero, all, context).kernels[2].flops,
            dense.kernels[2].flops);

  context.degrees.cp = 2;
  EXPECT_STREQ(op.rule(Dim::Zero, all, context).illegal,
               "context parallelism shards positions, and an indexer ranks all "
               "positions of a sequence");
}

TEST_F(Rules, GatesRestrictHowAttentionIsCut) {
  GqaAttention op;
  op.heads = 8, op.kvHeads = 2, op.headDim = 16;
  op.gated = true;
  EXPECT_FALSE(rule(op, Dim::One, Layout::H).isLegal());
  EXPECT_TRUE(rule(op, Dim::Zero, Layout::H).isLegal());
  QkvProj projection;
  projection.hidden = 64, projection.heads = 8, projection.kvHeads = 2;
  projection.headDim = 16;
  auto columns = [&] {
    return rule(projection, Dim::One, Layout::R).results[0].placement.rowBytes;
  };
  EXPECT_EQ(columns(), (8 + 4) * 16 * 2);
  projection.gated = true;
  EXPECT_EQ(columns(), (16 + 4) * 16 * 2);
  context.degrees.cp = 2;
  EXPECT_STREQ(rule(op, Dim::Zero, Layout::H).illegal,
               "context parallelism has no gated attention");
}

/// Ranks that share positions read the caches of all heads of theirs.
TEST_F(Rules, SharedPositionsAreReadWithAllCaches) {
  GqaAttention op;
  op.heads = 16, op.kvHeads = 8, op.headDim = 16;
  op.cacheBytes = 1, op.activationBytes = 1;
  Placement incoming{Layout::R, 100};
  context = makeContext({Phase::Decode, 4096}, {2, 1, 1, 64});
  context.degrees.cp = 2;
  context.window = 512;
  Kernel kernel =
      op.cost(Dim::Zero, Span<const Placement>(&incoming, 1), context)
          .kernels[0];
  ContextHeads group = contextHeads(16, 8, 2, 2);
  EXPECT_GT(group.kv, 1);
  EXPECT_EQ(kernel.kvHeads, double(group.kv));
  EXPECT_EQ(kernel.count, double(group.query));
  EXPECT_EQ(kernel.k, 256);
  EXPECT_EQ(kernel.window, 512);
  EXPECT_EQ(kernel.cacheBytes, 1);
  EXPECT_EQ(kernel.activationBytes, 1);
}

/// Three key heads over four devices: one holds none, and three one each.
TEST_F(Rules, StatesAreCutByHeadsOrSequencesAndNotByPositions) {
  GatedDeltaNet op;
  op.heads = 3, op.valueHeads = 6, op.keyDim = 4, op.valueDim = 8;
  op.taps = 4;
  EXPECT_EQ(left(op, Dim::Zero, Layout::P), Layout::H);
  EXPECT_EQ(left(op, Dim::None, Layout::T), Layout::T);
  EXPECT_EQ(left(op, Dim::None, Layout::H), Layout::R);
  EXPECT_FALSE(rule(op, Dim::One, Layout::H).isLegal());

  // Two value heads and their three rows of channels, for 64 / 2 sequences.
  Placement incoming{Layout::R, 100};
  auto held = [&](Dim dim, Layout layout) {
    Placement placed{layout, 100};
    return op.cost(dim, Span<const Placement>(&placed, 1), context).cacheBytes;
  };
  double state = 2 * 4 * 8 * 4, rows = 3 * (2 * 4 + 2 * 8) * 2;
  EXPECT_EQ(held(Dim::Zero, Layout::H), 32 * (state + rows));
  EXPECT_EQ(held(Dim::None, Layout::R), 32 * 3 * (state + rows));
  EXPECT_EQ(held(Dim::None, Layout::T), 8 * 3 * (state + rows));

  // A longer context costs a step nothing.
  auto span = Span<const Placement>(&incoming, 1);
  OpCost step = op.cost(Dim::None, span, context);
  context.workload.context *= 8;
  OpCost later = op.cost(Dim::None, span, context);
  EXPECT_EQ(step.kernels[1].bytes, later.kernels[1].bytes);
  EXPECT_EQ(step.cacheBytes, later.cacheBytes);

  context.degrees.cp = 2;
  for (Dim dim : {Dim::Zero, Dim::None})
    EXPECT_STREQ(rule(op, dim, Layout::R).illegal,
                 "context parallelism shards positions, and a state has none");
}

/// Groups are cut with their heads; of a single one the heads, and every device
/// has what they share.
TEST_F(Rules, StateSpacesAreCutByGroupsOrByTheHeadsOfOne) {
  Mamba2 op;
  op.heads = 8, op.headDim = 4, op.groups = 2, op.stateDim = 16;
  op.taps = 4;
  EXPECT_EQ(left(op, Dim::Zero, Layout::P), Layout::H);
  EXPECT_EQ(left(op, Dim::None, Layout::T), Layout::T);
  EXPECT_FALSE(rule(op, Dim::One, Layout::H).isLegal());
  Placement placed{Layout::H, 100};
  auto cost = [&](Dim dim) {
    return op.cost(dim, Span<const Placement>(&placed, 1), context);
  };
  // A group for each of two devices of four, for 64 / 2 sequences.
  auto held = [](double heads, double groups) {
    return 32 * (heads * 4 * 16 * 4 + 3 * (heads * 4 + groups * 32) * 2);
  };
  EXPECT_EQ(cost(Dim::Zero).cacheBytes, held(4, 1));
  EXPECT_EQ(cost(Dim::None).cacheBytes, held(8, 2));
  EXPECT_TRUE(cost(Dim::Zero).collectives.empty());
  op.groups = 1;
  EXPECT_EQ(cost(Dim::Zero).cacheBytes, held(2, 1));
  EXPECT_EQ(cost(Dim::None).cacheBytes, held(8, 1));
  // What all heads make is normed.
  ASSERT_EQ(cost(Dim::Zero).collectives.size(), 1u);
  EXPECT_EQ(cost(Dim::Zero).collectives[0].bytes, 32 * 4);
  EXPECT_TRUE(cost(Dim::None).collectives.empty());
  op.norms = false;
  EXPECT_TRUE(cost(Dim::Zero).collectives.empty());

  Linear projection;
  projection.in = 10, projection.heads = 8, projection.shared = 32;
  projection.out = 8 * 9 + 32;
  OpCost cut =
      projection.cost(Dim::One, Span<const Placement>(&placed, 1), context);
  EXPECT_EQ(cut.weightBytes, 10 * (2 * 9 + 32) * 2);

  context.degrees.cp = 2;
  EXPECT_STREQ(rule(op, Dim::Zero, Layout::R).illegal,
               "context parallelism shards positions, and a state has none");
}

/// Prefill moves a state once a chunk, where a step moves it once a token.
TEST_F(Rules, ChunksMoveStatesLessOftenThanSteps) {
  GatedDeltaNet op;
  op.heads = 4, op.valueHeads = 4, op.keyDim = 128, op.valueDim = 128;
  op.taps = 4;
  Placement incoming{Layout::R, 100};
  auto span = Span<const Placement>(&incoming, 1);
  Kernel step = op.cost(Dim::None, span, context).kernels[1];
  context = makeContext({Phase::Prefill, 1024}, {4, 2, 1, 64});
  Kernel chunks = op.cost(Dim::None, span, context).kernels[1];
  EXPECT_LT(chunks.bytes, 1024 * step.bytes / 16);
  EXPECT_GT(chunks.flops, 1024 * step.flops);
}

TEST_F(Rules, NormsOfAllHeadsAreAllReducedWhereHeadsAreCut) {
  GqaAttention op;
  op.heads = 8, op.kvHeads = 2, op.headDim = 16;
  op.qkNorm = true;
  // Bytes of the sums, 0 for none.
  auto sums = [&](Dim dim) {
    Placement incoming{Layout::H, 384};
    OpCost cost = op.cost(dim, Span<const Placement>(&incoming, 1), context);
    double bytes = 0;
    for (const Collective &collective : cost.collectives)
      if (std::string_view(collective.name) == "norm")
        bytes += collective.bytes;
    return bytes;
  };
  EXPECT_EQ(sums(Dim::Zero), 0);
  EXPECT_EQ(sums(Dim::One), 32 * (8 + 2) * 4);
  op.normSums = 2; // the mean of each head as well
  EXPECT_EQ(sums(Dim::Zero), 0);
  EXPECT_EQ(sums(Dim::One), 32 * (8 + 2) * 8);
  op.normSums = 1;
  op.normsAllHeads = true;
  EXPECT_EQ(sums(Dim::Zero), 32 * 2 * 4);
  EXPECT_EQ(sums(Dim::One), 32 * 2 * 4);
  EXPECT_EQ(sums(Dim::None), 0);
}

TEST_F(Rules, InnerNormsAreAllReducedWhereFeaturesArriveCut) {
  Linear op;
  op.in = op.out = 64;
  op.innerNorm = true;
  auto collectives = [&](Dim dim, Layout layout) {
    Placement incoming{layout, 128};
    return op.cost(dim, Span<const Placement>(&incoming, 1), context)
        .collectives.size();
  };
  EXPECT_EQ(collectives(Dim::Zero, Layout::H), 1u);
  EXPECT_EQ(collectives(Dim::Zero, Layout::P), 1u);
  EXPECT_EQ(collectives(Dim::Zero, Layout::T), 0u);
  EXPECT_EQ(collectives(Dim::Zero, Layout::R), 0u);
  EXPECT_EQ(collectives(Dim::One, Layout::H), 0u);
  EXPECT_EQ(collectives(Dim::None, Layout::H), 0u);
}

} // namespace
