//===- ScreenedSearch.cpp - Edit elites, call what a critic likes best ----===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "shardopt/Search/ScreenedSearch.h"
#include "CriticFactory.h"
#include "shardopt/Search/ExactSearch.h"
#include "shardopt/Support/Suggest.h"

#include <algorithm>
#include <cmath>
#include <set>
#include <unordered_set>

namespace shardopt::search {

void ScreenedConstants::addTo(ConstantTable &table) {
  table.integer("elites", elites, 1, 1000,
                "Strategies in the archive, one a tuple of degrees at most.");
  table.real("greed", greed, 1, 10,
             "Parents are elite floor(elites * u^greed), u uniform in [0, 1).");
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
  table.real("unscreened", unscreened, -1, 1,
             "Share of proposals that the critic does not see; below 0: .1 for "
             "the ensemble, 0 for others.");
  table.real(
      "explore", explore, 0, 1,
      "Share of screened proposals that are of degrees never evaluated.");
  table.integer("refit", refit, 1, 1000,
                "Evaluations between fits of the critic `ridge`.");
  table.integer("parallel", parallel, 1, 4096,
                "Proposals between updates, for simulators with workers.");
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

namespace {

struct PointHash {
  size_t operator()(const Point &point) const {
    size_t hash = 0xcbf29ce484222325;
    for (uint32_t value : point)
      hash = (hash ^ value) * 0x100000001b3;
    return hash;
  }
};

/// The tuple of degrees of `point`, its niche.
Point degreesOf(const Point &point, const StrategySpace &space) {
  return Point(point.begin(), point.begin() + space.firstDim());
}

class ScreenedSearch final : public Searcher {
public:
  ScreenedSearch(const SearcherContext &context,
                 const ScreenedConstants &constants,
                 std::unique_ptr<EditPolicy> policy,
                 std::unique_ptr<Critic> critic,
                 const std::vector<Plan> &firstPlans)
      : space(context.space), objective(context.objective),
        isHopeless(context.isHopeless), constants(constants), rng(context.seed),
        policy(std::move(policy)), critic(std::move(critic)),
        archive(constants.elites, space.firstDim(), context.objective) {
    for (const Plan &plan : firstPlans)
      queue({*space.pointOf(plan.strategy), {}, {}});
    int64_t uniform =
        firstPlans.empty() ? constants.initial : constants.warmInitial;
    for (int64_t i = 0; i < uniform || round.empty(); ++i)
      if (!queueUniform())
        break;
  }

  std::vector<Strategy> ask(size_t n) override;
  void tell(const std::vector<Strategy> &strategies,
            const std::vector<Evaluation> &evaluations) override;
  bool done() const override {
    return isExhausted && told.size() == round.size();
  }
  uint64_t rejected() const override { return rejectedDraws; }

private:
  /// A strategy to evaluate, and how it was found; no trajectory and no parent
  /// where it was not edited.
  struct Proposal {
    Point point;
    std::vector<EditSequence> trajectory;
    std::optional<Evaluation> parent;
  };
  /// A draw that may be evaluated.
  struct Candidate {
    EditSequence edits;
    Point point;
    Critic::Opinion opinion;
    size_t draw; ///< its place among the draws
  };

  void propose();
  std::optional<Proposal> proposeScreened();
  std::optional<Proposal> proposeFirst();
  void queue(Proposal proposal);
  bool queueUniform();

  const NichedArchive::Elite &drawParent();
  EditStart startAt(const NichedArchive::Elite &elite) const {
    return {elite.point, slackOf(elite.evaluation, objective)};
  }
  std::vector<EditSequence> draw(const std::vector<EditStart> &starts);
  /// Whether `point` may be evaluated; counts what is rejected.
  bool admit(const Point &point);
  std::vector<Candidate> admitted(std::vector<EditSequence> drawn);
  void keepUnvisited(std::vector<Candidate> &candidates) const;
  void judge(std::vector<Candidate> &candidates);
  std::optional<Point> uniformUnknown();
  std::vector<Point> firstOfHopeful() const;
  void finishRound();

  const StrategySpace &space;
  const Objective objective;
  const std::function<bool(const Degrees &)> isHopeless;
  const ScreenedConstants constants;
  Rng rng;
  std::unique_ptr<EditPolicy> policy;
  std::unique_ptr<Critic> critic; ///< null: no screening
  NichedArchive archive;

  std::unordered_set<Point, PointHash> known;   ///< evaluated or proposed
  std::unordered_set<Point, PointHash> visited; ///< degrees evaluated
  std::vector<Proposal> round; ///< proposed together, told together
  size_t asked = 0;            ///< of the round
  std::vector<Evaluation> told;
  bool isExhausted = false; ///< no strategy is left to propose
  uint64_t rejectedDraws = 0;
  /// `firstOfHopeful`, once it was needed.
  std::optional<std::vector<Point>> hopeful;
};

} // namespace

//===----------------------------------------------------------------------===//
// Ask and tell
//===----------------------------------------------------------------------===//

std::vector<Strategy> ScreenedSearch::ask(size_t n) {
  if (asked == round.size() && !isExhausted)
    propose();
  std::vector<Strategy> strategies;
  for (; asked < round.size() && strategies.size() < n; ++asked)
    strategies.push_back(space.strategyAt(round[asked].point));
  return strategies;
}

void ScreenedSearch::tell(const std::vector<Strategy> &strategies,
                          const std::vector<Evaluation> &evaluations) {
  told.insert(told.end(), evaluations.begin(), evaluations.end());
  if (told.size() == round.size())
    finishRound();
}

/// The policy learns first: it is told of the archive that it drew from.
void ScreenedSearch::finishRound() {
  constexpr double leastImprovement = 1e-3;
  for (size_t i = 0; i < round.size(); ++i) {
    if (!round[i].parent)
      continue;
    double reward = editReward(*round[i].parent, told[i], objective);
    policy->learn(
        {std::move(round[i].trajectory), reward, reward > leastImprovement},
        archive);
  }
  for (size_t i = 0; i < round.size(); ++i) {
    archive.tell(round[i].point, told[i]);
    visited.insert(degreesOf(round[i].point, space));
    if (critic)
      critic->tell(round[i].point, told[i]);
  }
}

//===----------------------------------------------------------------------===//
// Proposals
//===----------------------------------------------------------------------===//

void ScreenedSearch::propose() {
  round.clear();
  told.clear();
  asked = 0;
  if (critic)
    critic->prepare();
  for (int64_t i = 0; i < constants.parallel; ++i) {
    bool isScreened = critic && rng.real() >= constants.unscreened;
    std::optional<Proposal> proposal;
    if (isScreened)
      proposal = proposeScreened();
    if (!proposal)
      proposal = proposeFirst();
    if (proposal)
      queue(std::move(*proposal));
    else if (!queueUniform())
      break;
  }
}

void ScreenedSearch::queue(Proposal proposal) {
  known.insert(proposal.point);
  round.push_back(std::move(proposal));
}

const NichedArchive::Elite &ScreenedSearch::drawParent() {
  const auto &elites = archive.elites();
  double position = std::pow(rng.real(), constants.greed);
  return elites[static_cast<size_t>(position * double(elites.size()))];
}

/// One sequence a start. Those that lead out of the device limit, under a tight
/// one most of them, are drawn again a few times.
std::vector<EditSequence>
ScreenedSearch::draw(const std::vector<EditStart> &starts) {
  constexpr int mostRounds = 8;
  std::vector<EditSequence> sequences = policy->draw(starts, archive, rng);
  for (int i = 1; i < mostRounds; ++i) {
    std::vector<size_t> outside;
    std::vector<EditStart> again;
    for (size_t j = 0; j < sequences.size(); ++j)
      if (!space.fits(sequences[j].result())) {
        outside.push_back(j);
        again.push_back(starts[j]);
      }
    if (outside.empty())
      break;
    std::vector<EditSequence> redrawn = policy->draw(again, archive, rng);
    for (size_t j = 0; j < outside.size(); ++j)
      sequences[outside[j]] = std::move(redrawn[j]);
  }
  return sequences;
}

bool ScreenedSearch::admit(const Point &point) {
  if (!space.fits(point))
    return false;
  bool isRefused =
      known.count(point) || (isHopeless && isHopeless(space.degreesAt(point)));
  rejectedDraws += isRefused;
  return !isRefused;
}

std::vector<ScreenedSearch::Candidate>
ScreenedSearch::admitted(std::vector<EditSequence> drawn) {
  std::vector<Candidate> candidates;
  std::set<Point> seen;
  for (size_t i = 0; i < drawn.size(); ++i) {
    Point point = drawn[i].result();
    if (admit(point) && seen.insert(point).second)
      candidates.push_back({std::move(drawn[i]), std::move(point), {}, i});
  }
  return candidates;
}

/// Of these, the ones of degrees that were never evaluated.
void ScreenedSearch::keepUnvisited(std::vector<Candidate> &candidates) const {
  candidates.erase(std::remove_if(candidates.begin(), candidates.end(),
                                  [&](const Candidate &candidate) {
                                    return visited.count(
                                        degreesOf(candidate.point, space));
                                  }),
                   candidates.end());
}

/// Puts the best first.
void ScreenedSearch::judge(std::vector<Candidate> &candidates) {
  for (Candidate &candidate : candidates)
    candidate.opinion = critic->opinion(candidate.point);
  std::stable_sort(candidates.begin(), candidates.end(),
                   [](const Candidate &a, const Candidate &b) {
                     return a.opinion.score > b.opinion.score;
                   });
}

/// One parent only: over many of them the critic's favourite would always be
/// of the same tuple of degrees, and the niches could not help.
std::optional<ScreenedSearch::Proposal> ScreenedSearch::proposeScreened() {
  const NichedArchive::Elite &parent = drawParent();
  std::vector<EditStart> starts(constants.draws, startAt(parent));
  // The critic prefers what it knows to be good. A share of the calls goes to
  // the most promising degrees that it has not seen.
  bool isExploring = rng.real() < constants.explore;
  std::vector<Candidate> first = admitted(draw(starts));
  if (isExploring)
    keepUnvisited(first);
  if (first.empty())
    return std::nullopt;
  judge(first);
  Proposal best{first[0].point, {first[0].edits}, parent.evaluation};
  size_t imagined = std::min<size_t>(first.size(), constants.imagined);
  if (imagined == 0)
    return best;

  std::vector<size_t> origins(constants.draws);
  for (size_t i = 0; i < starts.size(); ++i) {
    origins[i] = rng.below(imagined);
    const Candidate &origin = first[origins[i]];
    starts[i] = {origin.point, origin.opinion.slack};
  }
  std::vector<Candidate> second = admitted(draw(starts));
  if (isExploring)
    keepUnvisited(second);
  judge(second);
  if (!second.empty() && second[0].opinion.score > first[0].opinion.score) {
    const Candidate &origin = first[origins[second[0].draw]];
    best.point = second[0].point;
    best.trajectory = {origin.edits, second[0].edits};
  }
  return best;
}

/// The first draw that is admitted, each from a parent of its own; none after
/// `tries`.
std::optional<ScreenedSearch::Proposal> ScreenedSearch::proposeFirst() {
  constexpr int64_t together = 10; // what a network draws at little extra cost
  for (int64_t left = constants.tries; left > 0; left -= together) {
    std::vector<EditStart> starts;
    std::vector<const NichedArchive::Elite *> parents;
    for (int64_t i = 0; i < std::min(left, together); ++i) {
      parents.push_back(&drawParent());
      starts.push_back(startAt(*parents.back()));
    }
    std::vector<EditSequence> drawn = draw(starts);
    for (size_t i = 0; i < drawn.size(); ++i) {
      Point point = drawn[i].result();
      if (admit(point))
        return Proposal{
            std::move(point), {std::move(drawn[i])}, parents[i]->evaluation};
    }
  }
  return std::nullopt;
}

bool ScreenedSearch::queueUniform() {
  std::optional<Point> point = uniformUnknown();
  isExhausted |= !point;
  if (!point)
    return false;
  queue({std::move(*point), {}, {}});
  return true;
}

/// The next dims of the same degrees, in ascending order; false after the last.
static bool nextDims(Point &point, const StrategySpace &space) {
  for (size_t i = point.size(); i-- > space.firstDim();) {
    point[i] = (point[i] + 1) % space.domainSize(i);
    if (point[i] != 0)
      return true;
  }
  return false;
}

/// The first strategy of every tuple of degrees that is not hopeless.
std::vector<Point> ScreenedSearch::firstOfHopeful() const {
  std::vector<Point> points;
  Strategy strategy = space.strategyAt(Point(space.numVariables(), 0));
  for (const Degrees &degrees : space.degreeTuples()) {
    strategy.degrees = degrees;
    if (!isHopeless || !isHopeless(degrees))
      points.push_back(*space.pointOf(strategy));
  }
  return points;
}

/// A strategy drawn uniformly of those that may be evaluated; where most may
/// not, drawn from the degrees that are not hopeless; where all draws are known
/// as well, the first of these degrees that is not known. None if there is
/// none.
std::optional<Point> ScreenedSearch::uniformUnknown() {
  constexpr int mostDraws = 1000;
  for (int i = 0; i < mostDraws; ++i) {
    Point point = space.sample(rng);
    if (admit(point))
      return point;
  }
  if (!hopeful)
    hopeful = firstOfHopeful();
  for (int i = 0; i < mostDraws && !hopeful->empty(); ++i) {
    Point point = (*hopeful)[rng.below(hopeful->size())];
    for (size_t v = space.firstDim(); v < point.size(); ++v)
      point[v] = static_cast<uint32_t>(rng.below(space.domainSize(v)));
    if (admit(point))
      return point;
  }
  // No more steps than strategies are known, and one.
  for (Point point : *hopeful)
    do
      if (!known.count(point))
        return point;
    while (nextDims(point, space));
  return std::nullopt;
}

//===----------------------------------------------------------------------===//
// Construction
//===----------------------------------------------------------------------===//

/// The plans that a warm start evaluates; none without one.
static ErrorOr<std::vector<Plan>>
warmPlans(const SearcherContext &context, const ScreenedConstants &constants) {
  const Simulator *freeModel = context.freeModel;
  std::string choice = context.options.warmStart;
  if (choice.empty())
    choice = freeModel && isBlackBox(context) ? "exact" : "none";
  if (choice == "none")
    return std::vector<Plan>{};
  if (choice != "exact")
    return Error{"unknown warm-start '" + abbreviate(choice) + "', " +
                 listKnown(choice, {"exact", "none"})};
  if (!freeModel || !freeModel->decomposition())
    return Error{"'warm-start' is 'exact', which needs a model of the program "
                 "beside the simulator, and there is none; expected 'none'"};
  return findBestPlans(context.space, *freeModel->decomposition(),
                       context.objective.goal, constants.warmPlans,
                       context.threads, context.stopRequested);
}

ErrorOr<std::unique_ptr<Searcher>>
makeScreenedSearch(const SearcherContext &context,
                   const ScreenedConstants &constants,
                   std::unique_ptr<EditPolicy> policy) {
  ScreenedConstants resolved = constants;
  auto critic = makeCritic(context, resolved);
  if (!critic)
    return critic.error();
  auto plans = warmPlans(context, constants);
  if (!plans)
    return plans.error();
  return std::unique_ptr<Searcher>(std::make_unique<ScreenedSearch>(
      context, resolved, std::move(policy), std::move(*critic), *plans));
}

} // namespace shardopt::search
