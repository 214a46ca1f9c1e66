//===- Encoding.h - Strategies as numbers for a network ---------*- C++ -*-===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef SHARDOPT_SEARCH_AGENT_ENCODING_H
#define SHARDOPT_SEARCH_AGENT_ENCODING_H

#include "shardopt/Search/Agent/Network.h"
#include "shardopt/Search/Bayesian/EditPolicy.h"

#include <array>
#include <vector>

namespace shardopt::agent {

/// The number of values of every variable, in order.
std::vector<uint32_t> choicesOf(const search::StrategySpace &space);

/// Where the values of all variables stand, one variable after the other: the
/// positions, and with the end of the edits behind them the actions, of
/// `EditNetwork`. Of three variables with 2, 3 and 1 values, value 1 of the
/// second is position 3, and 6 is the end.
class ActionLayout {
public:
  explicit ActionLayout(std::vector<uint32_t> choices);

  const std::vector<uint32_t> &choices() const { return counts; }
  size_t numVariables() const { return counts.size(); }
  size_t numPositions() const { return variables.size(); }
  size_t numActions() const { return numPositions() + 1; }
  uint32_t end() const { return uint32_t(numPositions()); }

  uint32_t first(size_t variable) const { return firsts[variable]; }
  uint32_t variableOf(uint32_t position) const { return variables[position]; }
  uint32_t position(const search::Edit &edit) const {
    return firsts[edit.variable] + edit.value;
  }
  search::Edit edit(uint32_t position) const {
    uint32_t variable = variables[position];
    return {variable, position - firsts[variable]};
  }
  /// The position of every variable's present value.
  std::vector<uint32_t> positions(const search::Point &point) const;

private:
  std::vector<uint32_t> counts;    ///< of each variable's values
  std::vector<uint32_t> firsts;    ///< position of each variable's value 0
  std::vector<uint32_t> variables; ///< of each position
};

/// A strategy while it is edited.
struct EditState {
  search::Point point; ///< with the edits so far
  search::Slack slack; ///< of the start
  std::vector<bool> isEdited;

  explicit EditState(const search::EditStart &start)
      : point(start.point), slack(start.slack), isEdited(start.point.size()) {}

  void apply(const search::Edit &edit);
  /// Whether `action` may be taken: a new value for a variable that is not
  /// edited yet, or after the first edit the end.
  bool allows(uint32_t action, const ActionLayout &layout) const;
  bool hasEdits() const { return numEdits > 0; }

private:
  size_t numEdits = 0;
};

/// The elites as a network sees them, best first: positions of their values
/// and, next to them, `EditShape::features` numbers.
struct EliteView {
  std::vector<std::vector<uint32_t>> positions;
  /// Slack of memory and of latency; how far the score is below that of the
  /// best, at most 2, also for invalid ones; rank over the number of elites.
  std::vector<std::array<double, EditShape::features>> features;

  /// At most `limit` elites.
  static EliteView of(const search::NichedArchive &archive, size_t limit,
                      const ActionLayout &layout,
                      const search::Objective &objective);
};

} // namespace shardopt::agent

#endif // SHARDOPT_SEARCH_AGENT_ENCODING_H
