//===- EditRows.cpp - Trajectories as a batch of decisions ----------------===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "shardopt/Search/Agent/EditRows.h"

namespace shardopt::agent {

template <typename T>
static void append(std::vector<T> &to, const std::vector<T> &from) {
  to.insert(to.end(), from.begin(), from.end());
}

void EditRows::add(const std::vector<search::EditSequence> &trajectory,
                   const std::shared_ptr<const EliteView> &view) {
  uint32_t history = historyOf(view);
  for (const search::EditSequence &sequence : trajectory) {
    EditState state(sequence.start);
    for (const search::Edit &edit : sequence.edits) {
      addDecision(state, layout.position(edit), history);
      state.apply(edit);
    }
    if (sequence.edits.size() < search::EditPolicy::maxEdits)
      addDecision(state, layout.end(), history);
  }
  ++numTrajectories;
}

void EditRows::addDecision(const EditState &state, uint32_t action,
                           uint32_t history) {
  append(positions, layout.positions(state.point));
  edited.insert(edited.end(), state.isEdited.begin(), state.isEdited.end());
  slacks.insert(slacks.end(), {state.slack.memory, state.slack.latency});
  for (uint32_t other = 0; other < layout.numActions(); ++other)
    allowed.push_back(state.allows(other, layout));
  actions.push_back(action);
  histories.push_back(history);
  trajectories.push_back(numTrajectories);
}

uint32_t EditRows::historyOf(const std::shared_ptr<const EliteView> &view) {
  auto [known, isNew] =
      knownHistories.emplace(view.get(), uint32_t(knownHistories.size()));
  if (!isNew)
    return known->second;
  for (size_t i = 0; i < elites; ++i) {
    bool isPresent = i < view->positions.size();
    present.push_back(isPresent);
    if (!isPresent) {
      members.push_back(0);
      features.insert(features.end(), EditShape::features, 0);
      continue;
    }
    auto [elite, isNewElite] =
        knownElites.emplace(view->positions[i], uint32_t(knownElites.size()));
    if (isNewElite)
      append(elitePositions, view->positions[i]);
    members.push_back(elite->second);
    features.insert(features.end(), view->features[i].begin(),
                    view->features[i].end());
  }
  return known->second;
}

EditBatch EditRows::batch() const {
  EditBatch batch;
  batch.positions = positions;
  batch.edited = edited;
  batch.slacks = slacks;
  batch.allowed = allowed;
  batch.actions = actions;
  batch.histories = histories;
  batch.trajectory = trajectories;
  batch.elites = elitePositions;
  batch.members = members;
  batch.present = present;
  batch.features = features;
  return batch;
}

} // namespace shardopt::agent
