//===- Strategy.cpp - The spelling of reasons -----------------------------===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "shardopt/Model/Strategy.h"

#include <cassert>

using namespace shardopt;

const char *shardopt::spell(Reason reason) {
  switch (reason) {
  case Reason::None:
    return "";
  case Reason::Structural:
    return "structural";
  case Reason::Memory:
    return "memory";
  case Reason::Activations:
    return "activations";
  case Reason::Slo:
    return "slo";
  case Reason::Failed:
    return "failed";
  }
  assert(false && "unknown reason");
  return "";
}
