//===- ServingMemory.cpp - What a device of a replica holds ---------------===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "shardopt/Cost/ServingMemory.h"

#include <algorithm>
#include <cmath>

using namespace shardopt;
using namespace shardopt::cost;

/// With the scales of their blocks.
static double bytesOf(ServedType type) {
  switch (type) {
  case ServedType::Bf16:
    return 2;
  case ServedType::Fp8:
  case ServedType::Fp8Block:
    return 1;
  case ServedType::Nvfp4:
    return 0.5625;
  case ServedType::Mxfp4:
  case ServedType::Int4:
    return 0.53125;
  }
  return 2;
}

/// Mxfp4 is of experts; the rest of such a checkpoint is bf16.
static double bytesOfProducts(ServedType type) {
  return type == ServedType::Mxfp4 ? 2 : bytesOf(type);
}

/// Of `whole` columns, rows or heads over `ranks`.
static double padded(double whole, double ranks) {
  return whole > 0 ? std::max(1.0, std::ceil(whole / ranks)) : 0;
}

/// Numbers of the projections of a layer.
static double projections(const ServingSetup &setup) {
  const ServedModel &m = setup.model;
  const double heads = padded(m.heads, setup.tp), h = m.hidden;
  if (!m.isLatent)
    return h * m.headDim *
           ((m.isGated ? 3 : 2) * heads + 2 * padded(m.kvHeads, setup.tp));
  const double from = m.queryRank > 0 ? m.queryRank : h;
  return h * (m.queryRank + m.latentRank + m.ropeDim) +
         heads * (from * (m.nopeDim + m.ropeDim) +
                  m.latentRank * (m.nopeDim + m.valueDim) + m.valueDim * h) +
         // The indexer is on every device.
         m.indexDim * (m.indexHeads * m.queryRank + h) + m.indexHeads * h;
}

/// Numbers of the gated delta net of a layer.
static double netNumbers(const ServingSetup &setup) {
  const ServedNet &net = setup.model.net;
  const double values = net.values(setup.tp), channels = net.channels(setup.tp);
  return setup.model.hidden *
             (channels + 2 * values + 2 * values / net.valueDim) +
         net.taps * channels;
}

/// Numbers of the norms of a layer.
static double norms(const ServedModel &m) {
  const double inner = m.isLatent        ? m.queryRank + m.latentRank
                       : m.isQkNormWhole ? (m.heads + m.kvHeads) * m.headDim
                                         : (m.hasQkNorm ? 2 * m.headDim : 0);
  return 2 * m.hidden + inner;
}

ServingMemory cost::memoryOf(const ServingSetup &setup) {
  const ServedModel &m = setup.model;
  const double tp = setup.tp, h = m.hidden;
  const double perColumn = (m.gates + 1) * h; // of a network
  const double perNumber = bytesOfProducts(setup.denseType);

  ServingMemory memory;
  memory.attention = m.attentionLayers() * projections(setup) *
                     bytesOfProducts(setup.attentionType);
  if (m.net.layers > 0) {
    memory.attention +=
        m.net.layers * netNumbers(setup) * bytesOfProducts(setup.attentionType);
    // The state, and the rows that the convolution keeps.
    memory.states = m.net.layers * (4 * m.net.state(tp) +
                                    2 * (m.net.taps - 1) * m.net.channels(tp));
  }
  memory.dense =
      m.denseLayers * perColumn * padded(m.denseInner, tp) * perNumber;
  memory.shared =
      m.expertLayers * perColumn * padded(m.sharedInner, tp) * perNumber;
  memory.experts =
      m.expertLayers * perColumn * padded(m.experts, setup.expertEp) *
      padded(m.expertInner, setup.expertTp) * bytesOf(setup.expertType);
  memory.routers = m.expertLayers * 2 * h * m.experts;
  memory.norms = 2 * (m.layers() * norms(m) + h);
  memory.embeddings =
      (m.hasTiedEmbeddings ? 1 : 2) * 2 * padded(m.vocab, tp) * h;

  const double numbers = m.isLatent ? m.latentRank + m.ropeDim
                                    : 2 * padded(m.kvHeads, tp) * m.headDim;
  // Keys of the indexer are fp8.
  const double perLayer = numbers * (setup.isCacheFp8 ? 1 : 2) + m.indexDim;
  for (const ServedSpan &span : m.spans) {
    if (span.window <= 0) {
      memory.cachePerToken += span.layers * perLayer;
      continue;
    }
    memory.windows.push_back({span.window, span.layers * perLayer});
    memory.cacheOfWindows += span.window * span.layers * perLayer;
  }
  return memory;
}

double ServingMemory::cache(double context) const {
  double bytes = states + cachePerToken * context;
  for (const Window &window : windows)
    bytes += std::min(context, window.tokens) * window.bytesPerToken;
  return bytes;
}

double cost::usableBytes(double sheetBytes) {
  return 0.92 * 1.0625 * sheetBytes - workspaceBytes;
}

double cost::weightBytes(const ServingSetup &setup) {
  return memoryOf(setup).weights();
}

double cost::cacheBytesPerToken(const ServingSetup &setup) {
  return memoryOf(setup).cachePerToken;
}
