//===- Calibration.h - Constants fitted to measurements ---------*- C++ -*-===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What a machine file says of kernels that were measured: constants by kernel
// and key (docs/Calibration.md), with their errors and the sizes that they were
// fitted on, and the peaks of the data sheet, whose shares they are.
//
//===----------------------------------------------------------------------===//

#ifndef SHARDOPT_MODEL_MACHINE_CALIBRATION_H
#define SHARDOPT_MODEL_MACHINE_CALIBRATION_H

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

namespace shardopt {

/// Peaks of a data sheet: FLOP/s, bytes/s, bytes.
struct DataSheet {
  double bf16Flops = 0;
  double fp8Flops = 0; ///< that of bf16 where there is no other
  double fp4Flops = 0; ///< that of fp8 where there is no other
  double sms = 0;
  double memoryBytes = 0; ///< nominal; where a part has GiB, of 1e9 each
  double memoryBandwidth = 0;
  double cacheBytes = 0;       ///< of the last level
  double linkBandwidth = 0;    ///< per direction
  double networkBandwidth = 0; ///< per direction
};

/// Constants of one kernel under one key.
struct CalibratedGroup {
  std::string kernel; ///< "gemm", "attn_context", ...
  std::map<std::string, std::string> names;
  std::map<std::string, double> numbers;
  std::map<std::string, double> constants;

  // On rows that the fit did not see; of 0 rows, nothing is known.
  int64_t rows = 0;
  double low = 1;  ///< 10 % of measured / predicted are below
  double high = 1; ///< 10 % are above

  std::map<std::string, std::pair<double, double>> range; ///< of sizes
  bool isInherited = false; ///< constants of another machine
};

struct Calibration {
  std::string date; ///< of the fit
  std::string data; ///< where the measurements are from, and their commit
  std::string like; ///< the machine that inherited constants are of, or empty
  DataSheet sheet;
  std::vector<CalibratedGroup> groups;
  /// Options of serving engines that were fitted on this machine, by engine
  /// ("vllm") and name (docs/ServingRuns.md).
  std::map<std::string, std::map<std::string, double>> engines;
};

} // namespace shardopt

#endif // SHARDOPT_MODEL_MACHINE_CALIBRATION_H
