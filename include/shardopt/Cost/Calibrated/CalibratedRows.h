//===- CalibratedRows.h - Predictions for rows of a table -------*- C++ -*-===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef SHARDOPT_COST_CALIBRATED_CALIBRATEDROWS_H
#define SHARDOPT_COST_CALIBRATED_CALIBRATEDROWS_H

#include "shardopt/Model/Machine/Machine.h"
#include "shardopt/Support/Error.h"

#include <string>
#include <string_view>
#include <vector>

namespace shardopt::cost {

/// The kernels whose rows can be predicted, in the order of the documentation.
std::vector<std::string> predictableKernels();

/// Reads rows of `kernel` as comma-separated values under a line of their
/// names (docs/Calibration.md has the columns; others are echoed), and returns
/// them with "predicted_us,low_us,high_us,reason" behind; of deepep,
/// "predicted_dispatch_us,predicted_combine_us,reason". The reason says how far
/// a number can be trusted, or why there is none. `fileName` stands for the
/// text in messages. A missing column, and a row with more or fewer fields than
/// the names, are errors.
ErrorOr<std::string> predictRows(const Machine &machine,
                                 const std::string &kernel,
                                 std::string_view text,
                                 const std::string &fileName);

} // namespace shardopt::cost

#endif // SHARDOPT_COST_CALIBRATED_CALIBRATEDROWS_H
