//===- Planner.cpp - From a request to a plan -----------------------------===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "shardopt/Planning/Planner.h"
#include "Infeasibility.h"
#include "PlanIdentity.h"
#include "shardopt/Cost/Tables/Evaluate.h"
#include "shardopt/Planning/Certificate.h"
#include "shardopt/Planning/Searchers.h"
#include "shardopt/Search/DegreeMask.h"
#include "shardopt/Search/ExactSearch.h"
#include "shardopt/Search/Megatron.h"
#include "shardopt/Search/ReplaySimulator.h"
#include "shardopt/Support/Choice.h"
#include "shardopt/Support/ParallelFor.h"

#include <algorithm>
#include <chrono>
#include <cstdlib>

using namespace shardopt;

namespace {

/// Makes the parts of a summary, one function each.
class Planner {
public:
  Planner(std::shared_ptr<const Scenario> planned, const PlanRequest &request)
      : scenario(*planned), request(request),
        objective(scenario.objective(request.goal)),
        summary(std::move(planned)) {}

  ErrorOr<PlanSummary> run();

private:
  bool isStopped() const {
    return (request.stop && request.stop->requested()) || isBrokenDown();
  }
  /// Whether no evaluation can succeed any more.
  bool isBrokenDown() const {
    return scenario.external() && scenario.external()->breakdown();
  }
  /// Whether the searcher is told which degrees are infeasible.
  ErrorOr<bool> givesMask() const;
  ErrorOr<std::unique_ptr<search::Searcher>>
  makeSearcher(const search::StrategySpace &space);
  uint64_t defaultBudget(const search::StrategySpace &space) const;
  uint64_t readFirstBudget() const;
  /// Opens the checkpoint, if one is asked for.
  std::optional<Error> openCheckpoint(const search::StrategySpace &space);
  /// Runs `searcher`, and measures what it found by the optimum.
  std::optional<Error> runSearcher(search::Searcher &searcher,
                                   const search::StrategySpace &space);
  /// What judges strategies.
  const search::Simulator &judge() const {
    return engine ? static_cast<const search::Simulator &>(*engine)
                  : scenario.simulator();
  }
  /// The same over the checkpoint, if there is one.
  const search::Simulator &simulator() const {
    return replay ? *replay : judge();
  }
  ErrorOr<search::SpaceRequest> readableRequest() const;
  ErrorOr<search::StrategySpace> createSpace();
  void findOthers(const search::StrategySpace &space);
  void findBaseline(search::MegatronVariant variant,
                    const search::StrategySpace &space, unsigned threads);
  void findEnginePlan(Engine runner, const search::StrategySpace &space,
                      unsigned threads);
  void preferEngine();
  void sayStages(std::optional<search::Plan> &plan) const;
  void explainBest(const search::StrategySpace &space);
  void explainInfeasible(const search::StrategySpace &space);

  const Scenario &scenario;
  const PlanRequest &request;
  const search::Objective objective;
  PlanSummary summary;
  uint64_t budget = 0; ///< of the request, or the default
  /// What the searcher is made for: with a checkpoint the budget that it began
  /// with, which may be less.
  uint64_t firstBudget = 0;
  std::unique_ptr<const EngineSimulator> engine; ///< null: any plan will do
  std::unique_ptr<const search::ReplaySimulator> replay;
  /// What the search for the optimum bounded of the space; empty if there was
  /// none.
  search::BatchIntervals bounded;
  /// The infeasible degrees; empty for a black box.
  std::function<bool(const Degrees &)> isHopeless;
};

/// The one strategy of a space.
class SingleStrategy final : public search::Searcher {
public:
  explicit SingleStrategy(Strategy strategy) : strategy(std::move(strategy)) {}

  std::vector<Strategy> ask(size_t) override {
    isAsked = true;
    return {strategy};
  }
  void tell(const std::vector<Strategy> &,
            const std::vector<Evaluation> &) override {}
  bool done() const override { return isAsked; }

private:
  const Strategy strategy;
  bool isAsked = false;
};

} // namespace

ErrorOr<bool> Planner::givesMask() const {
  const std::string &mask = request.options.mask;
  if (mask.empty())
    return bool(isHopeless);
  ErrorOr<bool> isWanted = parseChoice<bool>(
      "agent-mask", mask, {{"memory", true}, {"none", false}});
  if (isWanted && *isWanted && !isHopeless)
    return Error{"'agent-mask' is 'memory', but what a black box stores is not "
                 "known without a call; expected 'none'"};
  return isWanted;
}

