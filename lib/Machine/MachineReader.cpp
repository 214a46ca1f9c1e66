//===- MachineReader.cpp - Machines from JSON text ------------------------===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "shardopt/Machine/MachineReader.h"

#include "shardopt/Support/Json.h"

using namespace shardopt;

/// The most devices of a domain: far beyond any, and safe to multiply.
static constexpr int64_t maxDomainSize = 1'000'000;

static void readCompute(const json::Value &compute, Machine &machine) {
  compute.refuseOtherKeys({"bf16_flops_per_s", "fp8_flops_per_s", "efficiency",
                           "kernel_latency_s"});
  double efficiency = compute["efficiency"].fraction();
  machine.bf16Flops = compute["bf16_flops_per_s"].positiveNumber() * efficiency;
  if (json::Value fp8 = compute["fp8_flops_per_s"])
    machine.fp8Flops = fp8.positiveNumber() * efficiency;
  machine.kernelLatency = compute["kernel_latency_s"].positiveNumber();
}

static void readMemory(const json::Value &memory, Machine &machine) {
  memory.refuseOtherKeys({"capacity_bytes", "usable_fraction",
                          "bandwidth_bytes_per_s", "bandwidth_efficiency"});
  machine.memoryCapacity = memory["capacity_bytes"].positiveNumber() *
                           memory["usable_fraction"].fraction();
  machine.memoryBandwidth = memory["bandwidth_bytes_per_s"].positiveNumber() *
                            memory["bandwidth_efficiency"].fraction();
}

static void readDomain(const json::Value &domain, Machine &machine) {
  domain.refuseOtherKeys({"devices", "bandwidth_bytes_per_s",
                          "bandwidth_efficiency", "multicast_efficiency",
                          "latency_s"});
  machine.domainSize = domain["devices"].integer(/*otherwise=*/std::nullopt,
                                                 /*least=*/1, maxDomainSize);
  double bandwidth = domain["bandwidth_bytes_per_s"].positiveNumber();
  machine.linkBandwidth = bandwidth * domain["bandwidth_efficiency"].fraction();
  if (json::Value efficiency = domain["multicast_efficiency"])
    machine.multicastBandwidth = bandwidth * efficiency.fraction();
  machine.linkLatency = domain["latency_s"].positiveNumber();
}

static void readNetwork(const json::Value &network, Machine &machine) {
  network.refuseOtherKeys(
      {"bandwidth_bytes_per_s", "bandwidth_efficiency", "latency_s"});
  machine.networkBandwidth = network["bandwidth_bytes_per_s"].positiveNumber() *
                             network["bandwidth_efficiency"].fraction();
  machine.networkLatency = network["latency_s"].positiveNumber();
}

static void readCollectives(const json::Value &collectives, Machine &machine) {
  collectives.refuseOtherKeys({"latency_s", "ring"});
  machine.collectiveLatency = collectives["latency_s"].positiveNumber();
  json::Value ring = collectives["ring"];
  ring.refuseOtherKeys({"latency_s", "domain_step_s", "network_step_s"});
  machine.ringCollectiveLatency = ring["latency_s"].positiveNumber();
  machine.ringLinkStep = ring["domain_step_s"].positiveNumber();
  machine.ringNetworkStep = ring["network_step_s"].positiveNumber();
}

ErrorOr<Machine> shardopt::parseMachine(std::string_view text,
                                        const std::string &fileName) {
  ErrorOr<json::Document> document = json::Document::parse(text, fileName);
  if (!document)
    return document.error();

  json::Value root = document->root();
  root.refuseOtherKeys({"name", "compute", "memory", "domain", "network",
                        "collectives", "experts"});
  Machine machine;
  machine.name = root["name"].string();
  if (machine.name.empty())
    root["name"].failExpected("a name");
  readCompute(root["compute"], machine);
  readMemory(root["memory"], machine);
  readDomain(root["domain"], machine);
  readNetwork(root["network"], machine);
  readCollectives(root["collectives"], machine);
  json::Value experts = root["experts"];
  experts.refuseOtherKeys({"skew"});
  machine.expertSkew = experts["skew"].nonNegativeNumber();

  if (document->failed())
    return document->error();
  return machine;
}
