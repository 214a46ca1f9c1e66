//===- EditPolicy.cpp - What proposes edits of a strategy -----------------===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "shardopt/Search/Bayesian/EditPolicy.h"

#include <algorithm>
#include <cassert>

namespace shardopt::search {

EditPolicy::~EditPolicy() = default;

Point EditSequence::result() const {
  Point point = start.point;
  for (const Edit &edit : edits)
    point[edit.variable] = edit.value;
  return point;
}

/// The `index`-th of the edits that are left: of a variable in `free`, to a
/// value other than that of `point`.
static Edit editAt(uint64_t index, const std::vector<uint32_t> &free,
                   const Point &point, const StrategySpace &space) {
  for (uint32_t variable : free) {
    uint64_t others = space.domainSize(variable) - 1;
    if (index >= others) {
      index -= others;
      continue;
    }
    uint32_t value = uint32_t(index);
    return {variable, value < point[variable] ? value : value + 1};
  }
  assert(false && "fewer edits are left");
  return {};
}

static EditSequence drawOne(const EditStart &start, const StrategySpace &space,
                            Rng &rng) {
  EditSequence sequence{start, {}};
  std::vector<uint32_t> free; // variables that can still be edited
  uint64_t choices = 0;       // edits of them
  for (uint32_t i = 0; i < space.numVariables(); ++i)
    if (space.domainSize(i) > 1) {
      free.push_back(i);
      choices += space.domainSize(i) - 1;
    }
  while (choices > 0 && sequence.edits.size() < EditPolicy::maxEdits) {
    bool mayEnd = !sequence.edits.empty();
    uint64_t choice = rng.below(choices + (mayEnd ? 1 : 0));
    if (choice == choices)
      break;
    Edit edit = editAt(choice, free, start.point, space);
    sequence.edits.push_back(edit);
    free.erase(std::find(free.begin(), free.end(), edit.variable));
    choices -= space.domainSize(edit.variable) - 1;
  }
  return sequence;
}

std::vector<EditSequence>
UniformEdits::draw(const std::vector<EditStart> &starts,
                   const NichedArchive &archive, Rng &rng) {
  std::vector<EditSequence> sequences;
  sequences.reserve(starts.size());
  for (const EditStart &start : starts)
    sequences.push_back(drawOne(start, space, rng));
  return sequences;
}

} // namespace shardopt::search
