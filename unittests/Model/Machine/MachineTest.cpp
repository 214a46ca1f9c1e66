//===- MachineTest.cpp - Tests of machines --------------------------------===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "shardopt/Model/Machine/MachineReader.h"
#include "shardopt/Model/Machine/MachineWriter.h"
#include "shardopt/Support/Files.h"

#include <gtest/gtest.h>

using namespace shardopt;

static Machine shipped(const std::string &name) {
  ErrorOr<Machine> machine = loadMachine(name);
  EXPECT_TRUE(machine) << machine.error().message;
  return machine ? *machine : Machine();
}

/// The text of `machines/h100_sxm.json`, where `from` stands as `to`.
static std::string h100With(const std::string &from, const std::string &to) {
  ErrorOr<std::string> text =
      readFile(SHARDOPT_MACHINES "/h100_sxm.json", 1 << 20);
  EXPECT_TRUE(text) << text.error().message;
  size_t at = text ? text->find(from) : std::string::npos;
  EXPECT_NE(at, std::string::npos) << from;
  return at == std::string::npos ? "" : text->replace(at, from.size(), to);
}

static std::string parseError(const std::string &text) {
  ErrorOr<Machine> machine = parseMachine(text, "m.json");
  return machine ? "" : machine.error().message;
}

//===----------------------------------------------------------------------===//
// Machines that ship. Peaks are those of the data sheets, in the products of
// the cost model; every double must be the very one of the formula.
//===----------------------------------------------------------------------===//

TEST(Machines, namesInAlphabeticalOrder) {
  EXPECT_EQ(knownMachines(), (std::vector<std::string>{
                                 "a100_sxm", "b200_sxm", "b300_sxm", "gb200",
                                 "gb300", "h100_nvl", "h100_pcie", "h100_sxm",
                                 "h20", "h200_sxm", "l40s", "mi300x"}));
  for (const std::string &name : knownMachines())
    EXPECT_EQ(shipped(name).name, name);
}

TEST(Machines, h100_sxm) {
  Machine h100 = shipped("h100_sxm");
  EXPECT_EQ(h100.bf16Flops, 989e12 * 0.75);
  EXPECT_EQ(h100.fp8Flops, 1978e12 * 0.75);
  EXPECT_EQ(h100.memoryBandwidth, 3.35e12 * 0.85);
  EXPECT_EQ(h100.memoryCapacity, 72e9);
  EXPECT_EQ(h100.kernelLatency, 2e-6);
  EXPECT_EQ(h100.domainSize, 8);
  EXPECT_EQ(h100.linkBandwidth, 450e9 * 0.8);
  EXPECT_EQ(h100.multicastBandwidth, 450e9 * 0.6);
  EXPECT_EQ(h100.networkBandwidth, 50e9 * 0.9);
  EXPECT_EQ(h100.collectiveLatency, 2e-6);
  EXPECT_EQ(h100.linkLatency, 3e-6);
  EXPECT_EQ(h100.networkLatency, 6e-6);
  EXPECT_EQ(h100.ringCollectiveLatency, 6.6e-6);
  EXPECT_EQ(h100.ringLinkStep, 0.6e-6);
  EXPECT_EQ(h100.ringNetworkStep, 2.7e-6);
  EXPECT_EQ(h100.expertSkew, 0.1);
}

TEST(Machines, a100_sxmHasNeitherFp8NorMulticast) {
  Machine a100 = shipped("a100_sxm");
  EXPECT_EQ(a100.bf16Flops, 312e12 * 0.75);
  EXPECT_FALSE(a100.fp8Flops);
  EXPECT_EQ(a100.memoryBandwidth, 2039e9 * 0.85);
  EXPECT_EQ(a100.memoryCapacity, 72e9);
  EXPECT_EQ(a100.domainSize, 8);
  EXPECT_EQ(a100.linkBandwidth, 300e9 * 0.8);
  EXPECT_FALSE(a100.multicastBandwidth);
  EXPECT_EQ(a100.networkBandwidth, 25e9 * 0.9);
}

