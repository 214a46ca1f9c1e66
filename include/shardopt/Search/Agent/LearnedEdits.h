//===- LearnedEdits.h - The edit policy of searcher=ppo ---------*- C++ -*-===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef SHARDOPT_SEARCH_AGENT_LEARNEDEDITS_H
#define SHARDOPT_SEARCH_AGENT_LEARNEDEDITS_H

#include "shardopt/Search/Agent/EditModel.h"
#include "shardopt/Search/Bayesian/EditPolicy.h"
#include "shardopt/Support/Constants.h"

#include <deque>
#include <memory>
#include <optional>
#include <vector>

namespace shardopt::agent {

struct EditConstants {
  int64_t hidden = 64;
  bool attention = true;
  int64_t group = 16;
  int64_t epochs = 4;
  double learningRate = 3e-3;
  EditWeights weights;
  int64_t imitated = 16;
  int64_t remembered = 64;
  double leastDeviation = 0.05;
  double maxGradNorm = 0.5;
  double adamEpsilon = 1e-5;

  /// Adds them to `table`, which must not outlive them.
  void addTo(ConstantTable &table);
  /// Of a network that sees `elites` elites, and steps of the first `ordered`
  /// variables; `choices` outlives it.
  EditShape shape(const std::vector<uint32_t> &choices, size_t ordered,
                  size_t elites) const;
};

/// The rewards of a group, less their mean and over their deviation, or over
/// `leastDeviation` if that is more: a group that learned nothing stays quiet.
std::vector<double> groupAdvantages(Span<const double> rewards,
                                    double leastDeviation);

/// A policy over edits that learns which ones improve elites.
///
/// After every `group` evaluated proposals it makes `epochs` steps on all of
/// them: PPO over whole trajectories, whose advantages are the rewards within
/// the group; imitation of trajectories that improved on their parent, drawn
/// from the last `remembered` ones; an entropy bonus. There is no value
/// function. With a learning rate of 0 it stays as it was drawn, almost
/// uniform.
class LearnedEdits final : public search::EditPolicy {
public:
  /// Sees at most `elites` elites. The space outlives the policy.
  LearnedEdits(const search::StrategySpace &space,
               const search::Objective &objective,
               const EditConstants &constants, size_t elites, uint64_t seed,
               std::unique_ptr<EditNetwork> network);

  std::vector<search::EditSequence>
  draw(const std::vector<search::EditStart> &starts,
       const search::NichedArchive &archive, Rng &rng) override;
  void learn(const search::EditOutcome &outcome,
             const search::NichedArchive &archive) override;

  /// Forgets the trajectories it was told of, and what the optimiser knows, but
  /// not what it learned: for another simulator.
  void forgetTrajectories();

  EditNetwork &network() { return *net; }
  /// After the parameters of the network were written.
  void reload();

  /// Why the network cannot go on. Edits are then drawn from what it last was.
  const std::optional<Error> &failure() const { return error; }
  uint64_t updates() const { return numUpdates; }

private:
  /// A trajectory and the elites that it was drawn from.
  struct Experience {
    std::vector<search::EditSequence> trajectory;
    std::shared_ptr<const EliteView> elites;
    double reward;
  };

  void look(const search::NichedArchive &archive);
  search::EditSequence drawOne(const EditModel::Position &start,
                               const std::vector<float> &first, Rng &rng);
  void update();
  void check(Failure problem);

  const search::Objective objective;
  const EditConstants constants;
  const size_t elites;
  const ActionLayout layout;
  std::unique_ptr<EditNetwork> net;
  EditModel model;
  Rng rng; ///< which trajectories are imitated

  /// What the model observes, and the strategies that it was made of.
  std::shared_ptr<const EliteView> view;
  std::vector<search::Point> viewed;

  std::vector<Experience> group;
  std::deque<Experience> successes;
  uint64_t numUpdates = 0;
  std::optional<Error> error;
};

} // namespace shardopt::agent

#endif // SHARDOPT_SEARCH_AGENT_LEARNEDEDITS_H
