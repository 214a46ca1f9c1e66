//===- CalibratedKernels.h - Forms with the constants of a machine -*- C++ -*-//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef SHARDOPT_COST_CALIBRATED_CALIBRATEDKERNELS_H
#define SHARDOPT_COST_CALIBRATED_CALIBRATEDKERNELS_H

#include "shardopt/Cost/Calibrated/CalibratedForms.h"
#include "shardopt/Model/Machine/Machine.h"
#include "shardopt/Support/Error.h"

#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace shardopt::cost::calibrated {

/// A form with constants, and where they are from.
template <typename Form> struct Fitted {
  Form form;
  const CalibratedGroup *group = nullptr;
};

/// What tells the groups of one kernel apart; names of other kinds of devices
/// and types that nobody measured find the nearest.
struct Key {
  std::vector<std::pair<std::string, std::string>> names;
  std::vector<std::pair<std::string, double>> numbers;
};

/// A group that was looked for.
template <typename Form> struct Found {
  const Fitted<Form> *fitted = nullptr; ///< null where the kernel has none
  std::string differs;                  ///< keys in which it is but near

  explicit operator bool() const { return fitted; }
};

/// How unlike `key` the group is, and in what. Other names weigh more than any
/// distance of numbers.
std::pair<double, std::string> distance(const CalibratedGroup &group,
                                        const Key &key);

/// The groups of one kernel.
template <typename Form> class Groups {
public:
  /// The one whose key is nearest to `key`; the first of equals.
  Found<Form> find(const Key &key) const {
    Found<Form> found;
    double least = 0;
    for (const Fitted<Form> &fitted : all) {
      auto [away, differs] = distance(*fitted.group, key);
      if (found && away >= least)
        continue;
      least = away;
      found = {&fitted, std::move(differs)};
    }
    return found;
  }

  std::vector<Fitted<Form>> all;
};

/// The forms of all kernels of a machine. Immutable.
class CalibratedKernels {
public:
  /// An error where the machine has no constants, where one is missing, or
  /// where a kernel has another name than the known ones.
  static ErrorOr<CalibratedKernels> create(const Machine &machine);

  Device device;
  Groups<Gemm> gemm;
  Groups<QuantizationScale> quantizationScale;
  Groups<PromptAttention> promptAttention, latentPrompt;
  Groups<TokenAttention> tokenAttention, latentToken;
  Groups<Experts> experts;
  Groups<Nccl> nccl;
  Groups<CustomAllReduce> customAllReduce;
  Groups<Exchange> lowLatencyExchange, normalExchange;

  const Calibration &calibration() const { return *constants; }

private:
  std::shared_ptr<const Calibration> constants; ///< that groups point into
};

/// Elements of a type of GEMMs or experts as tables spell it ("bfloat16",
/// "fp8_block", "w4a16_mxfp4"); an unknown one is an error with the known ones.
ErrorOr<Element> elementOfGemm(const std::string &dtype);
ErrorOr<Element> elementOfExperts(const std::string &dtype);

/// Keys by which groups are told apart, and which tables do not have: whether
/// a window is a short one, and the class of `heads` over `kvHeads`.
bool isShortWindow(double window);
double headsOfGroup(double heads, double kvHeads);

} // namespace shardopt::cost::calibrated

#endif // SHARDOPT_COST_CALIBRATED_CALIBRATEDKERNELS_H
