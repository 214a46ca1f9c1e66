//===- Encoding.cpp - Strategies as numbers for a network -----------------===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "shardopt/Search/Agent/Encoding.h"
#include "shardopt/Search/Bayesian/TargetEncoder.h"

#include <algorithm>
#include <cassert>

namespace shardopt::agent {

std::vector<uint32_t> choicesOf(const search::StrategySpace &space) {
  std::vector<uint32_t> choices;
  for (size_t i = 0; i < space.numVariables(); ++i)
    choices.push_back(uint32_t(space.domainSize(i)));
  return choices;
}

ActionLayout::ActionLayout(std::vector<uint32_t> choices)
    : counts(std::move(choices)) {
  for (size_t j = 0; j < counts.size(); ++j) {
    firsts.push_back(uint32_t(variables.size()));
    variables.insert(variables.end(), counts[j], uint32_t(j));
  }
}

std::vector<uint32_t>
ActionLayout::positions(const search::Point &point) const {
  assert(point.size() == numVariables() && "one value a variable");
  std::vector<uint32_t> result(firsts);
  for (size_t j = 0; j < point.size(); ++j)
    result[j] += point[j];
  return result;
}

void EditState::apply(const search::Edit &edit) {
  point[edit.variable] = edit.value;
  isEdited[edit.variable] = true;
  ++numEdits;
}

bool EditState::allows(uint32_t action, const ActionLayout &layout) const {
  if (action == layout.end())
    return hasEdits();
  search::Edit edit = layout.edit(action);
  return !isEdited[edit.variable] && point[edit.variable] != edit.value;
}

EliteView EliteView::of(const search::NichedArchive &archive, size_t limit,
                        const ActionLayout &layout,
                        const search::Objective &objective) {
  constexpr double mostBehind = 2;
  const auto &elites = archive.elites();
  size_t count = std::min(limit, elites.size());
  EliteView view;
  for (size_t i = 0; i < count; ++i) {
    const Evaluation &best = elites.front().evaluation;
    const Evaluation &evaluation = elites[i].evaluation;
    double behind = mostBehind;
    if (evaluation.valid)
      behind =
          std::min(behind, objective.score(best) - objective.score(evaluation));
    search::Slack slack = search::slackOf(evaluation, objective);
    view.positions.push_back(layout.positions(elites[i].point));
    view.features.push_back(
        {slack.memory, slack.latency, behind, double(i) / limit});
  }
  return view;
}

} // namespace shardopt::agent
