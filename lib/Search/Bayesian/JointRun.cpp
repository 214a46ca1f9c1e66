//===- JointRun.cpp - Degrees and dims searched together ------------------===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "JointRun.h"
#include "JointProposals.h"
#include "shardopt/Search/Bayesian/Critic.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <utility>

namespace shardopt::search {

namespace {

class JointRun final : public SearchRun {
public:
  explicit JointRun(const RunParts &parts);

  ProposalQueue &proposalQueue() override { return queue; }
  void propose() override;
  void learn(const Proposal &proposal, const Evaluation &evaluation) override;
  uint64_t refused() const override { return admission.refused(); }

private:
  void begin(const std::vector<Plan> &plans);
  bool enqueueLayout();

  const SearcherContext &context;
  const StrategySpace &space;
  const ScreenedConstants &constants;
  Rng &rng;
  JointCritic critic;
  Admission admission;
  Niches niches;
  NichedArchive archive; ///< what the policy sees
  JointProposals proposals;

  // What screens the rest of each round.
  UniformEdits edits;
  LearnedCritic ridge;
  ScreenedProposals screened;
  ProposalQueue queue;
};

} // namespace

JointRun::JointRun(const RunParts &parts)
    : context(parts.context), space(*parts.context.space),
      constants(parts.constants), rng(parts.rng),
      critic(space, parts.context.objective),
      admission(space, parts.context.isHopeless), niches(space, rng),
      archive(constants.elites, space.firstDim(), parts.context.objective),
      proposals(space, parts.context.objective, constants, parts.policy, critic,
                niches, admission, rng),
      edits(space), ridge(space, parts.context.objective,
                          /*freeModel=*/nullptr, size_t(constants.round)),
      screened(space, parts.context.objective, constants, edits, &ridge,
               admission, rng),
      queue(space, admission, screened) {
  begin(parts.firstPlans);
}

/// What `plans` are evaluated first, and what else is drawn.
void JointRun::begin(const std::vector<Plan> &plans) {
  for (const Plan &plan : plans)
    queue.add({*space.pointOf(plan.strategy), std::nullopt});
  int64_t drawn = plans.empty() ? constants.initial : constants.warmInitial;
  for (int64_t i = 0; (i < drawn || queue.empty()) && !context.isStopped(); ++i)
    if (i % 2 == 0 ? !queue.addUniform(rng) : !enqueueLayout())
      break;
}

/// Uniform degrees with dims in runs or a known layout; uniform dims where that
/// is refused.
bool JointRun::enqueueLayout() {
  Point point = space.sample(rng);
  DimIndices dims = proposals.drawLayout();
  std::copy(dims.begin(), dims.end(), point.begin() + space.firstDim());
  if (!admission.admit(point))
    return queue.addUniform(rng);
  queue.add({std::move(point), std::nullopt});
  return true;
}

void JointRun::learn(const Proposal &proposal, const Evaluation &evaluation) {
  archive.tell(proposal.point, evaluation);
  niches.tell(proposal.point, evaluation,
              critic.scoreOf(proposal.point, evaluation));
  critic.tell(proposal.point, evaluation);
  ridge.tell(proposal.point, evaluation);
}

/// Nothing more after a stop: a round takes a tenth of a second.
void JointRun::propose() {
  std::vector<Point> points = queue.pendingPoints();
  critic.fit(points);
  size_t numScreened =
      size_t(std::lround(constants.screened * double(constants.round)));
  for (Proposal &proposal :
       proposals.round(size_t(constants.round) - numScreened, archive))
    queue.add(std::move(proposal));
  for (size_t i = 0;
       i < numScreened && !archive.elites().empty() && !context.isStopped();
       ++i)
    if (std::optional<Proposal> proposal = screened.draw(archive, points))
      queue.add(std::move(*proposal));
  if (queue.empty() && !context.isStopped())
    queue.addUniform(rng);
}

std::unique_ptr<SearchRun> makeJointRun(const RunParts &parts) {
  return std::make_unique<JointRun>(parts);
}

} // namespace shardopt::search
