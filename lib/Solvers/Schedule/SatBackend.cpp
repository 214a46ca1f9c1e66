//===- SatBackend.cpp - Makespans decided by CaDiCaL ----------------------===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "SatProgram.h"
#include "shardopt/Solvers/Schedule/Backends.h"

using namespace shardopt;
using namespace shardopt::schedule;

namespace {

class SatBackend : public Backend {
public:
  const char *name() const override { return "sat"; }
  void improve(Incumbent &incumbent, const Budget &budget) override;
};

} // namespace

void SatBackend::improve(Incumbent &incumbent, const Budget &budget) {
  constexpr int64_t conflicts = 20'000;
  improveByDeciding(
      incumbent, budget, conflicts, [&](const auto &model, int64_t effort) {
        SatOutcome outcome = solveBySat(
            model.numSteps(),
            [&](StepSink &sink) { return model.build(sink, &budget); }, effort,
            budget);
        if (outcome.answer == Answer::Yes)
          if (std::optional<Schedule> schedule =
                  model.read([&](Step step) { return outcome.isTrue(step); }))
            incumbent.offer(*schedule, name());
        return outcome.answer;
      });
}

std::unique_ptr<Backend> schedule::makeSatBackend() {
  return std::make_unique<SatBackend>();
}
