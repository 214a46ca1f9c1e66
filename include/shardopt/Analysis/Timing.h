//===- Timing.h - What a machine takes for the ops of a module --*- C++ -*-===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef SHARDOPT_ANALYSIS_TIMING_H
#define SHARDOPT_ANALYSIS_TIMING_H

#include "shardopt/Cost/Roofline.h"
#include "shardopt/Machine/Machine.h"

#include "mlir/IR/BuiltinOps.h"

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace shardopt {

/// Options of passes that ask for times, as their users spell them.
struct TimingOptions {
  std::string machine; ///< name or file; empty: the module's, or h100_sxm
  std::string commModel = "fast";
  std::string imbalance = "model";
};

/// A machine, and the times that it takes.
struct Timing {
  Machine machine;
  std::shared_ptr<const cost::TimeModel> time;
  std::optional<double> skew; ///< of the load of experts; none: even

  /// The machine of the option, else the one that `module` names, else
  /// h100_sxm. What is wrong is an error that says what would do.
  static ErrorOr<Timing> create(mlir::ModuleOp module,
                                const TimingOptions &options);
};

/// "unknown <option> '<value>', known: …".
Error unknownChoice(const std::string &option, const std::string &value,
                    const std::vector<std::string> &known);

/// The meaning of `value` among `choices`, or an error with the known ones.
template <typename T>
ErrorOr<T> parseChoice(const std::string &option, const std::string &value,
                       const std::vector<std::pair<std::string, T>> &choices) {
  std::vector<std::string> known;
  for (const auto &[name, meaning] : choices) {
    if (name == value)
      return meaning;
    known.push_back(name);
  }
  return unknownChoice(option, value, known);
}

} // namespace shardopt

#endif // SHARDOPT_ANALYSIS_TIMING_H
