//===- ServingStep.cpp - One step of a serving engine ---------------------===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "shardopt/Cost/ServingStep.h"

#include "shardopt/Cost/Ops/GatedDeltaNet.h"

#include <algorithm>
#include <cmath>
#include <limits>

using namespace shardopt;
using namespace shardopt::cost;
using namespace shardopt::cost::calibrated;

std::pair<const char *, double> ServingStep::Terms::dominating() const {
  const auto terms = named();
  return *std::max_element(
      terms.begin(), terms.end(),
      [](const auto &a, const auto &b) { return a.second < b.second; });
}

ServingSetup cost::setupOf(const ServedModel &model) {
  ServingSetup setup;
  setup.model = model;
  setup.attentionType = model.attentionType;
  setup.denseType = model.denseType;
  setup.expertType = model.expertType;
  setup.isCacheFp8 = model.hasFp8Cache || isWithFp8Cache(model.denseType);
  return setup;
}

/// Heads of a device; those that do not divide are repeated.
static double shareOf(double heads, double tp) {
  return std::max(1.0, std::ceil(heads / tp));
}

//===----------------------------------------------------------------------===//
// Kernels
//===----------------------------------------------------------------------===//

double ServingStep::us(const Product &product, double m, double n,
                       double k) const {
  if (m <= 0)
    return 0;
  Gemm form = *product.form;
  if (product.type == ServedType::Nvfp4 && engine.hasFusedQuantization) {
    form.q = 0; // the layer before has quantised
    return 0.86 * form.us(kernels.device, product.element, m, n, k);
  }
  const double whole = form.us(kernels.device, product.element, m, n, k);
  if (product.type != ServedType::Fp8 || !engine.hasStaticScales ||
      kernels.quantizationScale.all.empty())
    return whole;
  const double dynamic =
      kernels.quantizationScale.all.front().form.us(kernels.device, m, k);
  return std::max(plainProduct.form->t0, whole - dynamic);
}

double ServingStep::elementwise(double bytes, double count) const {
  return count * (bytes / (0.8 * kernels.device.bandwidth) + engine.passUs);
}

double ServingStep::batched(double bytes, double flops) const {
  return 3 + std::max(bytes / (0.75 * kernels.device.bandwidth),
                      flops / (0.5 * kernels.device.flops));
}

double ServingStep::allReduce(double ranks, double bytes) const {
  if (ranks <= 1)
    return 0;
  double least = std::numeric_limits<double>::infinity();
  if (custom)
    least = custom->us(kernels.device, ranks, bytes);
  if (nccl)
    least = std::min(least, nccl->us(kernels.device, ranks, bytes));
  return least + engine.rankSkewUs;
}

//===----------------------------------------------------------------------===//
// Attention
//===----------------------------------------------------------------------===//

/// Drafts are more queries for what is read of a cache.
double ServingStep::decode(const Attention &of, const Work &work) const {
  const double sequences = work.sequences;
  if (sequences <= 0)
    return 0;
  const ServedModel &m = setup.model;
  double seen = of.span.window > 0 ? std::min(work.context, of.span.window)
                                   : work.context;
  if (m.indexTopk > 0)
    seen = std::min(seen, m.indexTopk);
  const double heads = shareOf(m.heads, setup.tp) * (1 + work.traits.drafts);
  if (m.isLatent)
    return of.token->latentUs(kernels.device, sequences, heads, m.latentRank,
                              m.ropeDim, seen, of.cacheBytes);
  return of.token->us(kernels.device, sequences, heads,
                      shareOf(m.kvHeads, setup.tp), m.headDim, seen,
                      of.cacheBytes);
}

/// Of a whole prompt.
double ServingStep::prefill(const Attention &of, double prompt) const {
  const ServedModel &m = setup.model;
  const double heads = shareOf(m.heads, setup.tp);
  if (m.isLatent)
    return of.prompt->latentUs(kernels.device, 1, heads,
                               m.nopeDim + m.ropeDim + m.valueDim, prompt);
  return of.prompt->us(kernels.device, 1, heads, shareOf(m.kvHeads, setup.tp),
                       m.headDim, prompt, of.span.window);
}

