//===- InterfacesTest.cpp - Rules and costs that ops give -----------------===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// One layer of the synthetic GPT-MoE (1.2 T parameters, 60 such layers), asked
// through the interfaces alone: what its ops want, leave and take on H100s.
//
//===----------------------------------------------------------------------===//

#include "shardopt/Cost/Roofline.h"
#include "shardopt/Dialect/LLM/IR/LLMOps.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Parser/Parser.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/StringMap.h"

#include "gtest/gtest.h"

using namespace mlir;
using namespace shardopt;
using namespace shardopt::llm;

namespace {

constexpr const char *layerText = R"mlir(
func.func @layer(%tokens: tensor<?xi32>, %p: tensor<?xi32>, %kc: tensor<?x?x8x128xbf16>, %vc: tensor<?x?x8x128xbf16>) -> tensor<?xi32> {
  %table = llm.param @embed : tensor<51200x12288xbf16>
  %x = llm.embedding "embed" dim<0> %tokens, %table : tensor<51200x12288xbf16> -> tensor<?x12288xbf16>
  %norm = llm.param @norm : tensor<12288xbf16>
  %n = llm.rms_norm "attn_norm" dim<0> %x weight(%norm) {epsilon = 1.0e-5} : tensor<?x12288xbf16>
  %wq = llm.param @qkv : tensor<12288x14336xbf16>
  %q = llm.qkv_proj "qkv_proj" dim<1> %n, %wq {heads = 96, kv_heads = 8, head_dim = 128} : tensor<?x12288xbf16> -> tensor<?x14336xbf16>
  %a, %k1, %v1 = llm.attention gqa "attention" dim<0> %q at(%p) cache(%kc, %vc) {heads = 96, kv_heads = 8, head_dim = 128, group = 12, scale = 0.088} : tensor<?x14336xbf16>, tensor<?x?x8x128xbf16> -> tensor<?x12288xbf16>
  %wo = llm.param @out : tensor<12288x12288xbf16>
  %o = llm.out_proj "out_proj" dim<0> %a, %wo {heads = 96} : tensor<?x12288xbf16> -> tensor<?x12288xbf16>
  %m, %r = llm.rms_norm "ffn_norm" dim<0> %o residual(%x) weight(%norm) {epsilon = 1.0e-5} : tensor<?x12288xbf16>
  %wr = llm.param @router : tensor<12288x16xbf16>
  %t, %i, %s = llm.router "router" dim<none> %m, %wr {scoring = #llm.scoring<softmax>, top_k = 2} : tensor<?x12288xbf16>, tensor<12288x16xbf16>
  %d, %c, %g = llm.dispatch "dispatch" dim<0> %t, %i {experts = 16} : tensor<?x12288xbf16>, tensor<?x2xi32>
  %wu = llm.param @up : tensor<16x12288x49152xbf16>
  %u = llm.ffn_up "ffn_up" dim<1> %d, %wu counts(%c) {activation = #llm.activation<kind = gelu>} : tensor<?x12288xbf16>, tensor<1x1x16xi32> -> tensor<?x49152xbf16>
  %wd = llm.param @down : tensor<16x49152x12288xbf16>
  %y = llm.ffn_down "ffn_down" dim<0> %u, %wd counts(%c) : tensor<?x49152xbf16>, tensor<1x1x16xi32> -> tensor<?x12288xbf16>
  %z = llm.combine "combine" dim<0> %y, %c, %g, %s : tensor<?x12288xbf16>, tensor<1x1x16xi32>, tensor<?x2xf32>
  %e = llm.add %r, %z : tensor<?x12288xbf16>
  %wh = llm.param @head : tensor<12288x51200xbf16>
  %ids = llm.lm_head "lm_head" dim<1> %e norm(%norm) weight(%wh) {epsilon = 1.0e-5} : tensor<?x12288xbf16>, tensor<12288x51200xbf16> -> tensor<?xi32>
  return %ids : tensor<?xi32>
}
)mlir";

class InterfacesTest : public testing::Test {
protected:
  InterfacesTest() {
    context.loadDialect<LLMDialect, func::FuncDialect>();
    module = parseSourceString<ModuleOp>(layerText, &context);
    module->walk(
        [&](ShardableOpInterface op) { ops[op.getShardingName()] = op; });
  }

  MLIRContext context;
  OwningOpRef<ModuleOp> module;
  llvm::StringMap<ShardableOpInterface> ops;
};

/// tp 8, ep 16, pp 4 and a batch of 8192: 128 sequences of 16384 tokens in a
/// micro-batch of each of the 16 groups, each token with two of 16 experts.
cost::Context decodeContext() {
  Degrees degrees;
  degrees.tp = 8;
  degrees.dp = degrees.ep = 16;
  degrees.pp = 4;
  degrees.batch = 8192;
  cost::Context context =
      cost::makeContext({cost::Phase::Decode, 16384}, degrees);
  context.routing =
      cost::makeRouting(16, 2, context.rows, degrees, /*skew=*/0.1);
  return context;
}

static std::shared_ptr<const cost::OpModel> modelOf(ShardableOpInterface op) {
  return cast<CostOpInterface>(op.getOperation()).getOpModel();
}

static Span<const cost::Placement> only(const cost::Placement &placement) {
  return {&placement, 1};
}

/// Walks a program in its order, with the dims that are annotated, and keeps
/// for every value the placement that its producer leaves it in.
class Walk {
public:
  Walk(const cost::Context &context, const cost::TimeModel &times)
      : context(context), times(times) {}

  /// Microseconds of one op, the reshards of its operands included.
  double visit(ShardableOpInterface op) {
    SmallVector<cost::Placement> incoming;
    for (OpOperand *operand : op.getActivations())
      incoming.push_back(placements.lookup(operand->get()));
    Dim dim = *op.getShardingDim();
    std::shared_ptr<const cost::OpModel> model = modelOf(op);
    cost::Rule rule = model->rule(dim, incoming, context);
    EXPECT_TRUE(rule.isLegal()) << rule.illegal;
    EXPECT_EQ(rule.operands.size(), incoming.size());

    double seconds = 0;
    for (auto [index, from] : llvm::enumerate(incoming)) {
      const cost::OperandRule &operand = rule.operands[index];
      seconds += times.reshard(from.layout, operand.required.layout,
                               operand.rows, from.rowBytes, context.degrees);
      incoming[index] = operand.required;
    }
    cost::OpCost cost = model->cost(dim, incoming, context);
    seconds += times.seconds(cost, context.degrees);

    unsigned index = 0;
    for (Value result : op->getResults())
      if (index < rule.results.size())
        placements[result] = rule.results[index++].placement;
    return seconds * 1e6;
  }

  cost::Placement &operator[](Value value) { return placements[value]; }

private:
  const cost::Context &context;
  const cost::TimeModel &times;
  llvm::DenseMap<Value, cost::Placement> placements;
};

TEST_F(InterfacesTest, OpsOfALayerTakeTheTimesOfTheModel) {
  ErrorOr<Machine> machine = loadMachine("h100_sxm");
  ASSERT_TRUE(machine);
  cost::Roofline times(*machine);
  cost::Context context = decodeContext();
  Walk walk(context, times);

  struct {
    const char *name;
    double microseconds;
    cost::Layout out;
  } expected[] = {
      {"attn_norm", 2.552, cost::Layout::T},
      {"qkv_proj", 31.378, cost::Layout::H},
      {"attention", 379.358, cost::Layout::H},
      {"out_proj", 16.500, cost::Layout::P},
      {"ffn_norm", 15.198, cost::Layout::T},
      {"router", 2.276, cost::Layout::T},
      {"dispatch", 30.917, cost::Layout::T},
      {"ffn_up", 91.065, cost::Layout::H},
      {"ffn_down", 66.994, cost::Layout::P},
      {"combine", 55.265, cost::Layout::T},
  };
  // The residual is in the layout of its norm, T, and the embedding pays for
  // it.
  double embed = walk.visit(ops["embed"]);
  cost::Placement &residual = walk[ops["embed"]->getResult(0)];
  EXPECT_EQ(residual.layout, cost::Layout::P);
  embed += 1e6 * times.reshard(residual.layout, cost::Layout::T, context.rows,
                               residual.rowBytes, context.degrees);
  EXPECT_NEAR(embed, 16.855, 5e-4);
  residual.layout = cost::Layout::T;

  for (const auto &[name, microseconds, out] : expected) {
    EXPECT_NEAR(walk.visit(ops[name]), microseconds, 5e-4) << name;
    EXPECT_EQ(walk[ops[name]->getResult(0)].layout, out) << name;
  }
}

TEST_F(InterfacesTest, CachesAndWeightsAreThoseOfOneDevice) {
  cost::Context context = decodeContext();
  cost::Placement heads{cost::Layout::H, 14336 * 2};
  cost::OpCost cost =
      modelOf(ops["attention"])->cost(Dim::Zero, only(heads), context);
  // 512 sequences of a group, one of eight kv heads, keys and values.
  EXPECT_EQ(cost.cacheBytes, 512.0 * 16384 * 2 * 128 * 2);
  EXPECT_EQ(cost.weightBytes, 0);

  cost::Placement whole{cost::Layout::R, 12288 * 2};
  // One expert of 16, an eighth of its columns.
  auto up = modelOf(ops["ffn_up"]);
  EXPECT_EQ(up->cost(Dim::One, only(whole), context).weightBytes,
            12288.0 * 49152 / 8 * 2);
}

TEST_F(InterfacesTest, OpsSayWhatTheirLayerIs) {
  EXPECT_EQ(ops["dispatch"].getLayerFacts().experts, 16);
  EXPECT_EQ(ops["dispatch"].getLayerFacts().topK, 2);
  EXPECT_EQ(ops["attention"].getLayerFacts().window, 0);
  EXPECT_EQ(ops["ffn_up"].getLayerFacts().experts, 0);

  EXPECT_EQ(ops["attention"].getPromptRows(), 1);
  EXPECT_EQ(ops["lm_head"].getPromptRows(), 1);
  EXPECT_EQ(ops["out_proj"].getPromptRows(), std::nullopt);
  EXPECT_TRUE(ops["attention"].mixesRows());
  EXPECT_FALSE(ops["lm_head"].mixesRows());

  EXPECT_FALSE(ops["attention"].cutsInsideHeads());
  ops["attention"].setShardingDim(Dim::One);
  EXPECT_TRUE(ops["attention"].cutsInsideHeads());
  EXPECT_TRUE(ops["combine"].returnsFromExperts());
  EXPECT_FALSE(ops["ffn_down"].returnsFromExperts());
}

TEST_F(InterfacesTest, NormsKnowTheResidual) {
  auto first = cast<NormOpInterface>(ops["attn_norm"].getOperation());
  EXPECT_EQ(first.getNormed().get(), ops["embed"]->getResult(0));
  EXPECT_EQ(first.getAddedResidual(), nullptr);
  EXPECT_EQ(first.getNewResidual(), nullptr);

  auto second = cast<NormOpInterface>(ops["ffn_norm"].getOperation());
  ASSERT_NE(second.getAddedResidual(), nullptr);
  EXPECT_EQ(second.getAddedResidual()->get(), ops["embed"]->getResult(0));
  EXPECT_EQ(second.getNewResidual(), ops["ffn_norm"]->getResult(1));
  EXPECT_FALSE(isa<NormOpInterface>(ops["lm_head"].getOperation()));
}

/// The norm of the layer is the same but for a second sum of each row.
TEST_F(InterfacesTest, ALayerNormReducesTwoSums) {
  OwningOpRef<ModuleOp> other = parseSourceString<ModuleOp>(R"mlir(
func.func @f(%x: tensor<?x12288xbf16>, %w: tensor<12288xbf16>, %b: tensor<12288xbf16>) -> tensor<?x12288xbf16> {
  %n = llm.layer_norm "norm" %x weight(%w) bias(%b) {epsilon = 1.0e-5} : tensor<?x12288xbf16>
  return %n : tensor<?x12288xbf16>
}
)mlir",
                                                            &context);
  ShardableOpInterface norm;
  other->walk([&](ShardableOpInterface op) { norm = op; });
  cost::Context context = decodeContext();
  cost::Placement whole{cost::Layout::H, 12288 * 2};
  cost::OpCost cost = modelOf(norm)->cost(Dim::One, only(whole), context);
  cost::OpCost rms =
      modelOf(ops["attn_norm"])->cost(Dim::One, only(whole), context);
  ASSERT_EQ(cost.collectives.size(), 1u);
  EXPECT_EQ(cost.collectives[0].bytes, 128.0 * 8);
  EXPECT_EQ(rms.collectives[0].bytes, 128.0 * 4);
  EXPECT_EQ(cost.kernels[0].bytes, rms.kernels[0].bytes);
}

TEST_F(InterfacesTest, RulesSayWhyADimIsIllegal) {
  cost::Context context = decodeContext();
  cost::Placement heads{cost::Layout::H, 14336 * 2};
  auto attention = modelOf(ops["attention"]);
  EXPECT_TRUE(attention->rule(Dim::One, only(heads), context).isLegal());

  context.workload.phase = cost::Phase::Prefill;
  EXPECT_FALSE(attention->rule(Dim::One, only(heads), context).isLegal());

  context = decodeContext();
  context.degrees.tp = 128; // half a rotary pair a device
  EXPECT_FALSE(attention->rule(Dim::One, only(heads), context).isLegal());
}

TEST_F(InterfacesTest, ShardingDimsAreSetAndDropped) {
  ShardableOpInterface up = ops["ffn_up"];
  EXPECT_EQ(up.getShardingDim(), Dim::One);
  up.setShardingDim(Dim::None);
  EXPECT_EQ(up.getShardingDim(), Dim::None);
  up.setShardingDim(std::nullopt);
  EXPECT_EQ(up.getShardingDim(), std::nullopt);
}

TEST_F(InterfacesTest, ActivationsAreTheOperandsWithAPlacement) {
  EXPECT_TRUE(ops["embed"].getActivations().empty());
  EXPECT_EQ(ops["attention"].getActivations().size(), 1u);
  EXPECT_EQ(ops["ffn_up"].getActivations().size(), 1u);

  // The input first, then the residual that is added to it.
  SmallVector<OpOperand *> norm = ops["ffn_norm"].getActivations();
  ASSERT_EQ(norm.size(), 2u);
  EXPECT_EQ(norm[0]->get(), ops["out_proj"]->getResult(0));
  EXPECT_EQ(norm[1]->get(), ops["embed"]->getResult(0));
}

} // namespace
