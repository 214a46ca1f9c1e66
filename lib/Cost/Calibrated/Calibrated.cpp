//===- Calibrated.cpp - The calibrated simulator --------------------------===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "shardopt/Cost/Calibrated/Calibrated.h"

#include <algorithm>
#include <cmath>

using namespace shardopt;
using namespace shardopt::cost;
using namespace shardopt::cost::calibrated;

// Shares of the data sheet, and microseconds, of what has no constants of its
// own: elementwise kernels, and GEMMs with many small matrices.
static constexpr double streamShare = 0.8, streamLaunch = 2;
static constexpr double batchedShare = 0.75, batchedPeak = 0.5,
                        batchedLaunch = 3;

template <typename Form>
Calibrated::Attentions<Form>
Calibrated::attentions(const Groups<Form> &groups) {
  auto number = [](const CalibratedGroup &group, const char *name) {
    auto at = group.numbers.find(name);
    return at == group.numbers.end() ? 0 : at->second;
  };
  auto isFp8 = [](const CalibratedGroup &group, const char *name) {
    auto at = group.names.find(name);
    return at != group.names.end() && at->second == "fp8";
  };
  Attentions<Form> all;
  for (const Fitted<Form> &fitted : groups.all) {
    const CalibratedGroup &group = *fitted.group;
    bool isOfShortWindows = number(group, "windowed") != 0;
    size_t kind =
        (isOfShortWindows ? 1 : 0) + (isFp8(group, "attn_dtype") ? 2 : 0);
    all[kind].push_back({&fitted, number(group, "head_dim"),
                         number(group, "heads_of_group"),
                         isFp8(group, "kv_dtype"), isOfShortWindows});
  }
  return all;
}

template <typename Form>
const Calibrated::Attention<Form> *
Calibrated::nearest(const Attentions<Form> &among, const Kernel &kernel) {
  double heads = headsOfGroup(kernel.count, kernel.kvHeads);
  bool isFp8 = kernel.cacheBytes < 2;
  size_t kind = (isShortWindow(kernel.window) ? 1 : 0) +
                (kernel.activationBytes < 2 ? 2 : 0);
  if (among[kind].empty())
    kind &= 1; // of a token products are of bf16
  if (among[kind].empty())
    kind = 0;
  const Attention<Form> *best = nullptr;
  double least = 0;
  for (const Attention<Form> &entry : among[kind]) {
    double away = entry.isCacheFp8 == isFp8 ? 0 : 100;
    if (!kernel.latent && !(best && away >= least))
      away += std::abs(std::log((1 + entry.headDim) / (1 + kernel.n))) +
              std::abs(std::log((1 + entry.headsOfGroup) / (1 + heads)));
    if (best && away >= least)
      continue;
    best = &entry;
    least = away;
  }
  return best;
}

ErrorOr<std::shared_ptr<const Calibrated>>
Calibrated::create(const Machine &machine, CommModel comm) {
  ErrorOr<CalibratedKernels> forms = CalibratedKernels::create(machine);
  if (!forms)
    return forms.error();
  const std::pair<const char *, bool> needed[] = {
      {"gemm", forms->gemm.all.empty()},
      {"attn_context", forms->promptAttention.all.empty()},
      {"attn_generation", forms->tokenAttention.all.empty()}};
  for (const auto &[kernel, isMissing] : needed)
    if (isMissing)
      return Error{"machine '" + machine.name +
                   "' has no constants of kernel '" + kernel +
                   "', which 'simulator=calibrated' needs"};
  return std::shared_ptr<const Calibrated>(
      new Calibrated(std::move(*forms), machine, comm));
}

