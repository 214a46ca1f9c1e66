//===- EngineClock.cpp - Kernels as serving engines run them --------------===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "shardopt/Cost/Serving/EngineClock.h"

#include "shardopt/Support/Hash.h"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstring>
#include <limits>

using namespace shardopt;
using namespace shardopt::cost;
using namespace shardopt::cost::calibrated;

// Shares of the data sheet, and microseconds, of what has no constants of its
// own: passes over rows, GEMMs with many small matrices, and the scores of an
// indexer.
static constexpr double streamShare = 0.8;
static constexpr double batchedShare = 0.75, batchedPeak = 0.5,
                        batchedLaunch = 3;
static constexpr double rankingShare = 0.7, rankingLaunch = 48,
                        rankingSequence = 0.4, rankingPasses = 6;

// Kernels without constants of their own, found in serving runs: microseconds
// of a pass over 128 experts, whether or not they have tokens.
static constexpr double smallPass = 3, oldPass = 20;
// Passes of a layer of DeepGEMM's experts that are not fused.
static constexpr double expertPasses = 40;
// Marlin multiplies weights of 4 bits as bf16: launch, shares of the peaks.
static constexpr double marlinUs = 39, marlinCompute = 0.3, marlinMemory = 0.55,
                        marlinBytes = 0.53;
/// nvfp4 without its pass over the activations.
static constexpr double fusedShare = 0.86;

static constexpr const char *cutlassOf[] = {"moe_torch_flow_nongated",
                                            "moe_torch_flow_cutlass"};

static size_t at(WeightType type) { return size_t(type); }

//===----------------------------------------------------------------------===//
// Which kernels
//===----------------------------------------------------------------------===//

/// Clocks are told apart by numbers that are never used again.
static uint64_t nextNumber() {
  static std::atomic<uint64_t> last{0};
  return ++last;
}

/// `machine` at the rates that kernels of `engine` attain.
static Machine scaled(Machine machine, const ServingEngine &engine) {
  double compute = engine.computeScale, memory = engine.memoryScale,
         links = engine.linkScale;
  if (!machine.calibration || (compute == 1 && memory == 1 && links == 1))
    return machine;
  auto fitted = std::make_shared<Calibration>(*machine.calibration);
  DataSheet &sheet = fitted->sheet;
  for (double *rate :
       {&sheet.bf16Flops, &sheet.fp8Flops, &sheet.fp4Flops, &machine.bf16Flops})
    *rate *= compute;
  if (machine.fp8Flops)
    *machine.fp8Flops *= compute;
  sheet.memoryBandwidth *= memory;
  machine.memoryBandwidth *= memory;
  sheet.linkBandwidth *= links;
  machine.linkBandwidth *= links;
  if (machine.multicastBandwidth)
    *machine.multicastBandwidth *= links;
  machine.calibration = std::move(fitted);
  return machine;
}

ErrorOr<std::shared_ptr<const EngineClock>>
EngineClock::create(const Machine &given, const ServingEngine &engine) {
  Machine machine = scaled(given, engine);
  auto measured = Calibrated::create(machine);
  if (!measured)
    return measured.error();
  return std::shared_ptr<const EngineClock>(
      new EngineClock(std::move(*measured), machine, engine));
}

EngineClock::EngineClock(std::shared_ptr<const Calibrated> given,
                         const Machine &machine, const ServingEngine &engine)
    : measured(std::move(given)), engine(engine), machineName(machine.name),
      number(nextNumber()), domainSize(machine.domainSize) {
  const CalibratedKernels &forms = kernels();
  findProduct(WeightType::F32, "bfloat16");
  findProduct(WeightType::Bf16, "bfloat16");
  findProduct(WeightType::Fp8, "fp8");
  findProduct(WeightType::Fp8Block, "fp8_block");
  findProduct(WeightType::Int8, "fp8");
  findProduct(WeightType::Mxfp4, "bfloat16");
  findProduct(WeightType::Int4, "bfloat16");
  findProduct(WeightType::Int4Of64, "bfloat16");
  findProduct(WeightType::Int4Of32, "bfloat16");
  findProduct(WeightType::Nvfp4, isHopper() ? "bfloat16" : "nvfp4");
  for (size_t type = 0; type < numWeightTypes; ++type)
    if (products[type].element.peak == Peak::Bf16)
      products[type].element.weightBytes = bytesPerWeight(WeightType(type));
  if (engine.hasFusedQuantization)
    products[at(WeightType::Nvfp4)].form.q =
        0; // the layer before has quantised
  for (Product &product : products)
    product.steps = product.form.steps(device(), product.element);
  for (bool isGated : {false, true})
    for (size_t type = 0; type < numWeightTypes; ++type)
      findExperts(WeightType(type), cutlassOf[isGated], isGated);
  if (!forms.quantizationScale.all.empty())
    quantization = &forms.quantizationScale.all.front().form;
  bool isVllm = engine.kind == Engine::Vllm;
  if (auto found = forms.customAllReduce.find(
          {{{"kernel", isVllm ? "vLLM_custom_graph" : "TRTLLM"}}, {}});
      found && engine.hasCustomAllReduce)
    custom = &found.fitted->form;
  if (auto found = forms.nccl.find({{{"op", "all_reduce"}}, {}}))
    nccl = &found.fitted->form;
}

