//===- DegreeMask.cpp - Degrees that cannot be feasible -------------------===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "shardopt/Search/DegreeMask.h"

namespace shardopt::search {

bool DegreeMask::isHopeless(const Degrees &degrees) const {
  {
    std::lock_guard lock(mutex);
    if (auto it = known.find(degrees); it != known.end())
      return it->second;
  }
  // Two threads may both get here; they find the same.
  Reason reason = decomposition.bound(degrees, domains, goal).infeasible;
  bool isHopeless = reason == Reason::Structural || reason == Reason::Memory ||
                    reason == Reason::Activations;
  std::lock_guard lock(mutex);
  return known.emplace(degrees, isHopeless).first->second;
}

} // namespace shardopt::search
