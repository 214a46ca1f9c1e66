//===- Roofline.cpp - The roofline simulator ------------------------------===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "shardopt/Cost/Roofline.h"

#include <algorithm>

using namespace shardopt;
using namespace shardopt::cost;

Roofline::Roofline(const Machine &machine, CommModel comm)
    : machine(machine), comm(comm),
      collectiveLatency(comm == CommModel::Ring ? machine.ringCollectiveLatency
                                                : machine.collectiveLatency) {}

double Roofline::peak(WeightType weights) const {
  bool isEight = bytesPerWeight(weights) == 1;
  return isEight && machine.fp8Flops ? *machine.fp8Flops : machine.bf16Flops;
}

double Roofline::seconds(const Kernel &kernel) const {
  double busy = std::max(kernel.flops / peak(kernel.weights),
                         kernel.bytes / machine.memoryBandwidth);
  return kernel.launch ? busy + machine.kernelLatency : busy;
}

bool Roofline::isComputeBound(const Kernel &kernel) const {
  return kernel.flops / peak(kernel.weights) >
         kernel.bytes / machine.memoryBandwidth;
}

double Roofline::seconds(const Collective &collective,
                         const Degrees &degrees) const {
  if (collective.kind == CollectiveKind::Send)
    return send(collective.bytes, degrees.devices());

  AxisGroup along = groupOf(collective.axis, degrees);
  if (along.size == 1)
    return 0;
  Group ranks = group(along);
  switch (collective.kind) {
  case CollectiveKind::AllReduce:
    return allReduce(ranks, collective.bytes);
  case CollectiveKind::AllGather:
  case CollectiveKind::ReduceScatter:
    return gather(ranks, collective.bytes);
  default:
    return allToAll(ranks, collective.bytes);
  }
}

/// Groups never straddle a domain: a domain holds the largest divisor of their
/// size that it has room for.
Roofline::Group Roofline::group(const AxisGroup &along) const {
  int64_t n = along.size;
  int64_t inside =
      std::min(n, std::max<int64_t>(1, machine.domainSize / along.stride));
  while (n % inside != 0)
    --inside;
  int64_t domains = n / inside;
  int steps = 0;
  while ((int64_t{1} << steps) < domains)
    ++steps;
  return {double(n), double(inside), double(domains), double(steps)};
}

/// Latency of one pass over both levels of links.
double Roofline::latency(const Group &group) const {
  if (comm == CommModel::Ring)
    return (group.inside - 1) * machine.ringLinkStep +
           (group.domains - 1) * machine.ringNetworkStep;
  return (group.inside > 1 ? machine.linkLatency : 0) +
         group.domainSteps * machine.networkLatency;
}

/// Time that `bytes` of a full tensor take to cross both levels of links once.
double Roofline::volume(const Group &group, double bytes) const {
  double g = group.inside, q = group.domains;
  return bytes * (g - 1) / g / machine.linkBandwidth +
         bytes / g * (q - 1) / q / machine.networkBandwidth;
}

/// All-gather, and reduce-scatter alike.
double Roofline::gather(const Group &group, double bytes) const {
  return collectiveLatency + latency(group) + volume(group, bytes);
}

double Roofline::allReduce(const Group &group, double bytes) const {
  // Reduce-scatter and all-gather.
  double best = collectiveLatency + 2 * (latency(group) + volume(group, bytes));
  if (comm == CommModel::Ring)
    return best;

  // The same inside a domain, around the better of two all-reduces between
  // domains: two passes, or recursive doubling.
  double g = group.inside, q = group.domains, steps = group.domainSteps;
  double between = 0;
  if (q > 1)
    between = std::min(2 * (steps * machine.networkLatency +
                            bytes / g * (q - 1) / q / machine.networkBandwidth),
                       steps * (machine.networkLatency +
                                bytes / g / machine.networkBandwidth));
  double inside = 0;
  if (g > 1)
    inside =
        2 * (machine.linkLatency + bytes * (g - 1) / g / machine.linkBandwidth);
  best = std::min(best, collectiveLatency + inside + between);
  if (comm == CommModel::Direct)
    return best;

  // One shot: every rank sends all that it has to all others.
  if (q == 1)
    best = std::min(best, collectiveLatency + machine.linkLatency +
                              (group.n - 1) * bytes / machine.linkBandwidth);
  // The switch of the domain reduces and multicasts.
  if (machine.multicastBandwidth && g > 1) {
    double phases = q == 1 ? 1.5 : 2;
    best = std::min(best, collectiveLatency + phases * machine.linkLatency +
                              bytes / *machine.multicastBandwidth + between);
  }
  return best;
}

double Roofline::allToAll(const Group &group, double bytes) const {
  double n = group.n, g = group.inside;
  double inside = 0, outside = 0;
  if (g > 1)
    inside = machine.linkLatency + bytes * (g - 1) / n / machine.linkBandwidth;
  if (group.domains > 1)
    outside =
        machine.networkLatency + bytes * (n - g) / n / machine.networkBandwidth;
  return collectiveLatency + std::max(inside, outside);
}

/// Stages are a stride of tp * dp apart: they share a domain only where the
/// whole grid does.
double Roofline::send(double bytes, int64_t devices) const {
  if (devices <= machine.domainSize)
    return collectiveLatency + machine.linkLatency +
           bytes / machine.linkBandwidth;
  return collectiveLatency + machine.networkLatency +
         bytes / machine.networkBandwidth;
}
