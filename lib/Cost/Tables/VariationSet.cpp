//===- VariationSet.cpp - What layers of other kinds cost more ------------===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "VariationSet.h"

#include <algorithm>
#include <cassert>

using namespace shardopt;
using namespace shardopt::cost;

uint16_t VariationSet::add(const std::vector<Variation> &wanted) {
  auto same = [](const Variation &a, const Variation &b) {
    return a.seconds == b.seconds && a.bytes == b.bytes;
  };
  for (size_t i = 1; i < list.size(); ++i)
    if (std::equal(list[i].begin(), list[i].end(), wanted.begin(), same))
      return uint16_t(i);
  list.push_back(wanted);
  assert(list.size() <= UINT16_MAX && "too many variations");
  return uint16_t(list.size() - 1);
}

uint16_t VariationSet::sum(uint16_t a, uint16_t b) {
  if (!a || !b)
    return a | b;
  std::vector<Variation> both = list[a];
  for (size_t kind = 0; kind < both.size(); ++kind) {
    both[kind].seconds += list[b][kind].seconds;
    both[kind].bytes += list[b][kind].bytes;
  }
  return add(both);
}
