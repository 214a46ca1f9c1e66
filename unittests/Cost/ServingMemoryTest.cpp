//===- ServingMemoryTest.cpp - Memory beside what publishers say ----------===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "shardopt/Cost/ServingMemory.h"

#include <gtest/gtest.h>

using namespace shardopt::cost;

namespace {

constexpr double gib = 1 << 30;

ServedModel grouped(double layers, double hidden, double heads, double kvHeads,
                    double headDim, double inner, double vocab) {
  ServedModel model;
  model.denseLayers = layers;
  model.hidden = hidden;
  model.heads = heads;
  model.kvHeads = kvHeads;
  model.headDim = headDim;
  model.denseInner = inner;
  model.vocab = vocab;
  model.spans = {{0, layers}};
  return model;
}

ServingSetup inType(const ServedModel &model, ServedType type) {
  ServingSetup setup;
  setup.model = model;
  setup.attentionType = setup.denseType = setup.expertType = type;
  return setup;
}

ServedModel llama(double billions) {
  return billions < 10    ? grouped(32, 4096, 32, 8, 128, 14336, 128256)
         : billions < 100 ? grouped(80, 8192, 64, 8, 128, 28672, 128256)
                          : grouped(126, 16384, 128, 8, 128, 53248, 128256);
}

ServedModel deepseek() {
  ServedModel model;
  model.vocab = 129280;
  model.hidden = 7168;
  model.denseLayers = 3;
  model.expertLayers = 58;
  model.isLatent = true;
  model.heads = 128;
  model.queryRank = 1536;
  model.latentRank = 512;
  model.nopeDim = model.valueDim = 128;
  model.ropeDim = 64;
  model.spans = {{0, 61}};
  model.denseInner = 18432;
  model.sharedInner = model.expertInner = 2048;
  model.experts = 256;
  model.topk = 8;
  return model;
}

ServedModel gptOss(double layers, double experts) {
  ServedModel model = grouped(0, 2880, 64, 8, 64, 0, 201088);
  model.expertLayers = layers;
  model.experts = experts;
  model.topk = 4;
  model.expertInner = 2880;
  model.spans = {{0, layers / 2}, {128, layers / 2}};
  return model;
}

} // namespace

// "Llama 3.1 - 405B, 70B & 8B with multilinguality and long context"
// (huggingface.co/blog/llama31), "Inference memory requirements": 16, 140, 810
// GB in fp16; 8, 70, 405 GB in fp8. Products are in fp8, the table and the head
// are not.
TEST(ServingMemory, LlamaAsPublished) {
  const double sizes[] = {8, 70, 405}, fp16[] = {16, 140, 810},
               fp8[] = {8, 70, 405};
  for (int i = 0; i != 3; ++i) {
    const ServedModel model = llama(sizes[i]);
    const double plain =
        memoryOf(inType(model, ServedType::Bf16)).weights() / 1e9;
    EXPECT_NEAR(plain, fp16[i], 0.015 * fp16[i]);
    const ServingMemory half = memoryOf(inType(model, ServedType::Fp8));
    EXPECT_NEAR((half.weights() - half.embeddings / 2) / 1e9, fp8[i],
                0.015 * fp8[i]);
  }
}

// The same page, "KV cache size" in fp16: 8B has 0.125, 1.95 and 15.62 GB at
// 1024, 16 000 and 128 000 tokens, 70B 0.313, 4.88 and 39.06; its GB are GiB.
TEST(ServingMemory, CachesAsPublished) {
  const double tokens[] = {1024, 16000, 128000};
  const double small[] = {0.125, 1.95, 15.62}, large[] = {0.313, 4.88, 39.06};
  for (int i = 0; i != 3; ++i) {
    for (auto [size, wanted] :
         {std::pair(8, small[i]), std::pair(70, large[i])}) {
      const ServingMemory memory =
          memoryOf(inType(llama(size), ServedType::Bf16));
      EXPECT_NEAR(memory.cache(tokens[i]) / gib, wanted, 0.005 * wanted);
    }
  }
}

// "Insights into DeepSeek-V3" (arXiv 2505.09343), table 1: KV cache a token in
// bf16, of DeepSeek-V3, Qwen-2.5 72B and LLaMA-3.1 405B.
TEST(ServingMemory, CachesATokenAsPublished) {
  const ServedModel qwen = grouped(80, 8192, 64, 8, 128, 29568, 152064);
  for (const auto &[model, kb] :
       {std::pair(deepseek(), 70.272), std::pair(qwen, 327.680),
        std::pair(llama(405), 516.096)})
    EXPECT_DOUBLE_EQ(
        memoryOf(inType(model, ServedType::Bf16)).cachePerToken / 1e3, kb);
}

