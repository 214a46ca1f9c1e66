//===- WiredModels.cpp - Layers that are no chains ------------------------===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "WiredModels.h"

#include "shardopt/Model/Ops/Ffn.h"
#include "shardopt/Model/Ops/GqaAttention.h"
#include "shardopt/Model/Ops/Norm.h"
#include "shardopt/Model/Ops/OutProj.h"
#include "shardopt/Model/Ops/QkvProj.h"

using namespace shardopt;
using namespace shardopt::cost;
using namespace shardopt::cost::test;

namespace {

/// Appends ops to a body; variables number them from 1 on.
class BodyWriter {
public:
  explicit BodyWriter(int64_t hidden) : hidden(hidden) { body.numValues = 1; }

  template <typename Op>
  ValueId add(const std::string &name, Op op, std::vector<ValueId> operands,
              unsigned numResults = 1) {
    Node node;
    node.name = name;
    node.variable = unsigned(body.nodes.size()) + 1;
    node.op = std::make_shared<Op>(std::move(op));
    node.operands = std::move(operands);
    for (unsigned i = 0; i < numResults; ++i)
      node.results.push_back(body.numValues++);
    body.nodes.push_back(node);
    return node.results.front();
  }
  /// Of `value`, or of its sum with `residual`, which is the next value then.
  ValueId norm(const std::string &name, ValueId value,
               std::optional<ValueId> residual = {}) {
    Norm op;
    op.hidden = hidden;
    return residual ? add(name, op, {value, *residual}, 2)
                    : add(name, op, {value});
  }
  ValueId attention(const std::string &prefix, ValueId value) {
    QkvProj qkv;
    qkv.hidden = hidden;
    GqaAttention attention;
    qkv.heads = attention.heads = 32;
    qkv.kvHeads = attention.kvHeads = 8;
    qkv.headDim = attention.headDim = 128;
    OutProj out;
    out.heads = 32;
    out.headDim = 128;
    out.hidden = hidden;
    value = add(prefix + "qkv_proj", qkv, {value});
    value = add(prefix + "attention", attention, {value});
    return add(prefix + "out_proj", out, {value});
  }
  ValueId block(const std::string &prefix, ValueId value, int64_t inner) {
    FfnUp up;
    up.hidden = hidden;
    up.inner = inner;
    FfnDown down;
    static_cast<Ffn &>(down) = up;
    value = add(prefix + "ffn_up", up, {value});
    return add(prefix + "ffn_down", down, {value});
  }

  Body body;

private:
  const int64_t hidden;
};

} // namespace

Body test::makeTowers(int64_t hidden, size_t numTowers) {
  BodyWriter writer(hidden);
  Body &body = writer.body;
  for (size_t i = 0; i < numTowers; ++i) {
    std::string tower = "tower" + std::to_string(i) + ".";
    ValueId value = writer.norm(tower + "attn_norm", body.residual);
    value = writer.attention(tower, value);
    value = writer.norm(tower + "ffn_norm", value, body.residual);
    body.exitResiduals.push_back(value + 1);
    body.exitOutputs.push_back(
        writer.block(tower, value, 4 * hidden / int64_t(i + 1)));
  }
  return body;
}

Body test::makeParallelBlock(int64_t hidden) {
  BodyWriter writer(hidden);
  ValueId normed = writer.norm("norm", writer.body.residual);
  writer.body.exitResiduals = {writer.body.residual};
  writer.body.exitOutputs = {writer.attention("", normed),
                             writer.block("", normed, 4 * hidden)};
  return writer.body;
}

Body test::makePostNorm(int64_t hidden) {
  BodyWriter writer(hidden);
  ValueId normed = writer.norm("attn_norm", writer.body.residual);
  ValueId value = writer.attention("", normed);
  ValueId between = writer.norm("attn_post_norm", value, normed);
  value = writer.block("", between, 4 * hidden);
  value = writer.norm("ffn_post_norm", value, between);
  writer.body.exitResiduals = {value + 1};
  writer.body.exitOutputs = {value};
  return writer.body;
}

CostModel test::wiredCosts(Body body, const Workload &workload) {
  ModelConfig config = llama70B();
  config.hidden = 4096;
  config.layers = 12;
  Model model = makeModel(config, workload);
  model.head.variable = unsigned(body.nodes.size()) + 1;
  model.bodies = {std::move(body)};
  CostModel like = makeCosts(config, workload, h100());
  return CostModel(std::move(model),
                   std::make_shared<Roofline>(h100(), CommModel::Fast), 0.1,
                   like.limits());
}

CostModel test::towerCosts(size_t numTowers) {
  return wiredCosts(makeTowers(4096, numTowers), {Phase::Decode, 16384});
}
