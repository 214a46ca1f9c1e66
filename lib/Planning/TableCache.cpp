//===- TableCache.cpp - Cost tables by degrees ----------------------------===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "shardopt/Planning/TableCache.h"
#include "shardopt/Support/Hash.h"

using namespace shardopt;

/// What a cache may hold, about.
static constexpr size_t maxKeptBytes = size_t(512) << 20;

/// The greater part of the memory of `tables`.
static size_t sizeInBytes(const cost::Tables &tables) {
  size_t bytes = sizeof(cost::Tables);
  if (tables.isStructurallyInvalid())
    return bytes;
  for (size_t body = 0; body < tables.costs().model().bodies.size(); ++body) {
    const cost::Trellis &trellis = tables.trellis(body);
    bytes += trellis.edges.size() * sizeof(cost::Edge) +
             trellis.liveBytes.size() * sizeof(double) +
             trellis.exits.size() * sizeof(cost::Trellis::Exit) +
             trellis.steps.size() * sizeof(cost::Trellis::Step);
    for (const cost::Trellis::Exit &exit : trellis.exits)
      bytes += exit.variations.size() * sizeof(cost::Variation);
  }
  return bytes;
}

size_t TableCache::Hash::operator()(const Degrees &degrees) const {
  WordHash hash;
  for (Degree degree : allDegrees)
    hash.add(uint64_t(degrees[degree]));
  for (int64_t layers : degrees.stages.layers)
    hash.add(uint64_t(layers));
  return hash.value();
}

std::shared_ptr<const cost::Tables>
TableCache::get(const Degrees &degrees, cost::SharedCosts *shared) const {
  {
    std::lock_guard<std::mutex> lock(mutex);
    auto known = tables.find(degrees);
    if (known != tables.end())
      return known->second;
  }
  // Built outside of the lock; two threads that build the same tables at once
  // build equal ones.
  auto built = std::make_shared<const cost::Tables>(
      costs, cost::TableRequest{degrees, std::nullopt, {}, shared});
  size_t bytes = sizeInBytes(*built);
  std::lock_guard<std::mutex> lock(mutex);
  if (keptBytes + bytes > maxKeptBytes) {
    tables.clear();
    keptBytes = 0;
  }
  if (tables.emplace(degrees, built).second)
    keptBytes += bytes;
  return built;
}
