//===- LearnedEdits.cpp - The edit policy of searcher=ppo -----------------===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "shardopt/Search/Agent/LearnedEdits.h"
#include "shardopt/Search/Agent/EditRows.h"

#include <algorithm>
#include <cmath>
#include <map>

namespace shardopt::agent {

using namespace search;

void EditConstants::addTo(ConstantTable &table) {
  table.integer("hidden", hidden, 1, 4096, "H: hidden units of the policy.");
  table.flag("attention", attention,
             "Whether the policy attends to the archive; else it sees the "
             "strategy that it edits and nothing more.");
  table.integer("group", group, 2, 10000,
                "Proposals evaluated between two updates.");
  table.integer("epochs", epochs, 1, 1000,
                "Gradient steps of an update, each on the whole group.");
  table.real("learning-rate", learningRate, 0, 1,
             "Of Adam; 0 leaves the policy untrained.");
  table.real("clip", weights.clip, 1e-6, 1,
             "PPO's clip range, of the ratio of a whole trajectory.");
  table.real("imitation", weights.imitation, 0, 1e6,
             "Weight of the imitation of edits that improved their parent.");
  table.real("entropy", weights.entropy, 0, 1e6,
             "Weight of the entropy bonus.");
  table.integer("imitated", imitated, 0, 10000,
                "Successful trajectories in the loss, drawn from those "
                "remembered.");
  table.integer("remembered", remembered, 1, 100000,
                "Successful trajectories remembered, the last ones.");
  table.real("least-deviation", leastDeviation, 1e-9, 1e6,
             "Advantages are divided by the deviation of the rewards of a "
             "group, or by this if it is more.");
  table.real("max-grad-norm", maxGradNorm, 1e-9, 1e9,
             "Longer gradients are scaled down to this norm.");
  table.real("adam-epsilon", adamEpsilon, 0, 1,
             "Term that keeps Adam's denominator from vanishing.");
}

EditShape EditConstants::shape(const std::vector<uint32_t> &choices,
                               size_t ordered, size_t elites) const {
  EditShape shape;
  shape.choices = choices;
  shape.ordered = ordered;
  shape.hidden = hidden;
  shape.elites = attention ? elites : 0;
  shape.adamEpsilon = adamEpsilon;
  return shape;
}

std::vector<double> groupAdvantages(Span<const double> rewards,
                                    double leastDeviation) {
  double mean = 0, squares = 0;
  for (double reward : rewards)
    mean += reward / rewards.size();
  for (double reward : rewards)
    squares += (reward - mean) * (reward - mean) / rewards.size();
  double deviation = std::max(leastDeviation, std::sqrt(squares));
  std::vector<double> advantages;
  for (double reward : rewards)
    advantages.push_back((reward - mean) / deviation);
  return advantages;
}

LearnedEdits::LearnedEdits(const StrategySpace &space,
                           const Objective &objective,
                           const EditConstants &constants, size_t elites,
                           uint64_t seed, std::unique_ptr<EditNetwork> network)
    : objective(objective), constants(constants), elites(elites),
      layout(choicesOf(space)), net(std::move(network)),
      model(layout,
            constants.shape(layout.choices(), space.firstDim(), elites)),
      rng(seed) {
  check(net->reset(rng.below(uint64_t(1) << 63)));
  reload();
}

void LearnedEdits::check(Failure problem) {
  if (problem && !error)
    error = Error{"searcher 'ppo': " + std::string(problem)};
}

void LearnedEdits::reload() {
  check(model.load(*net));
  viewed.clear(); // embeddings of the elites are of the old parameters
}

void LearnedEdits::forgetTrajectories() {
  group.clear();
  successes.clear();
}

/// Observes the elites if they are others than before.
void LearnedEdits::look(const NichedArchive &archive) {
  const auto &now = archive.elites();
  bool isSame =
      viewed.size() == now.size() &&
      std::equal(now.begin(), now.end(), viewed.begin(),
                 [](const NichedArchive::Elite &elite, const Point &point) {
                   return elite.point == point;
                 });
  if (isSame)
    return;
  viewed.clear();
  for (const NichedArchive::Elite &elite : now)
    viewed.push_back(elite.point);
  view = std::make_shared<EliteView>(
      EliteView::of(archive, elites, layout, objective));
  model.observe(*view);
}

//===----------------------------------------------------------------------===//
// Draws
//===----------------------------------------------------------------------===//

/// An index drawn with its probability; none if none has any.
static std::optional<uint32_t>
drawIndex(const std::vector<float> &probabilities, Rng &rng) {
  double left = rng.real();
  std::optional<uint32_t> last;
  for (uint32_t i = 0; i < probabilities.size() && left >= 0; ++i)
    if (probabilities[i] > 0) {
      last = i;
      left -= probabilities[i];
    }
  return last;
}

/// `first` has the probabilities at the start.
EditSequence LearnedEdits::drawOne(const EditModel::Position &start,
                                   const std::vector<float> &first, Rng &rng) {
  EditSequence sequence{{start.state.point, start.state.slack}, {}};
  EditModel::Position position = start;
  std::vector<float> probabilities = first;
  while (true) {
    std::optional<uint32_t> action = drawIndex(probabilities, rng);
    if (!action || *action == layout.end())
      return sequence;
    Edit edit = layout.edit(*action);
    sequence.edits.push_back(edit);
    if (sequence.edits.size() == maxEdits)
      return sequence;
    model.apply(position, edit);
    model.probabilities(position, probabilities);
  }
}

/// Many starts are the same; their first distribution is computed once.
std::vector<EditSequence>
LearnedEdits::draw(const std::vector<EditStart> &starts,
                   const NichedArchive &archive, Rng &rng) {
  look(archive);
  std::map<Point, std::pair<EditModel::Position, std::vector<float>>> known;
  std::vector<EditSequence> sequences;
  sequences.reserve(starts.size());
  for (const EditStart &start : starts) {
    auto found = known.find(start.point);
    if (found == known.end()) {
      EditModel::Position position = model.start(start);
      std::vector<float> first;
      model.probabilities(position, first);
      found = known
                  .emplace(start.point,
                           std::pair(std::move(position), std::move(first)))
                  .first;
    }
    const auto &[position, first] = found->second;
    sequences.push_back(drawOne(position, first, rng));
  }
  return sequences;
}

//===----------------------------------------------------------------------===//
// Updates
//===----------------------------------------------------------------------===//

void LearnedEdits::learn(const EditOutcome &outcome,
                         const NichedArchive &archive) {
  if (constants.learningRate == 0 || error)
    return;
  look(archive);
  group.push_back({outcome.trajectory, view, outcome.reward});
  if (outcome.improved) {
    successes.push_back(group.back());
    if (successes.size() > size_t(constants.remembered))
      successes.pop_front();
  }
  if (group.size() == size_t(constants.group))
    update();
}

void LearnedEdits::update() {
  EditRows rows(layout, elites);
  std::vector<double> rewards;
  for (const Experience &experience : group) {
    rows.add(experience.trajectory, experience.elites);
    rewards.push_back(experience.reward);
  }
  size_t imitated = successes.empty() ? 0 : constants.imitated;
  for (size_t i = 0; i < imitated; ++i) {
    const Experience &success = successes[rng.below(successes.size())];
    rows.add(success.trajectory, success.elites);
  }
  std::vector<double> advantages =
      groupAdvantages(rewards, constants.leastDeviation);
  std::vector<double> logProbs(group.size());
  EditBatch batch = rows.batch();
  batch.advantages = advantages;
  batch.imitated = imitated;
  check(net->evaluate(batch, logProbs));
  batch.logProbs = logProbs;
  EditLoss loss;
  for (int64_t epoch = 0; epoch < constants.epochs && !error; ++epoch) {
    check(net->computeLoss(batch, constants.weights, loss));
    check(net->step(constants.learningRate, constants.maxGradNorm));
  }
  group.clear();
  ++numUpdates;
  reload();
}

} // namespace shardopt::agent
