//===- OrderReport.cpp - What was ordered, for people and programs --------===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "shardopt/Planning/Ordering/OrderReport.h"

#include "shardopt/Support/Json.h"

#include <algorithm>

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

namespace {

/// What is said alike of a step and of a turn of a ring. Nanoseconds.
struct Ordered {
  int64_t chunks, microBatches;
  const schedule::Instance &instance;
  int64_t serial, programOrder, planned, replayed, bound;
  double contended, gap;
  bool isProved;
};

} // namespace

static Ordered summaryOf(const OrderedStep &ordered) {
  const schedule::SolverResult &result = ordered.result;
  int64_t chunks = ordered.step.chunks;
  return {chunks,
          ordered.step.copies / chunks,
          ordered.instance,
          ordered.serial,
          ordered.programOrder,
          result.value,
          ordered.replayed,
          result.bound,
          ordered.contended,
          result.gap(),
          result.proved};
}

static Ordered summaryOf(const OrderedRing &ordered) {
  return {ordered.step.chunks, ordered.inFlight,     ordered.frame.instance,
          ordered.serial,      ordered.programOrder, ordered.turn.period,
          ordered.replayed,    ordered.bound,        ordered.contended,
          ordered.gap(),       ordered.isProved()};
}

//===----------------------------------------------------------------------===//
// Tables
//===----------------------------------------------------------------------===//

using Cells = std::vector<std::string>;

/// Adds a line: the first and the last cell to the left, the others to the
/// right of a column. The last one has no width.
static void addLine(std::string &text, const std::vector<size_t> &widths,
                    const Cells &cells) {
  text += ' ';
  for (size_t k = 0; k < widths.size(); ++k) {
    const std::string &cell = cells[k];
    std::string rest(widths[k] - std::min(widths[k], cell.size()), ' ');
    text += ' ' + (k == 0 ? cell + rest : rest + cell);
  }
  text += "  " + cells.back() + '\n';
}

static Cells joined(std::initializer_list<Cells> parts) {
  Cells all;
  for (const Cells &part : parts)
    all.insert(all.end(), part.begin(), part.end());
  return all;
}

/// The columns in the middle of both tables.
static Cells timeHeads() {
  return {"serial", "in order", "planned", "bound", "gap", "contended"};
}

static Cells timeCells(const Ordered &ordered) {
  return {spellMs(double(ordered.serial)),
          spellMs(double(ordered.programOrder)),
          spellMs(double(ordered.planned)),
          spellMs(double(ordered.bound)),
          spellGap(ordered.isProved, ordered.gap),
          spellMs(ordered.contended)};
}

static std::string markBest(int64_t number, bool isBest) {
  return std::to_string(number) + (isBest ? " *" : "");
}

std::string ordering::orderTable(const std::vector<OrderedStep> &steps,
                                 size_t best) {
  Ordered any = summaryOf(steps.front());
  std::string text = "  a step of " + std::to_string(any.microBatches) +
                     " micro-batches through " +
                     std::to_string(any.instance.numDevices()) +
                     " stages, ms\n\n";
  std::vector<size_t> widths = {9, 10, 10, 10, 10, 8, 10};
  addLine(text, widths,
          joined({Cells{"chunks"}, timeHeads(), Cells{"found by"}}));
  for (size_t k = 0; k < steps.size(); ++k) {
    Ordered step = summaryOf(steps[k]);
    addLine(text, widths,
            joined({Cells{markBest(step.chunks, k == best)}, timeCells(step),
                    Cells{steps[k].result.finder}}));
  }
  return text;
}

std::string ordering::ringTable(const std::vector<OrderedRing> &rings,
                                size_t best) {
  std::string text = "  a token, on a ring of " +
                     std::to_string(rings[best].frame.instance.numDevices()) +
                     " stages, ms\n\n";
  std::vector<size_t> widths = {9, 6, 10, 10, 10, 10, 8, 10, 12};
  addLine(text, widths,
          joined({Cells{"in flight", "chunks"}, timeHeads(),
                  Cells{"tokens/s/dev", "found by"}}));
  for (size_t k = 0; k < rings.size(); ++k) {
    Ordered ring = summaryOf(rings[k]);
    char rate[32];
    std::snprintf(rate, sizeof(rate), "%.1f", rings[k].throughput);
    addLine(text, widths,
            joined({Cells{markBest(ring.microBatches, k == best),
                          std::to_string(ring.chunks)},
                    timeCells(ring), Cells{rate, rings[k].finder}}));
  }
  return text;
}

//===----------------------------------------------------------------------===//
// JSON
//===----------------------------------------------------------------------===//

/// What both have; `planned` is the name of the time that was planned.
static void writeCommon(json::Writer &writer, const Ordered &ordered,
                        const char *planned) {
  writer.member("chunks", ordered.chunks);
  writer.member("microbatches", ordered.microBatches);
  writer.member("stages", int64_t(ordered.instance.numDevices()));
  writer.member("ops", int64_t(ordered.instance.numOps()));
  writer.member("serial_ms", msOf(double(ordered.serial)));
  writer.member("program_order_ms", msOf(double(ordered.programOrder)));
  writer.member(planned, msOf(double(ordered.planned)));
  writer.member("replayed_ms", msOf(double(ordered.replayed)));
  writer.member("contended_ms", msOf(ordered.contended));
  writer.member("lower_bound_ms", msOf(double(ordered.bound)));
  writer.member("gap", ordered.gap);
  writer.member("proved", ordered.isProved);
}

std::string ordering::orderJson(const std::vector<OrderedStep> &steps,
                                size_t best) {
  std::string text;
  json::Writer writer(text);
  writer.beginObject(json::Style::Block);
  writer.member("chunks", int64_t(steps[best].step.chunks));
  writer.key("steps").beginArray(json::Style::Block);
  for (const OrderedStep &step : steps) {
    writer.beginObject(json::Style::Block);
    writeCommon(writer, summaryOf(step), "makespan_ms");
    writer.key("peak_memory").beginArray();
    for (const schedule::DeviceUse &device : step.result.verdict.devices)
      writer.value(device.peakMemory);
    writer.endArray();
    writer.member("found_by", step.result.finder);
    writer.member("stopped", step.result.stopped);
    writer.endObject();
  }
  writer.endArray();
  writer.endObject();
  return text + "\n";
}

std::string ordering::ringJson(const std::vector<OrderedRing> &rings,
                               size_t best) {
  std::string text;
  json::Writer writer(text);
  writer.beginObject(json::Style::Block);
  writer.member("microbatches", rings[best].inFlight);
  writer.member("chunks", int64_t(rings[best].step.chunks));
  writer.key("rings").beginArray(json::Style::Block);
  for (const OrderedRing &ring : rings) {
    writer.beginObject(json::Style::Block);
    writeCommon(writer, summaryOf(ring), "tpot_ms");
    writer.member("tokens_per_s_per_device", ring.throughput);
    writer.member("staggered", ring.isStaggered);
    writer.member("found_by", ring.finder);
    writer.endObject();
  }
  writer.endArray();
  writer.endObject();
  return text + "\n";
}
