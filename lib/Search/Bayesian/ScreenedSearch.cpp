//===- ScreenedSearch.cpp - Edit elites, call what a critic likes best ----===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "shardopt/Search/Bayesian/ScreenedSearch.h"
#include "CriticFactory.h"
#include "JointRun.h"
#include "RestartedSearch.h"
#include "shardopt/Search/ExactSearch.h"
#include "shardopt/Support/Suggest.h"

#include <algorithm>

namespace shardopt::search {

void ScreenedConstants::addTo(ConstantTable &table) {
  table.integer("elites", elites, 1, 1000,
                "Strategies in the archive, one a tuple of degrees at most.");
  table.real("greed", greed, 1, 10,
             "Parent: number floor(elites * u^greed), u uniform in [0, 1).");
  table.integer("initial", initial, 1, 100000,
                "Strategies drawn uniformly before the first proposal.");
  table.integer("warm-plans", warmPlans, 1, 1000,
                "Plans of the free model that a warm start evaluates.");
  table.integer("warm-initial", warmInitial, 0, 100000,
                "As `initial`, after a warm start.");
  table.integer("draws", draws, 1, 4096, "Draws of each stage of screening.");
  table.integer("imagined", imagined, 0, 4096,
                "Draws that are edited once more; 0: one stage.");
  table.integer("tries", tries, 1, 100000,
                "Draws before a uniform one, where all are rejected.");
  table.real("unscreened", unscreened, 0, 1,
             "Share of proposals that the critic does not see.");
  table.real(
      "explore", explore, 0, 1,
      "Share of screened proposals that are of degrees never evaluated.");
  table.integer("refit", refit, 1, 1000,
                "Evaluations between fits of the critic.");
  table.integer("patience", patience, 0, 1000000000,
                "Calls without a gain after which the search starts anew, all "
                "evaluations at hand; 0: never.");
  table.integer("round", round, 1, 1000,
                "Proposals that the joint critic makes of one fit.");
  table.real("screened", screened, 0, 1,
             "Share of a round: archive edits that a ridge critic screens.");
  table.integer("policy-draws", policyDraws, 1, 4096,
                "Edits that a policy draws for each kick of the joint critic.");
  table.real("policy-share", policyShare, 0, 1,
             "Share of the kicks that a policy draws, where there is one.");
  table.real("kicks", kicks, 0, 1,
             "Share of a round: some dims redrawn, the others adapted.");
  table.real("transplants", transplants, 0, 1,
             "Share of a round: archived dims at other degrees.");
  table.real("reach", reach, 0, 1,
             "Share of a round: known layouts at degrees where they may be the "
             "best.");
  table.real("uniform", uniform, 0, 1,
             "Share of a round: dims in runs at archived degrees.");
  table.real("singles", singles, 0, 1,
             "Share of a round: one dim of the best strategies changed.");
}

double editReward(const Evaluation &parent, const Evaluation &child,
                  const Objective &objective) {
  constexpr double shareOfViolation = .3;
  double gain = 0;
  if (child.valid)
    gain = parent.valid ? objective.score(child) - objective.score(parent) : 1;
  else if (!parent.valid)
    gain = shareOfViolation *
           (objective.violation(parent) - objective.violation(child));
  return std::clamp(gain, 0., 1.);
}

EditOutcome outcomeOf(Proposal::Origin &origin, const Evaluation &evaluation,
                      const Objective &objective) {
  constexpr double leastImprovement = 1e-3;
  double reward = editReward(origin.parent, evaluation, objective);
  return {std::move(origin.trajectory), reward, reward > leastImprovement};
}

namespace {

class ScreenedRun final : public SearchRun {
public:
  ScreenedRun(const RunParts &parts, std::unique_ptr<Critic> critic);

  ProposalQueue &proposalQueue() override { return queue; }
  void propose() override;
  void learn(const Proposal &proposal, const Evaluation &evaluation) override;
  uint64_t refused() const override { return admission.refused(); }

private:
  Rng &rng;
  const std::unique_ptr<Critic> critic; ///< null: no screening
  NichedArchive archive;
  Admission admission;
  ScreenedProposals proposals;
  ProposalQueue queue;
};

} // namespace

ScreenedRun::ScreenedRun(const RunParts &parts,
                         std::unique_ptr<Critic> ownCritic)
    : rng(parts.rng), critic(std::move(ownCritic)),
      archive(parts.constants.elites, parts.context.space->firstDim(),
              parts.context.objective),
      admission(*parts.context.space, parts.context.isHopeless),
      proposals(*parts.context.space, parts.context.objective, parts.constants,
                *parts.policy, critic.get(), admission, rng),
      queue(*parts.context.space, admission, proposals) {
  for (const Plan &plan : parts.firstPlans)
    queue.add({*parts.context.space->pointOf(plan.strategy), std::nullopt});
  int64_t uniform = parts.firstPlans.empty() ? parts.constants.initial
                                             : parts.constants.warmInitial;
  for (int64_t i = 0; i < uniform || queue.empty(); ++i)
    if (!queue.addUniform(rng))
      break;
}

void ScreenedRun::learn(const Proposal &proposal,
                        const Evaluation &evaluation) {
  archive.tell(proposal.point, evaluation);
  if (critic)
    critic->tell(proposal.point, evaluation);
}

/// There are no elites to edit before the first evaluation.
void ScreenedRun::propose() {
  std::optional<Proposal> proposal;
  if (!archive.elites().empty())
    proposal = proposals.draw(archive, queue.pendingPoints());
  if (proposal)
    queue.add(std::move(*proposal));
  else
    queue.addUniform(rng);
}

//===----------------------------------------------------------------------===//
// Construction
//===----------------------------------------------------------------------===//

/// The plans that a warm start evaluates; none without one.
static ErrorOr<std::vector<Plan>>
warmPlans(const SearcherContext &context, const ScreenedConstants &constants) {
  const Simulator *freeModel = context.freeModel.get();
  std::string choice = context.options.warmStart;
  if (choice.empty())
    choice = freeModel && isBlackBox(context) ? "exact" : "none";
  if (choice == "none")
    return std::vector<Plan>{};
  if (choice != "exact")
    return Error{"unknown warm-start '" + abbreviate(choice) + "', " +
                 listKnown(choice, {"exact", "none"})};
  if (!freeModel || !freeModel->decomposition())
    return Error{"'warm-start' is 'exact', which needs a model of the program"
                 ", and there is none; expected 'none'"};
  return findBestPlans(*context.space, *freeModel->decomposition(),
                       context.objective.goal, constants.warmPlans,
                       context.threads, context.stopRequested);
}

ErrorOr<std::unique_ptr<Searcher>>
makeScreenedSearch(const SearcherContext &context,
                   const ScreenedConstants &constants,
                   std::unique_ptr<EditPolicy> policy) {
  ErrorOr<bool> isJoint = asksForJointCritic(context);
  if (!isJoint)
    return isJoint.error();
  auto plans = warmPlans(context, constants);
  if (!plans)
    return plans.error();
  if (*isJoint)
    return makeRestartedSearch(context, constants, std::move(policy), *plans,
                               makeJointRun);
  auto critic = makeCritic(context, constants);
  if (!critic)
    return critic.error();
  if (!policy)
    policy = std::make_unique<UniformEdits>(*context.space);
  // What makes one critic makes as many as there are runs.
  return makeRestartedSearch(
      context, constants, std::move(policy), *plans, [](const RunParts &parts) {
        return std::make_unique<ScreenedRun>(
            parts, std::move(*makeCritic(parts.context, parts.constants)));
      });
}

} // namespace shardopt::search
