//===- Report.cpp - What was found, for people and programs ---------------===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Report.h"

#include "Options.h"
#include "ScheduleTask.h"
#include "shardopt/Support/Json.h"

using namespace shardopt;
using namespace shardopt::schedule;

static std::string percentOf(double part) {
  char text[32];
  std::snprintf(text, sizeof(text), "%.2f %%", 100 * part);
  return text;
}

/// "1 2 3", or the least and the largest of many.
template <typename Of>
static std::string listOf(const Instance &instance, Of of) {
  constexpr int32_t most = 16;
  std::string text;
  int64_t least = of(0), largest = of(0);
  for (int32_t d = 0; d < instance.numDevices(); ++d) {
    least = std::min(least, of(d));
    largest = std::max(largest, of(d));
    text += (d ? " " : "") + std::to_string(of(d));
  }
  return instance.numDevices() <= most
             ? text
             : std::to_string(least) + " to " + std::to_string(largest);
}

/// A table of orders made by hand; nothing where there are none.
static std::string describeBaselines(const ScheduleTask &problem,
                                     const Verdict &verdict) {
  std::string text;
  char line[160];
  auto add = [&](auto... values) {
    std::snprintf(line, sizeof(line), "  %-17s %9s %9s %9s %9s\n", values...);
    text += line;
  };
  if (problem.baselines.empty())
    return text;
  text += "\n";
  add("", "makespan", "bubble", "formula", "peak");
  for (const Baseline &baseline : problem.baselines)
    add(baseline.name.c_str(), std::to_string(baseline.makespan).c_str(),
        std::to_string(baseline.bubble).c_str(),
        baseline.published ? std::to_string(*baseline.published).c_str() : "-",
        std::to_string(baseline.peak).c_str());
  add("this schedule", std::to_string(verdict.makespan).c_str(),
      std::to_string(verdict.bubble()).c_str(), "-",
      std::to_string(verdict.peakMemory()).c_str());
  return text;
}

std::string makeSummary(const ScheduleTask &problem,
                        const SolverResult &result) {
  const Instance &instance = problem.instance;
  const Verdict &verdict = result.verdict;
  auto row = [](const char *name, const std::string &text) {
    std::string line = "  " + std::string(name);
    line.resize(14, ' ');
    return line + text + "\n";
  };
  auto number = [](int64_t value) { return std::to_string(value); };
  std::string text;
  for (const auto &[name, note] : problem.notes)
    text += row(name.c_str(), note);
  text +=
      row("makespan", number(verdict.makespan)) +
      row("bubble",
          number(verdict.bubble()) + ", on each device " +
              listOf(instance, [&](int32_t d) { return verdict.bubble(d); }) +
              ", in all " + number(verdict.totalBubble())) +
      row("own span",
          "idle " + listOf(instance,
                           [&](int32_t d) {
                             return verdict.devices[d].ownSpanIdle();
                           })) +
      row("peak memory",
          listOf(instance,
                 [&](int32_t d) { return verdict.devices[d].peakMemory; })) +
      row("bound", number(result.bound) + (result.proved ? ", proved" : "")) +
      row("gap", percentOf(result.gap())) +
      row("found by", result.finder + ", stopped by " + result.stopped);
  if (result.steady)
    text +=
        row("period", number(result.steady->period) +
                          (result.steady->isLeast() ? ", proved" : "") +
                          ", latency " + number(result.steady->latency) +
                          ", peak memory " + listOf(instance, [&](int32_t d) {
                            return result.steady->peaks[d];
                          }));
  return text + describeBaselines(problem, verdict);
}

bool isFallback(const Options &options, const SolverResult &result) {
  return options.backend != "portfolio" && result.schedule && !result.proved &&
         result.finder == "sequential";
}

template <typename Of>
static void addArray(json::Writer &writer, const char *name,
                     const Instance &instance, Of of) {
  writer.key(name).beginArray();
  for (int32_t d = 0; d < instance.numDevices(); ++d)
    writer.value(of(d));
  writer.endArray();
}

