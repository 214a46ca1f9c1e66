//===- AttentionConfig.cpp - Attention of a config ------------------------===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ConfigReaders.h"

#include <algorithm>
#include <cmath>

using namespace shardopt;
using namespace shardopt::hf;

/// `head_dim`, or where the class has none, the share of a head in
/// `hidden_size`, rounded down.
static int64_t readHeadDim(const ConfigRoot &root,
                           const Architecture &architecture, int64_t heads) {
  if (json::Value given = root["head_dim"].nullAsAbsent())
    return readSize(given);
  int64_t hidden = readSize(root["hidden_size"]);
  if (heads > hidden || (architecture.dividesWidth && hidden % heads != 0))
    root["num_attention_heads"].failExpected(
        (architecture.dividesWidth ? "a divisor of" : "at most") +
        std::string(" hidden_size ") + std::to_string(hidden) +
        ", because there is no head_dim");
  return std::max<int64_t>(hidden / heads, 1);
}

static void readGrouped(const ConfigRoot &root,
                        const Architecture &architecture,
                        AttentionConfig &attention) {
  json::Value kvHeads = root["num_key_value_heads"];
  bool asHeads = kvHeads.isNull() || architecture.isByKeys;
  attention.kvHeads = readSize(kvHeads, asHeads ? std::optional(attention.heads)
                                                : std::optional<int64_t>());
  if (attention.heads % attention.kvHeads != 0)
    kvHeads.failExpected("a divisor of num_attention_heads " +
                         std::to_string(attention.heads));
  attention.headDim = readHeadDim(root, architecture, attention.heads);
  if (attention.headDim % 2 != 0)
    root["head_dim"].fail("expected heads of an even size, found " +
                          std::to_string(attention.headDim));
  attention.qkNorm = architecture.qkNorm ||
                     (architecture.qkNormAsked &&
                      readFlag(root["use_qk_norm"], /*otherwise=*/false));
  attention.qkNormWhole =
      architecture.qkNormWhole ||
      (architecture.isByKeys &&
       root["qk_norm_type"].nullAsAbsent().string("") == "per_layer");
  attention.qkNormMean = architecture.qkNormMean;
  attention.qkNormPlain = architecture.qkNormPlain;
  if (attention.qkNormPlain && attention.qkNorm &&
      attention.rope.magnitude != 1)
    root["rope_parameters"].fail(
        "expected no factor of what is turned, because it is normed then");
  attention.chunked = architecture.windows == WindowRule::Chunks;
  if (architecture.temperature &&
      readFlag(root["attn_temperature_tuning"], /*otherwise=*/false)) {
    attention.temperatureFloor = readSize(root["floor_scale"]);
    attention.temperatureScale = root["attn_scale"].nonNegativeNumber();
  }
  attention.sinks = architecture.sinks;
  attention.gated = architecture.gatedAttention;
  json::Value gate = root.file()["attn_output_gate"];
  if (attention.gated && !readFlag(gate, true))
    gate.failExpected("true: " + std::string(architecture.name) +
                      " gates what attention gives");
  attention.scale = 1 / std::sqrt(double(attention.headDim));
  if (architecture.queryScalar)
    attention.scale =
        1 / std::sqrt(root["query_pre_attn_scalar"].positiveNumber());
  if (architecture.multipliers)
    attention.scale = root["attention_multiplier"].positiveNumber();
  if (json::Value cap = root["attn_logit_softcapping"].nullAsAbsent();
      cap && architecture.softCaps)
    attention.softCap =
        cap.positiveNumber() * (architecture.capsScores ? 1 : 0);
}