double ServingStep::projections(double tokens) const {
  const ServedModel &m = setup.model;
  const double heads = shareOf(m.heads, setup.tp);
  if (!m.isLatent)
    return us(attentionProduct, tokens,
              ((m.isGated ? 2 : 1) * heads + 2 * shareOf(m.kvHeads, setup.tp)) *
                  m.headDim,
              m.hidden) +
           us(attentionProduct, tokens, m.hidden, heads * m.headDim);
  const double queries = heads * (m.nopeDim + m.ropeDim);
  const double down = m.latentRank + m.ropeDim;
  double sum =
      m.queryRank > 0
          ? us(attentionProduct, tokens, m.queryRank + down, m.hidden) +
                us(attentionProduct, tokens, queries, m.queryRank)
          : us(attentionProduct, tokens, queries + down, m.hidden);
  sum += us(attentionProduct, tokens, m.hidden, heads * m.valueDim);
  // Absorbed into the latent, before and after attention.
  for (double dim : {m.nopeDim, m.valueDim})
    sum += batched(2 * heads * dim * m.latentRank,
                   2 * tokens * heads * dim * m.latentRank);
  return sum;
}

/// Kernels of attention that pass over the tokens: norms, rotation, caches.
double ServingStep::attentionPasses(double tokens) const {
  const ServedModel &m = setup.model;
  if (m.isLatent)
    return elementwise(4 * tokens * (m.queryRank + m.latentRank + m.ropeDim),
                       3);
  const double kv = shareOf(m.kvHeads, setup.tp) * m.headDim;
  const double both = shareOf(m.heads, setup.tp) * m.headDim + kv;
  double sum = m.hasQkNorm ? elementwise(4 * tokens * both, 2) : 0;
  if (m.isGated)
    sum += elementwise(6 * tokens * (both - kv));
  if (m.isQkNormWhole)
    sum += allReduce(setup.tp, 8 * tokens);
  // TRT-LLM rotates and writes inside of attention.
  if (engine.kind != EngineKind::TrtLlm)
    sum += elementwise(4 * tokens * both) + elementwise(8 * tokens * kv);
  return sum;
}

void ServingStep::addIndexer(double sequences, double tokens, double context,
                             Terms &layer) const {
  const ServedModel &m = setup.model;
  if (m.indexTopk <= 0)
    return;
  const double columns = m.indexHeads * m.indexDim;
  layer.gemm += us(attentionProduct, tokens, columns, m.queryRank) +
                us(attentionProduct, tokens, m.indexDim, m.hidden) +
                us(plainProduct, tokens, m.indexHeads, m.hidden);
  layer.elementwise += elementwise(3 * tokens * columns, 6);
  const double bytesPerToken = m.indexDim + 12;
  layer.attention +=
      24 + 0.8 * sequences +
      sequences * context * bytesPerToken / (0.7 * kernels.device.bandwidth);
}

/// A gated delta net in place of attention: states are read and written in a
/// step, and prompts go by chunks, as Ops/GatedDeltaNet.h has it. Of its
/// kernels none was measured.
void ServingStep::addNet(const Work &work, double decoded, Terms &layer) const {
  const ServedNet &net = setup.model.net;
  const double tp = setup.tp, hidden = setup.model.hidden;
  const double tokens = decoded + work.chunk;
  const double values = net.values(tp), channels = net.channels(tp);
  layer.gemm += us(attentionProduct, tokens, channels + values, hidden) +
                us(plainProduct, tokens, 2 * values / net.valueDim, hidden) +
                us(attentionProduct, tokens, hidden, values);
  layer.elementwise +=
      elementwise(4 * tokens * channels) + elementwise(6 * tokens * values);
  constexpr double stateBytes = 4;
  const double state = net.state(tp);
  if (decoded > 0)
    layer.attention += batched(2 * work.sequences * state * stateBytes +
                                   2 * decoded * (channels + values),
                               7 * decoded * state);
  if (work.chunk <= 0)
    return;
  const double c = std::min(GatedDeltaNet::chunk, work.chunk);
  const double perToken = 2 * c * (3 * net.keyDim + 2 * net.valueDim) + c * c +
                          6 * net.keyDim * net.valueDim;
  layer.attention +=
      batched(2 * work.chunk * (channels + values) +
                  4 * work.chunk / c * state + 2 * state * stateBytes,
              work.chunk * values / net.valueDim * perToken);
}

