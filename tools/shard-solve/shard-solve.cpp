//===- shard-solve.cpp - Strategy selection under a memory limit ----------===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

//
// A problem in, a solution and its distance from the best out (docs/Solve.md).
// Needs neither LLVM nor MLIR.
//
//===----------------------------------------------------------------------===//

#include "Options.h"
#include "ProgressPrinter.h"
#include "Report.h"
#include "shardopt/Solvers/Selection/Export.h"
#include "shardopt/Solvers/Selection/ProblemReader.h"
#include "shardopt/Solvers/Selection/Solver.h"
#include "shardopt/Support/FileRoles.h"
#include "shardopt/Support/ResearchFile.h"
#include "shardopt/Support/RunTool.h"
#include "shardopt/Support/Signals.h"
#include "shardopt/Support/WriteFile.h"

#include <algorithm>
#include <chrono>
#include <cstdio>

using namespace shardopt;
using namespace shardopt::solve;

static StopToken stopToken;

/// Seconds since the program began.
static double secondsSinceStart() {
  static const auto start = std::chrono::steady_clock::now();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start)
      .count();
}

static std::string percent(double part) {
  char text[32];
  std::snprintf(text, sizeof(text), "%.4f %%", 100 * part);
  return text;
}

/// "9 of 10 (90.0000 %) at time 3"
static std::string describeMemory(const Problem &problem,
                                  const Verdict &verdict) {
  std::string text = toString(verdict.peak);
  if (problem.usageLimit) {
    text += " of " + std::to_string(*problem.usageLimit);
    if (*problem.usageLimit > 0)
      text += " (" +
              percent(double(verdict.peak) / double(*problem.usageLimit)) + ")";
  }
  return text + " at time " + std::to_string(verdict.peakTime);
}

static int checkSolution(const Options &options, const Problem &problem) {
  ErrorOr<Solution> solution = readSolution(options.verify);
  if (!solution)
    return fail(solution.error().message);
  ErrorOr<Verdict> verdict = verify(problem, *solution);
  if (!verdict)
    return fail(options.verify + ": " + verdict.error().message);
  std::string memory = describeMemory(problem, *verdict);
  if (!verdict->feasible)
    return fail(options.verify + ": does not fit: memory " + memory);
  std::printf("  cost      %s\n  memory    %s\n",
              toString(verdict->cost).c_str(), memory.c_str());
  return 0;
}

static int writeExport(const Options &options, const Problem &problem) {
  ExportFormat format = options.exportFormat == "cfn"    ? ExportFormat::Cfn
                        : options.exportFormat == "wcsp" ? ExportFormat::Wcsp
                                                         : ExportFormat::Mps;
  ErrorOr<OutputFile> output =
      OutputFile::open(options.solution.empty() ? "-" : options.solution);
  if (!output)
    return fail(output.error().message);
  if (std::optional<Error> error =
          exportProblem(problem, format, [&output](std::string_view piece) {
            output->write(piece);
          }))
    return fail(options.instance + ": " + error->message);
  if (std::optional<Error> error = output->keep())
    return fail(error->message);
  return 0;
}

static Error describeShortage(const Options &options, const Problem &problem,
                              const Shortage &shortage) {
  return Error{
      options.instance + ": no solution fits: at time " +
      std::to_string(shortage.time) + " even the smallest usages sum to " +
      toString(shortage.smallest) + ", " +
      toString(shortage.smallest - *problem.usageLimit) +
      " more than the limit of " + std::to_string(*problem.usageLimit)};
}

static void printSummary(const Problem &problem, const SolverResult &result) {
  ErrorOr<Verdict> verdict = verify(problem, *result.solution);
  std::string bound = result.bound ? toString(*result.bound) : "-";
  std::string gap = result.bound ? percent(result.gap()) : "-";
  std::printf("  cost      %s\n  bound     %s\n  gap       %s%s\n"
              "  memory    %s\n  stopped   %s, after %lld iterations\n",
              toString(result.cost).c_str(), bound.c_str(), gap.c_str(),
              result.proved ? ", proved" : "",
              describeMemory(problem, *verdict).c_str(), result.stopped,
              static_cast<long long>(result.rounds));
}

