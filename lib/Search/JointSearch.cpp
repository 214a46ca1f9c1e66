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
#include <optional>
#include <unordered_map>
#include <utility>

namespace shardopt::search {

namespace {

/// One search from the start, and all that it has learned.
struct Run {
  Run(const SearcherContext &context, const ScreenedConstants &constants,
      EditPolicy *policy, Rng &rng);

  /// What `plans` are evaluated first, and what is drawn beside them.
  void begin(const std::vector<Plan> &plans,
             const ScreenedConstants &constants);
  bool enqueueDimsInRuns();
  void propose(const ScreenedConstants &constants);
  void learn(const Proposal &proposal, const Evaluation &evaluation,
             const Objective &objective, bool isCall);

  const StrategySpace &space;
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

  std::optional<Evaluation> best;
  int64_t callsWithoutGain = 0;
};

class JointSearch final : public Searcher {
public:
  JointSearch(const SearcherContext &context,
              const ScreenedConstants &constants,
              std::unique_ptr<EditPolicy> policy,
              const std::vector<Plan> &firstPlans);

  std::vector<Strategy> ask(size_t n) override;
  void tell(const std::vector<Strategy> &strategies,
            const std::vector<Evaluation> &evaluations) override;
  bool done() const override { return run->queue.done(); }
  uint64_t rejected() const override {
    return refused + run->admission.refused();
  }

private:
  void start();
  bool prepare();
  std::vector<Strategy> withoutKnown(const std::vector<Strategy> &asked);

  const SearcherContext context;
  const ScreenedConstants constants;
  const std::unique_ptr<EditPolicy> policy; ///< may be null
  const std::vector<Plan> firstPlans;
  Rng rng;
  std::unique_ptr<Run> run;
  uint64_t refused = 0; ///< of the runs before
  /// What all runs were told.
  std::unordered_map<Point, Evaluation, PointHash> known;
  /// Known strategies that the run asked for.
  std::vector<Strategy> held;
  std::vector<Evaluation> heldEvaluations;
};

} // namespace

//===----------------------------------------------------------------------===//
// A run
//===----------------------------------------------------------------------===//

Run::Run(const SearcherContext &context, const ScreenedConstants &constants,
         EditPolicy *policy, Rng &rng)
    : space(*context.space), rng(rng), critic(space, context.objective),
      admission(space, context.isHopeless), niches(space, rng),
      archive(constants.elites, space.firstDim(), context.objective),
      proposals(space, context.objective, constants, policy, critic, niches,
                admission, rng),
      edits(space), ridge(space, context.objective, /*freeModel=*/nullptr,
                          size_t(constants.round)),
      screened(space, context.objective, constants, edits, &ridge, admission,
               rng),
      queue(space, admission, screened) {}

void Run::begin(const std::vector<Plan> &plans,
                const ScreenedConstants &constants) {
  for (const Plan &plan : plans)
    queue.add({*space.pointOf(plan.strategy), std::nullopt});
  const int64_t drawn =
      plans.empty() ? constants.initial : constants.warmInitial;
  for (int64_t i = 0; i < drawn || queue.empty(); ++i)
    if (i % 2 == 0 ? !queue.addUniform(rng) : !enqueueDimsInRuns())
      break;
}

/// Uniform degrees with dims in runs; uniform dims where that is refused.
bool Run::enqueueDimsInRuns() {
  Point point = space.sample(rng);
  const DimIndices dims = drawRuns(critic.pairs(), rng);
  std::copy(dims.begin(), dims.end(), point.begin() + space.firstDim());
  if (!admission.admit(point))
    return queue.addUniform(rng);
  queue.add({std::move(point), std::nullopt});
  return true;
}

void Run::learn(const Proposal &proposal, const Evaluation &evaluation,
                const Objective &objective, bool isCall) {
  const bool isGain = !best || objective.better(evaluation, *best);
  if (isGain)
    best = evaluation;
  // What costs no call does not tire it: a run that meets nothing new goes on
  // until nothing is left.
  callsWithoutGain = isGain ? 0 : callsWithoutGain + isCall;
  archive.tell(proposal.point, evaluation);
  niches.tell(proposal.point, evaluation,
              critic.scoreOf(proposal.point, evaluation));
  critic.tell(proposal.point, evaluation);
  ridge.tell(proposal.point, evaluation);
}

void Run::propose(const ScreenedConstants &constants) {
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

//===----------------------------------------------------------------------===//
// One run after the other
//===----------------------------------------------------------------------===//

JointSearch::JointSearch(const SearcherContext &context,
                         const ScreenedConstants &constants,
                         std::unique_ptr<EditPolicy> policy,
                         const std::vector<Plan> &firstPlans)
    : context(context), constants(constants), policy(std::move(policy)),
      firstPlans(firstPlans), rng(context.seed) {
  start();
}

void JointSearch::start() {
  run = std::make_unique<Run>(context, constants, policy.get(), rng);
  run->begin(firstPlans, constants);
}

/// Fills the queue where it is empty; false if something has to be told first.
bool JointSearch::prepare() {
  if (!run->queue.wantsProposals())
    return true;
  if (constants.patience == 0 || run->callsWithoutGain < constants.patience) {
    run->propose(constants);
    return true;
  }
  if (run->queue.isWaiting())
    return false;
  refused += run->admission.refused();
  start();
  return true;
}

/// Those of `asked` that no run was told of. The others are held until the next
/// tell, so that a run learns in the order in which it asked.
std::vector<Strategy>
JointSearch::withoutKnown(const std::vector<Strategy> &asked) {
  std::vector<Strategy> unknown;
  for (const Strategy &strategy : asked) {
    auto it = known.find(*context.space->pointOf(strategy));
    if (it == known.end()) {
      unknown.push_back(strategy);
      continue;
    }
    held.push_back(strategy);
    heldEvaluations.push_back(it->second);
  }
  return unknown;
}

std::vector<Strategy> JointSearch::ask(size_t n) {
  while (prepare()) {
    const std::vector<Strategy> asked = run->queue.ask(n);
    if (asked.empty())
      break;
    if (std::vector<Strategy> unknown = withoutKnown(asked); !unknown.empty())
      return unknown;
    tell({}, {});
  }
  return {};
}

void JointSearch::tell(const std::vector<Strategy> &strategies,
                       const std::vector<Evaluation> &evaluations) {
  held.insert(held.end(), strategies.begin(), strategies.end());
  heldEvaluations.insert(heldEvaluations.end(), evaluations.begin(),
                         evaluations.end());
  run->queue.tell(std::exchange(held, {}), std::exchange(heldEvaluations, {}),
                  [&](Proposal proposal, const Evaluation &evaluation) {
                    if (policy && proposal.origin)
                      policy->learn(outcomeOf(*proposal.origin, evaluation,
                                              context.objective),
                                    proposal.origin->archive);
                    const bool isCall =
                        known.emplace(proposal.point, evaluation).second;
                    run->learn(proposal, evaluation, context.objective, isCall);
                  });
}

std::unique_ptr<Searcher> makeJointSearch(const SearcherContext &context,
                                          const ScreenedConstants &constants,
                                          std::unique_ptr<EditPolicy> policy,
                                          const std::vector<Plan> &firstPlans) {
  return std::make_unique<JointSearch>(context, constants, std::move(policy),
                                       firstPlans);
}

} // namespace shardopt::search