//===----------------------------------------------------------------------===//
// Networks
//===----------------------------------------------------------------------===//

/// A dense network, or the shared experts.
void ServingStep::addNetwork(double tokens, double inner, Terms &layer) const {
  const ServedModel &m = setup.model;
  const double columns = inner / setup.tp;
  layer.gemm += us(networkProduct, tokens, m.gates * columns, m.hidden) +
                us(networkProduct, tokens, m.hidden, columns);
  layer.elementwise += elementwise(6 * tokens * columns);
}

/// The routed experts of one device, for `tokens` of all groups.
double ServingStep::routed(double tokens, double skew) const {
  const ServedModel &m = setup.model;
  ExpertShape shape;
  shape.hidden = m.hidden;
  shape.inner = m.expertInner / setup.expertTp;
  shape.topk = m.topk;
  shape.experts = m.experts;
  shape.ep = setup.expertEp;
  shape.tokens = tokens * (setup.expertEp > 1 ? 1 + skew : 1);
  shape.gates = m.gates;
  const double distinct = 1 + engine.expertReach * (tokens - 1);
  const double active =
      std::max(1.0, m.experts / setup.expertEp *
                        (1 - std::pow(1 - m.topk / m.experts, distinct)));
  double least = std::numeric_limits<double>::infinity();
  for (const Routed &kernel : experts)
    least = std::min(
        least, kernel.form.us(kernels.device, kernel.element, shape, active));
  return least;
}

//===----------------------------------------------------------------------===//
// Steps
//===----------------------------------------------------------------------===//

ServingStep::Terms ServingStep::terms(const Work &work) const {
  const ServedModel &m = setup.model;
  const double chunk = work.chunk;
  const double decoded = work.sequences * (1 + work.traits.drafts);
  const double tokens = decoded + chunk;
  const double layers = m.layers();

  Terms layer; // with attention
  layer.gemm = projections(tokens);
  layer.elementwise =
      attentionPasses(tokens) + elementwise(8 * tokens * m.hidden, 2);
  addIndexer(work.sequences, tokens, work.context, layer);
  Terms net;
  if (m.net.layers > 0) {
    net.elementwise = elementwise(8 * tokens * m.hidden, 2);
    addNet(work, decoded, net);
  }
  const double all = tokens * setup.attentionDp;
  layer.collectives = setup.attentionDp > 1
                          ? 2 * allReduce(setup.devices(), all * m.hidden)
                          : 2 * allReduce(setup.tp, 2 * tokens * m.hidden);

  Terms dense;
  if (m.denseLayers > 0)
    addNetwork(tokens, m.denseInner, dense);

  Terms expert;
  if (m.expertLayers > 0) {
    expert.experts = routed(all, work.traits.skew) + engine.expertLayerUs +
                     us(plainProduct, tokens, m.experts, m.hidden);
    if (m.sharedInner > 0)
      addNetwork(tokens, m.sharedInner, expert);
  }

  Terms step;
  step.gemm = m.attentionLayers() * layer.gemm + m.net.layers * net.gemm +
              m.denseLayers * dense.gemm + m.expertLayers * expert.gemm;
  step.elementwise =
      m.attentionLayers() * layer.elementwise + m.net.layers * net.elementwise +
      m.denseLayers * dense.elementwise + m.expertLayers * expert.elementwise;
  step.experts = m.expertLayers * expert.experts;
  step.collectives = layers * layer.collectives;
  step.attention =
      m.attentionLayers() * layer.attention + m.net.layers * net.attention;
  for (const Attention &of : attention) {
    double us = decode(of, work);
    if (chunk > 0) // and sees what was found, so that all pairs add up
      us += prefill(of, work.prompt) * chunk / work.prompt *
            (1 + work.traits.found);
    step.attention += of.span.layers * us;
  }
  step.gemm += us(plainProduct, decoded + (chunk > 0 ? 1 : 0),
                  m.vocab / setup.tp, m.hidden);
  step.launch = 30;
  return step;
}
