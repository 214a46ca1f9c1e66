//===- CalibratedTest.cpp - Properties of measured kernels ----------------===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What holds for every group of constants of every machine that ships.
//
//===----------------------------------------------------------------------===//

#include "shardopt/Cost/Calibrated/Calibrated.h"
#include "shardopt/Cost/Calibrated/CalibratedRows.h"
#include "shardopt/Cost/LowerBound.h"

#include <gtest/gtest.h>

#include <functional>

using namespace shardopt;
using namespace shardopt::cost;
using namespace shardopt::cost::calibrated;

namespace {

/// Microseconds of sizes, on some device.
using Time =
    std::function<double(const Device &, const std::vector<double> &sizes)>;

Machine load(const std::string &name) {
  ErrorOr<Machine> machine = loadMachine(name);
  EXPECT_TRUE(machine) << machine.error().message;
  return machine ? *machine : Machine();
}

/// That times from `sizes` on are above 0, never less when one of the sizes
/// grows, and never more on a device of which one rate is higher.
void expectProperties(const std::string &name, const Device &device,
                      const Time &time, std::vector<double> sizes) {
  double first = time(device, sizes);
  ASSERT_GT(first, 0) << name;
  for (double Device::*rate :
       {&Device::flops, &Device::bandwidth, &Device::link, &Device::network}) {
    Device faster = device;
    faster.*rate *= 1.3;
    EXPECT_LE(time(faster, sizes), first * (1 + 1e-12)) << name;
  }
  for (double &size : sizes) {
    double start = size;
    double before = first;
    for (double factor : {1.1, 1.5, 2.0, 3.0, 4.0, 7.0, 8.0, 31.0, 64.0}) {
      size = std::floor(start * factor);
      double now = time(device, sizes);
      EXPECT_GE(now, before * (1 - 1e-12))
          << name << " at " << size << " instead of " << start;
      before = now;
    }
    size = start;
  }
}

std::string describe(const CalibratedGroup &group) {
  std::string text = group.kernel;
  for (const auto &[name, value] : group.names)
    text += " " + value;
  for (const auto &[name, value] : group.numbers)
    text += " " + std::to_string(int(value));
  return text;
}

template <typename Form>
void expectOfAll(const CalibratedKernels &kernels, const Groups<Form> &groups,
                 const std::vector<std::vector<double>> &starts,
                 double (*us)(const Form &, const Device &,
                              const std::vector<double> &)) {
  for (const Fitted<Form> &fitted : groups.all)
    for (const std::vector<double> &sizes : starts)
      expectProperties(
          describe(*fitted.group), kernels.device,
          [&](const Device &device, const std::vector<double> &at) {
            return us(fitted.form, device, at);
          },
          sizes);
}

} // namespace

TEST(Calibrated, PropertiesOfShippedMachines) {
  for (const std::string &name : knownMachines()) {
    SCOPED_TRACE(name);
    Machine machine = load(name);
    if (!machine.calibration)
      continue;
    ErrorOr<CalibratedKernels> kernels = CalibratedKernels::create(machine);
    ASSERT_TRUE(kernels) << kernels.error().message;
    expectOfAll<Gemm>(*kernels, kernels->gemm,
                      {{1, 64, 64}, {17, 512, 4096}, {3000, 8192, 1024}},
                      [](const Gemm &form, const Device &device,
                         const std::vector<double> &at) {
                        return form.us(device, {2, 2, Peak::Bf16}, at[0], at[1],
                                       at[2]);
                      });
    expectOfAll<PromptAttention>(
        *kernels, kernels->promptAttention,
        {{1, 8, 16, 1}, {4, 32, 1000, 128}, {2, 64, 8192, 8192}},
        [](const PromptAttention &form, const Device &device,
           const std::vector<double> &at) {
          return form.us(device, at[0], at[1], at[1] / 8, 128, at[2], at[3]);
        });
    expectOfAll<TokenAttention>(
        *kernels, kernels->tokenAttention,
        {{1, 1, 1}, {7, 2, 300}, {32, 8, 5000}},
        [](const TokenAttention &form, const Device &device,
           const std::vector<double> &at) {
          return form.us(device, at[0], 4 * at[1], at[1], 128, at[2], 2);
        });
    expectOfAll<PromptAttention>(
        *kernels, kernels->latentPrompt, {{1, 1, 1}, {8, 16, 500}},
        [](const PromptAttention &form, const Device &device,
           const std::vector<double> &at) {
          return form.latentUs(device, at[0], at[1], 320, at[2]);
        });
    expectOfAll<TokenAttention>(
        *kernels, kernels->latentToken, {{1, 1, 1}, {8, 16, 500}},
        [](const TokenAttention &form, const Device &device,
           const std::vector<double> &at) {
          return form.latentUs(device, at[0], at[1], 512, 64, at[2], 1);
        });
    expectOfAll<Experts>(*kernels, kernels->experts,
                         {{2048, 256, 1}, {4096, 2048, 333}},
                         [](const Experts &form, const Device &device,
                            const std::vector<double> &at) {
                           ExpertShape shape;
                           shape.hidden = at[0];
                           shape.inner = at[1];
                           shape.tokens = at[2];
                           shape.topk = 8;
                           shape.experts = 256;
                           shape.ep = 4;
                           return form.us(device, {1, 1, Peak::Fp8}, shape,
                                          activeExperts(shape, Load::Balanced));
                         });
    expectOfAll<Nccl>(*kernels, kernels->nccl, {{1}, {100000}},
                      [](const Nccl &form, const Device &device,
                         const std::vector<double> &at) {
                        return form.us(device, 4, at[0]);
                      });
    expectOfAll<CustomAllReduce>(
        *kernels, kernels->customAllReduce, {{1}, {100000}},
        [](const CustomAllReduce &form, const Device &device,
           const std::vector<double> &at) {
          return form.us(device, 8, at[0]);
        });
    for (const Groups<Exchange> *groups :
         {&kernels->lowLatencyExchange, &kernels->normalExchange})
      expectOfAll<Exchange>(*kernels, *groups, {{1024, 1}, {7168, 100}},
                            [](const Exchange &form, const Device &device,
                               const std::vector<double> &at) {
                              return form.us(device, 4, at[0], 8, at[1], 2, 20);
                            });
  }
}

