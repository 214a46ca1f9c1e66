//===- Report.cpp - What a search found, for programs ---------------------===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Report.h"

#include "Options.h"
#include "shardopt/Support/Json.h"

#include <limits>

#include <sys/resource.h>

using namespace shardopt;
using namespace shardopt::solve;

static void addNumber(json::Writer &writer, const char *name,
                      const std::optional<Int128> &number) {
  writer.key(name);
  if (!number)
    writer.null();
  else if (*number <= std::numeric_limits<int64_t>::max() &&
           *number >= std::numeric_limits<int64_t>::min())
    writer.value(int64_t(*number));
  else
    writer.value(toString(*number));
}

int64_t peakMemoryBytes() {
  struct rusage usage;
  getrusage(RUSAGE_SELF, &usage);
  return int64_t(usage.ru_maxrss) * 1024;
}

/// Of all threads, in the program and in the system for it.
static double processorSeconds() {
  struct rusage usage;
  getrusage(RUSAGE_SELF, &usage);
  auto secondsOf = [](const timeval &time) {
    return double(time.tv_sec) + 1e-6 * double(time.tv_usec);
  };
  return secondsOf(usage.ru_utime) + secondsOf(usage.ru_stime);
}

static void addMemory(json::Writer &writer, const Problem &problem,
                      const SolverResult &result) {
  if (!result.solution)
    return;
  ErrorOr<Verdict> verdict = verify(problem, *result.solution);
  writer.key("memory").beginObject(json::Style::Block);
  std::optional<Int128> limit;
  if (problem.usageLimit)
    limit = *problem.usageLimit;
  addNumber(writer, "limit", limit);
  addNumber(writer, "peak", verdict->peak);
  writer.member("peak_time", verdict->peakTime);
  writer.key("tight_times").beginArray();
  for (const Interval &interval : verdict->tight) {
    writer.beginArray();
    writer.value(interval.begin).value(interval.end);
    writer.endArray();
  }
  writer.endArray();
  writer.endObject();
}

static void addWork(json::Writer &writer, const SolverResult &result,
                    double readingSeconds) {
  writer.key("reduced").beginObject();
  writer.member("nodes", int64_t(result.numNodes));
  writer.member("edges", int64_t(result.numEdges));
  writer.member("strategies", int64_t(result.numStrategies));
  writer.member("times", int64_t(result.numTimes));
  writer.endObject();
  writer.key("reductions").beginObject(json::Style::Block);
  for (const auto &[name, count] : result.reductions)
    writer.member(name, int64_t(count));
  writer.endObject();
  writer.key("phases").beginArray(json::Style::Block);
  auto addPhase = [&](const char *name, double seconds) {
    writer.beginObject();
    writer.member("name", name).member("seconds", seconds);
    writer.endObject();
  };
  addPhase("reading", readingSeconds);
  for (const PhaseTime &phase : result.phases)
    addPhase(phase.name, phase.seconds);
  writer.endArray();
}

std::string makeReport(const Options &options, const Problem &problem,
                       const SolverResult &result, double readingSeconds,
                       double seconds) {
  std::string text;
  json::Writer writer(text);
  writer.beginObject(json::Style::Block);
  writer.member("instance", options.instance);
  writer.member("nodes", int64_t(problem.numNodes()));
  writer.member("edges", int64_t(problem.numEdges()));
  std::optional<Int128> cost;
  if (result.solution)
    cost = result.cost;
  addNumber(writer, "cost", cost);
  addNumber(writer, "bound", result.bound);
  writer.member("gap", result.gap());
  writer.member("proved", result.proved);
  writer.member("stopped", result.stopped);
  writer.member("iterations", result.rounds);
  writer.member("workers", options.workers);
  writer.member("threads", options.threads);
  writer.member("seed", options.seed);
  writer.member("seconds", seconds);
  writer.member("processor_seconds", processorSeconds());
  writer.member("peak_memory_bytes", peakMemoryBytes());
  addMemory(writer, problem, result);
  addWork(writer, result, readingSeconds);
  writer.endObject();
  return text + "\n";
}

std::string makeTraceLine(const Progress &progress) {
  std::string text;
  json::Writer writer(text);
  writer.beginObject();
  writer.member("seconds", progress.seconds);
  writer.member("iteration", progress.rounds);
  writer.member("phase", progress.phase);
  addNumber(writer, "cost", progress.cost);
  addNumber(writer, "bound", progress.bound);
  writer.endObject();
  return text + "\n";
}