Calibrated::Calibrated(CalibratedKernels given, const Machine &machine,
                       CommModel comm)
    : forms(std::move(given)), roofline(machine, comm), peaks(machine),
      domainSize(machine.domainSize),
      prompts(attentions(forms.promptAttention)),
      latentPrompts(attentions(forms.latentPrompt)),
      tokens(attentions(forms.tokenAttention)),
      latentTokens(attentions(forms.latentToken)) {
  auto formOf = [](const auto &groups, const Key &key) {
    auto found = groups.find(key);
    return found ? &found.fitted->form : nullptr;
  };
  bool hasFp4 = forms.device.fp4 > forms.device.fp8;
  const char *ofFourExperts = hasFp4 ? "w4a8_mxfp4_mxfp8" : "w4a16_mxfp4";
  auto ofFour = [](WeightType type) {
    return Element{bytesPerWeight(type), 2, Peak::Bf16};
  };
  // Machines without it multiply weights of nvfp4 as bf16.
  auto nvfp4 = forms.gemm.find({{{"dtype", "nvfp4"}}, {}});
  bool hasNvfp4 = hasFp4 && nvfp4 && nvfp4.differs.empty();
  const struct {
    WeightType type;
    Element element;
    const char *gemm, *experts;
  } spelled[] = {
      {WeightType::F32, {4, 2, Peak::Bf16}, "bfloat16", "bfloat16"},
      {WeightType::Bf16, {2, 2, Peak::Bf16}, "bfloat16", "bfloat16"},
      {WeightType::Fp8, {1, 1, Peak::Fp8}, "fp8", "fp8"},
      {WeightType::Fp8Block, {1, 1, Peak::Fp8}, "fp8", "fp8"},
      {WeightType::Mxfp4, ofFour(WeightType::Mxfp4), "bfloat16", ofFourExperts},
      {WeightType::Nvfp4,
       hasNvfp4 ? Element{bytesPerWeight(WeightType::Nvfp4), 0.5, Peak::Fp4}
                : ofFour(WeightType::Nvfp4),
       hasNvfp4 ? "nvfp4" : "bfloat16", hasNvfp4 ? "nvfp4" : ofFourExperts},
      {WeightType::Int4, ofFour(WeightType::Int4), "bfloat16", "w4a16_mxfp4"},
      {WeightType::Int4Of64, ofFour(WeightType::Int4Of64), "bfloat16",
       "w4a16_mxfp4"},
      {WeightType::Int4Of32, ofFour(WeightType::Int4Of32), "bfloat16",
       "w4a16_mxfp4"},
      {WeightType::Int8, {1, 1, Peak::Fp8}, "fp8", "fp8"}};
  for (const auto &entry : spelled) {
    ByType &type = types[size_t(entry.type)];
    type.element = entry.element;
    type.gemm = formOf(forms.gemm, {{{"dtype", entry.gemm}}, {}});
    type.steps = type.gemm->steps(forms.device, entry.element);
    type.experts =
        formOf(forms.experts,
               {{{"dtype", entry.experts}, {"distribution", "balanced"}}, {}});
  }
  quantization = formOf(forms.quantizationScale, {});
  customAllReduce = formOf(forms.customAllReduce, {{{"kernel", "TRTLLM"}}, {}});
  const std::pair<CollectiveKind, const char *> ops[] = {
      {CollectiveKind::AllReduce, "all_reduce"},
      {CollectiveKind::AllGather, "all_gather"},
      {CollectiveKind::ReduceScatter, "reduce_scatter"},
      {CollectiveKind::AllToAll, "alltoall"}};
  constexpr int64_t fewRanks = 128;
  for (const auto &[kind, op] : ops) {
    auto number = size_t(kind);
    nccl[number] = formOf(forms.nccl, {{{"op", op}}, {}});
    for (int64_t ranks = 0;
         nccl[number] && ranks <= std::min(domainSize, fewRanks); ++ranks)
      ncclAmong[number].push_back(
          nccl[number]->among(forms.device, double(ranks)));
  }
}

//===----------------------------------------------------------------------===//
// Kernels, in microseconds
//===----------------------------------------------------------------------===//

/// Weights of fp8 meet activations that the layer before has quantised.
double Calibrated::matrixProduct(const Kernel &kernel) const {
  const ByType &type = types[size_t(kernel.weights)];
  double us = type.gemm->us(forms.device, type.element, type.steps, kernel.rows,
                            kernel.n, kernel.k);
  bool isEight = bytesPerWeight(kernel.weights) == 1;
  if (!isEight || !quantization)
    return us;
  double floor = types[size_t(WeightType::Bf16)].gemm->t0;
  return std::max(floor,
                  us - quantization->us(forms.device, kernel.rows, kernel.k));
}

/// Half of what the experts of a layer take: each of their two products.
double Calibrated::groupedProduct(const Kernel &kernel) const {
  const ByType &type = types[size_t(kernel.weights)];
  if (!type.experts)
    return roofline.seconds(kernel) * 1e6;
  return type.experts->t0 / 2 +
         type.experts->productUs(
             forms.device, type.element, std::max(kernel.rows, 1.0),
             std::max(kernel.count, 1.0), kernel.n, kernel.k);
}

