//===- ModuloBackend.cpp - From the steady state to its ends --------------===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The steady state says what period and memory permit; the bubble is decided at
// the ends. The repetitions are laid out as they are, moved to the left in the
// order that this gives, and listed by their starts where that takes too much
// memory. The local search goes on from there.
//
//===----------------------------------------------------------------------===//

#include "shardopt/Solvers/Schedule/Backends.h"
#include "shardopt/Solvers/Schedule/ListScheduler.h"
#include "shardopt/Solvers/Schedule/MachineOrders.h"

using namespace shardopt;
using namespace shardopt::schedule;

namespace {

class ModuloBackend : public Backend {
public:
  const char *name() const override { return "modulo"; }
  void improve(Incumbent &incumbent, const Budget &budget) override;
};

} // namespace

void ModuloBackend::improve(Incumbent &incumbent, const Budget &budget) {
  const Instance &instance = incumbent.instance();
  if (instance.copies() < 2)
    return;
  std::optional<SteadyState> steady =
      planSteadyState(instance, std::nullopt, budget);
  if (!steady)
    return;
  Schedule whole = unroll(instance, *steady);
  incumbent.setSteadyState(*std::move(steady));
  incumbent.offer(whole, name());
  std::optional<Schedule> early =
      retime(instance, whole.devices, ordersOf(instance, whole));
  if (early && validate(instance, *early))
    incumbent.offer(*early, name());
  DispatchRule rule;
  rule.keys = whole.starts;
  std::optional<Schedule> listed =
      dispatch(instance, whole.devices, rule, 0, &budget);
  if (listed)
    incumbent.offer(*listed, name());
}

std::unique_ptr<Backend> schedule::makeModulo() {
  if (!makeSatBackend())
    return nullptr;
  return std::make_unique<ModuloBackend>();
}