ErrorOr<std::unique_ptr<search::Searcher>>
Planner::makeSearcher(const search::StrategySpace &space) {
  search::SearcherRegistry registry = allSearchers();
  ErrorOr<bool> masks = givesMask();
  if (!masks)
    return masks.error();
  search::SearcherContext context{search::unowned(&space),
                                  search::unowned(judge().decomposition()),
                                  objective};
  context.seed = request.seed;
  context.budget = firstBudget;
  context.threads = request.threads;
  context.stopRequested = [this] { return isStopped(); };
  context.options = request.options;
  context.freeModel = search::unowned(&scenario.roofline());
  context.bounded = &bounded;
  if (*masks)
    context.isHopeless = isHopeless;
  summary.searcher = request.searcher;
  if (request.searcher.empty())
    summary.searcher = judge().decomposition() ? "exact" : "surrogate";
  auto searcher = registry.create(summary.searcher, context);
  if (!searcher || space.size() > 1)
    return searcher;
  if (!request.options.save.empty())
    return Error{"one strategy is left, so nothing is learned: "
                 "'agent-save' has no policy to write"};
  summary.searcher.clear();
  search::Point only(space.numVariables(), 0);
  return std::unique_ptr<search::Searcher>(
      std::make_unique<SingleStrategy>(space.strategyAt(only)));
}

/// Enough for a searcher that tries all degrees, and for its last check.
uint64_t Planner::defaultBudget(const search::StrategySpace &space) const {
  constexpr uint64_t usual = 4000;
  if (request.searcher.rfind("megatron-", 0) != 0)
    return usual;
  return std::max<uint64_t>(usual, space.degreeTuples().size() + 1);
}

uint64_t Planner::readFirstBudget() const {
  std::optional<std::string> text =
      request.checkpoint.empty()
          ? std::nullopt
          : search::EvaluationLog::readIdentity(request.checkpoint, "budget");
  uint64_t first = text ? std::strtoull(text->c_str(), nullptr, 10) : 0;
  return first ? std::min(first, budget) : budget;
}

std::optional<Error>
Planner::openCheckpoint(const search::StrategySpace &space) {
  if (request.checkpoint.empty())
    return std::nullopt;
  auto log = search::EvaluationLog::open(
      request.checkpoint,
      planIdentity(scenario, request, space, summary.searcher, firstBudget),
      {scenario.opNames(), scenario.latencyKey()});
  if (!log)
    return log.error();
  replay = std::make_unique<search::ReplaySimulator>(
      judge(), std::move(*log),
      search::ReplaySimulator::Hooks{[this] { return isStopped(); },
                                     request.warn});
  summary.resumedEvaluations = replay->numResumed();
  return std::nullopt;
}

std::optional<Error> Planner::runSearcher(search::Searcher &searcher,
                                          const search::StrategySpace &space) {
  search::DriverOptions options;
  options.budget = budget;
  options.accounting = request.accounting;
  options.isHopeless = isHopeless;
  options.threads = request.threads;
  if (scenario.external())
    options.workers = scenario.external()->workers();
  options.stopRequested = [this] { return isStopped(); };
  // What the search is measured by afterwards, where it is wanted on the way.
  std::optional<search::ExactResult> exact;
  const search::Decomposition *decomposition = simulator().decomposition();
  if (request.progress && decomposition && summary.searcher != "exact")
    exact = search::findOptimum(space, *decomposition, request.goal,
                                request.threads, options.stopRequested);
  options.trace = [&](const search::TraceEntry &entry) {
    if (request.trace)
      request.trace(entry);
    if (request.progress)
      request.progress(entry, exact ? exact->bound : std::nullopt);
  };
  summary.search = search::runSearch(searcher, simulator(), objective, options);
  if (auto error = searcher.finish())
    return *error;
  if (exact)
    search::certify(summary.search, *exact, objective);
  else
    search::certify(summary.search, space, simulator(), objective, options);
  // What a black box says cannot be recomputed.
  if (!decomposition)
    return std::nullopt;
  sayStages(summary.search.best);
  return verifyResult(scenario.costs(), summary.search, request.goal);
}

