//===- LayerIndex.cpp - Layers of a model, counted by kind ----------------===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "shardopt/Model/LayerIndex.h"

#include <algorithm>
#include <cassert>

using namespace shardopt;
using namespace shardopt::cost;

/// The index of `wanted` in `list`, to which it is added if it is new.
template <typename T, typename Equal>
static unsigned intern(std::vector<T> &list, const T &wanted, Equal equal) {
  for (size_t i = 0; i < list.size(); ++i)
    if (equal(list[i], wanted))
      return unsigned(i);
  list.push_back(wanted);
  return unsigned(list.size() - 1);
}

/// counts[i][c]: how many of the first i members of `classes` are c.
static std::vector<std::vector<int64_t>>
countBefore(const std::vector<unsigned> &classes, size_t numClasses) {
  std::vector<std::vector<int64_t>> counts(1, std::vector<int64_t>(numClasses));
  for (unsigned c : classes) {
    counts.push_back(counts.back());
    ++counts.back()[c];
  }
  return counts;
}

LayerIndex::LayerIndex(const Model &model) {
  for (const Segment &segment : model.segments)
    for (int64_t window : segment.windows)
      kindOf.push_back(intern(kindList, LayerKind{segment.body, window},
                              [](const LayerKind &a, const LayerKind &b) {
                                return a.body == b.body && a.window == b.window;
                              }));
  assert(!kindOf.empty() && "a model has layers");

  std::vector<unsigned> transitionOf;
  for (size_t i = 0; i + 1 < kindOf.size(); ++i)
    transitionOf.push_back(intern(
        transitionList,
        Transition{kindList[kindOf[i]].body, kindList[kindOf[i + 1]].body},
        [](const Transition &a, const Transition &b) {
          return a.body == b.body && a.next == b.next;
        }));
  kindsBefore = countBefore(kindOf, kindList.size());
  transitionsBefore = countBefore(transitionOf, transitionList.size());
  transitionsBefore.push_back(transitionsBefore.back()); // the last has none
}

std::vector<Stage> LayerIndex::stages(const Degrees &degrees) const {
  auto difference = [](const std::vector<int64_t> &end,
                       const std::vector<int64_t> &begin) {
    std::vector<int64_t> counts(end.size());
    for (size_t i = 0; i < end.size(); ++i)
      counts[i] = end[i] - begin[i];
    return counts;
  };

  std::vector<Stage> stages;
  for (int64_t s = 0; s < degrees.pp; ++s) {
    int64_t begin = firstLayer(s, degrees);
    int64_t end = firstLayer(s + 1, degrees);
    Stage stage;
    stage.isFirst = s == 0;
    stage.isLast = s == degrees.pp - 1;
    stage.kinds = difference(kindsBefore[end], kindsBefore[begin]);
    stage.transitions =
        difference(transitionsBefore[end], transitionsBefore[begin]);
    if (!stage.isLast)
      stage.nextBody = kindOfLayer(end).body;

    if (s > 1 && !stage.isLast) {
      Stage &last = stages.back();
      if (last.kinds == stage.kinds && last.transitions == stage.transitions &&
          last.nextBody == stage.nextBody) {
        ++last.repeats;
        continue;
      }
    }
    stages.push_back(std::move(stage));
  }
  return stages;
}
