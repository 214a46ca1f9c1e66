//===- EngineClock.h - Kernels as serving engines run them ------*- C++ -*-===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef SHARDOPT_COST_SERVING_ENGINECLOCK_H
#define SHARDOPT_COST_SERVING_ENGINECLOCK_H

#include "shardopt/Cost/Calibrated/Calibrated.h"
#include "shardopt/Cost/Serving/ServingEngine.h"
#include "shardopt/Model/Model.h"

#include <array>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace shardopt::cost {

/// The measured kernels of a machine, and the rules by which an engine takes
/// others in place of those that were measured alone (docs/ServingRuns.md).
/// Passes over rows are kernels of their own here.
class EngineClock final : public TimeModel {
public:
  /// An error where the machine has no constants.
  static ErrorOr<std::shared_ptr<const EngineClock>>
  create(const Machine &machine, const ServingEngine &engine);

  /// Why the engine has no kernel for weights of `type` on the machine, and
  /// what would do; nothing where it has one.
  std::optional<std::string> whyNot(WeightType type) const;
  /// The same of the weights of `model`, the first that it has none for.
  std::optional<std::string> whyNot(const Model &model) const;

  using TimeModel::seconds;
  double seconds(const Kernel &kernel) const override;
  double seconds(const Collective &collective,
                 const Degrees &degrees) const override {
    return engine.collectiveTimes * ownSeconds(collective, degrees);
  }
  double seconds(const Pass &pass) const override;
  bool multipliesAtOnce() const override { return true; }
  bool isComputeBound(const Kernel &kernel) const override {
    return measured->isComputeBound(kernel);
  }
  Trust trust(const Kernel &kernel) const override {
    return measured->trust(kernel);
  }
  Trust trust(const Collective &collective,
              const Degrees &degrees) const override {
    return measured->trust(collective, degrees);
  }

private:
  EngineClock(std::shared_ptr<const Calibrated> measured,
              const Machine &machine, const ServingEngine &engine);

  /// Matrix products with weights of one type.
  struct Product {
    calibrated::Gemm form;
    calibrated::Element element;
    calibrated::Gemm::Steps steps = {};
    bool isKnown = false;
  };
  /// A kernel of the experts that the engine may take.
  struct Routed {
    calibrated::Experts form;
    calibrated::Element element;
  };

  const calibrated::CalibratedKernels &kernels() const {
    return measured->kernels();
  }
  const calibrated::Device &device() const { return kernels().device; }
  /// Or older: its tensor cores do not multiply fp4.
  bool isHopper() const { return device().fp4 <= device().fp8; }

  void findProduct(WeightType type, const char *dtype);
  void findExperts(WeightType type, const char *cutlass, bool isGated);
  void addExperts(std::vector<Routed> &to, const char *dtype,
                  const char *kernel) const;
  void addMarlin(std::vector<Routed> &to, const char *cutlass) const;

  double ownSeconds(const Collective &collective, const Degrees &degrees) const;
  double microseconds(const Kernel &kernel) const;
  double stream(double bytes) const;
  double matrixProduct(const Kernel &kernel) const;
  double routed(const Kernel &kernel) const;
  double attention(const Kernel &kernel) const;
  double ranking(const Kernel &kernel) const;

  std::shared_ptr<const Calibrated> measured;
  ServingEngine engine;
  std::string machineName;
  uint64_t number; ///< of this clock, among all that there were
  int64_t domainSize;
  std::array<Product, numWeightTypes> products; ///< by WeightType
  /// By WeightType, of networks without a gate and with one.
  std::array<std::vector<Routed>, numWeightTypes> experts[2];
  const calibrated::QuantizationScale *quantization = nullptr;
  const calibrated::CustomAllReduce *custom = nullptr;
  const calibrated::Nccl *nccl = nullptr;
};

} // namespace shardopt::cost

#endif // SHARDOPT_COST_SERVING_ENGINECLOCK_H