/// Records an error unless every layer has an indexer of its own.
static void expectIndexers(const json::Value &root) {
  size_t layers = readSize(root["num_hidden_layers"]);
  for (const auto &[key, word] : {std::pair("layer_types", "indexed_attention"),
                                  std::pair("indexer_types", "full")}) {
    json::Value types = root[key].nullAsAbsent();
    if (!types)
      continue;
    std::vector<json::Value> entries = types.elements();
    expectEntries(types, entries.size(), layers);
    for (const json::Value &type : entries)
      expectString(type, word);
  }
  // Where `indexer_types` is silent; the first of those that share.
  root["index_skip_topk_offset"].nullAsAbsent().integer(2, 0, maxSize);
  if (json::Value every = root["index_topk_freq"].nullAsAbsent();
      every && !root["indexer_types"].nullAsAbsent() && readSize(every) != 1)
    every.failExpected("1: layers that share what an indexer chose are not "
                       "read");
  if (json::Value pattern = root["index_topk_pattern"].nullAsAbsent();
      pattern && !root["indexer_types"].nullAsAbsent() &&
      pattern.string().find('S') != std::string::npos)
    pattern.failExpected("F for each layer: layers that share what an indexer "
                         "chose are not read");
}

/// What chooses the positions that are read.
static void readIndexer(const ConfigRoot &root,
                        const Architecture &architecture,
                        AttentionConfig &attention) {
  attention.indexTopk = readSize(root["index_topk"]);
  attention.indexHeads = readSize(root["index_n_heads"]);
  attention.indexDim = readSize(root["index_head_dim"]);
  attention.indexInterleaves = architecture.indexInterleaves;
  if (attention.queryRank == 0)
    root["q_lora_rank"].failExpected(
        "a size: an indexer reads the latent of the queries");
  if (attention.indexDim < attention.ropeDim)
    root["index_head_dim"].failExpected("at least qk_rope_head_dim " +
                                        std::to_string(attention.ropeDim));
  if (architecture.isByKeys)
    return;
  if (attention.inputBias)
    root[architecture.biasFlag].failExpected(
        "false: a bias with an indexer is not read");
  json::Value interleaves = root.file()["indexer_rope_interleave"];
  if (readFlag(interleaves, architecture.indexInterleaves) !=
      architecture.indexInterleaves)
    interleaves.failExpected(
        std::string(architecture.indexInterleaves ? "true" : "false") +
        ", as Transformers turns the indexer of " +
        std::string(architecture.name));
  expectIndexers(root.file());
}

/// Whether an unknown family has an indexer that fits its attention. What does
/// not is not read, and named as every key that is not understood.
static bool hasIndexer(const ConfigRoot &root,
                       const AttentionConfig &attention) {
  return root["index_topk"].nullAsAbsent() && attention.queryRank != 0 &&
         readSize(root["index_head_dim"]) >= attention.ropeDim;
}

static void readLatent(const ConfigRoot &root, const Architecture &architecture,
                       AttentionConfig &attention) {
  json::Value kvHeads = root.file()["num_key_value_heads"].nullAsAbsent();
  if (!architecture.isByKeys && kvHeads && readSize(kvHeads) != attention.heads)
    kvHeads.failExpected("num_attention_heads, " +
                         std::to_string(attention.heads) +
                         ", as latent attention has");
  json::Value queryRank = root["q_lora_rank"];
  attention.queryRank = queryRank.isNull() ? 0 : readSize(queryRank);
  attention.latentRank = readSize(root["kv_lora_rank"]);
  attention.nopeDim = readSize(root["qk_nope_head_dim"]);
  attention.ropeDim = readSize(root["qk_rope_head_dim"]);
  attention.valueDim = readSize(root["v_head_dim"]);
  if (attention.ropeDim % 2 != 0)
    root["qk_rope_head_dim"].failExpected("an even size");
  // Transformers turns as many features as `head_dim` says, where it is given.
  json::Value headDim = root.file()["head_dim"].nullAsAbsent();
  if (!architecture.isByKeys && headDim &&
      readSize(headDim) != attention.ropeDim)
    headDim.failExpected("qk_rope_head_dim, " +
                         std::to_string(attention.ropeDim) +
                         ", as latent attention turns");
  if (architecture.indexer ||
      (architecture.isByKeys && hasIndexer(root, attention)))
    readIndexer(root, architecture, attention);
  attention.scale = attention.rope.scaleFactor /
                    std::sqrt(double(attention.nopeDim + attention.ropeDim));
}

