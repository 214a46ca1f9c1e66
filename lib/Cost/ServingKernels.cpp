//===- ServingKernels.cpp - Which kernels a serving engine takes ----------===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "shardopt/Cost/ServingStep.h"

#include <algorithm>

using namespace shardopt;
using namespace shardopt::cost;
using namespace shardopt::cost::calibrated;

/// As tables spell the type of a product.
static const char *gemmName(ServedType type) {
  switch (type) {
  case ServedType::Fp8:
    return "fp8";
  case ServedType::Fp8Block:
    return "fp8_block";
  case ServedType::Nvfp4:
    return "nvfp4";
  case ServedType::Bf16:
  case ServedType::Mxfp4: // of experts only
  case ServedType::Int4:
    break;
  }
  return "bfloat16";
}

/// With a scale of two bytes for 64 weights.
static constexpr double int4Bytes = 0.53125;

static bool isHopper(const Device &device) { return device.fp4 <= device.fp8; }

ServingStep::Product ServingStep::productOf(ServedType type) const {
  Product product;
  const char *name = gemmName(type);
  if (Found<Gemm> found = kernels.gemm.find({{{"dtype", name}}, {}}))
    product.form = &found.fitted->form;
  if (ErrorOr<Element> element = elementOfGemm(name))
    product.element = *element;
  product.type = type;
  if (type == ServedType::Int4) // multiplied as bf16
    product.element.weightBytes = int4Bytes;
  return product;
}

void ServingStep::findProducts() {
  const ServedModel &model = setup.model;
  plainProduct = productOf(ServedType::Bf16);
  networkProduct = productOf(setup.denseType);
  // Checkpoints of latent attention in fp4 keep fp8 there.
  const bool keepsFp8 = engine.keepsLatentFp8 && model.isLatent &&
                        setup.attentionType == ServedType::Nvfp4;
  attentionProduct =
      productOf(keepsFp8 ? ServedType::Fp8 : setup.attentionType);
}

std::string ServingStep::findAttention() {
  const ServedModel &model = setup.model;
  const bool readsAsBf16 =
      engine.readsFp8AsBf16 && isHopper(kernels.device) &&
      model.isLatent == (engine.kind == EngineKind::Sglang);
  const bool isFp8 = setup.isCacheFp8 && !readsAsBf16;
  const char *cache = isFp8 ? "fp8" : "bfloat16";
  for (const ServedSpan &span : model.spans) {
    Attention found;
    found.span = span;
    found.cacheBytes = isFp8 ? 1 : 2;
    Key key;
    key.names = {{"kv_dtype", cache}};
    if (!model.isLatent)
      key.numbers = {{"head_dim", model.headDim},
                     {"windowed", isShortWindow(span.window)},
                     {"heads_of_group",
                      headsOfGroup(model.heads / setup.tp,
                                   std::max(1.0, model.kvHeads / setup.tp))}};
    Key ofPrompts = key;
    ofPrompts.names.insert(ofPrompts.names.begin(), {"attn_dtype", "bfloat16"});
    auto token = (model.isLatent ? kernels.latentToken : kernels.tokenAttention)
                     .find(key);
    auto prompt =
        (model.isLatent ? kernels.latentPrompt : kernels.promptAttention)
            .find(ofPrompts);
    if (!token || !prompt)
      return model.isLatent ? "latent attention" : "attention";
    found.token = &token.fitted->form;
    found.prompt = &prompt.fitted->form;
    attention.push_back(found);
  }
  return "";
}

void ServingStep::addExperts(const char *dtype, const char *kernel) {
  Found<Experts> found = kernels.experts.find(
      {{{"dtype", dtype}, {"kernel", kernel}, {"distribution", "balanced"}},
       {}});
  ErrorOr<Element> element = elementOfExperts(dtype);
  if (found && element)
    experts.push_back({found.fitted->form, *element});
}