/// The request without degrees that a black box does not read: it is asked
/// about their defaults. Those that were asked for are errors.
ErrorOr<search::SpaceRequest> Planner::readableRequest() const {
  search::SpaceRequest readable = request.space;
  if (!scenario.external())
    return readable;
  const std::vector<Degree> &read = scenario.external()->degrees();
  auto refuse = [&](const char *name) {
    return Error{"'simulator' is '" + scenario.simulatorName() +
                 "', which does not read '" + name +
                 "': expected a greeting that lists it in 'degrees'"};
  };
  if (!request.space.pinned.stages.isEmpty() &&
      !scenario.external()->readsStages())
    return refuse(StageCut::key);
  std::string unread;
  for (Degree degree : allDegrees) {
    if (infoOf(degree).isRequired() ||
        std::find(read.begin(), read.end(), degree) != read.end())
      continue;
    if (request.space.lists[degree] || request.space.pinned[degree])
      return refuse(spell(degree));
    if (request.space.kind != search::SpaceKind::Serving)
      continue;
    unread += (unread.empty() ? "'" : ", '") + std::string(spell(degree)) + "'";
  }
  if (unread.empty())
    return readable;
  readable.kind = search::SpaceKind::Uniform;
  if (request.warn)
    request.warn(Error{"the simulator does not read " + unread +
                       ": it is asked about space=uniform"});
  return readable;
}

ErrorOr<search::StrategySpace> Planner::createSpace() {
  ErrorOr<search::SpaceRequest> readable = readableRequest();
  if (!readable)
    return readable.error();
  ErrorOr<search::StrategySpace> space =
      search::StrategySpace::create(scenario.spaceFacts(), *readable);
  if (!space || !request.engine)
    return space;
  engine = std::make_unique<EngineSimulator>(
      scenario.simulator(), *request.engine, EngineFacts(scenario.model()));
  return engine->narrowed(*space);
}

ErrorOr<PlanSummary> Planner::run() {
  auto start = std::chrono::steady_clock::now();
  summary.goal = request.goal;
  summary.seed = request.seed;
  summary.accounting = request.accounting;
  bool isPrefill = scenario.model().workload.phase == cost::Phase::Prefill;
  if (scenario.costs().division() == cost::StageDivision::Balanced &&
      isPrefill && request.goal == search::Goal::Latency)
    return Error{"'partition' is 'balanced' and 'objective' is 'latency', "
                 "expected even: a prompt passes all stages, however layers "
                 "are divided"};
  ErrorOr<search::StrategySpace> space = createSpace();
  if (!space) {
    summary.emptySpace = space.error();
    summary.binding.constraint.kind = Reason::Structural;
    summary.binding.part = "request";
    return std::move(summary);
  }
  budget = request.budget ? request.budget : defaultBudget(*space);
  firstBudget = readFirstBudget();
  if (auto *decomposition = judge().decomposition())
    isHopeless = [mask = std::make_shared<search::DegreeMask>(
                      *decomposition, space->dimDomains(), request.goal)](
                     const Degrees &degrees) {
      return mask->isHopeless(degrees);
    };
  auto searcher = makeSearcher(*space);
  if (!searcher)
    return searcher.error();
  if (auto error = openCheckpoint(*space))
    return *error;
  if (auto error = runSearcher(**searcher, *space))
    return *error;
  if (scenario.external())
    summary.breakdown = scenario.external()->breakdown();
  summary.plan = summary.search.best;
  summary.planName = summary.searcher.empty() ? "given"
                     : summary.search.proved  ? "optimum"
                                              : "best";
  summary.tellsEngines =
      request.engine || request.space.kind == search::SpaceKind::Serving ||
      (summary.plan && !summary.plan->strategy.degrees.isUniform());
  if (space->fitsBatch())
    summary.batches = space->describeBatches();
  if (!isStopped() && !engine && scenario.simulator().decomposition())
    findOthers(*space);
  preferEngine();
  if (summary.plan)
    explainBest(*space);
  else if (!isStopped())
    explainInfeasible(*space);
  std::chrono::duration<double> spent =
      std::chrono::steady_clock::now() - start;
  summary.wallSeconds = spent.count();
  return std::move(summary);
}

/// Writes the layers of each stage that its evaluation chose into `plan`.
void Planner::sayStages(std::optional<search::Plan> &plan) const {
  if (plan)
    plan->strategy.degrees.stages =
        cost::chooseStages(scenario.costs(), plan->strategy);
}

/// What the plan is compared with: Megatron's, and where the degrees of engines
/// are open, theirs. The searches know nothing of each other, and each is
/// short: they share the threads.
void Planner::findOthers(const search::StrategySpace &space) {
  using search::MegatronVariant;
  std::vector<std::function<void(unsigned)>> searches;
  for (MegatronVariant variant :
       {MegatronVariant::Classic, MegatronVariant::Slice,
        MegatronVariant::SequenceParallel})
    // Of dense models, slice is classic: there is no exchange of tokens.
    if (variant != MegatronVariant::Slice || scenario.hasExperts())
      searches.push_back([this, variant, &space](unsigned threads) {
        findBaseline(variant, space, threads);
      });
  if (request.space.kind == search::SpaceKind::Serving)
    for (Engine runner : allEngines)
      searches.push_back([this, runner, &space](unsigned threads) {
        findEnginePlan(runner, space, threads);
      });
  auto count = unsigned(searches.size());
  parallelFor(count, request.threads, [&](size_t i) {
    searches[i](std::max(1u, request.threads / count));
  });
}

