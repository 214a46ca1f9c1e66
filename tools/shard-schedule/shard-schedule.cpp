//===- shard-schedule.cpp - Where and when operators run ------------------===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

//
// A graph in, a schedule and its distance from the best out (docs/Schedule.md).
// Needs neither LLVM nor MLIR.
//
//===----------------------------------------------------------------------===//

#include "Options.h"
#include "Problem.h"
#include "Report.h"
#include "shardopt/Schedule/ScheduleText.h"
#include "shardopt/Support/FileRoles.h"
#include "shardopt/Support/Signals.h"
#include "shardopt/Support/WriteFile.h"

#include <chrono>
#include <cstdio>

using namespace shardopt;
using namespace shardopt::schedule;

static StopToken stopToken;

/// Seconds since the program began.
static double secondsSinceStart() {
  static const auto start = std::chrono::steady_clock::now();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start)
      .count();
}

static SolverOptions solverOptions(const Options &options,
                                   const Problem &problem) {
  SolverOptions result;
  result.objective = options.objective == "own-span" ? Objective::OwnSpan
                     : options.objective == "memory" ? Objective::Memory
                                                     : Objective::Makespan;
  result.backend = options.backend;
  double standard = options.rounds ? 0 : 60;
  result.timeLimit = options.timeLimit.value_or(standard);
  result.secondsBefore = secondsSinceStart();
  result.rounds = options.rounds;
  result.threads = int(options.threads);
  result.seed = uint64_t(options.seed);
  result.stop = &stopToken;
  for (const Baseline &baseline : problem.baselines)
    if (baseline.schedule)
      result.known.push_back({baseline.name, *baseline.schedule});
  return result;
}

/// The schedule, and below it the orders made by hand that fit.
static std::string drawSchedule(const Problem &problem,
                                const SolverResult &result) {
  auto title = [](const std::string &name, int64_t makespan, int64_t bubble) {
    return name + ": makespan " + std::to_string(makespan) + ", bubble " +
           std::to_string(bubble);
  };
  std::vector<GanttPanel> panels = {
      {title("this schedule", result.verdict.makespan, result.verdict.bubble()),
       &*result.schedule}};
  for (const Baseline &baseline : problem.baselines)
    if (baseline.schedule)
      panels.push_back(
          {title(baseline.name, baseline.makespan, baseline.bubble),
           &*baseline.schedule});
  return toGantt(problem.instance, panels);
}

static int search(const Options &options, const Problem &problem) {
  const Instance &instance = problem.instance;
  SolverResult result =
      schedule::solve(instance, solverOptions(options, problem));
  if (result.mistake)
    std::fprintf(stderr,
                 "warning: a back-end offered what is no schedule: %s\n",
                 result.mistake->message.c_str());
  if (result.shortage)
    return fail(result.shortage->message);
  if (!result.schedule)
    return fail("no schedule found: stopped by " + result.stopped);
  std::optional<Error> error;
  auto write = [&](const std::string &path, auto text) {
    if (!error && !path.empty())
      error = writeFile(path, text());
  };
  write(options.schedule, [&] { return toJson(instance, *result.schedule); });
  write(options.report, [&] {
    return makeReport(options, problem, result, secondsSinceStart());
  });
  write(options.gantt, [&] { return drawSchedule(problem, result); });
  write(options.trace,
        [&] { return toChromeTrace(instance, *result.schedule); });
  if (error)
    return fail(error->message);
  if (options.schedule != "-")
    std::fputs(makeSummary(problem, result).c_str(), stdout);
  return stopToken.requested() ? 128 + stopToken.signal() : 0;
}

int main(int argc, char **argv) {
  secondsSinceStart();
  ErrorOr<Options> options = parseOptions(argc, argv);
  if (!options)
    return fail(options.error().message);
  if (options->standard.isAny()) {
    options->standard.answer(usageText, SHARDOPT_VERSION);
    return 0;
  }
  FileRoles roles;
  roles.reads("the graph", options->graph);
  roles.writes("-o", options->schedule);
  roles.writes("--report", options->report);
  roles.writes("--gantt", options->gantt);
  roles.writes("--trace", options->trace);
  if (std::optional<Error> error = roles.check())
    return fail(error->message);

  ErrorOr<Problem> problem = makeProblem(*options);
  if (!problem)
    return fail(problem.error().message);
  handleSignals(&stopToken);
  return search(*options, *problem);
}