/// By the support matrices of vLLM 0.33 and of TensorRT-LLM 1.3; SGLang has
/// vLLM's kernels.
std::optional<std::string> EngineClock::whyNot(WeightType type) const {
  bool isTrtLlm = engine.kind == Engine::Trtllm;
  bool hasFp8 = device().fp8 > 1;
  const char *wanted = nullptr;
  if (type == WeightType::Int8 && (isTrtLlm || !isHopper()))
    wanted = hasFp8 ? "fp8, or int4" : "int4";
  else if (type == WeightType::Nvfp4 && isTrtLlm && isHopper())
    wanted = hasFp8 ? "fp8, or int4" : "int4";
  else if (isTrtLlm && !hasFp8 &&
           (type == WeightType::Fp8 || type == WeightType::Fp8Block))
    wanted = "int4, or bf16";
  if (!wanted)
    return std::nullopt;
  return std::string(spell(engine.kind)) + " has no kernel for weights of " +
         spell(type) + " on '" + machineName + "', expected " + wanted;
}

std::optional<std::string> EngineClock::whyNot(const Model &model) const {
  for (const Body &body : model.bodies)
    for (const Node &node : body.nodes) {
      OpTypes types = node.op->types();
      for (const std::optional<WeightType> &type :
           {types.attention, types.dense, types.experts})
        if (std::optional<std::string> why =
                type ? whyNot(*type) : std::nullopt)
          return why;
    }
  return std::nullopt;
}

void EngineClock::findProduct(WeightType type, const char *dtype) {
  Product &product = products[at(type)];
  if (Found<Gemm> found = kernels().gemm.find({{{"dtype", dtype}}, {}})) {
    product.form = found.fitted->form;
    product.isKnown = true;
  }
  if (ErrorOr<Element> element = elementOfGemm(dtype))
    product.element = *element;
}

void EngineClock::addExperts(std::vector<Routed> &to, const char *dtype,
                             const char *kernel) const {
  Found<Experts> found = kernels().experts.find(
      {{{"dtype", dtype}, {"kernel", kernel}, {"distribution", "balanced"}},
       {}});
  ErrorOr<Element> element = elementOfExperts(dtype);
  if (found && element)
    to.push_back({found.fitted->form, *element});
}

void EngineClock::addMarlin(std::vector<Routed> &to,
                            const char *cutlass) const {
  addExperts(to, "bfloat16", cutlass);
  if (to.empty())
    return;
  Routed &marlin = to.front();
  marlin.form.t0 = marlinUs;
  marlin.form.ec = marlinCompute;
  marlin.form.em = marlinMemory;
  marlin.element.weightBytes = marlinBytes;
}

