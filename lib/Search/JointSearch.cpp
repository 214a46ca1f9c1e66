//===- JointSearch.cpp - Degrees and dims searched together ---------------===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "JointSearch.h"
#include "JointProposals.h"
#include "ProposalQueue.h"
#include "shardopt/Search/Critic.h"

#include <algorithm>
#include <cmath>

namespace shardopt::search {

namespace {

class JointSearch final : public Searcher {
public:
  JointSearch(const SearcherContext &context,
              const ScreenedConstants &constants,
              std::unique_ptr<EditPolicy> policy,
              const std::vector<Plan> &firstPlans);

  std::vector<Strategy> ask(size_t n) override;
  void tell(const std::vector<Strategy> &strategies,
            const std::vector<Evaluation> &evaluations) override;
  bool done() const override { return queue.done(); }
  uint64_t rejected() const override { return admission.refused(); }

private:
  bool enqueueRuns();
  void propose();
  void learn(Proposal proposal, const Evaluation &evaluation);

  const SearcherContext context;
  const StrategySpace &space;
  const ScreenedConstants constants;
  Rng rng;
  const std::unique_ptr<EditPolicy> policy; ///< may be null
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

JointSearch::JointSearch(const SearcherContext &context,
                         const ScreenedConstants &constants,
                         std::unique_ptr<EditPolicy> policy,
                         const std::vector<Plan> &firstPlans)
    : context(context), space(*this->context.space), constants(constants),
      rng(context.seed), policy(std::move(policy)),
      critic(space, context.objective), admission(space, context.isHopeless),
      niches(space, rng),
      archive(constants.elites, space.firstDim(), context.objective),
      proposals(space, context.objective, constants, this->policy.get(), critic,
                niches, admission, rng),
      edits(space), ridge(space, context.objective, /*freeModel=*/nullptr,
                          size_t(constants.round)),
      screened(space, context.objective, constants, edits, &ridge, admission,
               rng),
      queue(space, admission, screened) {
  for (const Plan &plan : firstPlans)
    queue.add({*space.pointOf(plan.strategy), std::nullopt});
  const int64_t drawn =
      firstPlans.empty() ? constants.initial : constants.warmInitial;
  for (int64_t i = 0; i < drawn || queue.empty(); ++i)
    if (i % 2 == 0 ? !queue.addUniform(rng) : !enqueueRuns())
      break;
}

/// Uniform degrees with dims in runs; uniform dims where that is refused.
bool JointSearch::enqueueRuns() {
  Point point = space.sample(rng);
  const DimIndices dims = drawRuns(critic.pairs(), rng);
  std::copy(dims.begin(), dims.end(), point.begin() + space.firstDim());
  if (!admission.admit(point))
    return queue.addUniform(rng);
  queue.add({std::move(point), std::nullopt});
  return true;
}

std::vector<Strategy> JointSearch::ask(size_t n) {
  if (queue.wantsProposals())
    propose();
  return queue.ask(n);
}

void JointSearch::tell(const std::vector<Strategy> &strategies,
                       const std::vector<Evaluation> &evaluations) {
  queue.tell(strategies, evaluations,
             [&](Proposal proposal, const Evaluation &evaluation) {
               learn(std::move(proposal), evaluation);
             });
}

void JointSearch::learn(Proposal proposal, const Evaluation &evaluation) {
  if (policy && proposal.origin)
    policy->learn(outcomeOf(*proposal.origin, evaluation, context.objective),
                  proposal.origin->archive);
  archive.tell(proposal.point, evaluation);
  niches.tell(proposal.point, evaluation,
              critic.scoreOf(proposal.point, evaluation));
  critic.tell(proposal.point, evaluation);
  ridge.tell(proposal.point, evaluation);
}

void JointSearch::propose() {
  const std::vector<Point> points = queue.pendingPoints();
  critic.fit(points);
  const size_t numScreened =
      size_t(std::lround(constants.screened * double(constants.round)));
  for (Proposal &proposal :
       proposals.round(size_t(constants.round) - numScreened, archive))
    queue.add(std::move(proposal));
  for (size_t i = 0; i < numScreened && !archive.elites().empty(); ++i)
    if (std::optional<Proposal> proposal = screened.draw(archive, points))
      queue.add(std::move(*proposal));
  if (queue.empty())
    queue.addUniform(rng);
}

std::unique_ptr<Searcher> makeJointSearch(const SearcherContext &context,
                                          const ScreenedConstants &constants,
                                          std::unique_ptr<EditPolicy> policy,
                                          const std::vector<Plan> &firstPlans) {
  return std::make_unique<JointSearch>(context, constants, std::move(policy),
                                       firstPlans);
}

} // namespace shardopt::search
