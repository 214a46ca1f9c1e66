//===- MachineReader.cpp - Machines from JSON text ------------------------===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "shardopt/Model/Machine/MachineReader.h"
#include "shardopt/Model/Machine/MachinePrice.h"

#include "CalibrationReader.h"
#include "Inherited.h"
#include "ShippedMachines.h"
#include "shardopt/Support/Suggest.h"

#include <algorithm>
#include <set>

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

/// What need not be there; null takes back what the machine would inherit.
static json::Value optional(const json::Value &value) {
  return value.nullAsAbsent();
}

static void readCompute(const Inherited &compute, Machine &machine,
                        DataSheet &sheet) {
  compute.own().refuseOtherKeys({"bf16_flops_per_s", "fp8_flops_per_s",
                                 "fp4_flops_per_s", "efficiency",
                                 "kernel_latency_s", "sms"});
  double efficiency = readFraction(compute["efficiency"]);
  sheet.bf16Flops = readRate(compute["bf16_flops_per_s"]);
  machine.bf16Flops = sheet.bf16Flops * efficiency;
  sheet.fp8Flops = sheet.bf16Flops;
  if (json::Value fp8 = optional(compute["fp8_flops_per_s"])) {
    sheet.fp8Flops = readRate(fp8);
    machine.fp8Flops = sheet.fp8Flops * efficiency;
  }
  sheet.fp4Flops = sheet.fp8Flops;
  if (json::Value fp4 = optional(compute["fp4_flops_per_s"]))
    sheet.fp4Flops = readRate(fp4);
  sheet.sms = double(json::Value(compute["sms"])
                         .integer(
                             /*otherwise=*/0, /*least=*/0, /*most=*/maxSms));
  machine.kernelLatency = readSeconds(compute["kernel_latency_s"]);
}

