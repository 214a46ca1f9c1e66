//===- CalibratedRowKernels.cpp - What the columns of a table mean --------===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "shardopt/Cost/Calibrated/CalibratedRow.h"

#include <algorithm>

using namespace shardopt;
using namespace shardopt::cost;
using namespace shardopt::cost::calibrated;

/// `us(form)` of the group nearest to `key`; fails the row where there is none.
template <typename Form, typename Function>
static Prediction predictNearest(const Groups<Form> &groups, const Key &key,
                                 Row &row, Function us) {
  Found<Form> found = groups.find(key);
  if (!found) {
    row.fail("no constants of this kernel");
    return {};
  }
  if (!row.failure().empty())
    return {};
  return {us(found.fitted->form), found.fitted->group,
          std::move(found.differs)};
}

static double bytesOfCache(const std::string &dtype) {
  return dtype == "fp8" ? 1 : 2;
}

static std::vector<Prediction> predictGemm(const CalibratedKernels &kernels,
                                           Row &row) {
  std::string dtype = row.text("dtype");
  ErrorOr<Element> element = elementOfGemm(dtype);
  if (!element) {
    row.fail(element.error().message);
    return {};
  }
  double m = row.size("m"), n = row.size("n"), k = row.size("k");
  return {predictNearest(kernels.gemm, {{{"dtype", dtype}}, {}}, row,
                         [&](const Gemm &form) {
                           return form.us(kernels.device, *element, m, n, k);
                         })};
}

/// The keys that grouped attention is told apart by.
static Key attentionKey(Row &row, double heads, double kvHeads, double window) {
  Key key;
  if (row.has("attn_dtype"))
    key.names.emplace_back("attn_dtype", row.text("attn_dtype"));
  key.names.emplace_back("kv_dtype", row.text("kv_dtype"));
  key.numbers = {{"head_dim", row.number("head_dim", 1)},
                 {"windowed", isShortWindow(window)},
                 {"heads_of_group", headsOfGroup(heads, kvHeads)}};
  if (heads < kvHeads)
    row.fail("fewer heads than kv_heads");
  return key;
}

static std::vector<Prediction>
predictPromptAttention(const CalibratedKernels &kernels, Row &row) {
  double heads = row.size("heads"), kvHeads = row.size("kv_heads");
  double batch = row.size("batch"), length = row.size("seq_len");
  double window = row.number("window", 0);
  double dim = row.number("head_dim", 1);
  Key key = attentionKey(row, heads, kvHeads, window);
  return {predictNearest(kernels.promptAttention, key, row,
                         [&](const PromptAttention &form) {
                           return form.us(kernels.device, batch, heads, kvHeads,
                                          dim, length, window);
                         })};
}

static std::vector<Prediction>
predictTokenAttention(const CalibratedKernels &kernels, Row &row) {
  double heads = row.size("heads"), kvHeads = row.size("kv_heads");
  double batch = row.size("batch"), length = row.size("kv_len");
  double window = row.number("window", 0);
  double dim = row.number("head_dim", 1);
  double seen = window > 0 ? std::min(length, window) : length;
  Key key = attentionKey(row, heads, kvHeads, window);
  return {predictNearest(
      kernels.tokenAttention, key, row, [&](const TokenAttention &form) {
        return form.us(kernels.device, batch, heads, kvHeads, dim, seen,
                       bytesOfCache(row.text("kv_dtype")));
      })};
}

// Dims of DeepSeek's latent attention, which the tables are of.
static constexpr double latentDims = 512, ropeDims = 64;
static constexpr double promptDims = 128 + 64 + 128; // nope, rope, value

static std::vector<Prediction>
predictLatentPrompt(const CalibratedKernels &kernels, Row &row) {
  double heads = row.size("heads"), batch = row.size("batch");
  double length = row.size("seq_len");
  Key key = {{{"attn_dtype", row.text("attn_dtype")},
              {"kv_dtype", row.text("kv_dtype")}},
             {}};
  return {predictNearest(
      kernels.latentPrompt, key, row, [&](const PromptAttention &form) {
        return form.latentUs(kernels.device, batch, heads, promptDims, length);
      })};
}

static std::vector<Prediction>
predictLatentToken(const CalibratedKernels &kernels, Row &row) {
  double heads = row.size("heads"), batch = row.size("batch");
  double length = row.size("kv_len");
  std::string cache = row.text("kv_dtype");
  return {predictNearest(kernels.latentToken, {{{"kv_dtype", cache}}, {}}, row,
                         [&](const TokenAttention &form) {
                           return form.latentUs(kernels.device, batch, heads,
                                                latentDims, ropeDims, length,
                                                bytesOfCache(cache));
                         })};
}

