//===- CalibratedForms.cpp - Formulas of measured kernels -----------------===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "shardopt/Cost/Calibrated/CalibratedForms.h"

#include <algorithm>
#include <cmath>
#include <limits>

using namespace shardopt;
using namespace shardopt::cost;
using namespace shardopt::cost::calibrated;

static constexpr double none = std::numeric_limits<double>::infinity();

static double cube(double x) { return x * x * x; }

static double peakOf(const Device &device, Peak peak) {
  switch (peak) {
  case Peak::Bf16:
    return device.flops;
  case Peak::Fp8:
    return device.flops * device.fp8;
  case Peak::Fp4:
    return device.flops * device.fp4;
  }
  return device.flops;
}

Device::Device(const DataSheet &sheet)
    : flops(sheet.bf16Flops / 1e6), fp8(sheet.fp8Flops / sheet.bf16Flops),
      fp4(sheet.fp4Flops / sheet.bf16Flops), sms(sheet.sms),
      bandwidth(sheet.memoryBandwidth / 1e6), cache(sheet.cacheBytes),
      link(sheet.linkBandwidth / 1e6), network(sheet.networkBandwidth / 1e6) {}

//===----------------------------------------------------------------------===//
// Matrix products
//===----------------------------------------------------------------------===//

/// Tiles of the output, and over how many of them k may be split.
static constexpr double gemmTiles[][2] = {{64, 16},  {64, 32},   {64, 64},
                                          {64, 128}, {128, 128}, {128, 256}};
static constexpr double gemmSplits[] = {1, 2, 3, 4, 6, 8, 16};

Gemm::Steps Gemm::steps(const Device &device, const Element &element) const {
  double compute = peakOf(device, element.peak) / device.sms * ec;
  double load = device.bandwidth / device.sms * eb;
  Steps steps;
  static_assert(std::size(gemmTiles) == std::tuple_size_v<Steps>);
  for (size_t i = 0; i < steps.size(); ++i) {
    auto [rows, columns] = gemmTiles[i];
    steps[i] = std::hypot(2 * rows * columns / compute,
                          element.operandBytes * (rows + columns) / load);
  }
  return steps;
}

double Gemm::us(const Device &device, const Element &element,
                const Steps &steps, double m, double n, double k) const {
  double weights = element.weightBytes * n * k;
  double fill = weights / (l2 * device.cache);
  double cold = 1 - h / (1 + h) / (1 + fill * fill);
  double moved = weights * cold + 2 * m * (k * wa + n * wc);
  double memory = moved / (device.bandwidth * em);
  double depths[std::size(gemmSplits)];
  for (size_t i = 0; i < std::size(gemmSplits); ++i)
    depths[i] = std::ceil(k / 64 / gemmSplits[i]) * 64;

  // The least of whole products, and of those that are summed afterwards.
  double whole = none, split = none;
  for (size_t tile = 0; tile < steps.size(); ++tile) {
    auto [rows, columns] = gemmTiles[tile];
    double tiles = std::ceil(m / rows) * std::ceil(n / columns);
    for (size_t i = 0; i < std::size(gemmSplits); ++i) {
      double time = std::ceil(tiles * gemmSplits[i] / device.sms) * depths[i] *
                    steps[tile];
      double &best = i > 0 ? split : whole;
      best = std::min(best, time);
    }
  }
  double bound = cube(memory);
  double best = std::min(std::cbrt(cube(whole) + bound),
                         std::cbrt(cube(split) + bound) + ts);
  return t0 + best + q * m * k / device.bandwidth;
}

double QuantizationScale::us(const Device &device, double m, double k) const {
  double moved = 2 * m * k / device.bandwidth;
  return std::hypot(t0, v * moved) + w * moved;
}

//===----------------------------------------------------------------------===//
// Attention
//===----------------------------------------------------------------------===//

