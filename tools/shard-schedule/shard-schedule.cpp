//===- shard-schedule.cpp - Where and when operators run ------------------===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

//
// A graph, or a program with a strategy, in, a schedule and its distance from
// the best out (docs/Schedule.md). MLIR stays behind what reads programs.
//
//===----------------------------------------------------------------------===//

#include "Options.h"
#include "Report.h"
#include "ScheduleTask.h"
#include "shardopt/Solvers/Schedule/ScheduleText.h"
#include "shardopt/Support/FileRoles.h"
#include "shardopt/Support/RunTool.h"
#include "shardopt/Support/Signals.h"
#include "shardopt/Support/WriteFile.h"

#include <algorithm>
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

/// `part`: of the seconds that are left, what one of several problems gets.
static SolverOptions solverOptions(const Options &options,
                                   const ScheduleTask &problem, double part) {
  SolverOptions result;
  result.objective = options.objective == "own-span" ? Criterion::OwnSpan
                     : options.objective == "memory" ? Criterion::Memory
                                                     : Criterion::Makespan;
  result.backend = options.backend;
  double standard = options.rounds ? 0 : 60;
  constexpr double least = 1e-3; // 0 would be no limit
  if (double limit = options.timeLimit.value_or(standard); limit > 0)
    result.timeLimit = std::max(least, (limit - secondsSinceStart()) * part);
  else
    result.timeLimit = 0;
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
static std::string drawSchedule(const ScheduleTask &problem,
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

/// What was found for each variant. What fits into less memory fits into more,
/// and each begins with the best of those before it.
static std::vector<Answer> solveAll(const Options &options,
                                    const std::vector<Variant> &variants) {
  std::vector<Answer> answers;
  for (const Variant &variant : variants) {
    SolverOptions solver =
        solverOptions(options, variant.problem,
                      1.0 / double(variants.size() - answers.size()));
    if (variant.memory && !answers.empty() && answers.back().result.schedule)
      solver.known.push_back(
          {answers.back().result.finder, *answers.back().result.schedule});
    answers.push_back(
        {&variant, schedule::solve(variant.problem.instance, solver)});
    const SolverResult &result = answers.back().result;
    if (isFallback(options, result))
      warn("'" + options.backend +
           "' found no schedule before it ended: this one runs one operator "
           "after the other");
    if (const std::optional<Error> &mistake = result.mistake)
      warn("a back-end offered what is no schedule: " + mistake->message);
  }
  return answers;
}

/// The least makespan, of those the first; nothing if nothing was found.
static std::optional<size_t> findBest(const std::vector<Answer> &answers) {
  std::optional<size_t> best;
  for (size_t k = 0; k < answers.size(); ++k)
    if (answers[k].result.schedule &&
        (!best || answers[k].result.verdict.makespan <
                      answers[*best].result.verdict.makespan))
      best = k;
  return best;
}

static std::string writeFront(const std::vector<Answer> &answers) {
  std::vector<FrontPoint> points;
  for (const Answer &answer : answers)
    if (answer.result.schedule)
      points.push_back({*answer.variant->memory, answer.result.verdict.makespan,
                        answer.result.bound, answer.result.proved});
  return toJson(points);
}

static std::string describeFailure(const SolverResult &result) {
  return result.stopped == "exhausted"
             ? "no schedule found, and none refuted: every back-end gave up; "
               "more memory helps"
             : "no schedule found: stopped by " + result.stopped;
}

static int search(const Options &options,
                  const std::vector<Variant> &variants) {
  std::vector<Answer> answers = solveAll(options, variants);
  std::optional<size_t> best = findBest(answers);
  if (!best) {
    const SolverResult &last = answers.back().result;
    return fail(last.shortage ? last.shortage->message : describeFailure(last));
  }
  const ScheduleTask &problem = answers[*best].variant->problem;
  const SolverResult &result = answers[*best].result;
  std::optional<Error> error;
  auto write = [&](const std::string &path, auto text) {
    if (!error && !path.empty())
      error = writeFile(path, text());
  };
  write(options.schedule,
        [&] { return toJson(problem.instance, *result.schedule); });
  write(options.report, [&] {
    return makeReport(options, answers, *best, secondsSinceStart());
  });
  write(options.gantt, [&] { return drawSchedule(problem, result); });
  write(options.trace,
        [&] { return toChromeTrace(problem.instance, *result.schedule); });
  write(options.front, [&] { return writeFront(answers); });
  if (error)
    return fail(error->message);
  if (options.schedule != "-") {
    if (answers.size() > 1)
      std::fputs((makeComparison(answers) +
                  "  best: " + answers[*best].variant->name + "\n")
                     .c_str(),
                 stdout);
    std::fputs(makeSummary(problem, result).c_str(), stdout);
  }
  return stopToken.requested() ? 128 + stopToken.signal() : 0;
}

static int searchJointly(const Options &options) {
  handleSignals(&stopToken);
  ErrorOr<JointText> text = planJoint(options, &stopToken);
  if (!text)
    return fail(text.error().message);
  for (auto [path, written] : {std::pair(&options.schedule, &text->schedule),
                               std::pair(&options.report, &text->report),
                               std::pair(&options.gantt, &text->gantt),
                               std::pair(&options.trace, &text->trace)})
    if (!path->empty())
      if (std::optional<Error> error = writeFile(*path, *written))
        return fail(error->message);
  if (options.schedule != "-")
    std::fputs(text->summary.c_str(), stdout);
  return stopToken.requested() ? 128 + stopToken.signal() : 0;
}

static int run(int argc, char **argv) {
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
  roles.writes("--front", options->front);
  if (std::optional<Error> error = roles.check())
    return fail(error->message);

  if (options->isJoint)
    return searchJointly(*options);
  ErrorOr<std::vector<Variant>> variants = makeVariants(*options);
  if (!variants)
    return fail(variants.error().message);
  handleSignals(&stopToken);
  return search(*options, *variants);
}

int main(int argc, char **argv) {
  secondsSinceStart();
  return runTool([&] { return run(argc, argv); });
}
