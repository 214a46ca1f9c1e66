//===- OrderReport.cpp - What was ordered, for people and programs --------===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "shardopt/Ordering/OrderReport.h"

#include "shardopt/Support/Json.h"

using namespace shardopt;
using namespace shardopt::ordering;

static double msOf(double nanoseconds) { return nanoseconds / 1e6; }

static std::string spellMs(double nanoseconds) {
  char number[32];
  std::snprintf(number, sizeof(number), "%.3f", msOf(nanoseconds));
  return number;
}

static std::string spellGap(bool isProved, double gap) {
  char number[32];
  std::snprintf(number, sizeof(number), "%.2f %%", 100 * gap);
  return isProved ? "proved" : number;
}

std::string ordering::orderTable(const std::vector<OrderedStep> &steps,
                                 size_t best) {
  std::string text;
  char line[200];
  auto add = [&](auto... values) {
    std::snprintf(line, sizeof(line),
                  "  %-9s %10s %10s %10s %10s %8s %10s  %s\n", values...);
    text += line;
  };
  const OrderedStep &any = steps.front();
  text += "  a step of " + std::to_string(any.step.copies / any.step.chunks) +
          " micro-batches through " +
          std::to_string(any.instance.numDevices()) + " stages, ms\n\n";
  add("chunks", "serial", "in order", "planned", "bound", "gap", "contended",
      "found by");
  for (size_t k = 0; k < steps.size(); ++k) {
    const OrderedStep &step = steps[k];
    const schedule::SolverResult &result = step.result;
    const std::string name =
        std::to_string(step.step.chunks) + (k == best ? " *" : "");
    add(name.c_str(), spellMs(double(step.serial)).c_str(),
        spellMs(double(step.programOrder)).c_str(),
        spellMs(double(result.value)).c_str(),
        spellMs(double(result.bound)).c_str(),
        spellGap(result.proved, result.gap()).c_str(),
        spellMs(step.contended).c_str(), result.finder.c_str());
  }
  return text;
}

std::string ordering::orderJson(const std::vector<OrderedStep> &steps,
                                size_t best) {
  std::string text;
  json::Writer writer(text);
  writer.beginObject(json::Layout::Block);
  writer.member("chunks", int64_t(steps[best].step.chunks));
  writer.key("steps").beginArray(json::Layout::Block);
  for (const OrderedStep &step : steps) {
    const schedule::SolverResult &result = step.result;
    writer.beginObject(json::Layout::Block);
    writer.member("chunks", int64_t(step.step.chunks));
    writer.member("microbatches", int64_t(step.step.copies / step.step.chunks));
    writer.member("stages", int64_t(step.instance.numDevices()));
    writer.member("ops", int64_t(step.instance.numOps()));
    writer.member("serial_ms", msOf(double(step.serial)));
    writer.member("program_order_ms", msOf(double(step.programOrder)));
    writer.member("makespan_ms", msOf(double(result.value)));
    writer.member("replayed_ms", msOf(double(step.replayed)));
    writer.member("contended_ms", msOf(step.contended));
    writer.member("lower_bound_ms", msOf(double(result.bound)));
    writer.member("gap", result.gap());
    writer.member("proved", result.proved);
    writer.key("peak_memory").beginArray();
    for (const schedule::DeviceUse &device : result.verdict.devices)
      writer.value(device.peakMemory);
    writer.endArray();
    writer.member("found_by", result.finder);
    writer.member("stopped", result.stopped);
    writer.endObject();
  }
  writer.endArray();
  writer.endObject();
  return text + "\n";
}

std::string ordering::ringTable(const std::vector<OrderedRing> &rings,
                                size_t best) {
  std::string text = "  a token, on a ring of " +
                     std::to_string(rings[best].frame.instance.numDevices()) +
                     " stages, ms\n\n";
  char line[200];
  auto add = [&](auto... values) {
    std::snprintf(line, sizeof(line),
                  "  %-9s %6s %10s %10s %10s %10s %8s %10s %12s  %s\n",
                  values...);
    text += line;
  };
  add("in flight", "chunks", "serial", "in order", "planned", "bound", "gap",
      "contended", "tokens/s/dev", "found by");
  for (size_t k = 0; k < rings.size(); ++k) {
    const OrderedRing &ring = rings[k];
    char rate[32];
    std::snprintf(rate, sizeof(rate), "%.1f", ring.throughput);
    const std::string name =
        std::to_string(ring.inFlight) + (k == best ? " *" : "");
    add(name.c_str(), std::to_string(ring.step.chunks).c_str(),
        spellMs(double(ring.serial)).c_str(),
        spellMs(double(ring.programOrder)).c_str(),
        spellMs(double(ring.turn.period)).c_str(),
        spellMs(double(ring.bound)).c_str(),
        spellGap(ring.isProved(), ring.gap()).c_str(),
        spellMs(ring.contended).c_str(), rate, ring.finder.c_str());
  }
  return text;
}

std::string ordering::ringJson(const std::vector<OrderedRing> &rings,
                               size_t best) {
  std::string text;
  json::Writer writer(text);
  writer.beginObject(json::Layout::Block);
  writer.member("microbatches", rings[best].inFlight);
  writer.member("chunks", int64_t(rings[best].step.chunks));
  writer.key("rings").beginArray(json::Layout::Block);
  for (const OrderedRing &ring : rings) {
    writer.beginObject(json::Layout::Block);
    writer.member("microbatches", ring.inFlight);
    writer.member("chunks", int64_t(ring.step.chunks));
    writer.member("stages", int64_t(ring.frame.instance.numDevices()));
    writer.member("ops", int64_t(ring.frame.instance.numOps()));
    writer.member("serial_ms", msOf(double(ring.serial)));
    writer.member("program_order_ms", msOf(double(ring.programOrder)));
    writer.member("tpot_ms", msOf(double(ring.turn.period)));
    writer.member("replayed_ms", msOf(double(ring.replayed)));
    writer.member("contended_ms", msOf(ring.contended));
    writer.member("lower_bound_ms", msOf(double(ring.bound)));
    writer.member("gap", ring.gap());
    writer.member("proved", ring.isProved());
    writer.member("tokens_per_s_per_device", ring.throughput);
    writer.member("staggered", ring.isStaggered);
    writer.member("found_by", ring.finder);
    writer.endObject();
  }
  writer.endArray();
  writer.endObject();
  return text + "\n";
}