/// Rows of queries, and of keys, that one step of a kernel takes.
static constexpr double attentionBlock = 128;
/// Over how many thread blocks the cache of a sequence may be split.
static constexpr double cacheSplits[] = {1, 2, 4, 8, 16, 32, 64, 128, 256};

double PromptAttention::us(const Device &device, double share, double blocks,
                           double seen, double step, double bytes) const {
  double steps = seen * (seen + 1) / 2 + (blocks - seen) * seen;
  double busy = share * (steps * step + co * blocks);
  double work = std::cbrt(cube(busy) + cube(seen * step * cr)) +
                me * bytes / device.bandwidth;
  return t0 + work + c1 * (1 - std::exp(-work / tau));
}

double PromptAttention::us(const Device &device, double batch, double heads,
                           double kvHeads, double dim, double length,
                           double window) const {
  double blocks = std::ceil(length / attentionBlock);
  double reach = window > 0 ? std::ceil(window / attentionBlock) + 1 : none;
  double step = 4 * attentionBlock * attentionBlock * dim /
                (device.flops / device.sms * ec);
  return us(device, batch * heads / device.sms, blocks, std::min(blocks, reach),
            step, 2 * batch * length * (heads + 2 * kvHeads) * dim);
}

double PromptAttention::latentUs(const Device &device, double batch,
                                 double heads, double dims,
                                 double length) const {
  double blocks = std::ceil(length / attentionBlock);
  double step = 2 * attentionBlock * attentionBlock * dims /
                (device.flops / device.sms * ec);
  return us(device, batch * heads / device.sms, blocks, blocks, step,
            2 * batch * length * heads * dims);
}

double TokenAttention::us(const Device &device, double caches, double group,
                          double length, double bytes, double flops) const {
  double memory = bytes / device.bandwidth;
  double rest = cube(memory / em) + cube(flops / device.flops / ec);
  double best = none;
  double steps = 0;
  for (double split : cacheSplits) {
    double waves = std::max(1.0, caches * split / device.sms);
    double serial =
        waves * (cb * (1 + cg * group) + std::ceil(length / split) * u) +
        cw * caches / device.sms;
    double sum = split > 1 ? r0 + r1 * steps : 0;
    best = std::min(best, std::cbrt(cube(serial) + rest) + sum);
    ++steps;
  }
  return t0 * (1 + tg * group) + best + c1 * (1 - std::exp(-memory / tau));
}

double TokenAttention::us(const Device &device, double batch, double heads,
                          double kvHeads, double dim, double length,
                          double cacheBytes) const {
  double caches = batch * kvHeads;
  return us(device, caches, heads / kvHeads / 16, length,
            2 * caches * length * dim * cacheBytes +
                qo * 4 * batch * heads * dim,
            4 * batch * heads * length * dim);
}

double TokenAttention::latentUs(const Device &device, double batch,
                                double heads, double latent, double rope,
                                double length, double cacheBytes) const {
  double dims = 2 * latent + rope;
  return us(device, batch, heads / 128, length,
            batch * length * (latent + rope) * cacheBytes +
                qo * 2 * dims * batch * heads,
            2 * dims * batch * heads * length);
}

//===----------------------------------------------------------------------===//
// Experts
//===----------------------------------------------------------------------===//

double calibrated::activeExperts(const ExpertShape &shape, Load load) {
  double tokens = shape.tokens;
  double share = std::min(1.0, tokens * shape.topk / shape.experts);
  if (load == Load::PowerLaw) {
    // Loads are log-uniform between 1 and 0.8 of the tokens.
    constexpr int samples = 16;
    double most = std::max(0.8 * tokens, 1.5);
    double scale =
        tokens * shape.topk * std::log(most) / (shape.experts * (most - 1));
    share = 0;
    for (int i = 0; i < samples; ++i) {
      double mean = scale * std::pow(most, (i + 0.5) / samples);
      share += (1 - std::exp(-1.4 * std::min(mean, tokens))) / samples;
    }
  }
  return std::max(shape.experts / shape.ep * share, 1.0);
}