double Calibrated::attention(const Kernel &kernel) const {
  const Device &device = forms.device;
  double batch = kernel.rows, heads = kernel.count * kernel.queries;
  if (kernel.prompt > 0) {
    const auto *found =
        nearest(kernel.latent ? latentPrompts : prompts, kernel);
    if (!found)
      return roofline.seconds(kernel) * 1e6;
    const PromptAttention *form = &found->fitted->form;
    if (!kernel.latent)
      return form->us(device, batch, heads, kernel.kvHeads, kernel.n,
                      kernel.prompt, kernel.k < kernel.prompt ? kernel.k : 0);
    double pairs = kernel.prompt * (kernel.prompt + 1) / 2;
    return form->latentUs(device, batch, heads,
                          kernel.flops / (2 * batch * pairs * heads),
                          kernel.prompt);
  }
  const auto *found = nearest(kernel.latent ? latentTokens : tokens, kernel);
  if (!found)
    return roofline.seconds(kernel) * 1e6;
  const TokenAttention *form = &found->fitted->form;
  if (!kernel.latent)
    return form->us(device, batch, heads, kernel.kvHeads, kernel.n, kernel.k,
                    kernel.cacheBytes);
  // Scores over latent and rope, and sums over the latent.
  double dims = kernel.flops / (2 * batch * kernel.k * heads);
  double latent = dims - kernel.n;
  return form->latentUs(device, batch, heads, latent, kernel.n - latent,
                        kernel.k, kernel.cacheBytes);
}

double Calibrated::seconds(const Kernel &kernel) const {
  const Device &device = forms.device;
  double us = 0;
  switch (kernel.kind) {
  case KernelKind::Gemm:
    us = matrixProduct(kernel);
    break;
  case KernelKind::GroupedGemm:
    us = groupedProduct(kernel);
    break;
  case KernelKind::Attention:
    us = attention(kernel);
    break;
  case KernelKind::BatchedGemm:
  case KernelKind::Ranking:
    us = std::max(kernel.bytes / (batchedShare * device.bandwidth),
                  kernel.flops / (batchedPeak * device.flops)) +
         batchedLaunch;
    break;
  case KernelKind::Memory:
    us = kernel.bytes / (streamShare * device.bandwidth) +
         (kernel.launch ? streamLaunch : 0);
    break;
  }
  double seconds = us * 1e-6;
  bool isBounded = kernel.kind == KernelKind::GroupedGemm ||
                   kernel.kind == KernelKind::Attention;
  return isBounded ? std::max(seconds, peaks.seconds(kernel)) : seconds;
}

bool Calibrated::isComputeBound(const Kernel &kernel) const {
  return roofline.isComputeBound(kernel);
}

//===----------------------------------------------------------------------===//
// Collectives
//===----------------------------------------------------------------------===//

double Calibrated::ncclUs(CollectiveKind kind, int64_t ranks,
                          double bytes) const {
  auto number = size_t(kind);
  const std::vector<Nccl::Among> &few = ncclAmong[number];
  auto at = size_t(ranks);
  return at < few.size() ? Nccl::us(few[at], bytes)
                         : nccl[number]->us(forms.device, double(ranks), bytes);
}

double Calibrated::inDomain(CollectiveKind kind, int64_t ranks,
                            double bytes) const {
  double us = ncclUs(kind, ranks, bytes);
  if (kind == CollectiveKind::AllToAll)
    return us;
  // An all-reduce does what a reduce-scatter does, and what a gather does.
  double whole = kind == CollectiveKind::AllReduce
                     ? us
                     : ncclUs(CollectiveKind::AllReduce, ranks, bytes);
  if (customAllReduce)
    whole = std::min(whole,
                     customAllReduce->us(forms.device, double(ranks), bytes));
  return kind == CollectiveKind::AllReduce ? whole : std::min(us, whole);
}

std::optional<int64_t> Calibrated::ranksInDomain(const Collective &collective,
                                                 const Degrees &degrees) const {
  AxisGroup along = groupOf(collective.axis, degrees);
  if (collective.kind == CollectiveKind::Send || along.size == 1 ||
      !nccl[size_t(collective.kind)])
    return std::nullopt;
  int64_t inside =
      along.size * along.stride <= domainSize
          ? along.size
          : std::clamp<int64_t>(domainSize / along.stride, 1, along.size);
  return inside == 1 ? std::nullopt : std::optional(inside);
}

