//===- LowerBound.cpp - Times that nothing is below -----------------------===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "shardopt/Cost/LowerBound.h"

#include <algorithm>

using namespace shardopt;
using namespace shardopt::cost;

/// `machine` at the peaks of its links, and without latencies.
static Machine atPeaks(Machine machine) {
  const DataSheet &sheet = machine.calibration->sheet;
  machine.linkBandwidth = sheet.linkBandwidth;
  if (machine.multicastBandwidth)
    machine.multicastBandwidth = sheet.linkBandwidth;
  machine.networkBandwidth = sheet.networkBandwidth;
  machine.collectiveLatency = machine.linkLatency = machine.networkLatency = 0;
  return machine;
}

LowerBound::LowerBound(const Machine &machine)
    : sheet(machine.calibration->sheet), links(atPeaks(machine)) {}

/// Weights of four bits may be multiplied as such.
double LowerBound::arithmetic(const Kernel &kernel) const {
  double peak = sheet.bf16Flops;
  if (bytesPerWeight(kernel.weights) < 1)
    peak = sheet.fp4Flops;
  else if (bytesPerWeight(kernel.weights) == 1 || kernel.activationBytes < 2)
    peak = sheet.fp8Flops;
  return kernel.flops / peak;
}

double LowerBound::seconds(const Kernel &kernel) const {
  return std::max(arithmetic(kernel), kernel.bytes / sheet.memoryBandwidth);
}

bool LowerBound::isComputeBound(const Kernel &kernel) const {
  return arithmetic(kernel) > kernel.bytes / sheet.memoryBandwidth;
}

double LowerBound::seconds(const Collective &collective,
                           const Degrees &degrees) const {
  return links.seconds(collective, degrees);
}
