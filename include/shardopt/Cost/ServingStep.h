//===- ServingStep.h - One step of a serving engine -------------*- C++ -*-===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef SHARDOPT_COST_SERVINGSTEP_H
#define SHARDOPT_COST_SERVINGSTEP_H

#include "shardopt/Cost/CalibratedKernels.h"
#include "shardopt/Cost/ServedModel.h"
#include "shardopt/Cost/ServingEngine.h"

#include <array>
#include <utility>

namespace shardopt::cost {

/// A model on the devices of one replica. Attention is split into `attentionDp`
/// groups of `tp` devices, experts over the same devices as `expertTp` times
/// `expertEp`.
struct ServingSetup {
  ServedModel model;
  ServedType attentionType = ServedType::Bf16;
  ServedType denseType = ServedType::Bf16; ///< and of shared experts
  ServedType expertType = ServedType::Bf16;
  bool isCacheFp8 = false;
  double tp = 1, attentionDp = 1, expertTp = 1, expertEp = 1;

  double devices() const { return tp * attentionDp; }
};

/// `model` in the types of its checkpoint, on one device.
ServingSetup setupOf(const ServedModel &model);

/// What users know of their requests beside lengths.
struct ServingTraits {
  double drafts = 0;   ///< tokens that a step verifies beside its own
  double accepted = 0; ///< of them, in the mean
  double found = 0;    ///< share of a prompt that a cache has, below 1
  double skew = 0;     ///< by how much the fullest expert group has more
};

/// Bytes of weights that one device holds.
double weightBytes(const ServingSetup &setup);
/// Bytes that one token takes in the caches of one device; windows, which hold
/// a fixed number of tokens, are not counted.
double cacheBytesPerToken(const ServingSetup &setup);

/// Times of steps, from kernels that were measured one by one. Points to what
/// it is made of.
class ServingStep {
public:
  /// An error where a kernel of the model has no constants.
  static ErrorOr<ServingStep> create(const calibrated::CalibratedKernels &,
                                     const ServingSetup &,
                                     const ServingEngine &);

  /// Terms of a step in microseconds, for which a report says what dominates.
  struct Terms {
    double gemm = 0, attention = 0, elementwise = 0, experts = 0,
           collectives = 0, launch = 0;
    double sum() const {
      return gemm + attention + elementwise + experts + collectives + launch;
    }
    /// All of them, by the names that reports have.
    std::array<std::pair<const char *, double>, 6> named() const {
      return {{{"products", gemm},
               {"attention", attention},
               {"experts", experts},
               {"collectives", collectives},
               {"elementwise", elementwise},
               {"launch", launch}}};
    }
    /// The largest; the first of equals.
    std::pair<const char *, double> dominating() const;
  };

  /// What a step does in each attention group: it decodes `sequences` of
  /// `context` tokens, and reads `chunk` tokens of a prompt of `prompt` tokens.
  /// Either may be 0.
  struct Work {
    double sequences = 0, context = 0;
    double chunk = 0, prompt = 0;
    ServingTraits traits = {};
  };
  Terms terms(const Work &work) const;

private:
  ServingStep(const calibrated::CalibratedKernels &kernels,
              const ServingSetup &setup, const ServingEngine &engine);

  /// Matrix products of one type.
  struct Product {
    const calibrated::Gemm *form = nullptr;
    calibrated::Element element;
    ServedType type = ServedType::Bf16;
  };
  /// A kernel of the experts that an engine may take.
  struct Routed {
    calibrated::Experts form;
    calibrated::Element element;
  };
  /// Attention of equal layers.
  struct Attention {
    ServedSpan span;
    const calibrated::PromptAttention *prompt = nullptr;
    const calibrated::TokenAttention *token = nullptr;
    double cacheBytes = 2; ///< an element, as the kernel takes time for it
  };

  void findProducts();
  std::string findAttention();
  std::string findExperts();
  Product productOf(ServedType type) const;
  void addExperts(const char *dtype, const char *kernel);
  void addBlockExperts(const char *cutlass);
  void addMarlin(const char *cutlass);

  double us(const Product &product, double m, double n, double k) const;
  double elementwise(double bytes, double kernels = 1) const;
  double batched(double bytes, double flops) const;
  double allReduce(double ranks, double bytes) const;

  double decode(const Attention &attention, const Work &work) const;
  double prefill(const Attention &attention, double prompt) const;
  double projections(double tokens) const;
  double attentionPasses(double tokens) const;
  void addNetwork(double tokens, double inner, Terms &layer) const;
  double routed(double tokens, double skew) const;
  void addIndexer(double sequences, double tokens, double context,
                  Terms &layer) const;
  void addNet(const Work &work, double decoded, Terms &layer) const;

  const calibrated::CalibratedKernels &kernels;
  const ServingSetup &setup;
  const ServingEngine &engine;
  Product attentionProduct, networkProduct, plainProduct;
  std::vector<Attention> attention;
  std::vector<Routed> experts;
  const calibrated::CustomAllReduce *custom = nullptr;
  const calibrated::Nccl *nccl = nullptr;
};

} // namespace shardopt::cost

#endif // SHARDOPT_COST_SERVINGSTEP_H
