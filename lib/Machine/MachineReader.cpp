//===- MachineReader.cpp - Machines from JSON text ------------------------===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "shardopt/Machine/MachineReader.h"

#include "CalibrationReader.h"
#include "shardopt/Support/Json.h"

using namespace shardopt;

/// The most devices of a domain: far beyond any, and safe to multiply.
static constexpr int64_t maxDomainSize = 1'000'000;
/// The most multiprocessors of a device, likewise.
static constexpr int64_t maxSms = 1'000'000;

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

static void readCompute(const json::Value &compute, Machine &machine,
                        DataSheet &sheet) {
  compute.refuseOtherKeys({"bf16_flops_per_s", "fp8_flops_per_s",
                           "fp4_flops_per_s", "efficiency", "kernel_latency_s",
                           "sms"});
  double efficiency = readFraction(compute["efficiency"]);
  sheet.bf16Flops = readRate(compute["bf16_flops_per_s"]);
  machine.bf16Flops = sheet.bf16Flops * efficiency;
  sheet.fp8Flops = sheet.bf16Flops;
  if (json::Value fp8 = compute["fp8_flops_per_s"]) {
    sheet.fp8Flops = readRate(fp8);
    machine.fp8Flops = sheet.fp8Flops * efficiency;
  }
  sheet.fp4Flops = sheet.fp8Flops;
  if (json::Value fp4 = compute["fp4_flops_per_s"])
    sheet.fp4Flops = readRate(fp4);
  sheet.sms = static_cast<double>(compute["sms"].integer(
      /*otherwise=*/0, /*least=*/0, /*most=*/maxSms));
  machine.kernelLatency = readSeconds(compute["kernel_latency_s"]);
}

static void readMemory(const json::Value &memory, Machine &machine,
                       DataSheet &sheet) {
  memory.refuseOtherKeys({"capacity_bytes", "usable_fraction",
                          "bandwidth_bytes_per_s", "bandwidth_efficiency",
                          "cache_bytes"});
  sheet.memoryBytes = readBytes(memory["capacity_bytes"]);
  machine.memoryCapacity =
      sheet.memoryBytes * readFraction(memory["usable_fraction"]);
  sheet.memoryBandwidth = readRate(memory["bandwidth_bytes_per_s"]);
  machine.memoryBandwidth =
      sheet.memoryBandwidth * readFraction(memory["bandwidth_efficiency"]);
  if (json::Value cache = memory["cache_bytes"])
    sheet.cacheBytes = readBytes(cache);
}

static void readDomain(const json::Value &domain, Machine &machine,
                       DataSheet &sheet) {
  domain.refuseOtherKeys({"devices", "bandwidth_bytes_per_s",
                          "bandwidth_efficiency", "multicast_efficiency",
                          "latency_s"});
  machine.domainSize = domain["devices"].integer(/*otherwise=*/std::nullopt,
                                                 /*least=*/1, maxDomainSize);
  double bandwidth = readRate(domain["bandwidth_bytes_per_s"]);
  sheet.linkBandwidth = bandwidth;
  machine.linkBandwidth =
      bandwidth * readFraction(domain["bandwidth_efficiency"]);
  if (json::Value efficiency = domain["multicast_efficiency"])
    machine.multicastBandwidth = bandwidth * readFraction(efficiency);
  machine.linkLatency = readSeconds(domain["latency_s"]);
}

static void readNetwork(const json::Value &network, Machine &machine,
                        DataSheet &sheet) {
  network.refuseOtherKeys(
      {"bandwidth_bytes_per_s", "bandwidth_efficiency", "latency_s"});
  sheet.networkBandwidth = readRate(network["bandwidth_bytes_per_s"]);
  machine.networkBandwidth =
      sheet.networkBandwidth * readFraction(network["bandwidth_efficiency"]);
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
                        "collectives", "experts", "calibration"});
  Machine machine;
  DataSheet sheet;
  machine.name = root["name"].string();
  if (machine.name.empty())
    root["name"].failExpected("a name");
  readCompute(root["compute"], machine, sheet);
  readMemory(root["memory"], machine, sheet);
  readDomain(root["domain"], machine, sheet);
  readNetwork(root["network"], machine, sheet);
  readCollectives(root["collectives"], machine);
  json::Value experts = root["experts"];
  experts.refuseOtherKeys({"skew"});
  machine.expertSkew = experts["skew"].nonNegativeNumber();
  if (machine.expertSkew > 1e6)
    experts["skew"].failExpected("a number of at most 1e6");
  if (json::Value fitted = root["calibration"]) {
    if (!(sheet.sms > 0))
      root["compute"]["sms"].failExpected(
          "the number of multiprocessors, which the constants under "
          "/calibration need");
    if (!(sheet.cacheBytes > 0))
      root["memory"]["cache_bytes"].failExpected(
          "the bytes of the last cache, which the constants under "
          "/calibration need");
    auto calibration = std::make_shared<Calibration>(readCalibration(fitted));
    calibration->sheet = sheet;
    machine.calibration = std::move(calibration);
  }

  if (document->failed())
    return document->error();
  return machine;
}
