//===- Calibrated.h - The calibrated simulator ------------------*- C++ -*-===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef SHARDOPT_COST_CALIBRATED_CALIBRATED_H
#define SHARDOPT_COST_CALIBRATED_CALIBRATED_H

#include "shardopt/Cost/Calibrated/CalibratedKernels.h"
#include "shardopt/Cost/LowerBound.h"

namespace shardopt::cost {

/// Times of the forms that were fitted to measurements of a machine
/// (docs/Calibration.md). What nobody measured (what leaves a domain, batched
/// products, elementwise kernels) follows from the data sheet and shares of it
/// that are common to all machines.
class Calibrated final : public TimeModel {
public:
  /// An error where the machine has no constants.
  static ErrorOr<std::shared_ptr<const Calibrated>>
  create(const Machine &machine, CommModel comm = CommModel::Fast);

  using TimeModel::seconds;
  double seconds(const Kernel &kernel) const override;
  double seconds(const Collective &collective,
                 const Degrees &degrees) const override;
  bool isComputeBound(const Kernel &kernel) const override;
  Trust trust(const Kernel &kernel) const override;
  Trust trust(const Collective &collective,
              const Degrees &degrees) const override;

  const calibrated::CalibratedKernels &kernels() const { return forms; }

private:
  Calibrated(const Calibrated &) = delete; // points into its own forms
  Calibrated &operator=(const Calibrated &) = delete;
  Calibrated(calibrated::CalibratedKernels forms, const Machine &machine,
             CommModel comm);
  double matrixProduct(const Kernel &kernel) const;
  double groupedProduct(const Kernel &kernel) const;
  double attention(const Kernel &kernel) const;
  Trust trustAttention(const Kernel &kernel) const;
  double inDomain(CollectiveKind kind, int64_t ranks, double bytes) const;
  double ncclUs(CollectiveKind kind, int64_t ranks, double bytes) const;
  /// Ranks of `collective` within a domain, where it is measured.
  std::optional<int64_t> ranksInDomain(const Collective &collective,
                                       const Degrees &degrees) const;

  calibrated::CalibratedKernels forms;
  Roofline roofline; ///< of what crosses domains
  /// Below which no times of attention, experts and collectives are: fitted
  /// shares of a peak can be above 1 where latencies hide them.
  LowerBound peaks;
  int64_t domainSize;

  /// Constants of attention, and what its kernels are told apart by.
  template <typename Form> struct Attention {
    const calibrated::Fitted<Form> *fitted;
    double headDim, headsOfGroup;
    bool isCacheFp8, isOfShortWindows;
  };
  /// By whether windows are short (1) and GEMMs in fp8 (2). Empty are those
  /// that nobody measured.
  template <typename Form>
  using Attentions = std::array<std::vector<Attention<Form>>, 4>;
  template <typename Form>
  static Attentions<Form> attentions(const calibrated::Groups<Form> &groups);
  /// The nearest constants; null where there are none.
  template <typename Form>
  static const Attention<Form> *nearest(const Attentions<Form> &among,
                                        const Kernel &kernel);
  template <typename Form>
  static Trust trustNearest(const Attentions<Form> &among, const Kernel &kernel,
                            const char *length, double tokens);

  Attentions<calibrated::PromptAttention> prompts, latentPrompts;
  Attentions<calibrated::TokenAttention> tokens, latentTokens;

  // The groups of a type, found once.
  struct ByType {
    calibrated::Element element;
    const calibrated::Gemm *gemm = nullptr;
    calibrated::Gemm::Steps steps = {};
    const calibrated::Experts *experts = nullptr;
  };
  std::array<ByType, numWeightTypes> types; ///< by WeightType
  const calibrated::QuantizationScale *quantization = nullptr;
  const calibrated::CustomAllReduce *customAllReduce = nullptr;
  std::array<const calibrated::Nccl *, 4> nccl = {}; ///< by CollectiveKind
  /// The same among few ranks, by their number.
  std::array<std::vector<calibrated::Nccl::Among>, 4> ncclAmong;
};

} // namespace shardopt::cost

#endif // SHARDOPT_COST_CALIBRATED_CALIBRATED_H
