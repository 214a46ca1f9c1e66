//===- EditRows.h - Trajectories as a batch of decisions --------*- C++ -*-===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef SHARDOPT_SEARCH_AGENT_EDITROWS_H
#define SHARDOPT_SEARCH_AGENT_EDITROWS_H

#include "shardopt/Search/Agent/Encoding.h"

#include <map>
#include <memory>
#include <vector>

namespace shardopt::agent {

/// Collects the arrays of an `EditBatch`. Elites that several histories hold
/// are stored once.
class EditRows {
public:
  /// Histories have `elites` places.
  EditRows(const ActionLayout &layout, size_t elites)
      : layout(layout), elites(elites) {}

  /// Adds the decisions of a trajectory: every edit of every sequence, and the
  /// end of a sequence that could have gone on.
  void add(const std::vector<search::EditSequence> &trajectory,
           const std::shared_ptr<const EliteView> &view);

  /// Views of the arrays, good until the next change of this object; without
  /// what concerns the group.
  EditBatch batch() const;

private:
  void addDecision(const EditState &state, uint32_t action, uint32_t history);
  uint32_t historyOf(const std::shared_ptr<const EliteView> &view);

  const ActionLayout &layout;
  const size_t elites;

  std::vector<uint32_t> positions, actions, histories, trajectories;
  std::vector<double> edited, slacks, allowed;
  uint32_t numTrajectories = 0;

  std::map<const EliteView *, uint32_t> knownHistories;
  std::map<std::vector<uint32_t>, uint32_t> knownElites;
  std::vector<uint32_t> elitePositions, members;
  std::vector<double> present, features;
};

} // namespace shardopt::agent

#endif // SHARDOPT_SEARCH_AGENT_EDITROWS_H
