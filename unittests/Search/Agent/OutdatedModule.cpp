//===- OutdatedModule.cpp - A module of another version -------------------===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "shardopt/Search/Agent/Network.h"

using namespace shardopt::agent;

extern "C" const void *shardoptAgentModule() {
  static const Module module{interfaceVersion + 1000, "another", nullptr,
                             nullptr};
  return &module;
}

extern "C" const void *shardoptResearchSearchers() {
  static const uint32_t version = 7;
  return &version;
}