// What kernels without constants of their own take, found in serving runs:
// microseconds of a pass over 128 experts, whether or not they have tokens.
static constexpr double smallPass = 3, oldPass = 20;
// Marlin multiplies weights of 4 bits as bf16: launch, shares of the peaks.
static constexpr double marlinUs = 39, marlinCompute = 0.3, marlinMemory = 0.55,
                        marlinBytes = 0.53;

void ServingStep::addBlockExperts(const char *cutlass) {
  const bool isNew = !isHopper(kernels.device);
  const bool isSglang = engine.kind == EngineKind::Sglang;
  const bool isSmall = engine.hasSmallExperts && (isNew || isSglang);
  // SGLang's on Hopper has the passes of the fp8 kernel.
  addExperts(isSmall && !isNew ? "fp8" : "fp8_block",
             isNew ? "deepgemm" : cutlass);
  if (isSmall && !experts.empty())
    experts.front().form.ce = smallPass;
}

void ServingStep::addMarlin(const char *cutlass) {
  addExperts("bfloat16", cutlass);
  if (experts.empty())
    return;
  Routed &marlin = experts.front();
  marlin.form.t0 = marlinUs;
  marlin.form.ec = marlinCompute;
  marlin.form.em = marlinMemory;
  marlin.element.weightBytes = marlinBytes;
}

std::string ServingStep::findExperts() {
  if (setup.model.expertLayers == 0)
    return "";
  const bool isOld = isHopper(kernels.device);
  const char *cutlass = setup.model.gates > 1 ? "moe_torch_flow_cutlass"
                                              : "moe_torch_flow_nongated";
  switch (setup.expertType) {
  case ServedType::Bf16:
    addExperts("bfloat16", cutlass);
    break;
  case ServedType::Fp8:
    addExperts("fp8", cutlass);
    break;
  case ServedType::Fp8Block:
    addBlockExperts(cutlass);
    break;
  case ServedType::Nvfp4:
    addExperts("nvfp4", cutlass);
    if (engine.hasSmallExperts || engine.kind == EngineKind::TrtLlm)
      addExperts("nvfp4", "moe_torch_flow_min_latency");
    else if (!experts.empty())
      experts.front().form.ce = oldPass;
    break;
  case ServedType::Mxfp4:
    if (isOld && engine.kind == EngineKind::Vllm)
      addMarlin(cutlass);
    else
      addExperts(isOld ? "w4a16_mxfp4" : "w4a8_mxfp4_mxfp8", "moe_torch_flow");
    break;
  case ServedType::Int4:
    addMarlin(cutlass);
    break;
  }
  return experts.empty() ? "experts" : "";
}

ServingStep::ServingStep(const CalibratedKernels &kernels,
                         const ServingSetup &setup, const ServingEngine &engine)
    : kernels(kernels), setup(setup), engine(engine) {}

ErrorOr<ServingStep> ServingStep::create(const CalibratedKernels &kernels,
                                         const ServingSetup &setup,
                                         const ServingEngine &engine) {
  ServingStep step(kernels, setup, engine);
  step.findProducts();
  std::string missing = step.plainProduct.form ? "" : "matrix products";
  if (missing.empty())
    missing = step.findAttention();
  if (missing.empty())
    missing = step.findExperts();
  const bool isVllm = engine.kind == EngineKind::Vllm;
  if (auto found = kernels.customAllReduce.find(
          {{{"kernel", isVllm ? "vLLM_custom_graph" : "TRTLLM"}}, {}});
      found && engine.hasCustomAllReduce)
    step.custom = &found.fitted->form;
  if (auto found = kernels.nccl.find({{{"op", "all_reduce"}}, {}}))
    step.nccl = &found.fitted->form;
  if (missing.empty() && setup.devices() > 1 && !step.custom && !step.nccl)
    missing = "all-reduce";
  if (!missing.empty())
    return Error{"no constants of " + missing};
  return step;
}
