//===- TableCache.h - Cost tables by degrees --------------------*- C++ -*-===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef SHARDOPT_PLANNING_TABLECACHE_H
#define SHARDOPT_PLANNING_TABLECACHE_H

#include "shardopt/Cost/Tables/Tables.h"

#include <memory>
#include <mutex>
#include <unordered_map>

namespace shardopt {

/// The tables of the degrees that were asked for, built once and kept while
/// there is room. Safe to use from several threads. Refers to `costs`, which
/// must outlive it.
class TableCache {
public:
  explicit TableCache(const cost::CostModel &costs) : costs(costs) {}

  /// `shared` is what to build them with, and may be null.
  std::shared_ptr<const cost::Tables>
  get(const Degrees &degrees, cost::SharedCosts *shared = nullptr) const;

private:
  struct Hash {
    size_t operator()(const Degrees &degrees) const;
  };

  const cost::CostModel &costs;
  mutable std::mutex mutex; ///< guards what follows
  mutable std::unordered_map<Degrees, std::shared_ptr<const cost::Tables>, Hash>
      tables;
  mutable size_t keptBytes = 0; ///< about
};

} // namespace shardopt

#endif // SHARDOPT_PLANNING_TABLECACHE_H
