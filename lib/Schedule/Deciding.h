//===- Deciding.h - Makespans by questions of yes and no --------*- C++ -*-===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef SHARDOPT_LIB_SCHEDULE_DECIDING_H
#define SHARDOPT_LIB_SCHEDULE_DECIDING_H

#include "shardopt/Schedule/Search.h"
#include "shardopt/Schedule/StepModel.h"

#include <functional>

namespace shardopt::schedule {

enum class Answer : uint8_t { Yes, No, Unknown };

/// Asks whether there is a schedule as short as the model permits, with an
/// effort of conflicts or nodes. A yes comes with a schedule that was offered.
using Decide = std::function<Answer(const StepModel &model, int64_t effort)>;

/// "Is there a schedule of at most K?", from the bound upwards: a no raises the
/// bound, a yes that meets it ends the search. Where one K takes too long, half
/// the way to the best schedule is asked, and then the step below that; the
/// effort doubles with each round, from `effort`. Only for placements that are
/// given: a bound for one is none for all.
void improveByDeciding(Incumbent &incumbent, const Budget &budget,
                       int64_t effort, const Decide &decide);

} // namespace shardopt::schedule

#endif // SHARDOPT_LIB_SCHEDULE_DECIDING_H
