//===- Deciding.h - Makespans by questions of yes and no --------*- C++ -*-===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef SHARDOPT_LIB_SOLVERS_SCHEDULE_DECIDING_H
#define SHARDOPT_LIB_SOLVERS_SCHEDULE_DECIDING_H

#include "FreeModel.h"

#include <functional>

namespace shardopt::schedule {

enum class Answer : uint8_t { Yes, No, Unknown };

/// Asks with an effort of conflicts or nodes whether there is a schedule of at
/// most `makespan`. A yes comes with a schedule that was offered.
using Decide = std::function<Answer(int64_t makespan, int64_t effort)>;

/// "Is there a schedule of at most K?", from the bound upwards, for multiples
/// of `unit`: a no raises the bound, a yes that meets it ends the search. Where
/// one K takes too long, half the way to the best schedule is asked, and then
/// the step below that; the effort doubles with each round, from `effort`, or
/// from what rounds there are in all.
void decideMakespans(Incumbent &incumbent, const Budget &budget, int64_t unit,
                     int64_t effort, const Decide &decide);

/// The same with times in so coarse a unit that a yes says nothing: the least
/// makespan that is not refuted, by bisection, up to the first that is not
/// known. Asks at most as often as the budget has rounds.
void decideRounded(Incumbent &incumbent, const Budget &budget, int64_t unit,
                   const std::function<Answer(int64_t makespan)> &decide);

/// The unit in which the makespan of the best schedule is short enough for a
/// variable each; `unit` itself if it is already, and nothing where operators
/// are so short that too little of them is left in it.
std::optional<int64_t> coarseUnit(const Incumbent &incumbent, int64_t unit);

/// That of `StepModel` where the placement is given, and that of `FreeModel`,
/// whose answers hold for all placements, where it is not. `decide` takes
/// either and an effort.
template <typename DecideModel>
void improveByDeciding(Incumbent &incumbent, const Budget &budget,
                       int64_t effort, DecideModel decide) {
  const Instance &instance = incumbent.instance();
  if (incumbent.objective() != Criterion::Makespan)
    return;
  auto ask = [&](const auto &model, int64_t own) {
    constexpr int64_t mostSize = 10'000'000;
    if (model.isRefuted())
      return Answer::No;
    return model.size() <= mostSize ? decide(model, own) : Answer::Unknown;
  };
  // What is rounded need not be settled, and has to be done soon.
  auto askRounded = [&](const StepModel &model) {
    constexpr int64_t mostSize = 1'000'000, part = 10;
    return model.size() <= mostSize ? ask(model, effort / part)
                                    : Answer::Unknown;
  };
  std::vector<int32_t> devices = instance.placement();
  if (instance.isPlaced()) {
    int64_t exact = unitOf(instance, devices);
    std::optional<int64_t> unit = coarseUnit(incumbent, exact);
    if (unit == exact)
      decideMakespans(incumbent, budget, exact, effort,
                      [&](int64_t makespan, int64_t own) {
                        return ask(StepModel(instance, devices, makespan), own);
                      });
    else if (unit)
      decideRounded(incumbent, budget, *unit, [&](int64_t makespan) {
        return askRounded(StepModel(instance, devices, makespan, *unit));
      });
  } else if (FreeModel::covers(instance))
    decideMakespans(incumbent, budget, FreeModel::unitOf(instance), effort,
                    [&](int64_t makespan, int64_t own) {
                      return ask(FreeModel(instance, makespan), own);
                    });
}

} // namespace shardopt::schedule

#endif // SHARDOPT_LIB_SOLVERS_SCHEDULE_DECIDING_H