TEST(Machines, h200_sxm) {
  Machine h200 = shipped("h200_sxm");
  EXPECT_EQ(h200.bf16Flops, 989e12 * 0.75);
  EXPECT_EQ(h200.memoryBandwidth, 4.8e12 * 0.85);
  EXPECT_EQ(h200.memoryCapacity, 126.9e9);
  EXPECT_EQ(h200.multicastBandwidth, 450e9 * 0.6);
}

TEST(Machines, b200_sxm) {
  Machine b200 = shipped("b200_sxm");
  EXPECT_EQ(b200.bf16Flops, 2250e12 * 0.75);
  EXPECT_EQ(b200.fp8Flops, 4500e12 * 0.75);
  EXPECT_EQ(b200.memoryBandwidth, 7.7e12 * 0.85);
  EXPECT_EQ(b200.memoryCapacity, 162e9);
  EXPECT_EQ(b200.linkBandwidth, 900e9 * 0.8);
  EXPECT_EQ(b200.multicastBandwidth, 900e9 * 0.6);
  EXPECT_EQ(b200.networkBandwidth, 100e9 * 0.9);
}

TEST(Machines, gb200IsOneDomainARack) {
  Machine gb200 = shipped("gb200");
  EXPECT_EQ(gb200.bf16Flops, 2500e12 * 0.75);
  EXPECT_EQ(gb200.memoryBandwidth, 8e12 * 0.85);
  EXPECT_EQ(gb200.memoryCapacity, .9e9 * 198674743296. / (1 << 30));
  EXPECT_EQ(gb200.domainSize, 72);
  EXPECT_EQ(gb200.networkBandwidth, 100e9 * 0.9);
}

TEST(Machines, unknownNameListsTheKnownOnesClosestFirst) {
  ErrorOr<Machine> machine = loadMachine("h200");
  ASSERT_FALSE(machine);
  EXPECT_EQ(machine.error().message,
            "unknown machine 'h200' (a file is named by a path with '/' or "
            "ending in '.json'); known: h200_sxm, h20, gb200, gb300, l40s, "
            "mi300x, b200_sxm, h100_nvl, h100_sxm, a100_sxm, b300_sxm, "
            "h100_pcie; did you mean 'h200_sxm'?");
  for (auto [name, meant] :
       {std::pair("H100", "; did you mean 'h100_nvl', 'h100_sxm' or "
                          "'h100_pcie'?"),
        std::pair("B200-SXM", "; did you mean 'b200_sxm'?")})
    EXPECT_NE(loadMachine(name).error().message.find(meant), std::string::npos)
        << name;
  for (const char *name : {"tpu", ""})
    EXPECT_EQ(loadMachine(name).error().message.find("did you mean"),
              std::string::npos);
}

TEST(Machines, ofAFileAndOfAMissingOne) {
  ErrorOr<Machine> machine = loadMachine(SHARDOPT_MACHINES "/gb200.json");
  ASSERT_TRUE(machine) << machine.error().message;
  EXPECT_EQ(machine->name, "gb200");
  ErrorOr<Machine> missing = loadMachine("missing.json");
  ASSERT_FALSE(missing);
  EXPECT_EQ(missing.error().message,
            "missing.json: cannot read: No such file or directory");
}

TEST(Machines, theExampleOfTheDocsIsTheFile) {
  ErrorOr<std::string> page = readFile(SHARDOPT_DOCS "/Machines.md", 1 << 20);
  ASSERT_TRUE(page) << page.error().message;
  std::string file = h100With("h100_sxm", "h100_sxm");
  size_t fitted = file.find(",\n  \"calibration\"");
  ASSERT_NE(fitted, std::string::npos);
  file.replace(fitted, std::string::npos, "\n}\n");
  EXPECT_NE(page->find("```json\n" + file + "```\n"), std::string::npos);
}

