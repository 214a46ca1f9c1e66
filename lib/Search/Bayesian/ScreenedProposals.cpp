//===- ScreenedProposals.cpp - Edits that a critic likes best -------------===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ScreenedProposals.h"
#include "shardopt/Search/Bayesian/TargetEncoder.h"

#include <algorithm>
#include <cmath>
#include <set>

namespace shardopt::search {

/// The tuple of degrees of `point`, its niche.
static Point degreesOf(const Point &point, const StrategySpace &space) {
  return Point(point.begin(), point.begin() + space.firstDim());
}

void ScreenedProposals::visit(const Point &point) {
  visited.insert(degreesOf(point, space));
}

std::optional<Proposal>
ScreenedProposals::draw(const NichedArchive &archive,
                        const std::vector<Point> &pending) {
  if (critic)
    critic->prepare(pending);
  bool isScreened = critic && rng.real() >= constants.unscreened;
  std::optional<Proposal> proposal;
  if (isScreened)
    proposal = drawScreened(archive);
  return proposal ? std::move(proposal) : drawFirst(archive);
}

//===----------------------------------------------------------------------===//
// Draws
//===----------------------------------------------------------------------===//

const NichedArchive::Elite &
ScreenedProposals::drawParent(const Archive &archive) {
  const auto &elites = archive.elites();
  double position = std::pow(rng.real(), constants.greed);
  return elites[size_t(position * double(elites.size()))];
}

EditStart ScreenedProposals::startAt(const Archive::Elite &elite) const {
  return {elite.point, slackOf(elite.evaluation, objective)};
}

/// One sequence a start. Those that lead out of the device limit, under a tight
/// one most of them, are drawn again a few times.
std::vector<EditSequence>
ScreenedProposals::drawEdits(const std::vector<EditStart> &starts,
                             const Archive &archive) {
  constexpr int mostRounds = 8;
  std::vector<EditSequence> sequences = policy.draw(starts, archive, rng);
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
    std::vector<EditSequence> redrawn = policy.draw(again, archive, rng);
    for (size_t j = 0; j < outside.size(); ++j)
      sequences[outside[j]] = std::move(redrawn[j]);
  }
  return sequences;
}

std::vector<ScreenedProposals::Candidate>
ScreenedProposals::admitted(std::vector<EditSequence> drawn) {
  std::vector<Candidate> candidates;
  std::set<Point> seen;
  for (size_t i = 0; i < drawn.size(); ++i) {
    Point point = drawn[i].result();
    if (admission.admit(point) && seen.insert(point).second)
      candidates.push_back({std::move(drawn[i]), std::move(point), {}, i});
  }
  return candidates;
}

/// Of these, the ones of degrees that were never evaluated.
void ScreenedProposals::keepUnvisited(
    std::vector<Candidate> &candidates) const {
  candidates.erase(std::remove_if(candidates.begin(), candidates.end(),
                                  [&](const Candidate &candidate) {
                                    return visited.count(
                                        degreesOf(candidate.point, space));
                                  }),
                   candidates.end());
}

/// Puts the best first.
void ScreenedProposals::judge(std::vector<Candidate> &candidates) {
  for (Candidate &candidate : candidates)
    candidate.opinion = critic->opinion(candidate.point);
  std::stable_sort(candidates.begin(), candidates.end(),
                   [](const Candidate &a, const Candidate &b) {
                     return a.opinion.score > b.opinion.score;
                   });
}

//===----------------------------------------------------------------------===//
// Proposals
//===----------------------------------------------------------------------===//

/// One parent only: over many of them the critic's favourite would always be
/// of the same tuple of degrees, and the niches could not help.
std::optional<Proposal>
ScreenedProposals::drawScreened(const Archive &archive) {
  const Archive::Elite &parent = drawParent(archive);
  std::vector<EditStart> starts(constants.draws, startAt(parent));
  // The critic prefers what it knows to be good. A share of the calls goes to
  // the most promising degrees that it has not seen.
  bool isExploring = rng.real() < constants.explore;
  std::vector<Candidate> first = admitted(drawEdits(starts, archive));
  if (isExploring)
    keepUnvisited(first);
  if (first.empty())
    return std::nullopt;
  judge(first);
  Proposal best{first[0].point,
                Proposal::Origin{{first[0].edits}, parent.evaluation, archive}};
  size_t imagined = std::min<size_t>(first.size(), constants.imagined);
  if (imagined == 0)
    return best;

  std::vector<size_t> origins(constants.draws);
  for (size_t i = 0; i < starts.size(); ++i) {
    origins[i] = rng.below(imagined);
    const Candidate &origin = first[origins[i]];
    starts[i] = {origin.point, origin.opinion.slack};
  }
  std::vector<Candidate> second = admitted(drawEdits(starts, archive));
  if (isExploring)
    keepUnvisited(second);
  judge(second);
  if (!second.empty() && second[0].opinion.score > first[0].opinion.score) {
    const Candidate &origin = first[origins[second[0].draw]];
    best.point = second[0].point;
    best.origin->trajectory = {origin.edits, second[0].edits};
  }
  return best;
}

/// The first draw that is admitted, each from a parent of its own; none after
/// `tries`.
std::optional<Proposal> ScreenedProposals::drawFirst(const Archive &archive) {
  constexpr int64_t together = 10; // what a network draws at little extra cost
  for (int64_t left = constants.tries; left > 0; left -= together) {
    std::vector<EditStart> starts;
    std::vector<const Archive::Elite *> parents;
    for (int64_t i = 0; i < std::min(left, together); ++i) {
      parents.push_back(&drawParent(archive));
      starts.push_back(startAt(*parents.back()));
    }
    std::vector<EditSequence> drawn = drawEdits(starts, archive);
    for (size_t i = 0; i < drawn.size(); ++i) {
      Point point = drawn[i].result();
      if (admission.admit(point))
        return Proposal{std::move(point),
                        Proposal::Origin{{std::move(drawn[i])},
                                         parents[i]->evaluation,
                                         archive}};
    }
  }
  return std::nullopt;
}

} // namespace shardopt::search
