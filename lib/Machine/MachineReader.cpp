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

/// A positive number of at least `least` and at most `most`, `wanted` in words.
static double readWithin(const json::Value &value, double least, double most,
                         const char *wanted) {
  double number = value.positiveNumber();
  if (number < least || number > most)
    value.failExpected(wanted);
  return number;
}

// Anything that is built is far from these, and times made of numbers between
// them are neither 0 nor infinite.

static double readRate(const json::Value &value) {
  return readWithin(value, 1, 1e24, "a number a second from 1 to 1e24");
}
static double readBytes(const json::Value &value) {
  return readWithin(value, 1, 1e24, "a number of bytes from 1 to 1e24");
}
static double readSeconds(const json::Value &value) {
  return readWithin(value, 1e-15, 1e6, "seconds from 1e-15 to 1e6");
}
static double readFraction(const json::Value &value) {
  double number = value.fraction();
  if (number < 1e-6)
    value.failExpected("a fraction of at least 1e-6");
  return number;
}

static void readCompute(const json::Value &compute, Machine &machine) {
  compute.refuseOtherKeys({"bf16_flops_per_s", "fp8_flops_per_s", "efficiency",
                           "kernel_latency_s"});
  double efficiency = readFraction(compute["efficiency"]);
  machine.bf16Flops = readRate(compute["bf16_flops_per_s"]) * efficiency;
  if (json::Value fp8 = compute["fp8_flops_per_s"])
    machine.fp8Flops = readRate(fp8) * efficiency;
  machine.kernelLatency = readSeconds(compute["kernel_latency_s"]);
}

static void readMemory(const json::Value &memory, Machine &machine) {
  memory.refuseOtherKeys({"capacity_bytes", "usable_fraction",
                          "bandwidth_bytes_per_s", "bandwidth_efficiency"});
  machine.memoryCapacity = readBytes(memory["capacity_bytes"]) *
                           readFraction(memory["usable_fraction"]);
  machine.memoryBandwidth = readRate(memory["bandwidth_bytes_per_s"]) *
                            readFraction(memory["bandwidth_efficiency"]);
}

static void readDomain(const json::Value &domain, Machine &machine) {
  domain.refuseOtherKeys({"devices", "bandwidth_bytes_per_s",
                          "bandwidth_efficiency", "multicast_efficiency",
                          "latency_s"});
  machine.domainSize = domain["devices"].integer(/*otherwise=*/std::nullopt,
                                                 /*least=*/1, maxDomainSize);
  double bandwidth = readRate(domain["bandwidth_bytes_per_s"]);
  machine.linkBandwidth =
      bandwidth * readFraction(domain["bandwidth_efficiency"]);
  if (json::Value efficiency = domain["multicast_efficiency"])
    machine.multicastBandwidth = bandwidth * readFraction(efficiency);
  machine.linkLatency = readSeconds(domain["latency_s"]);
}

static void readNetwork(const json::Value &network, Machine &machine) {
  network.refuseOtherKeys(
      {"bandwidth_bytes_per_s", "bandwidth_efficiency", "latency_s"});
  machine.networkBandwidth = readRate(network["bandwidth_bytes_per_s"]) *
                             readFraction(network["bandwidth_efficiency"]);
  machine.networkLatency = readSeconds(network["latency_s"]);
}

static void readCollectives(const json::Value &collectives, Machine &machine) {
  collectives.refuseOtherKeys({"latency_s", "ring"});
  machine.collectiveLatency = readSeconds(collectives["latency_s"]);
  json::Value ring = collectives["ring"];
  ring.refuseOtherKeys({"latency_s", "domain_step_s", "network_step_s"});
  machine.ringCollectiveLatency = readSeconds(ring["latency_s"]);
  machine.ringLinkStep = readSeconds(ring["domain_step_s"]);
  machine.ringNetworkStep = readSeconds(ring["network_step_s"]);
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
  if (machine.expertSkew > 1e6)
    experts["skew"].failExpected("a number of at most 1e6");

  if (document->failed())
    return document->error();
  return machine;
}