static std::vector<Prediction> predictExperts(const CalibratedKernels &kernels,
                                              Row &row) {
  std::string dtype = row.text("dtype"), kernel = row.text("kernel");
  std::string distribution = row.text("distribution");
  ErrorOr<Element> element = elementOfExperts(dtype);
  if (!element) {
    row.fail(element.error().message);
    return {};
  }
  ExpertShape shape;
  shape.hidden = row.size("hidden");
  shape.inner = row.size("inter") / row.number("moe_tp", 1);
  shape.topk = row.size("topk");
  shape.experts = row.size("experts");
  shape.ep = row.number("moe_ep", 1);
  shape.tokens = row.size("tokens");
  shape.gates = kernel.find("nongated") != std::string::npos ? 1 : 2;
  if (shape.topk > shape.experts)
    row.fail("topk is above experts");
  Load load = distribution == "balanced" ? Load::Balanced : Load::PowerLaw;
  Key key = {
      {{"dtype", dtype}, {"kernel", kernel}, {"distribution", distribution}},
      {}};
  return {predictNearest(kernels.experts, key, row, [&](const Experts &form) {
    return form.us(kernels.device, *element, shape, activeExperts(shape, load));
  })};
}

static std::vector<Prediction> predictNccl(const CalibratedKernels &kernels,
                                           Row &row) {
  double gpus = row.size("gpus", 2), bytes = row.size("bytes");
  return {predictNearest(
      kernels.nccl, {{{"op", row.text("op")}}, {}}, row,
      [&](const Nccl &form) { return form.us(kernels.device, gpus, bytes); })};
}

static std::vector<Prediction>
predictCustomAllReduce(const CalibratedKernels &kernels, Row &row) {
  double gpus = row.size("gpus", 2), bytes = row.size("bytes");
  std::string named = row.text("kernel");
  std::string kernel = named.empty() ? "TRTLLM" : named;
  return {predictNearest(kernels.customAllReduce, {{{"kernel", kernel}}, {}},
                         row, [&](const CustomAllReduce &form) {
                           return form.us(kernels.device, gpus, bytes);
                         })};
}

/// Both ways of an exchange; `smsOf` names the column of SMs behind the way.
static std::vector<Prediction> predictExchange(const CalibratedKernels &kernels,
                                               const Groups<Exchange> &groups,
                                               Row &row, bool isNormal) {
  double nodes = row.size("nodes"), hidden = row.size("hidden");
  double topk = row.size("topk"), tokens = row.size("tokens_per_rank");
  std::vector<Prediction> both;
  for (const char *way : {"dispatch", "combine"}) {
    bool isDispatch = way[0] == 'd';
    double element = isDispatch && !isNormal ? 1 : 2;
    double sms = isNormal ? row.number(std::string(way) + "_sms", 1) : 1;
    Key key = {{{"way", way}}, {{"between", nodes > 1}}};
    both.push_back(predictNearest(groups, key, row, [&](const Exchange &form) {
      return form.us(kernels.device, nodes, hidden, topk, tokens, element, sms);
    }));
  }
  return both;
}

static std::vector<Prediction>
predictLowLatencyExchange(const CalibratedKernels &kernels, Row &row) {
  return predictExchange(kernels, kernels.lowLatencyExchange, row, false);
}

static std::vector<Prediction>
predictNormalExchange(const CalibratedKernels &kernels, Row &row) {
  return predictExchange(kernels, kernels.normalExchange, row, true);
}

const std::vector<RowKernel> &calibrated::rowKernels() {
  static const std::vector<RowKernel> kernels = {
      {"gemm", {"dtype", "m", "n", "k"}, predictGemm},
      {"attn_context",
       {"attn_dtype", "kv_dtype", "head_dim", "window", "heads", "kv_heads",
        "batch", "seq_len"},
       predictPromptAttention},
      {"attn_generation",
       {"kv_dtype", "head_dim", "window", "heads", "kv_heads", "batch",
        "kv_len"},
       predictTokenAttention},
      {"mla_context",
       {"attn_dtype", "kv_dtype", "heads", "batch", "seq_len"},
       predictLatentPrompt},
      {"mla_generation",
       {"kv_dtype", "heads", "batch", "kv_len"},
       predictLatentToken},
      {"moe",
       {"dtype", "hidden", "inter", "topk", "experts", "moe_tp", "moe_ep",
        "distribution", "kernel", "tokens"},
       predictExperts},
      {"nccl", {"op", "gpus", "bytes"}, predictNccl},
      {"custom_allreduce", {"gpus", "bytes"}, predictCustomAllReduce},
      {"deepep_ll",
       {"nodes", "hidden", "topk", "tokens_per_rank"},
       predictLowLatencyExchange},
      {"deepep_normal",
       {"nodes", "hidden", "topk", "tokens_per_rank", "dispatch_sms",
        "combine_sms"},
       predictNormalExchange},
  };
  return kernels;
}