//===----------------------------------------------------------------------===//
// The time model
//===----------------------------------------------------------------------===//

TEST(Calibrated, CollectivesOrderedByWhatTheyDo) {
  for (const std::string &name : knownMachines()) {
    SCOPED_TRACE(name);
    auto time = cost::Calibrated::create(load(name));
    ASSERT_TRUE(time) << time.error().message;
    for (int64_t tp : {2, 4, 8, 16})
      for (double bytes = 256; bytes < 1e9; bytes *= 3) {
        auto of = [&](CollectiveKind kind) {
          return (*time)->seconds({kind, Axis::Tp, bytes}, {tp, 1, 1, 1});
        };
        double whole = of(CollectiveKind::AllReduce);
        EXPECT_GT(of(CollectiveKind::ReduceScatter), 0);
        EXPECT_GE(whole, of(CollectiveKind::ReduceScatter))
            << tp << " " << bytes;
        EXPECT_GE(whole, of(CollectiveKind::AllGather)) << tp << " " << bytes;
      }
    EXPECT_EQ((*time)->seconds({CollectiveKind::AllReduce, Axis::Tp, 1e6},
                               {1, 1, 1, 1}),
              0);
  }
}

namespace {

/// One kernel of every kind and type for a grid of sizes, by what to call it.
void forKernels(
    const std::function<void(const std::string &, const Kernel &)> &visit) {
  auto text = [](std::initializer_list<double> sizes) {
    std::string all;
    for (double size : sizes)
      all += " " + std::to_string(int64_t(size));
    return all;
  };
  for (WeightType type :
       {WeightType::Bf16, WeightType::Fp8, WeightType::Mxfp4}) {
    double bytes = bytesPerWeight(type);
    double activation = type == WeightType::Fp8 ? 1 : 2;
    std::string name = "type " + std::to_string(int(type));
    for (double n : {32, 256, 1024, 8192})
      for (double k : {64, 256, 1024, 8192})
        for (double m : {1, 16, 256, 4096, 32768}) {
          visit("gemm of " + name + text({m, n, k}),
                gemm(m, k, n, n * k * bytes, type, activation));
          for (double experts : {1, 16})
            visit("experts of " + name + text({m, n, k, experts}),
                  {KernelKind::GroupedGemm, m, k, n, experts, type,
                   2 * m * n * k,
                   experts * n * k * bytes + m * (k + n) * activation});
        }
  }
  for (double heads : {1, 8, 64})
    for (double group : {1, 8})
      for (double length : {16, 1024, 65536})
        for (double sequences : {1, 32, 512})
          for (double window : {0, 128})
            for (bool isPrompt : {false, true}) {
              if (isPrompt && sequences * length > 1e6)
                continue; // of more than was measured
              Kernel kernel{KernelKind::Attention, sequences};
              kernel.kvHeads = heads;
              kernel.count = heads * group;
              kernel.n = 128;
              kernel.window = window;
              kernel.k = window > 0 ? std::min(length, window) : length;
              kernel.prompt = isPrompt ? length : 0;
              double rows = isPrompt ? length : 1;
              double seen = isPrompt
                                ? kernel.k - kernel.k * kernel.k / (2 * length)
                                : kernel.k;
              kernel.flops = 4 * sequences * rows * seen * kernel.count * 128;
              kernel.bytes = 4 * sequences * 128 *
                             (rows * kernel.count +
                              heads * (isPrompt ? length : kernel.k));
              visit((isPrompt ? "prompts" : "tokens") +
                        text({heads, group, length, sequences, window}),
                    kernel);
            }
}

} // namespace