AttentionConfig shardopt::hf::readAttention(const ConfigRoot &root,
                                            const Architecture &architecture) {
  AttentionConfig attention;
  attention.latent = architecture.latentAttention;
  attention.heads = readSize(root["num_attention_heads"]);
  if (architecture.readsRope)
    readRopes(root, architecture, attention);
  std::string_view outputFlag = architecture.outputBiasFlag.empty()
                                    ? architecture.biasFlag
                                    : architecture.outputBiasFlag;
  attention.inputBias =
      hasBias(root[architecture.biasFlag], architecture.inputBias);
  attention.outputBias = hasBias(root[outputFlag], architecture.outputBias);
  if (attention.latent)
    readLatent(root, architecture, attention);
  else
    readGrouped(root, architecture, attention);
  checkRopes(root, attention);
  return attention;
}

DeltaNetConfig shardopt::hf::readDeltaNet(const ConfigRoot &root,
                                          const Architecture &architecture) {
  DeltaNetConfig net;
  net.heads = readSize(root["linear_num_key_heads"]);
  net.valueHeads = readSize(root["linear_num_value_heads"]);
  net.keyDim = readSize(root["linear_key_head_dim"]);
  net.valueDim = readSize(root["linear_value_head_dim"]);
  net.taps = readSize(root["linear_conv_kernel_dim"]);
  net.isSplit = architecture.splitDeltaNet;
  if (net.valueHeads % net.heads != 0)
    root["linear_num_value_heads"].failExpected(
        "a multiple of linear_num_key_heads " + std::to_string(net.heads));
  if (net.taps < 2)
    root["linear_conv_kernel_dim"].failExpected("at least 2");
  // The convolution ends in what the network has.
  expectString(root["hidden_act"], "silu");
  return net;
}

/// `time_step_limit`, a pair whose second may be infinite.
static void readStepLimits(const json::Value &limits, Mamba2Config &space) {
  if (!limits)
    return;
  std::vector<json::Value> ends = limits.elements();
  if (ends.size() != 2) {
    limits.failExpected("the least and the largest step");
    return;
  }
  space.stepMin = ends[0].nonNegativeNumber();
  // How Transformers 5 writes what JSON has no word for; older files, bare.
  if (ends[1].isObject())
    expectString(ends[1]["__float__"], "Infinity");
  else if (!ends[1].isNull())
    space.stepMax = ends[1].positiveNumber();
  if (space.stepMax != 0 && space.stepMin >= space.stepMax)
    limits.failExpected("a largest step above the least");
}

Mamba2Config shardopt::hf::readMamba2(const ConfigRoot &root,
                                      const Architecture &architecture) {
  const Mamba2Keys &keys = architecture.mamba2;
  Mamba2Config space;
  space.heads = readSize(root[keys.heads]);
  space.groups = readSize(root[keys.groups]);
  space.stateDim = readSize(root[keys.stateDim]);
  space.taps = readSize(root[keys.taps]);
  space.convBias = readFlag(root[keys.convBias], /*otherwise=*/false);
  space.projBias = readFlag(root[keys.projBias], /*otherwise=*/false);
  json::Value headDim = root[keys.headDim];
  if (architecture.mixers == MixerRule::OneEach) {
    space.headDim = readSize(headDim);
    space.stepMin = root["time_step_min"].nonNegativeNumber();
  } else {
    int64_t inner =
        readSize(root["mamba_expand"]) * readSize(root["hidden_size"]);
    bool isShare = headDim.isString() && headDim.string() == "auto";
    space.headDim =
        isShare ? std::max<int64_t>(inner / space.heads, 1) : readSize(headDim);
    if (space.headDim * space.heads != inner)
      root[keys.heads].failExpected("heads that make mamba_expand times "
                                    "hidden_size, " +
                                    std::to_string(inner));
    readStepLimits(root["time_step_limit"].nullAsAbsent(), space);
  }
  if (space.heads % space.groups != 0)
    root[keys.groups].failExpected("a divisor of " + std::string(keys.heads) +
                                   " " + std::to_string(space.heads));
  if (space.taps < 2)
    root[keys.taps].failExpected("at least 2");
  // The convolution ends in it.
  expectString(root[keys.activation], "silu");
  return space;
}
