//===- Enumeration.h - The best dims, one after the other -------*- C++ -*-===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef SHARDOPT_UNITTESTS_SEARCH_DIMS_ENUMERATION_H
#define SHARDOPT_UNITTESTS_SEARCH_DIMS_ENUMERATION_H

#include "TestModels.h"
#include "shardopt/Cost/Tables/Evaluate.h"
#include "shardopt/Search/Dims/OptimalDims.h"

#include <optional>
#include <random>
#include <vector>

namespace shardopt::cost::test {

inline constexpr DimSet commonDims = 0b111; // but `dimBoth`

/// Calls `visit` with all dims in `domains`, in lexicographic order.
template <typename Visit>
void forEachDims(const std::vector<DimSet> &domains, Visit visit) {
  std::vector<Dim> dims(domains.size());
  auto choose = [&](auto &self, size_t variable) -> void {
    if (variable == dims.size())
      return visit(dims);
    for (Dim dim : {Dim::Zero, Dim::One, Dim::None, dimBoth}) {
      dims[variable] = dim;
      if (contains(domains[variable], dim))
        self(self, variable + 1);
    }
  };
  choose(choose, 0);
}

/// The first of the best strategies in lexicographic order.
inline std::optional<Optimum>
enumerate(const Tables &tables, const std::vector<DimSet> &domains, Goal goal) {
  std::optional<Optimum> best;
  forEachDims(domains, [&](const std::vector<Dim> &dims) {
    Evaluation found = evaluate(tables, dims);
    if (!found.valid)
      return;
    bool better = !best || (goal == Goal::Throughput
                                ? found.throughput > best->evaluation.throughput
                                : found.latencyMs < best->evaluation.latencyMs);
    if (better)
      best = Optimum{dims, found};
  });
  return best;
}

/// All dims for `free` ops, one of them for the others.
inline std::vector<DimSet> randomDomains(size_t size, size_t free,
                                         std::mt19937 &random) {
  std::vector<DimSet> domains;
  for (size_t i = 0; i < size; ++i)
    domains.push_back(only(static_cast<Dim>(random() % 3)));
  for (size_t i = 0; i < free; ++i)
    domains[random() % size] = commonDims;
  return domains;
}

} // namespace shardopt::cost::test

#endif // SHARDOPT_UNITTESTS_SEARCH_DIMS_ENUMERATION_H