TEST(Machines, constantsOfMeasuredKernels) {
  Machine h100 = shipped("h100_sxm");
  ASSERT_TRUE(h100.calibration);
  EXPECT_EQ(h100.calibration->sheet.bf16Flops, 989e12);
  EXPECT_EQ(h100.calibration->sheet.sms, 132);
  EXPECT_EQ(h100.calibration->sheet.networkBandwidth, 50e9);
  const CalibratedGroup &first = h100.calibration->groups.front();
  EXPECT_EQ(first.kernel, "gemm");
  EXPECT_EQ(first.names.at("dtype"), "bfloat16");
  EXPECT_GT(first.rows, 1000);
  EXPECT_GT(first.high, first.low);
  EXPECT_EQ(first.range.at("n"), (std::pair<double, double>(32, 65536)));
}

//===----------------------------------------------------------------------===//
// What is refused
//===----------------------------------------------------------------------===//

TEST(ParseMachine, constantsNeedWhatTheyAreSharesOf) {
  EXPECT_EQ(parseError(h100With("    \"sms\": 132,\n", "")),
            "m.json: /compute/sms: missing, expected the number of "
            "multiprocessors, which the constants under /calibration need");
  EXPECT_EQ(
      parseError(h100With("\"t0\": ", "\"t0\": -"))
          .rfind("m.json: /calibration/kernels/0/constants/t0: expected a", 0),
      0u);
}

TEST(ParseMachine, syntaxErrorsNameLineAndColumn) {
  EXPECT_EQ(parseError(h100With("\"compute\":", "\"compute\"")),
            "m.json:3:13: syntax error while parsing object separator - "
            "unexpected '{'; expected ':'");
}

TEST(ParseMachine, everyFieldButTwoIsRequired) {
  EXPECT_EQ(parseError(h100With("\"capacity_bytes\": 80e9,", "")),
            "m.json: /memory/capacity_bytes: missing, expected a positive "
            "number");
  EXPECT_EQ(parseError(h100With("\"fp8_flops_per_s\": 1978e12,", "")), "");
  EXPECT_EQ(parseError(h100With("\"multicast_efficiency\": 0.6,", "")), "");
}

TEST(ParseMachine, physicalValuesArePositiveAndFinite) {
  EXPECT_EQ(parseError(h100With("3.35e12", "0")),
            "m.json: /memory/bandwidth_bytes_per_s: expected a positive "
            "number, found 0");
  EXPECT_EQ(parseError(h100With("989e12", "-989e12")),
            "m.json: /compute/bf16_flops_per_s: expected a positive number, "
            "found -989e12");
  EXPECT_EQ(parseError(h100With("989e12", "989e999")),
            "m.json:4:31: number beyond the range of double near "
            "\"16_flops_per_s\\\": 989e999\"");
  EXPECT_EQ(parseError(h100With("0.9", "1.1")),
            "m.json: /memory/usable_fraction: expected a number above 0 and of "
            "at most 1, found 1.1");
  EXPECT_EQ(parseError(h100With("\"devices\": 8", "\"devices\": 8.5")),
            "m.json: /domain/devices: expected an integer from 1 to 1000000, "
            "found 8.5");
}

TEST(ParseMachine, valuesAreThoseOfThingsThatAreBuilt) {
  EXPECT_EQ(parseError(h100With("3.35e12", "1e308")),
            "m.json: /memory/bandwidth_bytes_per_s: expected a number a second "
            "from 1 to 1e24, found 1e308");
  EXPECT_EQ(parseError(h100With("989e12", "5e-324")),
            "m.json: /compute/bf16_flops_per_s: expected a number a second "
            "from 1 to 1e24, found 5e-324");
  EXPECT_EQ(parseError(h100With("80e9", "1e25")),
            "m.json: /memory/capacity_bytes: expected a number of bytes from 1 "
            "to 1e24, found 1e25");
  EXPECT_EQ(parseError(h100With("\"latency_s\": 6e-6", "\"latency_s\": 1e7")),
            "m.json: /network/latency_s: expected seconds from 1e-15 to 1e6, "
            "found 1e7");
  EXPECT_EQ(parseError(h100With("0.75", "1e-300")),
            "m.json: /compute/efficiency: expected a fraction of at least "
            "1e-6, found 1e-300");
  EXPECT_EQ(parseError(h100With("\"skew\": 0.1", "\"skew\": 1e300")),
            "m.json: /experts/skew: expected a number of at most 1e6, found "
            "1e300");
}