double Calibrated::seconds(const Collective &collective,
                           const Degrees &degrees) const {
  std::optional<int64_t> inside = ranksInDomain(collective, degrees);
  if (!inside)
    return roofline.seconds(collective, degrees);
  double measured = inDomain(collective.kind, *inside, collective.bytes) * 1e-6;
  bool isWhole = *inside == groupOf(collective.axis, degrees).size;
  return std::max(measured, isWhole ? peaks.seconds(collective, degrees)
                                    : roofline.seconds(collective, degrees));
}

//===----------------------------------------------------------------------===//
// Trust
//===----------------------------------------------------------------------===//

using MeasuredSizes = std::initializer_list<std::pair<const char *, double>>;

/// The group that `form`, one of `groups`, is of; null if it is of none.
template <typename Form>
static const CalibratedGroup *groupOfForm(const Groups<Form> &groups,
                                          const Form *form) {
  for (const Fitted<Form> &fitted : groups.all)
    if (&fitted.form == form)
      return fitted.group;
  return nullptr;
}

/// Trust in a time by constants of `group`, `isNear` where they are those of
/// another key. Twice as wide, in logarithms, where nobody measured.
static Trust trustIn(const CalibratedGroup *group, bool isNear,
                     MeasuredSizes sizes) {
  if (!group)
    return {};
  bool isOutside = isNear || group->isInherited;
  for (const auto &[name, value] : sizes) {
    auto at = group->range.find(name);
    isOutside |= at != group->range.end() &&
                 (value < at->second.first || value > at->second.second);
  }
  double power = isOutside ? 2 : 1;
  return {isOutside ? TimeOrigin::Extrapolated : TimeOrigin::Measured,
          std::pow(group->low, power), std::pow(group->high, power)};
}

template <typename Form>
Trust Calibrated::trustNearest(const Attentions<Form> &among,
                               const Kernel &kernel, const char *length,
                               double tokens) {
  const Attention<Form> *found = nearest(among, kernel);
  if (!found)
    return {};
  bool isNear =
      !kernel.latent &&
      (found->headDim != kernel.n ||
       found->isOfShortWindows != isShortWindow(kernel.window) ||
       found->headsOfGroup != headsOfGroup(kernel.count, kernel.kvHeads));
  return trustIn(found->fitted->group, isNear,
                 {{"heads", kernel.count},
                  {"kv_heads", kernel.kvHeads},
                  {"batch", kernel.rows},
                  {length, tokens}});
}

Trust Calibrated::trustAttention(const Kernel &kernel) const {
  if (kernel.prompt > 0)
    return trustNearest(kernel.latent ? latentPrompts : prompts, kernel,
                        "seq_len", kernel.prompt);
  return trustNearest(kernel.latent ? latentTokens : tokens, kernel, "kv_len",
                      kernel.k);
}

Trust Calibrated::trust(const Kernel &kernel) const {
  const ByType &type = types[size_t(kernel.weights)];
  switch (kernel.kind) {
  case KernelKind::Gemm:
    return trustIn(groupOfForm(forms.gemm, type.gemm),
                   kernel.weights == WeightType::F32,
                   {{"m", kernel.rows}, {"n", kernel.n}, {"k", kernel.k}});
  case KernelKind::GroupedGemm:
    return trustIn(groupOfForm(forms.experts, type.experts),
                   kernel.weights == WeightType::F32, {});
  case KernelKind::Attention:
    return trustAttention(kernel);
  case KernelKind::BatchedGemm:
  case KernelKind::Ranking:
  case KernelKind::Memory:
    return {};
  }
  return {};
}

Trust Calibrated::trust(const Collective &collective,
                        const Degrees &degrees) const {
  std::optional<int64_t> inside = ranksInDomain(collective, degrees);
  if (!inside || *inside != groupOf(collective.axis, degrees).size)
    return {};
  return trustIn(groupOfForm(forms.nccl, nccl[size_t(collective.kind)]),
                 /*isNear=*/false,
                 {{"gpus", double(*inside)}, {"bytes", collective.bytes}});
}