double Experts::productUs(const Device &device, const Element &element,
                          double rows, double active, double columns,
                          double k) const {
  double memory = (element.weightBytes * active * columns * k +
                   rows * (element.operandBytes * k + 2 * columns)) /
                  (device.bandwidth * em);
  double compute = 2 * std::max(rows, 16 * cs * active) * columns * k /
                   (peakOf(device, element.peak) * ec);
  double tiles = active * std::ceil(columns / 128) *
                 std::ceil(std::max(rows / active, 1.0) / 128);
  double serial = std::max(1.0, tiles / device.sms) * ck * k / 1024;
  return std::sqrt(std::sqrt(memory * cube(memory) + compute * cube(compute) +
                             serial * cube(serial)));
}

double Experts::us(const Device &device, const Element &element,
                   const ExpertShape &shape, double active) const {
  double rows = std::max(shape.tokens * shape.topk / shape.ep, 1.0);
  double products =
      productUs(device, element, rows, active, shape.gates * shape.inner,
                shape.hidden) +
      productUs(device, element, rows, active, shape.hidden, shape.inner);
  double passes = 2 *
                  (ca * shape.tokens * shape.hidden +
                   rows * (cr * shape.hidden + ci * shape.inner)) /
                  device.bandwidth;
  return t0 + products + passes + ce * shape.experts / shape.ep / 128 +
         c2 * std::log2(1 + shape.tokens * shape.topk / 128);
}

//===----------------------------------------------------------------------===//
// Communication
//===----------------------------------------------------------------------===//

Nccl::Among Nccl::among(const Device &device, double gpus) const {
  Among ranks;
  ranks.gpus = gpus;
  for (size_t i = 0; i != numProtocols; ++i) {
    const Protocol &p = protocols[i];
    ranks.rate[i] = device.link * p.e * std::pow(gpus / 8, p.x - 1);
    ranks.latency[i] = p.a + p.b * std::pow(gpus, p.y);
  }
  return ranks;
}

double Nccl::us(const Among &ranks, double bytes) {
  double best = none;
  for (size_t i = 0; i != numProtocols; ++i)
    best = std::min(best, ranks.latency[i] + bytes * (ranks.gpus - 1) /
                                                 ranks.gpus / ranks.rate[i]);
  return best;
}

double CustomAllReduce::us(const Device &device, double gpus,
                           double bytes) const {
  double steps = std::log2(gpus);
  double sent = 2 * bytes * (gpus - 1) / gpus / device.link;
  double one = a0 + b0 * steps + bytes * (gpus - 1) / (device.link * e0);
  double two = a1 + b1 * steps + sent / e1;
  double ring = a2 + b2 * gpus + sent / (e2 * std::pow(gpus / 8, x2 - 1));
  double best = std::min({one, two, ring});
  double launch = f0 * std::pow(gpus / 4, y0 - 1);
  return std::pow(cube(best * best) + cube(launch * launch), 1.0 / 6);
}

double Exchange::us(const Device &device, double nodes, double hidden,
                    double topk, double tokens, double elementBytes,
                    double sms) const {
  constexpr double ranksOfNode = 8;
  double row = tokens * hidden * elementBytes;
  double ranks = nodes * ranksOfNode;
  bool once = rs > 0; // a token goes to each rank once
  double copies = topk, rate = device.link * el;
  if (once) {
    copies = ranks * (1 - std::pow(1 - 1 / ranks, topk));
    rate = 1 / (1 / rate + 1 / (sms * rs * 1e3));
  }
  double time = t0 + row * copies / rate + cl * std::log2(1 + tokens / 8);
  if (tn > 0) {
    double away = (once ? nodes * (1 - std::pow(1 - 1 / nodes, topk)) : topk) *
                  (1 - 1 / nodes);
    time += tn * std::pow(nodes, yn) +
            row * away * std::pow(nodes / 4, xn - 1) / (device.network * en);
  }
  return time;
}
