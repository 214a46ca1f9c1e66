//===- JointReport.cpp - A joint plan, for people and programs ------------===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "shardopt/Planning/Ordering/OrderReport.h"

#include "shardopt/Support/Json.h"

#include <cstdio>

using namespace shardopt;
using namespace shardopt::ordering;

static void writeChoice(json::Writer &writer, const char *name,
                        const std::vector<std::string> &opNames,
                        const JointChoice &choice) {
  writer.key(name).beginObject(json::Style::Block);
  if (choice.inFlight)
    writer.member("microbatches", choice.inFlight);
  writer.member("chunks", choice.chunks);
  writer.member("planned_ms", double(choice.planned) / 1e6);
  writer.member("contended_ms", choice.contended / 1e6);
  writer.key("stages").beginArray();
  for (int64_t layers : choice.strategy.degrees.stages.layers)
    writer.value(layers);
  writer.endArray();
  writer.key("dims").beginObject();
  for (size_t i = 0; i < choice.strategy.dims.size(); ++i)
    writer.member(opNames[i], int64_t(choice.strategy.dims[i]));
  writer.endObject();
  writer.endObject();
}

std::string ordering::jointTable(const JointPlan &plan,
                                 const std::string &simulator) {
  char line[160];
  std::string text = "                  planned  contended  chunks  stages\n";
  std::snprintf(line, sizeof(line), "  %-12s %10.3f  one thing at a time, %s\n",
                "strategy", plan.own / 1e6, simulator.c_str());
  text += line;
  for (auto [name, choice] : {std::pair("sequential", &plan.sequential),
                              std::pair("joint", &plan.joint)}) {
    const StageCut &cut = choice->strategy.degrees.stages;
    std::string stages = cut.isEmpty() ? "even" : abbreviate(cut);
    if (choice->inFlight)
      stages += ", " + std::to_string(choice->inFlight) + " in flight";
    std::snprintf(line, sizeof(line), "  %-12s %10.3f %10.3f %7lld  %s\n", name,
                  double(choice->planned) / 1e6, choice->contended / 1e6,
                  static_cast<long long>(choice->chunks), stages.c_str());
    text += line;
  }
  std::snprintf(line, sizeof(line),
                "  %-12s %10.3f ms, gap %.1f %%, %lld plans ordered, %s\n",
                "bound", plan.bound / 1e6, 100 * plan.gap(),
                static_cast<long long>(plan.evaluated),
                plan.isSettled ? "no move is better" : "stopped");
  return text + line;
}

std::string ordering::jointJson(const JointPlan &plan,
                                const std::string &simulator,
                                const std::vector<std::string> &opNames) {
  std::string text;
  json::Writer writer(text);
  writer.beginObject(json::Style::Block);
  writer.member("simulator", simulator);
  writer.member("strategy_ms", plan.own / 1e6);
  writeChoice(writer, "sequential", opNames, plan.sequential);
  writeChoice(writer, "joint", opNames, plan.joint);
  writer.member("bound_ms", plan.bound / 1e6);
  writer.member("gap", plan.gap());
  writer.member("evaluated", plan.evaluated);
  writer.member("settled", plan.isSettled);
  writer.endObject();
  return text + "\n";
}
