//===- SatProgram.cpp - Steps decided by CaDiCaL --------------------------===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "SatProgram.h"

#include <algorithm>
#include <set>

#include <cadical.hpp>

using namespace shardopt;
using namespace shardopt::schedule;

namespace {

/// Clauses of a model. Steps have the literals 1, 2, …, what is added on the
/// way those after.
class ClauseSink : public StepSink {
public:
  ClauseSink(CaDiCaL::Solver &solver, int64_t numSteps)
      : solver(solver), last(int32_t(numSteps)) {}

  Step newStep() override { return newLiteral() - 1; }
  void implies(Step a, Step b) override { addClause({-of(a), of(b)}); }
  void anyOf(const std::vector<Step> &some,
             const std::vector<Step> &unless) override;
  void exclusive(const std::vector<Stream> &streams) override;
  void capacity(const std::vector<Stream> &streams, int64_t limit) override;

private:
  static constexpr int32_t truth = INT32_MAX;
  static int32_t of(Step step) {
    return step == alwaysStep ? truth : step == neverStep ? -truth : step + 1;
  }
  int32_t newLiteral() { return ++last; }
  void addClause(const std::vector<int32_t> &literals) {
    if (std::find(literals.begin(), literals.end(), truth) != literals.end())
      return;
    for (int32_t literal : literals)
      if (literal != -truth)
        solver.add(literal);
    solver.add(0);
  }
  /// Literals for "at least k repetitions at once", k = 1, 2, … at most `most`.
  std::vector<int32_t> countLive(const Stream &stream, size_t most);

  CaDiCaL::Solver &solver;
  int32_t last;
};

/// Ends a call of the solver once the budget is over.
class BudgetTerminator : public CaDiCaL::Terminator {
public:
  explicit BudgetTerminator(const Budget &budget) : budget(budget) {}
  bool terminate() override { return budget.isOver(); }

private:
  const Budget &budget;
};

} // namespace

void ClauseSink::anyOf(const std::vector<Step> &some,
                       const std::vector<Step> &unless) {
  std::vector<int32_t> literals;
  for (Step step : some)
    literals.push_back(of(step));
  for (Step step : unless)
    literals.push_back(-of(step));
  addClause(literals);
}

void ClauseSink::exclusive(const std::vector<Stream> &streams) {
  // Of a stream at most one runs, so one literal stands for all of it. A
  // ladder: `some` is true if any stream before runs.
  int32_t some = -truth;
  for (size_t k = 0; k < streams.size(); ++k) {
    int32_t runs = newLiteral();
    for (const Between &run : streams[k].repetitions)
      addClause({-of(run.from), of(run.until), runs});
    addClause({-some, -runs});
    if (k + 1 == streams.size())
      break;
    int32_t next = newLiteral();
    addClause({-some, next});
    addClause({-runs, next});
    some = next;
  }
}

std::vector<int32_t> ClauseSink::countLive(const Stream &stream, size_t most) {
  std::vector<int32_t> atLeast;
  const std::vector<Between> &lives = stream.repetitions;
  for (size_t k = 1; k <= std::min(most, lives.size()); ++k) {
    int32_t literal = newLiteral();
    // Deaths come in order: if the first of k was born and lives, all do.
    for (size_t m = 0; m + k <= lives.size(); ++m)
      addClause({-of(lives[m + k - 1].from), of(lives[m].until), literal});
    atLeast.push_back(literal);
  }
  return atLeast;
}

void ClauseSink::capacity(const std::vector<Stream> &streams, int64_t limit) {
  // Sums of the streams so far that can occur, each with a literal for "at
  // least this"; beyond the limit that is false.
  std::vector<std::pair<int64_t, int32_t>> sums = {{0, truth}};
  for (const Stream &stream : streams) {
    std::vector<int32_t> counts =
        countLive(stream, size_t(limit / stream.weight) + 1);
    std::set<int64_t> values;
    for (auto [sum, literal] : sums)
      for (size_t k = 0; k <= counts.size(); ++k)
        if (sum + int64_t(k) * stream.weight <= limit)
          values.insert(sum + int64_t(k) * stream.weight);
    std::vector<std::pair<int64_t, int32_t>> next;
    for (int64_t value : values)
      next.push_back({value, value ? newLiteral() : truth});
    for (size_t v = 1; v + 1 < next.size(); ++v)
      addClause({-next[v + 1].second, next[v].second});
    for (auto [sum, literal] : sums)
      for (size_t k = 0; k <= counts.size(); ++k) {
        int64_t value = sum + int64_t(k) * stream.weight;
        int32_t count = k ? counts[k - 1] : truth;
        auto it = std::lower_bound(next.begin(), next.end(),
                                   std::make_pair(value, INT32_MIN));
        addClause({-literal, -count, value > limit ? -truth : it->second});
        if (value > limit)
          break;
      }
    sums = std::move(next);
  }
}

SatOutcome schedule::solveBySat(int64_t numSteps, const BuildSteps &build,
                                int64_t conflicts, const Budget &budget) {
  CaDiCaL::Solver solver;
  solver.set("quiet", 1);
  ClauseSink sink(solver, numSteps);
  if (!build(sink))
    return {};
  BudgetTerminator terminator(budget);
  solver.connect_terminator(&terminator);
  solver.limit("conflicts", int(conflicts));
  int status = solver.solve();
  solver.disconnect_terminator();
  constexpr int satisfiable = 10, unsatisfiable = 20;
  SatOutcome outcome;
  if (status == unsatisfiable)
    outcome.answer = Answer::No;
  if (status != satisfiable)
    return outcome;
  outcome.answer = Answer::Yes;
  for (int64_t step = 0; step < numSteps; ++step)
    outcome.values.push_back(solver.val(int(step) + 1) > 0);
  return outcome;
}