static SolverOptions solverOptions(const Options &options) {
  // The contest counts the time to the end of the program.
  constexpr double contestReserve = 0.5;
  SolverOptions result;
  double standard = options.iterations ? 0 : 60;
  result.timeLimit = options.timeLimit.value_or(standard);
  if (options.contest)
    result.timeLimit = std::max(0.1, result.timeLimit - contestReserve);
  result.rounds = options.iterations;
  result.workers = int(options.workers);
  result.threads = int(options.threads);
  result.seed = uint64_t(options.seed);
  result.gap = options.gap;
  for (const std::string &part : options.without) {
    result.withoutReductions |= part == "reductions";
    result.withoutMessages |= part == "messages";
    result.withoutNeighbourhoods |= part == "neighbourhoods";
    result.withoutFixing |= part == "fixing";
    result.withoutTree |= part == "tree";
    result.withoutTightening |= part == "tightening";
    result.withoutRestarts |= part == "restarts";
  }
  result.stop = &stopToken;
  return result;
}

/// Takes the method that is named, of the research module if it is another one.
static std::optional<Error> chooseMethod(const Options &options,
                                         SolverOptions &solver) {
  if (options.method == "multipliers")
    return std::nullopt;
  auto research = openResearch<ResearchMethods>("--method=" + options.method);
  if (!research)
    return research.error();
  bool polishes = std::find(options.without.begin(), options.without.end(),
                            "polishing") == options.without.end();
  solver.otherMethod = {"penalties",
                        [make = (*research)->penalties,
                         polishes](const Network &network, uint64_t seed) {
                          return make(network, seed, polishes);
                        }};
  return std::nullopt;
}

/// Writes what was found where it is wanted, and prints it.
static std::optional<Error> writeSolution(const Options &options,
                                          const Problem &problem,
                                          const SolverResult &result) {
  if (!result.solution) {
    if (options.contest)
      std::puts("[]");
    return std::nullopt;
  }
  if (!options.solution.empty())
    if (std::optional<Error> error =
            writeFile(options.solution, toJson(*result.solution) + "\n"))
      return error;
  if (!options.contest && options.solution != "-")
    printSummary(problem, result);
  return std::nullopt;
}

static int search(const Options &options, const Problem &problem) {
  SolverOptions solver = solverOptions(options);
  if (std::optional<Error> error = chooseMethod(options, solver))
    return fail(error->message);
  double readingSeconds = secondsSinceStart();
  solver.secondsBefore = readingSeconds;
  ErrorOr<std::optional<OutputFile>> opened = openIfNamed(options.trace);
  if (!opened)
    return fail(opened.error().message);
  std::optional<OutputFile> &trace = *opened;
  ProgressPrinter printer(options.contest ? "none" : options.progress,
                          solver.timeLimit);
  solver.onProgress = [&](const Progress &progress) {
    printer.print(progress);
    if (trace)
      trace->write(makeTraceLine(progress));
  };
  if (options.contest)
    solver.onSolution = [](const Solution &solution, Int128) {
      std::puts(toJson(solution).c_str());
      std::fflush(stdout);
    };

  SolverResult result = solve::solve(problem, solver);
  // The solution first: what tells of it may fail to be written.
  if (std::optional<Error> error = writeSolution(options, problem, result))
    return fail(error->message);
  if (trace)
    if (std::optional<Error> error = trace->keep())
      warn(error->message);
  if (!options.report.empty())
    if (std::optional<Error> error = writeFile(
            options.report, makeReport(options, problem, result, readingSeconds,
                                       secondsSinceStart())))
      return fail(error->message);
  if (!result.solution)
    return fail(describeShortage(options, problem, *result.shortage).message);
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
  roles.reads("the instance", options->instance);
  if (!options->verify.empty())
    roles.reads("--verify", options->verify);
  if (!options->solution.empty())
    roles.writes("-o", options->solution);
  if (!options->report.empty())
    roles.writes("--report", options->report);
  if (!options->trace.empty())
    roles.writes("--trace", options->trace);
  if (std::optional<Error> error = roles.check())
    return fail(error->message);

  ErrorOr<Problem> problem = readProblem(options->instance);
  if (!problem)
    return fail(problem.error().message);
  if (!options->verify.empty())
    return checkSolution(*options, *problem);
  if (!options->exportFormat.empty()) {
    handleSignals(nullptr);
    return writeExport(*options, *problem);
  }
  handleSignals(&stopToken);
  return search(*options, *problem);
}

int main(int argc, char **argv) {
  secondsSinceStart();
  return runTool([&] { return run(argc, argv); });
}