TEST(Calibrated, NothingIsBelowThePeaksButWhatCachesHold) {
  for (const std::string &name : knownMachines()) {
    SCOPED_TRACE(name);
    Machine machine = load(name);
    auto time = cost::Calibrated::create(machine);
    ASSERT_TRUE(time) << time.error().message;
    LowerBound bound(machine);
    forKernels([&](const std::string &what, const Kernel &kernel) {
      bool isTall = kernel.kind == KernelKind::Gemm && kernel.n <= 128;
      EXPECT_GE((*time)->seconds(kernel),
                (isTall ? 0.7 : 1) * bound.seconds(kernel))
          << what;
    });
    for (CollectiveKind kind :
         {CollectiveKind::AllReduce, CollectiveKind::AllGather,
          CollectiveKind::ReduceScatter, CollectiveKind::AllToAll})
      for (int64_t tp : {2, 4, 8, 16})
        for (double bytes = 256; bytes < 1e9; bytes *= 3) {
          Collective collective{kind, Axis::Tp, bytes};
          Degrees degrees{tp, 1, 1, 1};
          EXPECT_GE((*time)->seconds(collective, degrees),
                    bound.seconds(collective, degrees))
              << spell(kind) << " " << tp << " " << bytes;
        }
  }
}

TEST(Calibrated, ShortWindowsAndTypesHaveConstantsOfTheirOwn) {
  auto time = cost::Calibrated::create(load("h100_sxm"));
  ASSERT_TRUE(time) << time.error().message;
  Kernel kernel{KernelKind::Attention, 64};
  kernel.count = 64;
  kernel.kvHeads = 8;
  kernel.n = 64;
  kernel.k = 128;
  double whole = (*time)->seconds(kernel);
  kernel.window = 4096; // no kernel of its own
  EXPECT_EQ((*time)->seconds(kernel), whole);
  kernel.window = 128;
  EXPECT_NE((*time)->seconds(kernel), whole);
  EXPECT_EQ((*time)->trust(kernel).origin, TimeOrigin::Measured);

  Kernel prompt = kernel;
  prompt.n = 128;
  prompt.window = 0;
  prompt.rows = 1;
  prompt.k = prompt.prompt = 8192;
  double inBf16 = (*time)->seconds(prompt);
  prompt.activationBytes = prompt.cacheBytes = 1;
  EXPECT_LT((*time)->seconds(prompt), inBf16);
}

TEST(Calibrated, KernelsOfEveryKindTakeTime) {
  auto time = cost::Calibrated::create(load("b200_sxm"));
  ASSERT_TRUE(time) << time.error().message;
  for (WeightType type :
       {WeightType::F32, WeightType::Bf16, WeightType::Fp8, WeightType::Mxfp4})
    for (KernelKind kind :
         {KernelKind::Gemm, KernelKind::GroupedGemm, KernelKind::BatchedGemm}) {
      Kernel kernel{kind, 64, 4096, 1024, 8, type, 5e8, 8e6, true};
      EXPECT_GT((*time)->seconds(kernel), 1e-6);
      EXPECT_LT((*time)->seconds(kernel), 1e-3);
    }
  Kernel attention{KernelKind::Attention, 8, 4096, 128, 32};
  attention.flops = 4.0 * 8 * 4096 * 32 * 128;
  for (bool isLatent : {false, true})
    for (double prompt : {0.0, 4096.0})
      for (double cacheBytes : {1.0, 2.0}) {
        attention.kvHeads = isLatent ? 1 : 8;
        attention.latent = isLatent;
        attention.prompt = prompt;
        attention.cacheBytes = cacheBytes;
        EXPECT_GT((*time)->seconds(attention), 1e-6);
        EXPECT_LT((*time)->seconds(attention), 0.1);
      }
}

TEST(Calibrated, MachinesWithoutConstantsAreErrors) {
  Machine bare = load("h100_sxm");
  bare.calibration = nullptr;
  auto time = cost::Calibrated::create(bare);
  ASSERT_FALSE(time);
  EXPECT_EQ(time.error().message,
            "machine 'h100_sxm' has no constants of measured kernels "
            "('calibration')");
  Machine empty = load("gb200");
  auto none = std::make_shared<Calibration>(*empty.calibration);
  none->groups.clear();
  empty.calibration = none;
  auto gb200 = cost::Calibrated::create(empty);
  ASSERT_FALSE(gb200);
  EXPECT_EQ(gb200.error().message,
            "machine 'gb200' has no constants of kernel 'gemm', which "
            "'simulator=calibrated' needs");
}