// "gpt-oss-120b & gpt-oss-20b Model Card" (arXiv 2508.10925), table 1:
// parameters in billions of networks, attention, embeddings, and the checkpoint
// in GiB.
TEST(ServingMemory, GptOssAsPublished) {
  struct Row {
    double layers, experts, networks, attention, embeddings, checkpoint;
  };
  for (const Row &row : {Row{36, 128, 114.71, 0.96, 1.16, 60.8},
                         Row{24, 32, 19.12, 0.64, 1.16, 12.8}}) {
    const ServingMemory memory =
        memoryOf(inType(gptOss(row.layers, row.experts), ServedType::Mxfp4));
    EXPECT_NEAR((memory.experts / 0.53125 + memory.routers / 2) / 1e9,
                row.networks, 0.005 * row.networks);
    EXPECT_NEAR(memory.attention / 2e9, row.attention, 0.01);
    EXPECT_NEAR(memory.embeddings / 2e9, row.embeddings, 0.005);
    EXPECT_NEAR(memory.weights() / gib, row.checkpoint, 0.01 * row.checkpoint);
  }
}

// DeepSeek-V3's technical report (arXiv 2412.19437), section 4.2: 671 billion
// parameters, 37 of them for a token.
TEST(ServingMemory, ExpertsAreOfTheRanksThatHoldThem) {
  ServingSetup setup = inType(deepseek(), ServedType::Fp8Block);
  const ServingMemory whole = memoryOf(setup);
  EXPECT_NEAR(whole.weights() - whole.embeddings / 2, 671e9, 0.005 * 671e9);

  setup.attentionDp = setup.expertEp = 8;
  const ServingMemory rank = memoryOf(setup);
  EXPECT_DOUBLE_EQ(rank.experts, whole.experts / 8);
  // Groups of attention hold all the rest.
  EXPECT_DOUBLE_EQ(rank.weights() - rank.experts,
                   whole.weights() - whole.experts);
}

// The model card of Qwen3.5-397B-A17B: 397 billion parameters, 45 of 60 layers
// gated delta nets of 16 key and 64 value heads of 128 numbers, the others
// attention of 32 gated heads and 2 of keys, 512 experts and a shared one.
TEST(ServingMemory, StatesDoNotGrow) {
  ServedModel model = grouped(0, 4096, 32, 2, 256, 0, 248320);
  model.isGated = model.hasQkNorm = true;
  model.net = {45, 16, 64, 128, 128, 4};
  model.expertLayers = 60;
  model.spans = {{0, 15}};
  model.experts = 512;
  model.topk = 10;
  model.expertInner = model.sharedInner = 1024;
  ServingSetup setup = inType(model, ServedType::Bf16);
  const ServingMemory whole = memoryOf(setup);
  EXPECT_NEAR(whole.weights() / 2e9, 397, 0.005 * 397);
  EXPECT_DOUBLE_EQ(whole.states,
                   45 * (64 * 128 * 128 * 4 + 3 * (2 * 2048 + 8192) * 2.0));
  EXPECT_DOUBLE_EQ(whole.cache(1000),
                   whole.states + 1000 * 15 * 2 * 2 * 256 * 2);
  setup.tp = 8;
  EXPECT_DOUBLE_EQ(memoryOf(setup).states, whole.states / 8);
}

TEST(ServingMemory, WhatDoesNotDivideIsPadded) {
  ServingSetup setup =
      inType(grouped(2, 64, 6, 2, 16, 100, 1001), ServedType::Bf16);
  const ServingMemory whole = memoryOf(setup);
  setup.tp = 4;
  const ServingMemory quarter = memoryOf(setup);
  EXPECT_DOUBLE_EQ(quarter.attention, 2 * 2 * 64 * 16 * 2 * (2 + 1.0));
  EXPECT_DOUBLE_EQ(quarter.dense, whole.dense / 4);
  EXPECT_DOUBLE_EQ(quarter.embeddings, 2 * 2 * 251 * 64.0);
  EXPECT_DOUBLE_EQ(quarter.norms, whole.norms);

  setup.model.expertLayers = 1;
  setup.model.experts = 10;
  setup.model.expertInner = 32;
  setup.expertEp = 4;
  EXPECT_DOUBLE_EQ(memoryOf(setup).experts, 2 * 3 * 64 * 32 * 3.0);
  EXPECT_DOUBLE_EQ(memoryOf(setup).routers, 2 * 64 * 10.0);
}

TEST(ServingMemory, WindowsHoldNoMoreThanTheirTokens) {
  const ServingMemory memory =
      memoryOf(inType(gptOss(36, 128), ServedType::Mxfp4));
  const double perToken = 18 * 2 * 8 * 64 * 2;
  EXPECT_DOUBLE_EQ(memory.cache(100), 2 * 100 * perToken);
  EXPECT_DOUBLE_EQ(memory.cache(1000), 1128 * perToken);
}
