//===- Machine.h - Description of a cluster ---------------------*- C++ -*-===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef SHARDOPT_MODEL_MACHINE_MACHINE_H
#define SHARDOPT_MODEL_MACHINE_MACHINE_H

#include "shardopt/Model/Machine/Calibration.h"
#include "shardopt/Support/Error.h"

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace shardopt {

/// A cluster of equal devices, as the cost models see it. Rates are those that
/// a kernel or a link attains: the peak of the data sheet times an efficiency.
/// Seconds, bytes, FLOP/s and bytes/s throughout.
struct Machine {
  std::string name;

  // A device.
  double bf16Flops = 0;           ///< F: attained bf16 FLOP/s
  std::optional<double> fp8Flops; ///< F8; none where fp8 runs at F
  double memoryBandwidth = 0;     ///< Bm
  double memoryCapacity = 0;      ///< usable bytes a device, reserve taken off
  double kernelLatency = 0;       ///< t_op, one kernel

  // Links. A *domain* is the set of devices that the fast links join.
  int64_t domainSize = 1;                   ///< D, devices
  double linkBandwidth = 0;                 ///< Bnv, per direction and device
  std::optional<double> multicastBandwidth; ///< Bnvls; none without NVLS
  double networkBandwidth = 0; ///< Bib, per device, between domains

  // Latencies of collectives.
  double collectiveLatency = 0; ///< a_c, launch and synchronisation
  double linkLatency = 0;       ///< a_nv, a phase inside a domain
  double networkLatency = 0;    ///< a_ib, a phase between domains

  // The constants that `comm-model=ring` takes instead.
  double ringCollectiveLatency = 0; ///< a_c of the ring model
  double ringLinkStep = 0;          ///< s_nv, a step inside a domain
  double ringNetworkStep = 0;       ///< s_ib, a step between domains

  /// Systematic imbalance of the load of experts (0.1 = 10 %).
  double expertSkew = 0;

  /// Constants of measured kernels; null where the file has none.
  std::shared_ptr<const Calibration> calibration;
};

/// The names of the machines that ship with shardopt, in alphabetical order.
std::vector<std::string> knownMachines();

/// Reads the machine called `nameOrFile`: one of `knownMachines()`, or the path
/// of a JSON file of the same form (anything with a '/' or ending in ".json").
/// Unknown names, syntax errors (line and column) and wrong, missing or unknown
/// fields (JSON pointer) are errors.
ErrorOr<Machine> loadMachine(const std::string &nameOrFile);

/// Whether `loadMachine` takes `nameOrFile` for a file.
bool isMachineFile(const std::string &nameOrFile);

/// A name under which `loadMachine` finds the same machine from any folder: of
/// a file, its path from the root.
std::string lastingName(const std::string &nameOrFile);

} // namespace shardopt

#endif // SHARDOPT_MODEL_MACHINE_MACHINE_H
