//===- MegatronTest.cpp - The dims of Megatron ----------------------------===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "shardopt/Search/Megatron.h"

#include <algorithm>
#include <gtest/gtest.h>

using namespace shardopt;
using namespace shardopt::search;

static const MegatronVariant variants[] = {MegatronVariant::Classic,
                                           MegatronVariant::Slice,
                                           MegatronVariant::SequenceParallel};

/// The dims of `ops`, one digit an op, 2 for none.
static std::string digits(MegatronVariant variant,
                          const std::vector<std::string> &ops) {
  std::string text;
  for (const std::string &op : ops)
    text += std::to_string(int(megatronDim(variant, op)));
  return text;
}

static const std::vector<std::string> moeOps = {
    "embed",  "attn_norm", "qkv_proj", "attention", "out_proj", "ffn_norm",
    "router", "dispatch",  "ffn_up",   "ffn_down",  "combine",  "lm_head"};

TEST(Megatron, MoeLayer) {
  EXPECT_EQ(digits(variants[0], moeOps), "021002221021");
  EXPECT_EQ(digits(variants[1], moeOps), "021002201001");
  EXPECT_EQ(digits(variants[2], moeOps), "001000201001");
}

TEST(Megatron, DenseLayer) {
  std::vector<std::string> ops = {"embed",     "attn_norm", "qkv_proj",
                                  "attention", "out_proj",  "ffn_norm",
                                  "ffn_up",    "ffn_down",  "lm_head"};
  EXPECT_EQ(digits(variants[0], ops), "021002101");
  EXPECT_EQ(digits(variants[1], ops), "021002101");
  EXPECT_EQ(digits(variants[2], ops), "001000101");
}

TEST(Megatron, LatentAttentionAndSharedExpertsOfEitherStack) {
  std::vector<std::string> ops = {
      "dense.q_down", "dense.q_up",    "dense.kv_down",   "moe.attention",
      "moe.out_proj", "moe.shared_up", "moe.shared_down", "q_proj"};
  for (MegatronVariant variant : variants)
    EXPECT_EQ(digits(variant, ops), "21200101");
}

TEST(Megatron, StatesByHeadsAndLowRanksWhole) {
  std::vector<std::string> ops = {
      "mamba.in_proj",  "mamba.mamba2", "linear.gated_delta_net",
      "mamba.out_proj", "index_q",      "moe.latent_down",
      "moe.latent_up"};
  for (MegatronVariant variant : variants)
    EXPECT_EQ(digits(variant, ops), "1000222");
}

TEST(Megatron, UnknownOpsAreReplicated) {
  EXPECT_EQ(megatronDim(MegatronVariant::Classic, "moe.gate"), Dim::None);
  EXPECT_EQ(megatronDim(MegatronVariant::Classic, "my_embed"), Dim::None);
}

TEST(Megatron, PinsAreStronger) {
  SpaceFacts facts{4, 0, {"embed", "lm_head"}};
  SpaceRequest request;
  request.pinnedDims = {Dim::None, std::nullopt};
  ErrorOr<StrategySpace> space = StrategySpace::create(facts, request);
  ASSERT_TRUE(space);
  StrategySpace narrowed = megatronSpace(MegatronVariant::Classic, *space);
  EXPECT_EQ(narrowed.dimDomains(), (DimDomains{{Dim::None}, {Dim::One}}));
}

TEST(Megatron, KnownLayoutsCombineAttentionWithNetworks) {
  SpaceFacts facts;
  for (const std::string &op : moeOps)
    facts.ops.push_back("moe." + op);
  facts.experts = 8;
  auto space = StrategySpace::create(facts, {});
  ASSERT_TRUE(space);
  std::vector<std::string> found;
  for (const std::vector<Dim> &dims : knownLayouts(*space)) {
    std::string text;
    for (Dim dim : dims)
      text += std::to_string(int(dim));
    found.push_back(text);
  }
  // Without shared experts, data-parallel networks are as Megatron's are with
  // sequences cut.
  std::vector<std::string> expected;
  for (std::string attention : {"02100", "00100", "00222"})
    for (std::string network : {"222102", "220100", "020100"})
      expected.push_back(attention + network + "1");
  std::sort(found.begin(), found.end());
  std::sort(expected.begin(), expected.end());
  EXPECT_EQ(found, expected);
}

TEST(Megatron, KnownLayoutsKeepPins) {
  SpaceFacts facts;
  facts.ops = moeOps;
  SpaceRequest request;
  request.pinnedDims.resize(moeOps.size());
  request.pinnedDims[3] = Dim::One;
  auto space = StrategySpace::create(facts, request);
  ASSERT_TRUE(space);
  for (const std::vector<Dim> &dims : knownLayouts(*space))
    EXPECT_EQ(dims[3], Dim::One);
}