TEST(ParseMachine, unknownKeysListTheKnownOnesClosestFirst) {
  EXPECT_EQ(parseError(h100With("\"latency_s\": 3e-6", "\"latency\": 3e-6")),
            "m.json: /domain/latency: unknown key; known: latency_s, devices, "
            "multicast_efficiency, bandwidth_efficiency, "
            "bandwidth_bytes_per_s; did you mean 'latency_s'?");
}

TEST(ParseMachine, namesAreNotEmpty) {
  EXPECT_EQ(parseError(h100With("\"h100_sxm\"", "\"\"")),
            "m.json: /name: expected a name, found \"\"");
}

TEST(ParseMachine, notAnObject) {
  EXPECT_EQ(parseError("[]"),
            "m.json: expected an object, found an array of length 0");
}

//===----------------------------------------------------------------------===//
// Machines that are like others
//===----------------------------------------------------------------------===//

TEST(MachineLike, InheritsWhatIsNotSaid) {
  ErrorOr<Machine> mine = parseMachine(
      R"({"name": "mine", "like": "h100_sxm", "source": "a data sheet",
          "compute": {"bf16_flops_per_s": 500e12, "fp8_flops_per_s": null},
          "domain": {"multicast_efficiency": null}})",
      "m.json");
  ASSERT_TRUE(mine) << mine.error().message;
  Machine h100 = shipped("h100_sxm");
  EXPECT_EQ(mine->name, "mine");
  EXPECT_EQ(mine->bf16Flops, 500e12 * 0.75);
  EXPECT_FALSE(mine->fp8Flops);
  EXPECT_FALSE(mine->multicastBandwidth);
  EXPECT_EQ(mine->memoryBandwidth, h100.memoryBandwidth);
  EXPECT_EQ(mine->linkBandwidth, h100.linkBandwidth);
  EXPECT_EQ(mine->expertSkew, h100.expertSkew);
  ASSERT_TRUE(mine->calibration);
  EXPECT_EQ(mine->calibration->like, "h100_sxm");
  EXPECT_EQ(mine->calibration->sheet.bf16Flops, 500e12);
  EXPECT_EQ(mine->calibration->groups.size(), h100.calibration->groups.size());
  for (const CalibratedGroup &group : mine->calibration->groups)
    EXPECT_TRUE(group.isInherited) << group.kernel;
}

TEST(MachineLike, KeepsConstantsOfItsOwn) {
  Machine gb200 = shipped("gb200");
  ASSERT_TRUE(gb200.calibration);
  EXPECT_EQ(gb200.calibration->like, "b200_sxm");
  for (const CalibratedGroup &group : gb200.calibration->groups)
    EXPECT_EQ(group.isInherited, group.kernel != "nccl" &&
                                     group.kernel != "custom_allreduce" &&
                                     group.kernel.rfind("deepep", 0) != 0)
        << group.kernel;
  // And those that it inherits are passed on.
  Machine gb300 = shipped("gb300");
  EXPECT_EQ(gb300.calibration->groups.size(), gb200.calibration->groups.size());
  EXPECT_EQ(gb300.calibration->like, "gb200");
  EXPECT_EQ(gb300.domainSize, 72);
  for (const CalibratedGroup &group : gb300.calibration->groups)
    EXPECT_TRUE(group.isInherited) << group.kernel;
}