void Planner::findBaseline(search::MegatronVariant variant,
                           const search::StrategySpace &space,
                           unsigned threads) {
  std::optional<search::Plan> &plan = summary.baselines[size_t(variant)];
  plan = search::findOptimumWithin(bounded, megatronSpace(variant, space),
                                   *scenario.simulator().decomposition(),
                                   request.goal, threads,
                                   [this] { return isStopped(); })
             .best;
  sayStages(plan);
}

/// Over what the engine can run of the space: that part alone, or where ranges
/// of the whole were bounded, these.
void Planner::findEnginePlan(Engine runner, const search::StrategySpace &space,
                             unsigned threads) {
  EngineSimulator only(scenario.simulator(), runner,
                       EngineFacts(scenario.model()));
  ErrorOr<search::StrategySpace> part = space;
  if (bounded.empty())
    part = only.narrowed(space);
  if (!part)
    return;
  std::optional<search::Plan> &plan = summary.enginePlans[size_t(runner)];
  plan = search::findOptimumWithin(bounded, *part, only, request.goal, threads,
                                   [this] { return isStopped(); })
             .best;
  sayStages(plan);
}

/// Takes the best plan of an engine in the place of an optimum that none runs.
void Planner::preferEngine() {
  if (request.runnableLoss <= 0 || !summary.plan || isStopped())
    return;
  EngineFacts facts(scenario.model());
  std::optional<Engine> best;
  for (Engine runner : allEngines) {
    if (!whyNotRun(runner, summary.plan->strategy, facts))
      return;
    const auto &plan = summary.enginePlans[size_t(runner)];
    if (plan && (!best || objective.better(
                              plan->evaluation,
                              summary.enginePlans[size_t(*best)]->evaluation)))
      best = runner;
  }
  if (!best)
    return;
  const search::Plan &plan = *summary.enginePlans[size_t(*best)];
  if (lossOf(plan.evaluation, summary.plan->evaluation, request.goal) >
      request.runnableLoss)
    return;
  summary.free = std::move(summary.plan);
  summary.plan = summary.search.best = plan;
  summary.planName = spell(*best);
}

double shardopt::lossOf(const Evaluation &plan, const Evaluation &optimum,
                        search::Goal goal) {
  return goal == search::Goal::Latency
             ? plan.latencyMs / optimum.latencyMs - 1
             : 1 - plan.throughput / optimum.throughput;
}

/// Which limit the next larger batch would exceed. Where there is none, that of
/// the list itself binds. Of a black box it is not asked: its calls are what
/// costs, and the budget counts them all.
void Planner::explainBest(const search::StrategySpace &space) {
  if (space.size() == 1 || !scenario.simulator().decomposition())
    return;
  search::Plan larger = *summary.plan;
  std::optional<Strategy> next = space.withLargerBatch(larger.strategy);
  if (!next) {
    summary.binding.part = "batch";
    return;
  }
  larger.strategy = std::move(*next);
  if (space.stages().isEmpty())
    larger.strategy.degrees.stages = {}; // another batch may want others
  larger.evaluation = simulator().evaluate(larger.strategy);
  if (!larger.evaluation.valid)
    summary.binding = explainInvalid(scenario, larger);
  summary.binding.batch = larger.strategy.degrees.batch;
}

void Planner::explainInfeasible(const search::StrategySpace &space) {
  if (!scenario.simulator().decomposition()) {
    if (summary.search.leastViolating)
      summary.binding =
          explainInvalid(scenario, *summary.search.leastViolating);
    return;
  }
  auto stopRequested = [this] { return isStopped(); };
  search::Plan closest =
      findClosest(scenario, space, request.threads, stopRequested);
  if (closest.evaluation.valid || isStopped())
    return; // no limit binds, the searcher missed what there is
  summary.binding = explainInvalid(scenario, closest);
  if (!engine)
    summary.nextFeasible = findNextFeasible(
        scenario, request.space, request.goal, request.threads, stopRequested);
  if (isStopped())
    summary.nextFeasible = std::nullopt; // not the smallest change
}

ErrorOr<PlanSummary>
shardopt::makePlan(std::shared_ptr<const Scenario> scenario,
                   const PlanRequest &request) {
  return Planner(std::move(scenario), request).run();
}