void EngineClock::findExperts(WeightType type, const char *cutlass,
                              bool isGated) {
  std::vector<Routed> &found = experts[isGated][at(type)];
  bool isSglang = engine.kind == Engine::Sglang;
  switch (type) {
  case WeightType::F32:
  case WeightType::Bf16:
    addExperts(found, "bfloat16", cutlass);
    break;
  case WeightType::Fp8:
  case WeightType::Int8:
    addExperts(found, "fp8", cutlass);
    break;
  case WeightType::Fp8Block: {
    bool isSmall = engine.hasSmallExperts && (!isHopper() || isSglang);
    // SGLang's on Hopper has the passes of the fp8 kernel.
    addExperts(found, isSmall && isHopper() ? "fp8" : "fp8_block",
               isHopper() ? cutlass : "deepgemm");
    if (isSmall && !found.empty())
      found.front().form.ce = smallPass;
    if (engine.hasPassesOfExperts && !isHopper() && !found.empty())
      found.front().form.t0 += expertPasses * engine.passUs;
    break;
  }
  case WeightType::Nvfp4:
    if (isHopper()) {
      addMarlin(found, cutlass);
      break;
    }
    addExperts(found, "nvfp4", cutlass);
    if (engine.kind == Engine::Trtllm ? engine.hasFewTokenExperts
                                      : engine.hasSmallExperts)
      addExperts(found, "nvfp4", "moe_torch_flow_min_latency");
    else if (engine.kind != Engine::Trtllm && !found.empty())
      found.front().form.ce = oldPass;
    break;
  case WeightType::Mxfp4:
    if (isHopper() && engine.kind == Engine::Vllm)
      addMarlin(found, cutlass);
    else
      addExperts(found, isHopper() ? "w4a16_mxfp4" : "w4a8_mxfp4_mxfp8",
                 "moe_torch_flow");
    break;
  case WeightType::Int4:
  case WeightType::Int4Of64:
  case WeightType::Int4Of32:
    addMarlin(found, cutlass);
    break;
  }
}

//===----------------------------------------------------------------------===//
// Kernels, in microseconds
//===----------------------------------------------------------------------===//

double EngineClock::stream(double bytes) const {
  return bytes / (streamShare * device().bandwidth) + engine.passUs;
}

double EngineClock::matrixProduct(const Kernel &kernel) const {
  const Product &product = products[at(kernel.weights)];
  if (!product.isKnown)
    return measured->seconds(kernel) * 1e6;
  double us = product.form.us(device(), product.element, product.steps,
                              kernel.rows, kernel.n, kernel.k);
  if (product.element.peak == Peak::Fp4 && engine.hasFusedQuantization)
    return fusedShare * us;
  if (kernel.weights != WeightType::Fp8 || !engine.hasStaticScales ||
      !quantization)
    return us;
  return std::max(products[at(WeightType::Bf16)].form.t0,
                  us - quantization->us(device(), kernel.rows, kernel.k));
}

/// Half of what the experts of a layer take without their GEMMs, and one of
/// these; of the kernels that the engine may take the fastest.
double EngineClock::routed(const Kernel &kernel) const {
  bool isFirst = kernel.gates > 0;
  const std::vector<Routed> &among =
      experts[kernel.gates != 1][at(kernel.weights)];
  if (among.empty())
    return measured->seconds(kernel) * 1e6;
  double rows = std::max(kernel.rows, 1.0);
  double hidden = isFirst ? kernel.k : kernel.n;
  double inner = isFirst ? kernel.n / kernel.gates : kernel.k;
  double copies = kernel.rows * kernel.groups;
  double least = std::numeric_limits<double>::infinity();
  for (const auto &[form, element] : among) {
    double moved = 2 *
                   (form.ca * copies / kernel.visited * hidden +
                    rows * (form.cr * hidden + form.ci * inner)) /
                   device().bandwidth;
    double beside = form.t0 + moved + form.ce * kernel.held / 128 +
                    form.c2 * std::log2(1 + copies / 128);
    least = std::min(least, beside / 2 + form.productUs(device(), element, rows,
                                                        kernel.count, kernel.n,
                                                        kernel.k));
  }
  return least + engine.expertLayerUs / 2;
}

/// GEMMs on tokens are of bf16. Caches that no kernel multiplies with take
/// the time of bf16. Part of a prompt takes its part of the time.
double EngineClock::attention(const Kernel &kernel) const {
  Kernel taken = kernel;
  taken.activationBytes = 2;
  bool readsAsBf16 = engine.readsFp8AsBf16 && isHopper() &&
                     kernel.latent == (engine.kind == Engine::Sglang);
  if (readsAsBf16)
    taken.cacheBytes = 2;
  if (kernel.prompt <= 0)
    return measured->seconds(taken) * 1e6;
  taken.rows = 1;
  taken.flops /= kernel.rows;
  taken.bytes /= kernel.rows;
  return kernel.rows * measured->seconds(taken) * 1e6;
}

