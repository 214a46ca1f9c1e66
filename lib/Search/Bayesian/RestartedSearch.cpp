//===- RestartedSearch.cpp - One run after the other ----------------------===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "RestartedSearch.h"

#include <optional>
#include <unordered_map>
#include <utility>

namespace shardopt::search {

SearchRun::~SearchRun() = default;

namespace {

class RestartedSearch final : public Searcher {
public:
  RestartedSearch(const SearcherContext &context,
                  const ScreenedConstants &constants,
                  std::unique_ptr<EditPolicy> policy,
                  std::vector<Plan> firstPlans, MakeRun makeRun);

  std::vector<Strategy> ask(size_t n) override;
  void tell(const std::vector<Strategy> &strategies,
            const std::vector<Evaluation> &evaluations) override;
  bool done() const override { return run->proposalQueue().done(); }
  uint64_t rejected() const override { return refused + run->refused(); }

private:
  void start();
  bool prepare();
  std::vector<Strategy> withoutKnown(const std::vector<Strategy> &asked);
  void learn(Proposal proposal, const Evaluation &evaluation);

  const SearcherContext context;
  const ScreenedConstants constants;
  const std::unique_ptr<EditPolicy> policy; ///< may be null
  const std::vector<Plan> firstPlans, noPlans;
  const MakeRun makeRun;
  Rng rng;
  std::unique_ptr<SearchRun> run;
  uint64_t refused = 0; ///< of the runs before

  // Of this run.
  std::optional<Evaluation> best;
  int64_t callsWithoutGain = 0;

  /// What all runs were told.
  std::unordered_map<Point, Evaluation, PointHash> known;
  /// Known strategies that the run asked for.
  std::vector<Strategy> held;
  std::vector<Evaluation> heldEvaluations;
};

} // namespace

RestartedSearch::RestartedSearch(const SearcherContext &context,
                                 const ScreenedConstants &constants,
                                 std::unique_ptr<EditPolicy> policy,
                                 std::vector<Plan> firstPlans, MakeRun makeRun)
    : context(context), constants(constants), policy(std::move(policy)),
      firstPlans(std::move(firstPlans)), makeRun(std::move(makeRun)),
      rng(context.seed) {
  start();
}

/// Begins a run. Only the first one starts from the plans: where it ended is
/// where they lead.
void RestartedSearch::start() {
  const std::vector<Plan> &plans = run ? noPlans : firstPlans;
  run = makeRun({context, constants, policy.get(), plans, rng});
  best.reset();
  callsWithoutGain = 0;
}

/// Fills the queue where it is empty; false if something has to be told first.
bool RestartedSearch::prepare() {
  if (!run->proposalQueue().wantsProposals())
    return true;
  if (constants.patience == 0 || callsWithoutGain < constants.patience) {
    run->propose();
    return true;
  }
  if (run->proposalQueue().isWaiting())
    return false;
  refused += run->refused();
  start();
  return true;
}

/// Those of `asked` that no run was told of. The others are held until the next
/// tell, so that a run learns in the order in which it asked.
std::vector<Strategy>
RestartedSearch::withoutKnown(const std::vector<Strategy> &asked) {
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

std::vector<Strategy> RestartedSearch::ask(size_t n) {
  while (!context.isStopped() && prepare()) {
    std::vector<Strategy> asked = run->proposalQueue().ask(n);
    if (asked.empty())
      break;
    if (std::vector<Strategy> unknown = withoutKnown(asked); !unknown.empty())
      return unknown;
    tell({}, {});
  }
  return {};
}

void RestartedSearch::tell(const std::vector<Strategy> &strategies,
                           const std::vector<Evaluation> &evaluations) {
  held.insert(held.end(), strategies.begin(), strategies.end());
  heldEvaluations.insert(heldEvaluations.end(), evaluations.begin(),
                         evaluations.end());
  run->proposalQueue().tell(
      std::exchange(held, {}), std::exchange(heldEvaluations, {}),
      [&](Proposal proposal, const Evaluation &evaluation) {
        learn(std::move(proposal), evaluation);
      });
}

void RestartedSearch::learn(Proposal proposal, const Evaluation &evaluation) {
  if (policy && proposal.origin)
    policy->learn(outcomeOf(*proposal.origin, evaluation, context.objective),
                  proposal.origin->archive);
  bool isCall = known.emplace(proposal.point, evaluation).second;
  bool isGain = !best || context.objective.better(evaluation, *best);
  if (isGain)
    best = evaluation;
  // What costs no call does not tire it: a run that meets nothing new goes on
  // until nothing is left.
  callsWithoutGain = isGain ? 0 : callsWithoutGain + isCall;
  run->learn(proposal, evaluation);
}

std::unique_ptr<Searcher>
makeRestartedSearch(const SearcherContext &context,
                    const ScreenedConstants &constants,
                    std::unique_ptr<EditPolicy> policy,
                    std::vector<Plan> firstPlans, MakeRun makeRun) {
  return std::make_unique<RestartedSearch>(
      context, constants, std::move(policy), std::move(firstPlans),
      std::move(makeRun));
}

} // namespace shardopt::search