static void readMemory(const Inherited &memory, Machine &machine,
                       DataSheet &sheet) {
  memory.own().refuseOtherKeys({"capacity_bytes", "usable_fraction",
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

static void readDomain(const Inherited &domain, Machine &machine,
                       DataSheet &sheet) {
  domain.own().refuseOtherKeys({"devices", "bandwidth_bytes_per_s",
                                "bandwidth_efficiency", "multicast_efficiency",
                                "latency_s"});
  machine.domainSize = json::Value(domain["devices"])
                           .integer(/*otherwise=*/std::nullopt,
                                    /*least=*/1, maxDomainSize);
  double bandwidth = readRate(domain["bandwidth_bytes_per_s"]);
  sheet.linkBandwidth = bandwidth;
  machine.linkBandwidth =
      bandwidth * readFraction(domain["bandwidth_efficiency"]);
  if (json::Value efficiency = optional(domain["multicast_efficiency"]))
    machine.multicastBandwidth = bandwidth * readFraction(efficiency);
  machine.linkLatency = readSeconds(domain["latency_s"]);
}

static void readNetwork(const Inherited &network, Machine &machine,
                        DataSheet &sheet) {
  network.own().refuseOtherKeys(
      {"bandwidth_bytes_per_s", "bandwidth_efficiency", "latency_s"});
  sheet.networkBandwidth = readRate(network["bandwidth_bytes_per_s"]);
  machine.networkBandwidth =
      sheet.networkBandwidth * readFraction(network["bandwidth_efficiency"]);
  machine.networkLatency = readSeconds(network["latency_s"]);
}

static void readCollectives(const Inherited &collectives, Machine &machine) {
  collectives.own().refuseOtherKeys({"latency_s", "ring"});
  machine.collectiveLatency = readSeconds(collectives["latency_s"]);
  Inherited ring = collectives["ring"];
  ring.own().refuseOtherKeys({"latency_s", "domain_step_s", "network_step_s"});
  machine.ringCollectiveLatency = readSeconds(ring["latency_s"]);
  machine.ringLinkStep = readSeconds(ring["domain_step_s"]);
  machine.ringNetworkStep = readSeconds(ring["network_step_s"]);
}

/// The constants of `values`, and those of kernels that only a file has which
/// it is like.
static std::shared_ptr<const Calibration>
readCalibrations(const json::Value &root,
                 const std::vector<json::Document> &bases,
                 const std::vector<std::string> &names, DataSheet sheet) {
  std::shared_ptr<Calibration> calibration;
  std::set<std::string> kernels; // that have constants
  auto add = [&](const json::Value &fitted, const std::string &from) {
    if (!fitted)
      return;
    Calibration read = readCalibration(fitted);
    std::set<std::string> added;
    for (CalibratedGroup &group : read.groups)
      if (!kernels.count(group.kernel)) {
        added.insert(group.kernel);
        group.isInherited = !from.empty();
      }
    if (!calibration) {
      calibration = std::make_shared<Calibration>(read);
      calibration->sheet = sheet;
    } else {
      for (const CalibratedGroup &group : read.groups)
        if (added.count(group.kernel))
          calibration->groups.push_back(group);
      calibration->engines.insert(read.engines.begin(), read.engines.end());
    }
    if (!added.empty() && !from.empty() && calibration->like.empty())
      calibration->like = from;
    kernels.insert(added.begin(), added.end());
  };
  add(root["calibration"], "");
  for (size_t i = 0; i != bases.size(); ++i)
    add(bases[i].root()["calibration"], names[i]);
  return calibration;
}

/// The files that the one at `root` is like, the nearest first, with their
/// names; an error is recorded where the name is wrong.
static void readBases(json::Value root, std::vector<json::Document> &bases,
                      std::vector<std::string> &names) {
  while (json::Value like = root["like"]) {
    std::string name = like.string();
    const ShippedMachine *found = nullptr;
    for (const ShippedMachine &machine : shippedMachines())
      if (name == machine.name)
        found = &machine;
    // A machine of this name may hide a shipped one, and be like it.
    if (!found || std::count(names.begin(), names.end(), name)) {
      like.fail((found ? "a machine is like itself: '" : "unknown machine '") +
                abbreviate(name) + "'; " + listKnown(name, knownMachines()));
      return;
    }
    ErrorOr<json::Document> base =
        json::Document::parse(found->json, "machines/" + name + ".json");
    if (!base) { // files that ship are sound
      like.fail(base.error().message);
      return;
    }
    bases.push_back(std::move(*base));
    names.push_back(name);
    root = bases.back().root();
  }
}

/// Of the file itself: what it is like may cost another price.
static std::optional<double> readPrice(const json::Value &root) {
  json::Value price = root["price_per_hour"];
  if (!price)
    return std::nullopt;
  double dollars = price.positiveNumber();
  if (dollars > 1e6)
    price.failExpected("dollars of a device for an hour, at most 1e6");
  return dollars;
}

ErrorOr<std::optional<double>>
shardopt::parsePrice(std::string_view text, const std::string &fileName) {
  ErrorOr<json::Document> document = json::Document::parse(text, fileName);
  if (!document)
    return document.error();
  std::optional<double> price = readPrice(document->root());
  if (document->failed())
    return document->error();
  return price;
}

ErrorOr<Machine> shardopt::parseMachine(std::string_view text,
                                        const std::string &fileName) {
  ErrorOr<json::Document> document = json::Document::parse(text, fileName);
  if (!document)
    return document.error();

  json::Value root = document->root();
  if (root.isObject() && root["groups"])
    return Error{fileName + ": /groups: found groups of unlike devices, over "
                            "which stages are planned by 'shard-schedule "
                            "module.mlir', expected one machine"};
  root.refuseOtherKeys({"name", "like", "source", "compute", "memory", "domain",
                        "network", "collectives", "experts", "price_per_hour",
                        "calibration"});
  std::vector<json::Document> bases;
  std::vector<std::string> names;
  readBases(root, bases, names);
  std::vector<json::Value> roots = {root};
  for (const json::Document &base : bases)
    roots.push_back(base.root());
  Inherited all(std::move(roots));

  Machine machine;
  DataSheet sheet;
  machine.name = root["name"].string();
  if (machine.name.empty())
    root["name"].failExpected("a name");
  root["source"].string("");
  readCompute(all["compute"], machine, sheet);
  readMemory(all["memory"], machine, sheet);
  readDomain(all["domain"], machine, sheet);
  readNetwork(all["network"], machine, sheet);
  readCollectives(all["collectives"], machine);
  Inherited experts = all["experts"];
  experts.own().refuseOtherKeys({"skew"});
  json::Value skew = experts["skew"];
  machine.expertSkew = skew.nonNegativeNumber();
  if (machine.expertSkew > 1e6)
    skew.failExpected("a number of at most 1e6");
  readPrice(root);
  machine.calibration = readCalibrations(root, bases, names, sheet);
  if (machine.calibration) {
    if (!(sheet.sms > 0))
      root["compute"]["sms"].failExpected(
          "the number of multiprocessors, which the constants under "
          "/calibration need");
    if (!(sheet.cacheBytes > 0))
      root["memory"]["cache_bytes"].failExpected(
          "the bytes of the last cache, which the constants under "
          "/calibration need");
  }

  if (document->failed())
    return document->error();
  return machine;
}
