//===- Module.cpp - The entry of the module -------------------------------===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Networks.h"

#include <ATen/Parallel.h>
#include <torch/version.h>

using namespace shardopt::agent;

/// One thread: networks are small, sums come out the same every time, and the
/// other cores are the simulator's.
extern "C" __attribute__((visibility("default"))) const void *
shardoptAgentModule() {
  static const Module module = [] {
    at::set_num_threads(1);
    return Module{interfaceVersion, "LibTorch " TORCH_VERSION,
                  makeHistoryNetwork, makeEditNetwork};
  }();
  return &module;
}
