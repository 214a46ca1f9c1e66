//===- ServingEngine.h - How a serving engine runs a model ------*- C++ -*-===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef SHARDOPT_COST_SERVING_SERVINGENGINE_H
#define SHARDOPT_COST_SERVING_SERVINGENGINE_H

#include "shardopt/Model/Machine/Machine.h"
#include "shardopt/Support/Engine.h"

#include <cstdint>
#include <string>
#include <vector>

namespace shardopt::cost {

struct Model;

/// Between which multiples of a prediction 80 % of measurements are.
struct ServingBand {
  double low = 1, high = 1;
};

/// What an engine adds to its kernels (docs/ServingRuns.md). Of a version, and
/// of how it was started: `isCpuBound` says that the host is on the critical
/// path of a step.
struct ServingEngine {
  Engine kind = Engine::Trtllm;
  bool isCpuBound = false;
  /// Its experts of block fp8 and nvfp4 are kernels of few tokens, which cost
  /// nothing for experts without any.
  bool hasSmallExperts = false;
  /// All requests arrive at once, and are measured as one burst.
  bool isOneBurst = false;
  /// Prompts are read in steps of their own, and not in those that decode.
  bool readsApart = false;
  /// All requests are as long as the row says, and no mean.
  bool hasEqualLengths = false;

  /// DeepGEMM's experts quantize, pack scales, gather and scatter in passes of
  /// their own, the scales of their weights among them.
  bool hasPassesOfExperts = false;

  /// TensorRT-LLM's experts of nvfp4 are the kernel of few tokens where that is
  /// faster (`moe_config.backend: TRTLLM`), and not always CUTLASS.
  bool hasFewTokenExperts = true;

  // Of the host, microseconds: a step where it is on the critical path, the
  // same for each sequence, and for each sequence always.
  double stepUs = 0, sequenceUs = 0, alwaysUs = 0;
  double launchUs = 30; ///< of every step
  /// Least time of a layer in an eager step, microseconds; 0: none.
  double eagerLayerUs = 0;
  /// To the first token, without kernels: milliseconds, and the share of the
  /// other requests' prompts that one waits for.
  double firstTokenMs = 0, burstShare = 0;
  /// Steps that hold the first token back: those of the tokens that are
  /// sent together with it, or until the engine looks for requests again.
  double heldSteps = 0;
  /// Steps that a prompt waits at most for prompts of all attention groups, so
  /// that they are computed together; 0: it does not wait for them.
  double balanceSteps = 0;

  // What kernels are in an engine, and not alone (docs/ServingRuns.md).
  bool hasStaticScales = true;      ///< fp8 products need not find them
  bool hasFusedQuantization = true; ///< nvfp4 has no pass of its own
  bool keepsLatentFp8 = true;       ///< latent attention of nvfp4 checkpoints
  bool hasCustomAllReduce = true;   ///< in addition to NCCL's
  bool readsFp8AsBf16 = false;      ///< no kernel for caches of fp8
  double passUs = 2;          ///< of an elementwise kernel, without its bytes
  double rankSkewUs = 1;      ///< ranks wait for each other
  double collectiveTimes = 1; ///< of what collectives take
  double expertLayerUs = 5;   ///< of a layer, without its kernels
  /// Experts that a token reaches and the tokens decoded with it do not,
  /// as a share of those that it would reach were tokens independent.
  double expertReach = 0.6;
  /// What the fullest group of experts has above the mean, as a share of what
  /// it would have were tokens independent.
  double expertSpread = 0.4;

  // What kernels attain of the rates that their constants are shares of.
  double computeScale = 1, memoryScale = 1, linkScale = 1;

  double chunkTokens = 8192; ///< of a prompt that one step reads at most
  double lengthShare = 1;    ///< mean lengths over the ones that rows say
  double cacheBytes = 0;     ///< an element of the cache; 0: by the recipe

  // Of aggregated runs, and of runs with prefill and decode workers apart.
  ServingBand denseTpot, expertTpot, ttft;
  ServingBand apartTpot, apartTtft;

  /// Bands half as wide again, in logarithms, for each that nobody measured:
  /// the model, of a class of Transformers and of about a size
  /// (`Model::rowBytes`), and the machine.
  void widenBands(const std::string &architecture, double rowBytes,
                  const Machine &machine);
};

/// Whether runs of models of this class of Transformers, and of about this size
/// (`Model::rowBytes`), were compared.
bool isMeasured(const std::string &architecture, double rowBytes);
/// Whether some kernel was measured on the machine, and not only on one like
/// it.
bool isMeasured(const Machine &machine);

/// What engines take of a device for activations and workspace.
inline constexpr double workspaceBytes = 2e9;

/// Bytes that a device of `sheetBytes` has for weights and caches: engines take
/// 0.92 of it, and of that their workspace. Sheets say the GiB of a part as 1e9
/// bytes; of the difference the driver keeps a part.
constexpr double usableBytes(double sheetBytes) {
  return 0.92 * 1.0625 * sheetBytes - workspaceBytes;
}

/// A constant or a switch of an engine (0 or 1), by name.
struct ServingOption {
  std::string name;
  double value = 0;
};

/// Reads "chunk=2048,cpu_bound=1". Errors name what is unknown.
ErrorOr<std::vector<ServingOption>>
parseServingOptions(const std::string &text);

void apply(const std::vector<ServingOption> &options, ServingEngine &engine);

/// The numbers among the options of `engine`, without switches and bands.
std::map<std::string, double> constantsOf(const ServingEngine &engine);

/// Takes the options that were fitted for `engine` on `machine`, bands too; an
/// error where they are none.
std::optional<Error> applyCalibration(const Machine &machine,
                                      ServingEngine &engine);

/// The same for runs of `model`, with wider bands where nobody compared it, or
/// the machine.
std::optional<Error> applyCalibration(const Machine &machine,
                                      const Model &model,
                                      ServingEngine &engine);

/// The engine called `name` ("trtllm", "vllm", "sglang") at `version`
/// ("0.12.0"; empty: a new one). Without `isTuned`, options that published
/// recipes switch on stand as the version has them by default.
ErrorOr<ServingEngine> findEngine(const std::string &name,
                                  const std::string &version, bool isTuned);

/// Whether version `left` ("0.12.0", "1.0.0rc3", "nightly") is older than
/// `right`; those without numbers are newer than all.
bool isOlder(const std::string &left, const std::string &right);

} // namespace shardopt::cost

#endif // SHARDOPT_COST_SERVING_SERVINGENGINE_H