/// The scores of an indexer, whose best positions are then chosen.
double EngineClock::ranking(const Kernel &kernel) const {
  double columns = kernel.count * kernel.k;
  double passes = rankingPasses * stream(3 * kernel.rows * columns);
  double sequences = kernel.prompt > 0 ? 0 : kernel.rows / kernel.queries;
  // Its keys and its weights of heads are separate GEMMs.
  double apart = 2 * products[at(WeightType::Bf16)].form.t0;
  return passes + apart + rankingLaunch + rankingSequence * sequences +
         std::max(kernel.bytes / (rankingShare * device().bandwidth),
                  kernel.flops / (batchedPeak * device().flops));
}

double EngineClock::microseconds(const Kernel &kernel) const {
  switch (kernel.kind) {
  case KernelKind::Gemm:
    return matrixProduct(kernel);
  case KernelKind::GroupedGemm:
    return routed(kernel);
  case KernelKind::Attention:
    return attention(kernel);
  case KernelKind::Ranking:
    return ranking(kernel);
  case KernelKind::BatchedGemm:
    return std::max(kernel.bytes / (batchedShare * device().bandwidth),
                    kernel.flops / (batchedPeak * device().flops)) +
           batchedLaunch;
  case KernelKind::Memory:
    break;
  }
  // What is no kernel of its own is part of a norm, or of the experts'.
  return kernel.launch && !kernel.inExperts ? stream(kernel.bytes) : 0;
}

namespace {
/// Times that are asked for again: layouts of one tp have the same kernels. One
/// entry a hash; of a thread.
class KnownTimes {
public:
  template <typename Make>
  double of(uint64_t clock, const Kernel &kernel, Make make) {
    std::array<double, 12> key = {
        kernel.rows,    kernel.k,     kernel.n,      kernel.count,
        kernel.kvHeads, kernel.bytes, kernel.flops,  kernel.prompt,
        kernel.window,  kernel.gates, kernel.groups, kernel.cacheBytes};
    uint64_t what =
        clock << 16 | uint64_t(kernel.kind) << 8 | uint64_t(kernel.weights);
    WordHash hash;
    hash.add(what);
    for (double value : key) {
      uint64_t bits;
      std::memcpy(&bits, &value, sizeof(bits));
      hash.add(bits);
    }
    Entry &entry = entries[hash.value() % entries.size()];
    if (entry.what != what || entry.key != key)
      entry = {what, key, make()};
    return entry.us;
  }

private:
  struct Entry {
    uint64_t what = 0;
    std::array<double, 12> key = {};
    double us = 0;
  };
  std::vector<Entry> entries = std::vector<Entry>(size_t(1) << 14);
};
} // namespace

double EngineClock::seconds(const Kernel &kernel) const {
  if (kernel.kind == KernelKind::Memory ||
      kernel.kind == KernelKind::BatchedGemm)
    return microseconds(kernel) * 1e-6;
  if (kernel.rows <= 0)
    return 0;
  thread_local KnownTimes known;
  return 1e-6 * known.of(number, kernel, [&] { return microseconds(kernel); });
}

/// TRT-LLM rotates and writes inside of attention.
double EngineClock::seconds(const Pass &pass) const {
  if (pass.kind == Pass::Kind::Rotation && engine.kind == Engine::Trtllm)
    return 0;
  return stream(pass.bytes) * 1e-6;
}

//===----------------------------------------------------------------------===//
// Collectives
//===----------------------------------------------------------------------===//

/// Halves of an all-reduce are a reduce-scatter and an all-gather.
double EngineClock::ownSeconds(const Collective &collective,
                               const Degrees &degrees) const {
  CollectiveKind kind = collective.kind;
  if (kind == CollectiveKind::Send)
    return measured->seconds(collective, degrees);
  AxisGroup along = groupOf(collective.axis, degrees);
  if (along.size == 1)
    return 0;
  double skew = engine.rankSkewUs * 1e-6;
  if (along.size * along.stride > domainSize ||
      kind == CollectiveKind::AllToAll || (!custom && !nccl))
    return measured->seconds(collective, degrees) + skew;
  double bytes = collective.bytes / (kind == CollectiveKind::AllReduce ? 1 : 2);
  auto ranks = double(along.size);
  double least = std::numeric_limits<double>::infinity();
  if (custom)
    least = custom->us(device(), ranks, bytes);
  if (nccl)
    least = std::min(least, nccl->us(device(), ranks, bytes));
  return least * 1e-6 + skew;
}
