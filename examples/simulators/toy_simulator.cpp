//===- toy_simulator.cpp - A toy simulator process ------------------------===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

//
// A worker for `simulator=exec:` that leaves the protocol to shardopt's own
// library. The made-up model is that of toy_simulator.py.
//
//===----------------------------------------------------------------------===//

#include "shardopt/Search/BlackBox/Server.h"

#include <limits>
#include <unistd.h>

using namespace shardopt;

namespace {

class ToySimulator final : public blackbox::Service {
public:
  std::optional<Error> greet(const blackbox::Hello &hello) override {
    if (hello.ops.empty() || !hello.latency || !hello.context)
      return Error{"expected ops and a workload"};
    problem = hello;
    return std::nullopt;
  }
  std::string name() const override { return "toy"; }
  const std::vector<std::string> &opNames() const override {
    return problem.ops;
  }
  LatencyKey latencyKey() const override { return *problem.latency; }

  ErrorOr<blackbox::Answer> evaluate(const Strategy &strategy) override {
    const Degrees &degrees = strategy.degrees;
    const double tp = degrees.tp, ep = degrees.ep, pp = degrees.pp;

    // An op that is cut takes a tp-th of the work and the weights; a change of
    // the dim from one op to the next costs a fifth of a millisecond.
    double share = 0;
    int changes = 0;
    for (size_t i = 0; i < strategy.dims.size(); ++i) {
      share += strategy.dims[i] == Dim::None ? 1.0 : 1.0 / tp;
      changes += i > 0 && strategy.dims[i] != strategy.dims[i - 1];
    }
    share /= strategy.dims.size();
    const double cache = degrees.batch * *problem.context * 1e-5;

    Evaluation result;
    result.latencyMs =
        40.0 * share + 2.0 * pp + 0.2 * changes + cache / (tp * ep * pp);
    result.memoryGb = 400.0 * share / (ep * pp) + cache / (tp * ep * pp);
    result.throughput =
        degrees.batch / (result.latencyMs * 1e-3) / (tp * ep * pp);
    constexpr double none = std::numeric_limits<double>::infinity();
    result.reason = Reason::None;
    if (result.memoryGb > problem.memoryCapacityGb.value_or(none))
      result.reason = Reason::Memory;
    else if (result.latencyMs > problem.sloMs.value_or(none))
      result.reason = Reason::Slo;
    result.valid = result.reason == Reason::None;
    return blackbox::Answer{result};
  }

private:
  blackbox::Hello problem;
};

} // namespace

int main() {
  ToySimulator simulator;
  return blackbox::serve(simulator, STDIN_FILENO, STDOUT_FILENO) ? 0 : 1;
}