std::string makeComparison(const std::vector<Answer> &answers) {
  std::string text;
  char line[160];
  auto add = [&](auto... values) {
    std::snprintf(line, sizeof(line), "  %-14s %9s %8s %8s %9s %6s  %s\n",
                  values...);
    text += line;
  };
  add("", "makespan", "bubble", "bound", "gap", "peak", "found by");
  for (const Answer &answer : answers) {
    const SolverResult &result = answer.result;
    const char *name = answer.variant->name.c_str();
    if (!result.schedule) {
      add(name, "-", "-", "-", "-", "-",
          result.shortage ? "does not fit" : "nothing found");
      continue;
    }
    auto number = [](int64_t value) { return std::to_string(value); };
    add(name, number(result.verdict.makespan).c_str(),
        number(result.verdict.bubble()).c_str(), number(result.bound).c_str(),
        result.proved ? "proved" : percentOf(result.gap()).c_str(),
        number(result.verdict.peakMemory()).c_str(), result.finder.c_str());
  }
  return text + "\n";
}

/// The members of the object of one answer.
static void addAnswer(json::Writer &writer, const Options &options,
                      const ScheduleTask &problem, const SolverResult &result) {
  const Instance &instance = problem.instance;
  const Verdict &verdict = result.verdict;
  writer.member("ops", int64_t(instance.numOps()));
  writer.member("devices", int64_t(instance.numDevices()));
  writer.member("objective", options.objective);
  writer.member("makespan", verdict.makespan);
  writer.member("bubble", verdict.bubble());
  writer.member("total_bubble", verdict.totalBubble());
  addArray(writer, "bubbles", instance,
           [&](int32_t d) { return verdict.bubble(d); });
  addArray(writer, "own_span_idle", instance,
           [&](int32_t d) { return verdict.devices[d].ownSpanIdle(); });
  addArray(writer, "peak_memory", instance,
           [&](int32_t d) { return verdict.devices[d].peakMemory; });
  writer.member("lower_bound", result.bound);
  writer.member("gap", result.gap());
  writer.member("proved", result.proved);
  writer.key("bounds").beginObject();
  writer.member("critical_path", result.bounds.criticalPath);
  writer.member("machine", result.bounds.machine);
  writer.member("memory_ramp", result.bounds.memoryRamp);
  writer.member("memory_turn", result.bounds.memoryTurn);
  writer.member("residence", result.bounds.residence);
  writer.member("refuted", result.bounds.refuted);
  writer.endObject();
  writer.key("baselines").beginObject(json::Style::Block);
  for (const Baseline &baseline : problem.baselines) {
    writer.key(baseline.name).beginObject();
    writer.member("makespan", baseline.makespan);
    writer.member("bubble", baseline.bubble);
    if (baseline.published)
      writer.member("formula", *baseline.published);
    writer.member("peak", baseline.peak);
    writer.endObject();
  }
  writer.endObject();
  if (result.steady) {
    writer.key("steady_state").beginObject();
    writer.member("period", result.steady->period);
    writer.member("least_period", result.steady->leastPeriod);
    writer.member("latency", result.steady->latency);
    addArray(writer, "peak_memory", instance,
             [&](int32_t d) { return result.steady->peaks[d]; });
    writer.endObject();
  }
  writer.member("backend", options.backend);
  writer.member("found_by", result.finder);
  writer.member("is_fallback", isFallback(options, result));
  writer.member("stopped", result.stopped);
  writer.key("phases").beginArray(json::Style::Block);
  for (const PhaseTime &phase : result.phases) {
    writer.beginObject();
    writer.member("name", phase.name).member("seconds", phase.seconds);
    writer.endObject();
  }
  writer.endArray();
}

std::string makeReport(const Options &options,
                       const std::vector<Answer> &answers, size_t best,
                       double seconds) {
  std::string text;
  json::Writer writer(text);
  writer.beginObject(json::Style::Block);
  if (answers.size() == 1) {
    addAnswer(writer, options, answers[0].variant->problem, answers[0].result);
  } else {
    writer.member("best", answers[best].variant->name);
    writer.key("variants").beginArray(json::Style::Block);
    for (const Answer &answer : answers) {
      writer.beginObject(json::Style::Block);
      writer.member("name", answer.variant->name);
      if (answer.result.schedule)
        addAnswer(writer, options, answer.variant->problem, answer.result);
      else if (answer.result.shortage)
        writer.member("shortage", answer.result.shortage->message);
      writer.endObject();
    }
    writer.endArray();
  }
  writer.member("seconds", seconds);
  writer.endObject();
  return text + "\n";
}
