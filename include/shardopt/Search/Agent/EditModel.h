//===- EditModel.h - The edit policy, evaluated quickly ---------*- C++ -*-===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef SHARDOPT_SEARCH_AGENT_EDITMODEL_H
#define SHARDOPT_SEARCH_AGENT_EDITMODEL_H

#include "shardopt/Search/Agent/Encoding.h"
#include "shardopt/Support/Error.h"
#include "shardopt/Support/Rng.h"

#include <memory>
#include <string>
#include <vector>

namespace shardopt::agent {

/// The function of an `EditNetwork`, for draws: a search draws some hundred
/// thousand edits, one at a time, which takes microseconds here and would take
/// ten times as long as a graph of tensors. Single precision.
///
/// `load` after every step of the network, `observe` whenever the elites have
/// changed.
class EditModel {
public:
  /// `shape.choices` are those of `layout`.
  EditModel(const ActionLayout &layout, const EditShape &shape);

  /// Takes over the parameters of `network`, which has this shape.
  Failure load(const Network &network);
  void observe(const EliteView &elites);

  /// A state and the sum of its embeddings.
  struct Position {
    EditState state;
    std::vector<float> embedding;
  };
  Position start(const search::EditStart &start) const;
  void apply(Position &position, const search::Edit &edit) const;

  /// The probability of every action, 0 where it is not allowed; none has one
  /// if none is allowed.
  void probabilities(const Position &position, std::vector<float> &result);

private:
  using Table = std::vector<float>; ///< rows of one length, one after the other

  /// Adds the context of `embedding` to `hiddenState`, and what it copies from
  /// the elites to `logits`.
  void attend(const std::vector<float> &embedding);

  const ActionLayout &layout;
  const size_t hidden, ordered;
  const bool attends;

  // Parameters, under the names of the network's blocks.
  Table bias, values, edited, slack, outWeight, outBias;
  Table keyValues, keyFeatures, contextValues, contextFeatures, copyGain;

  std::vector<uint32_t> stepBase; ///< as the network's, of ordered variables
  EliteView view;
  Table contexts; ///< a row an elite in view
  Table keys;     ///< a column an elite: all dot products in one sweep

  // Of one evaluation; members, because it is so short that the heap would
  // take as long.
  std::vector<float> hiddenState, logits, attention;
};

} // namespace shardopt::agent

#endif // SHARDOPT_SEARCH_AGENT_EDITMODEL_H
