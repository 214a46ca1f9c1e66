//===- JointProposals.cpp - Rounds of strategies worth a call -------------===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "JointProposals.h"
#include "shardopt/Search/Megatron.h"

#include <algorithm>
#include <cmath>

namespace shardopt::search {

/// Niches that a round looks at: the most promising, those expected to be best,
/// and others in turn.
static constexpr size_t numPromising = 6, numExpected = 5, numInTurn = 3;
/// Elites of other niches whose dims a niche is looked at with.
static constexpr size_t numStarts = 2;
static constexpr size_t kicksOfLook = 1, kicksOfBest = 12;
/// Dims that change a score by less are inert.
static constexpr double inertChange = 2e-3;
static constexpr size_t longestWindow = 5;
static constexpr size_t mostTables = 64;

JointProposals::JointProposals(const StrategySpace &space,
                               const Objective &objective,
                               const ScreenedConstants &constants,
                               EditPolicy *policy, JointCritic &critic,
                               Niches &niches, Admission &admission, Rng &rng)
    : space(space), objective(objective), constants(constants), policy(policy),
      critic(critic), niches(niches), admission(admission), rng(rng) {
  for (const std::vector<Dim> &dims : knownLayouts(space)) {
    DimIndices &indices = layouts.emplace_back();
    for (size_t op = 0; op < dims.size(); ++op) {
      const DimDomain &domain = space.dimDomains()[op];
      indices.push_back(uint8_t(
          std::find(domain.begin(), domain.end(), dims[op]) - domain.begin()));
    }
  }
}

const DimTables &JointProposals::tablesAt(size_t niche) {
  auto it = tables.find(niche);
  if (it == tables.end())
    it = tables.emplace(niche, critic.tablesAt(niches[niche].degrees)).first;
  return it->second;
}

DimIndices JointProposals::drawRuns() {
  constexpr double changeRate = .25;
  const DimPairs &pairs = critic.pairs();
  DimIndices dims;
  uint64_t run = rng.below(maxDims);
  for (size_t op = 0; op < pairs.numOps(); ++op) {
    if (rng.real() < changeRate)
      run = rng.below(maxDims);
    dims.push_back(uint8_t(run % pairs.numDims(op)));
  }
  return dims;
}

DimIndices JointProposals::drawLayout() {
  constexpr double knownShare = .5;
  return rng.real() < knownShare ? layouts[rng.below(layouts.size())]
                                 : drawRuns();
}

/// By how much the score changes at most where `op` gets another dim.
static double sensitivity(const DimTables &tables, const DimPairs &pairs,
                          const DimIndices &dims, size_t op) {
  Channels now = tables.predict(dims);
  double score = tables.scoreOf(now);
  double most = 0;
  for (uint8_t dim = 0; dim < pairs.numDims(op); ++dim) {
    Channels then = tables.change(dims, op, dim);
    for (size_t c = 0; c < numChannels; ++c)
      then[c] += now[c];
    most = std::max(most, std::abs(tables.scoreOf(then) - score));
  }
  return most;
}

/// Finds what is expected of a niche.
void JointProposals::look(size_t number) {
  Niche &niche = niches[number];
  if (niche.isDead)
    return;
  // The first round looks at more niches than there is room for tables.
  if (tables.size() >= mostTables)
    tables.clear();
  const DimTables &here = tablesAt(number);
  niche.lookedAt = this->number;
  looked.push_back(number);
  niche.expected = std::numeric_limits<double>::lowest();
  auto tryFrom = [&](DimIndices dims) {
    double score = here.descend(dims);
    if (score > niche.expected) {
      niche.expected = score;
      niche.expectedDims = std::move(dims);
    }
  };
  if (!niche.expectedDims.empty())
    tryFrom(niche.expectedDims);
  if (niche.valid)
    tryFrom(niche.valid->dims);
  if (niche.invalid)
    tryFrom(niche.invalid->dims);
  for (size_t i = 0; i < std::min(numStarts, ranked.size()); ++i)
    tryFrom(niches[ranked[i]].best()->dims);
  niche.expected = here.descendFar(niche.expectedDims, kicksOfLook, rng);
  niche.isInert = true;
  for (size_t op = 0; niche.isInert && op < niche.expectedDims.size(); ++op)
    niche.isInert =
        sensitivity(here, critic.pairs(), niche.expectedDims, op) < inertChange;
}

void JointProposals::lookAround() {
  std::vector<size_t> chosen(
      ranked.begin(), ranked.begin() + std::min(numPromising, ranked.size()));
  auto add = [&](size_t count, auto comesBefore) {
    std::vector<size_t> order;
    for (size_t i = 0; i < niches.size(); ++i)
      if (!niches[i].isDead &&
          std::find(chosen.begin(), chosen.end(), i) == chosen.end())
        order.push_back(i);
    size_t taken = std::min(count, order.size());
    std::partial_sort(order.begin(), order.begin() + taken, order.end(),
                      [&](size_t a, size_t b) {
                        if (comesBefore(a, b) != comesBefore(b, a))
                          return bool(comesBefore(a, b));
                        return a < b;
                      });
    chosen.insert(chosen.end(), order.begin(), order.begin() + taken);
  };
  add(numExpected, [&](size_t a, size_t b) {
    return niches[a].expected > niches[b].expected;
  });
  // All of them in the first round.
  add(number == 1 ? niches.size() : numInTurn, [&](size_t a, size_t b) {
    return niches[a].lookedAt < niches[b].lookedAt;
  });
  for (size_t niche : chosen)
    look(niche);
}

/// Whether it is new and may be evaluated.
bool JointProposals::propose(size_t niche, const DimIndices &dims) {
  Point point = niches.pointOf(niche, dims);
  for (const Proposal &other : proposed)
    if (other.point == point)
      return false;
  if (admission.isHopelessAt(point))
    niches[niche].isDead = true;
  if (!admission.admit(point))
    return false;
  proposed.push_back({std::move(point), std::nullopt});
  return true;
}

/// Gives the ops [begin, end) other dims: drawn one by one, all the same, as a
/// block that changes its layout as a whole does, or those of another elite.
void JointProposals::redrawWindow(DimIndices &dims, size_t begin, size_t end) {
  const DimPairs &pairs = critic.pairs();
  uint64_t kind = rng.below(3);
  uint64_t same = rng.below(maxDims);
  const DimIndices &other = niches[niches.drawParent(ranked, rng)].best()->dims;
  for (size_t op = begin; op < end; ++op)
    dims[op] = kind == 0   ? uint8_t(rng.below(pairs.numDims(op)))
               : kind == 1 ? uint8_t(same % pairs.numDims(op))
                           : other[op];
}

/// An invalid one where there is a valid one, too, now and then.
const Niche::Elite &JointProposals::drawElite(size_t number) {
  const Niche &niche = niches[number];
  constexpr double invalidShare = .3;
  return niche.valid && niche.invalid && rng.real() < invalidShare
             ? *niche.invalid
             : *niche.best();
}

/// Of edits that the policy draws of a parent, each with the other dims adapted
/// by the critic: the one that it expects most of.
void JointProposals::kickByPolicy() {
  size_t parent = niches.drawParent(ranked, rng);
  Niche::Elite elite = drawElite(parent);
  EditStart start{niches.pointOf(parent, elite.dims),
                  slackOf(elite.evaluation, objective)};
  size_t draws = size_t(constants.policyDraws);
  std::vector<EditSequence> drawn =
      policy->draw(std::vector<EditStart>(draws, start), *archive, rng);
  struct Candidate {
    size_t niche;
    DimIndices dims;
    double score;
    EditSequence *edits;
  };
  std::vector<Candidate> candidates;
  for (EditSequence &edits : drawn) {
    Point point = edits.result();
    if (edits.edits.empty() || !space.fits(point))
      continue;
    Candidate candidate{niches.find(point), niches.dimsOf(point), 0, &edits};
    if (niches[candidate.niche].isDead)
      continue;
    std::vector<bool> pinned(candidate.dims.size());
    for (const Edit &edit : edits.edits)
      if (edit.variable >= space.firstDim())
        pinned[edit.variable - space.firstDim()] = true;
    candidate.score = tablesAt(candidate.niche).descend(candidate.dims, pinned);
    candidates.push_back(std::move(candidate));
  }
  std::stable_sort(
      candidates.begin(), candidates.end(),
      [](const Candidate &a, const Candidate &b) { return a.score > b.score; });
  for (Candidate &candidate : candidates)
    if (propose(candidate.niche, candidate.dims)) {
      proposed.back().origin = Proposal::Origin{
          {std::move(*candidate.edits)}, elite.evaluation, *archive};
      return;
    }
}

/// Redraws a window of ops of a parent, and lets the critic adapt the others.
void JointProposals::kick() {
  constexpr int mostTries = 6;
  for (int i = 0; i < mostTries; ++i) {
    size_t parent = niches.drawParent(ranked, rng);
    const Niche &niche = niches[parent];
    if (niche.isInert)
      continue;
    const Niche::Elite &elite = drawElite(parent);
    const DimTables &here = tablesAt(parent);
    size_t numOps = elite.dims.size();
    std::vector<double> weights;
    for (size_t op = 0; op < numOps; ++op)
      weights.push_back(.01 + std::min(.3, sensitivity(here, critic.pairs(),
                                                       elite.dims, op)));
    size_t length = 1 + rng.below(longestWindow);
    size_t centre = rng.weighted(weights);
    size_t begin = centre - std::min(centre, rng.below(length));
    size_t end = std::min(begin + length, numOps);
    std::vector<bool> pinned(numOps);
    std::fill(pinned.begin() + begin, pinned.begin() + end, true);
    DimIndices dims = elite.dims;
    redrawWindow(dims, begin, end);
    if (dims == elite.dims)
      continue;
    here.descend(dims, pinned);
    if (propose(parent, dims))
      return;
  }
}

/// Whether there is nothing to find. All dims of a tuple where they are inert
/// are one strategy, which is tried twice.
static bool isSpent(const Niche &niche) {
  constexpr size_t mostCalls = 2;
  return niche.isDead || (niche.isInert && niche.calls >= mostCalls);
}

/// The dims of a parent at other degrees, unchanged.
void JointProposals::transplant() {
  // Half of them go nearly anywhere.
  double temperature = rng.real() < .5 ? .1 : 1;
  constexpr int mostTries = 6;
  std::vector<double> weights(niches.size());
  double most = std::numeric_limits<double>::lowest();
  for (size_t i = 0; i < niches.size(); ++i) {
    const Niche &niche = niches[i];
    weights[i] = niche.expected;
    if (niche.best())
      weights[i] = std::max(niche.expected, niche.best()->score) -
                   (niche.best()->score - niche.promise());
    if (!isSpent(niche))
      most = std::max(most, weights[i]);
  }
  for (size_t i = 0; i < niches.size(); ++i)
    weights[i] =
        niches[i].isDead ? 0 : std::exp((weights[i] - most) / temperature);
  for (int i = 0; i < mostTries; ++i) {
    size_t parent = niches.drawParent(ranked, rng);
    size_t target = rng.weighted(weights);
    if (target != parent && propose(target, niches[parent].best()->dims))
      return;
  }
}

/// What is expected of the most promising degrees that were never evaluated: of
/// those that looked best, and of some others, which are looked at again. The
/// critic prefers what it knows to be good.
void JointProposals::exploreUnseen() {
  constexpr size_t numBest = 3, numOthers = 6;
  std::vector<size_t> unseen;
  for (size_t i = 0; i < niches.size(); ++i)
    if (!niches[i].calls && !niches[i].isDead && !taken.count(i))
      unseen.push_back(i);
  if (unseen.empty())
    return;
  auto comesBefore = [&](size_t a, size_t b) {
    return niches[a].expected != niches[b].expected
               ? niches[a].expected > niches[b].expected
               : a < b;
  };
  std::partial_sort(unseen.begin(),
                    unseen.begin() + std::min(numBest, unseen.size()),
                    unseen.end(), comesBefore);
  for (size_t i = numBest; i < std::min(numBest + numOthers, unseen.size());
       ++i)
    std::swap(unseen[i], unseen[i + rng.below(unseen.size() - i)]);
  unseen.resize(std::min(numBest + numOthers, unseen.size()));
  for (size_t niche : unseen)
    look(niche);
  size_t best = *std::min_element(unseen.begin(), unseen.end(), comesBefore);
  taken.insert(best);
  propose(best, niches[best].expectedDims);
}

/// Known layouts at degrees where they may beat the best plan: those first that
/// would be best if the critic overrated their latency by as much as it may.
/// What it knows of other layouts says little of one that it never saw there.
void JointProposals::reachOut(size_t count) {
  constexpr size_t numDrawn = 200, mostCalls = 2;
  constexpr double optimism = 1.5;
  if (count == 0)
    return;
  double incumbent = std::numeric_limits<double>::lowest();
  for (size_t i = 0; i < niches.size(); ++i)
    if (niches[i].valid)
      incumbent = std::max(incumbent, niches[i].valid->score);
  struct Candidate {
    double hope; ///< its score, by an upper confidence bound
    size_t niche, layout;
  };
  std::vector<Candidate> candidates;
  JointCritic::Predictor predictor(critic, layouts);
  for (size_t draw = 0; draw < numDrawn; ++draw) {
    size_t niche = rng.below(niches.size());
    if (isSpent(niches[niche]) || niches[niche].calls > mostCalls)
      continue;
    const Point &degrees = niches[niche].degrees;
    TargetEncoder::Weights weights = critic.weightsAt(degrees);
    std::vector<JointCritic::Predictor::Forecast> forecasts =
        predictor.at(degrees);
    for (size_t layout = 0; layout < layouts.size(); ++layout) {
      auto [hoped, doubt] = forecasts[layout];
      hoped[TargetEncoder::Latency] -= float(optimism * doubt);
      double hope = scoreOf(hoped, weights);
      if (hope > incumbent && !reached.count({niche, layout}))
        candidates.push_back({hope, niche, layout});
    }
  }
  std::stable_sort(
      candidates.begin(), candidates.end(),
      [](const Candidate &a, const Candidate &b) { return a.hope > b.hope; });
  for (const Candidate &candidate : candidates) {
    if (count == 0)
      return;
    if (reached.insert({candidate.niche, candidate.layout}).second)
      count -= propose(candidate.niche, layouts[candidate.layout]);
  }
}

void JointProposals::drawUniform() {
  size_t parent = niches.drawParent(ranked, rng);
  if (!isSpent(niches[parent]))
    propose(parent, drawRuns());
}

/// A dim of one of the most promising niches, changed to one not tried.
void JointProposals::editOnce() {
  constexpr int mostTries = 12;
  for (int i = 0; i < mostTries; ++i) {
    size_t parent = ranked[rng.below(std::min<size_t>(3, ranked.size()))];
    DimIndices dims = niches[parent].best()->dims;
    if (dims.empty() || niches[parent].isInert)
      continue;
    size_t op = rng.below(dims.size());
    dims[op] = uint8_t(rng.below(critic.pairs().numDims(op)));
    if (!admission.isKnown(niches.pointOf(parent, dims)) &&
        propose(parent, dims))
      return;
  }
}

/// What is expected to be best, one of a niche. Where that is known, the best
/// of its surroundings that is not.
void JointProposals::takeExpected() {
  size_t best = niches.size();
  double most = std::numeric_limits<double>::lowest();
  for (size_t niche : looked) {
    const Niche &candidate = niches[niche];
    if (isSpent(candidate) || taken.count(niche))
      continue;
    double value =
        candidate.expected -
        (candidate.best() ? candidate.best()->score - candidate.promise() : 0);
    if (value > most) {
      most = value;
      best = niche;
    }
  }
  if (best == niches.size())
    return;
  taken.insert(best);
  Niche &niche = niches[best];
  const DimTables &here = tablesAt(best);
  DimIndices dims = niche.expectedDims;
  double found = here.descendFar(dims, kicksOfBest, rng);
  niche.expected = found;
  niche.expectedDims = dims;
  if (!admission.isKnown(niches.pointOf(best, dims)) && propose(best, dims))
    return;
  if (niche.isInert)
    return;
  std::optional<DimIndices> chosen;
  double value = std::numeric_limits<double>::lowest();
  for (size_t op = 0; op < dims.size(); ++op)
    for (uint8_t dim = 0; dim < critic.pairs().numDims(op); ++dim) {
      DimIndices other = dims;
      other[op] = dim;
      if (dim == dims[op] || admission.isKnown(niches.pointOf(best, other)))
        continue;
      if (double score = here.score(other); score > value) {
        value = score;
        chosen = std::move(other);
      }
    }
  if (chosen)
    propose(best, *chosen);
}

std::vector<Proposal> JointProposals::round(size_t size,
                                            const NichedArchive &elites) {
  ++number;
  archive = &elites;
  tables.clear();
  looked.clear();
  taken.clear();
  proposed.clear();
  ranked = niches.ranked();
  if (ranked.empty())
    return {};
  lookAround();
  auto countOf = [&](double share) {
    double wanted = share * double(size);
    size_t count = size_t(wanted);
    return count + (rng.real() < wanted - double(count));
  };
  auto repeat = [&](double share, void (JointProposals::*make)()) {
    size_t count = countOf(share);
    for (size_t i = 0; i < count && proposed.size() < size; ++i)
      (this->*make)();
  };
  double byPolicy = policy ? constants.policyShare : 0;
  repeat(constants.kicks * (1 - byPolicy), &JointProposals::kick);
  if (policy)
    repeat(constants.kicks * byPolicy, &JointProposals::kickByPolicy);
  repeat(constants.transplants, &JointProposals::transplant);
  repeat(constants.explore, &JointProposals::exploreUnseen);
  reachOut(std::min(countOf(constants.reach), size - proposed.size()));
  repeat(constants.uniform, &JointProposals::drawUniform);
  repeat(constants.singles, &JointProposals::editOnce);
  for (size_t i = 0; i < 2 * size && proposed.size() < size; ++i)
    takeExpected();
  return std::move(proposed);
}

} // namespace shardopt::search