//===----------------------------------------------------------------------===//
// Rows
//===----------------------------------------------------------------------===//

namespace {

std::string predict(const std::string &kernel, const std::string &text,
                    const std::string &machine = "h100_sxm") {
  ErrorOr<std::string> rows =
      predictRows(load(machine), kernel, text, "rows.csv");
  return rows ? *rows : rows.error().message;
}

/// The last field of the only row of `text`.
std::string reasonOf(const std::string &kernel, const std::string &text,
                     const std::string &machine = "h100_sxm") {
  std::string rows = predict(kernel, text, machine);
  rows.pop_back();
  return rows.substr(rows.rfind(',') + 1);
}

} // namespace

TEST(CalibratedRows, EchoRowsInOrderAndSayWhatIsKnown) {
  std::string head = "dtype,m,n,k,note\n";
  std::string rows = predict("gemm", head + "bfloat16,16,4096,4096,x\n"
                                            "bfloat16,0,4096,4096,y\n");
  EXPECT_EQ(rows.rfind("dtype,m,n,k,note,predicted_us,low_us,high_us,reason\n"
                       "bfloat16,16,4096,4096,x,",
                       0),
            0u)
      << rows;
  EXPECT_NE(rows.find(",fitted\nbfloat16,0,4096,4096,y,,,,m is '0' and not a "
                      "number of at least 1\n"),
            std::string::npos)
      << rows;
}

TEST(CalibratedRows, FieldsInQuotesMayHaveCommas) {
  std::string row = "\"bfloat16\",16,\"4096\",4096,\"a,\"\",b\"";
  std::string rows = predict("gemm", "dtype,m,n,\"k\",note\n" + row + "\n");
  EXPECT_NE(rows.find("\n" + row + ","), std::string::npos) << rows;
  EXPECT_NE(rows.find(",fitted\n"), std::string::npos) << rows;
  // Of quotes that nothing ends, the rest is one field.
  EXPECT_EQ(predict("gemm", "dtype,m,n,k\n\"bfloat16,16,64,64\n"),
            "rows.csv:2: 1 fields, expected the 4 of line 1");
}

TEST(CalibratedRows, BothWaysOfAnExchangeHaveABand) {
  std::string rows =
      predict("deepep_ll", "nodes,hidden,topk,tokens_per_rank\n1,7168,8,16\n"
                           "0,7168,8,16\n");
  EXPECT_EQ(rows.find("nodes,hidden,topk,tokens_per_rank,"
                      "predicted_dispatch_us,predicted_combine_us,"
                      "dispatch_low_us,dispatch_high_us,combine_low_us,"
                      "combine_high_us,reason\n1,7168,8,16,"),
            0u)
      << rows;
  EXPECT_NE(rows.find(",fitted\n0,7168,8,16,,,,,,,nodes is '0'"),
            std::string::npos)
      << rows;
}

TEST(CalibratedRows, SayWhatIsExtrapolated) {
  EXPECT_EQ(reasonOf("gemm", "dtype,m,n,k\nbfloat16,9e6,64,64\n"),
            "extrapolated: m");
  EXPECT_EQ(reasonOf("gemm", "dtype,m,n,k\nnvfp4,16,64,64\n"),
            "extrapolated: dtype");
  EXPECT_EQ(reasonOf("gemm", "dtype,m,n,k\nbfloat16,16,64,64\n", "h20"),
            "extrapolated: like h100_sxm");
  EXPECT_EQ(reasonOf("gemm", "dtype,m,n,k\nbfloat16,9e6,64,64\n", "h20"),
            "extrapolated: m like h100_sxm");
  // Rows may have a kernel, or a column for it.
  EXPECT_EQ(reasonOf("custom_allreduce", "gpus,bytes\n8,65536\n"), "fitted");
  EXPECT_EQ(reasonOf("custom_allreduce", "gpus,bytes,kernel\n8,65536,\n"),
            "fitted");
  EXPECT_EQ(reasonOf("custom_allreduce", "gpus,bytes,kernel\n8,65536,new\n"),
            "extrapolated: kernel");
  EXPECT_EQ(reasonOf("gemm", "dtype,m,n,k\nint7,16,64,64\n"),
            "unknown dtype 'int7'; known: fp8; nvfp4; bfloat16; fp8_block");
}

TEST(CalibratedRows, RefuseTablesOfAnotherForm) {
  EXPECT_EQ(predict("gemm", "dtype,m,n\n"),
            "rows.csv:1: no column 'k', which kernel 'gemm' needs");
  EXPECT_EQ(predict("gemm", "dtype,m,n,k\nbfloat16,1,2\n"),
            "rows.csv:2: 3 fields, expected the 4 of line 1");
  EXPECT_NE(predict("gemms", "").find("unknown kernel 'gemms'; known: gemm"),
            std::string::npos);
}
