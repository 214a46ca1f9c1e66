//===- MachineWriter.cpp - Machines as JSON text --------------------------===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "shardopt/Model/Machine/MachineWriter.h"

#include "shardopt/Support/Fingerprint.h"

#include <algorithm>

using namespace shardopt;

static void writeCompute(json::Writer &writer, const Machine &machine) {
  writer.key("compute").beginObject();
  writer.member("bf16_flops_per_s", machine.bf16Flops);
  if (machine.fp8Flops)
    writer.member("fp8_flops_per_s", *machine.fp8Flops);
  writer.member("efficiency", 1)
      .member("kernel_latency_s", machine.kernelLatency)
      .endObject();
}

static void writeMemory(json::Writer &writer, const Machine &machine) {
  writer.key("memory")
      .beginObject()
      .member("capacity_bytes", machine.memoryCapacity)
      .member("usable_fraction", 1)
      .member("bandwidth_bytes_per_s", machine.memoryBandwidth)
      .member("bandwidth_efficiency", 1)
      .endObject();
}

static void writeDomain(json::Writer &writer, const Machine &machine) {
  double peak =
      std::max(machine.linkBandwidth, machine.multicastBandwidth.value_or(0));
  writer.key("domain")
      .beginObject()
      .member("devices", machine.domainSize)
      .member("bandwidth_bytes_per_s", peak)
      .member("bandwidth_efficiency", machine.linkBandwidth / peak);
  if (machine.multicastBandwidth)
    writer.member("multicast_efficiency", *machine.multicastBandwidth / peak);
  writer.member("latency_s", machine.linkLatency).endObject();
}

static void writeNetwork(json::Writer &writer, const Machine &machine) {
  writer.key("network")
      .beginObject()
      .member("bandwidth_bytes_per_s", machine.networkBandwidth)
      .member("bandwidth_efficiency", 1)
      .member("latency_s", machine.networkLatency)
      .endObject();
}

static void writeCollectives(json::Writer &writer, const Machine &machine) {
  writer.key("collectives")
      .beginObject()
      .member("latency_s", machine.collectiveLatency)
      .key("ring")
      .beginObject()
      .member("latency_s", machine.ringCollectiveLatency)
      .member("domain_step_s", machine.ringLinkStep)
      .member("network_step_s", machine.ringNetworkStep)
      .endObject()
      .endObject();
}

void shardopt::writeMachine(json::Writer &writer, const Machine &machine) {
  writer.beginObject().member("name", machine.name);
  writeCompute(writer, machine);
  writeMemory(writer, machine);
  writeDomain(writer, machine);
  writeNetwork(writer, machine);
  writeCollectives(writer, machine);
  writer.key("experts")
      .beginObject()
      .member("skew", machine.expertSkew)
      .endObject();
  writer.endObject();
}

std::string shardopt::fingerprintOf(const Calibration &calibration) {
  const DataSheet &sheet = calibration.sheet;
  std::string text;
  json::Writer writer(text);
  writer.beginArray();
  for (double peak :
       {sheet.bf16Flops, sheet.fp8Flops, sheet.fp4Flops, sheet.sms,
        sheet.memoryBytes, sheet.memoryBandwidth, sheet.cacheBytes,
        sheet.linkBandwidth, sheet.networkBandwidth})
    writer.value(peak);
  for (const CalibratedGroup &group : calibration.groups) {
    writer.beginObject().member("kernel", group.kernel);
    for (const auto &[name, value] : group.names)
      writer.member(name, value);
    for (const auto *numbers : {&group.numbers, &group.constants})
      for (const auto &[name, value] : *numbers)
        writer.member(name, value);
    writer.member("low", group.low).member("high", group.high).endObject();
  }
  for (const auto &[engine, options] : calibration.engines) {
    writer.beginObject().member("engine", engine);
    for (const auto &[name, value] : options)
      writer.member(name, value);
    writer.endObject();
  }
  writer.endArray();
  return fingerprint(text);
}
