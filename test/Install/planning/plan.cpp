//===- plan.cpp - Plans a model made by hand, without a compiler ----------===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Llama-3.1-70B in decode, as a serving system may describe it that knows its
// model anyway: the ops of a layer with their sizes, and which value each
// reads.
//
//===----------------------------------------------------------------------===//

#include "shardopt/Model/Ops/Embedding.h"
#include "shardopt/Model/Ops/Ffn.h"
#include "shardopt/Model/Ops/GqaAttention.h"
#include "shardopt/Model/Ops/LmHead.h"
#include "shardopt/Model/Ops/Norm.h"
#include "shardopt/Model/Ops/OutProj.h"
#include "shardopt/Model/Ops/QkvProj.h"
#include "shardopt/Planning/Planner.h"

#include <cstdio>

using namespace shardopt;

constexpr int64_t hidden = 8192, heads = 64, kvHeads = 8, headDim = 128,
                  inner = 28672, vocab = 128256, layers = 80;

/// Adds an op to `body`, whose results are new values.
template <typename Op>
static cost::ValueId add(cost::Body &body, const char *name, const Op &op,
                         std::vector<cost::ValueId> operands,
                         unsigned numResults = 1) {
  cost::Node node;
  node.name = name;
  node.variable = 1 + body.nodes.size();
  node.op = std::make_shared<Op>(op);
  node.operands = std::move(operands);
  for (unsigned i = 0; i < numResults; ++i)
    node.results.push_back(body.numValues++);
  body.nodes.push_back(node);
  return node.results.front();
}

static cost::Body makeLayer() {
  cost::Body body;
  body.residual = body.numValues++;
  cost::Norm norm;
  norm.hidden = hidden;
  cost::QkvProj qkv;
  qkv.hidden = hidden;
  qkv.heads = heads;
  qkv.kvHeads = kvHeads;
  qkv.headDim = headDim;
  cost::GqaAttention attention;
  attention.heads = heads;
  attention.kvHeads = kvHeads;
  attention.headDim = headDim;
  cost::OutProj out;
  out.heads = heads;
  out.headDim = headDim;
  out.hidden = hidden;
  cost::FfnUp up;
  up.hidden = hidden;
  up.inner = inner;
  up.gated = true;
  cost::FfnDown down;
  down.hidden = hidden;
  down.inner = inner;
  down.gated = true;

  auto value = add(body, "attn_norm", norm, {body.residual});
  value = add(body, "qkv_proj", qkv, {value});
  value = add(body, "attention", attention, {value});
  value = add(body, "out_proj", out, {value});
  value = add(body, "ffn_norm", norm, {value, body.residual}, 2);
  body.exitResiduals = {value + 1};
  value = add(body, "ffn_up", up, {value});
  body.exitOutputs = {add(body, "ffn_down", down, {value})};
  return body;
}

static cost::Model makeModel() {
  cost::Model model;
  model.workload = {cost::Phase::Decode, 8192};
  model.rowBytes = 2 * hidden;
  cost::Embedding embed;
  embed.vocab = vocab;
  embed.hidden = hidden;
  model.embed = {"embed", 0, std::make_shared<cost::Embedding>(embed), {}, {}};
  model.bodies = {makeLayer()};
  model.segments = {{0, std::vector<int64_t>(layers)}};
  cost::LmHead head;
  head.vocab = vocab;
  head.hidden = hidden;
  model.head = {"lm_head",
                unsigned(1 + model.bodies[0].nodes.size()),
                std::make_shared<cost::LmHead>(head),
                {},
                {}};
  return model;
}

static int fail(const Error &error) {
  std::fprintf(stderr, "%s\n", error.message.c_str());
  return 1;
}

int main() {
  ScenarioOptions options;
  options.simulator = "auto"; // as the passes have it by default
  options.timing.machine = "h100_sxm";
  options.maxDevices = 16;
  auto scenario = Scenario::create("llama", makeModel(), options);
  if (!scenario)
    return fail(scenario.error());
  PlanRequest request;
  request.space.maxDevices = options.maxDevices;
  ErrorOr<PlanSummary> summary = makePlan(*scenario, request);
  if (!summary)
    return fail(summary.error());
  if (auto failure = failureOf(*summary))
    return fail(*failure);
  std::printf("%s", planTable(*summary).c_str());
  // A searcher of the module that is installed beside the libraries.
  request.searcher = "genetic";
  ErrorOr<PlanSummary> compared = makePlan(*scenario, request);
  if (!compared)
    return fail(compared.error());
  std::printf("%s", planTable(*compared).c_str());
  std::printf("throughput %.17g, proved %d\n",
              summary->plan->evaluation.throughput, summary->search.proved);
}