TEST(MachineLike, HasOptionsOfEnginesOfItsOwn) {
  auto read = [](const std::string &engines) {
    return parseMachine(R"({"name": "mine", "like": "h100_sxm", "calibration": {
                            "date": "2026-01-01", "data": "mine", "kernels": [],
                            "engines": )" +
                            engines + "}}",
                        "m.json");
  };
  ErrorOr<Machine> mine = read(R"({"vllm": {"launch_us": 40}})");
  ASSERT_TRUE(mine) << mine.error().message;
  Machine h100 = shipped("h100_sxm");
  EXPECT_EQ(mine->calibration->engines.at("vllm").at("launch_us"), 40);
  EXPECT_EQ(mine->calibration->groups.size(), h100.calibration->groups.size());
  EXPECT_NE(fingerprintOf(*mine->calibration),
            fingerprintOf(*h100.calibration));
  EXPECT_NE(
      read(R"({"vlm": {}})")
          .error()
          .message.find(
              "m.json: /calibration/engines/vlm: unknown engine 'vlm'; known: "
              "vllm"),
      std::string::npos);
  EXPECT_EQ(read(R"({"vllm": {"launch_us": -1}})")
                .error()
                .message.find("m.json: /calibration/engines/vllm/launch_us: "),
            0u);
}

TEST(MachineLike, NamesAMachineThatShips) {
  EXPECT_NE(parseError(R"({"name": "x", "like": "h100"})")
                .find("m.json: /like: unknown machine 'h100'; known: h100_"),
            std::string::npos);
  EXPECT_EQ(parseError(R"({"name": "x", "like": 3})"),
            "m.json: /like: expected a string, found 3");
  EXPECT_EQ(parseError(R"({"name": "x", "like": "h100_sxm",
                           "memory": {"capacity": 1}})")
                .find("m.json: /memory/capacity: unknown key"),
            0u);
  EXPECT_EQ(parseError(R"({"like": "h100_sxm"})"),
            "m.json: /name: missing, expected a string");
}

//===----------------------------------------------------------------------===//
// Writing
//===----------------------------------------------------------------------===//

/// `machine` as it is read back from what is written of it.
static Machine throughText(const Machine &machine) {
  std::string text;
  json::Writer writer(text);
  writeMachine(writer, machine);
  ErrorOr<Machine> read = parseMachine(text, "written.json");
  EXPECT_TRUE(read) << read.error().message;
  return read ? *read : Machine();
}

TEST(MachineWriter, whatIsWrittenReadsBack) {
  for (const std::string &name : knownMachines()) {
    Machine machine = shipped(name), read = throughText(machine);
    EXPECT_EQ(read.name, name);
    EXPECT_EQ(read.bf16Flops, machine.bf16Flops);
    EXPECT_EQ(read.fp8Flops, machine.fp8Flops);
    EXPECT_EQ(read.memoryBandwidth, machine.memoryBandwidth);
    EXPECT_EQ(read.memoryCapacity, machine.memoryCapacity);
    EXPECT_EQ(read.kernelLatency, machine.kernelLatency);
    EXPECT_EQ(read.domainSize, machine.domainSize);
    EXPECT_DOUBLE_EQ(read.linkBandwidth, machine.linkBandwidth);
    EXPECT_EQ(read.multicastBandwidth.has_value(),
              machine.multicastBandwidth.has_value());
    EXPECT_DOUBLE_EQ(read.multicastBandwidth.value_or(0),
                     machine.multicastBandwidth.value_or(0));
    EXPECT_EQ(read.networkBandwidth, machine.networkBandwidth);
    EXPECT_EQ(read.collectiveLatency, machine.collectiveLatency);
    EXPECT_EQ(read.linkLatency, machine.linkLatency);
    EXPECT_EQ(read.networkLatency, machine.networkLatency);
    EXPECT_EQ(read.ringCollectiveLatency, machine.ringCollectiveLatency);
    EXPECT_EQ(read.ringLinkStep, machine.ringLinkStep);
    EXPECT_EQ(read.ringNetworkStep, machine.ringNetworkStep);
    EXPECT_EQ(read.expertSkew, machine.expertSkew);
  }
}

TEST(MachineWriter, multicastMayBeTheFaster) {
  Machine machine = shipped("h100_sxm");
  machine.multicastBandwidth = 2 * machine.linkBandwidth;
  EXPECT_EQ(throughText(machine).linkBandwidth, machine.linkBandwidth);
  EXPECT_EQ(throughText(machine).multicastBandwidth,
            machine.multicastBandwidth);
}
