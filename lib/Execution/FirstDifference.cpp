//===- FirstDifference.cpp - Which op went wrong first --------------------===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Values are matched by the name of their op and by how often it ran before:
// layer after layer, step after step. On stages, the layers of earlier ones
// come first; with micro-batches, each has its part of the rows.
//
//===----------------------------------------------------------------------===//

#include "FirstDifference.h"

#include <algorithm>
#include <cmath>
#include <cstdio>

using namespace shardopt;
using namespace shardopt::execution;
using namespace shardopt::tensors;
using cost::Layout;

namespace {

/// When a value was made.
struct Moment {
  std::string op;
  int64_t step = 0;
  int64_t layer = 0; ///< executions of the op before, in this step
  bool operator<(const Moment &other) const {
    return std::tie(op, step, layer) <
           std::tie(other.op, other.step, other.layer);
  }
};

/// What one rank has of a value.
struct Part {
  Place place;
  const KeptSite *site = nullptr;
  const Tensor *value = nullptr;
};

using Parts = std::map<Moment, std::vector<Part>>;

} // namespace

/// How often each op runs in one step on the ranks of a stage.
static std::map<std::string, int64_t>
countLayers(const ProgramInterface &interface, const RankOutcome &outcome,
            int64_t steps, int64_t microBatches) {
  std::map<std::string, int64_t> counts;
  for (const KeptValue &value : outcome.values)
    ++counts[interface.sites[value.site].kept->op];
  for (auto &[op, count] : counts)
    count /= steps * microBatches;
  return counts;
}

/// The parts of all values, by moment.
static Parts sortParts(const ProgramInterface &interface,
                       const std::vector<RankOutcome> &outcomes,
                       int64_t prompts, int64_t steps) {
  Parts parts;
  int64_t perStage = interface.ranks() / interface.numStages();
  std::map<std::string, int64_t> before; // layers in earlier stages
  for (int64_t rank = 0; rank < int64_t(outcomes.size()); ++rank) {
    Place place = interface.place(rank, prompts);
    auto layers =
        countLayers(interface, outcomes[rank], steps, place.microBatches);
    std::map<std::pair<std::string, int64_t>, int64_t> runs;
    for (const KeptValue &value : outcomes[rank].values) {
      const KeptSite &site = *interface.sites[value.site].kept;
      int64_t run = runs[{site.op, value.microBatch}]++;
      int64_t each = std::max<int64_t>(1, layers[site.op]);
      Part part{place, &site, &value.value};
      part.place.microBatch = value.microBatch;
      parts[{site.op, run / each, before[site.op] + run % each}].push_back(
          part);
    }
    if ((rank + 1) % perStage == 0)
      for (auto &[op, count] : layers)
        before[op] += count;
  }
  return parts;
}

/// The parts of one tp group and micro-batch, put together: the rows that the
/// group holds. Nothing where the value is not comparable.
static std::optional<Tensor> join(const std::vector<const Part *> &group,
                                  int64_t columns) {
  const Part &first = *group.front();
  cost::Layout layout = first.site->layout;
  if (layout == Layout::R)
    return *first.value;
  bool isCutOverQ = cost::isTwoAxis(layout);
  bool isFeatures = layout == Layout::H || layout == Layout::TH;
  bool isSum = layout == Layout::P || layout == Layout::TP;
  int64_t rows = 0;
  for (const Part *part : group)
    rows = layout == Layout::T ? rows + part->value->shape()[0]
                               : part->value->shape()[0];
  if (isCutOverQ)
    rows *= first.place.grid.q();
  Tensor whole(Element::F32, {rows, columns});
  int64_t begin = 0;
  for (const Part *part : group) {
    const Tensor &value = *part->value;
    int64_t width = value.shape()[1];
    int64_t coordinate =
        part->place.coordinate(isCutOverQ ? Axis::C : Axis::Tp);
    if (!isFeatures && width != columns)
      return std::nullopt;
    if (isCutOverQ) // whose blocks the devices along c share
      begin = part->place.coordinate(Axis::Q) * value.shape()[0];
    if (isFeatures && (coordinate >= int64_t(part->site->columns.size()) ||
                       width > int64_t(part->site->columns[coordinate].size())))
      return std::nullopt;
    if (begin + value.shape()[0] > rows) // devices disagree
      return std::nullopt;
    for (int64_t row = 0; row < value.shape()[0]; ++row)
      for (int64_t i = 0; i < width; ++i) {
        int64_t column = isFeatures ? part->site->columns[coordinate][i] : i;
        if (column < 0 || column >= columns)
          continue;
        float &to = whole.floats()[(begin + row) * columns + column];
        float from = value.floats()[row * width + i];
        to = isSum ? to + from : from;
      }
    if (layout == Layout::T)
      begin += value.shape()[0];
  }
  return whole;
}

/// Where row `row` of prompts of `length` rows stands among `rows`, in blocks
/// of `ranks` devices that have positions in turn.
static int64_t dealtPlace(int64_t row, int64_t length, int64_t ranks,
                          int64_t rows) {
  int64_t position = row % length;
  int64_t own = row / length * ceilDiv(length, ranks) + position / ranks;
  return position % ranks * (rows / ranks) + own;
}

/// How far `group` is from its rows of `expected`: relative to the largest.
static std::optional<double> distance(const Tensor &expected,
                                      const std::vector<const Part *> &group,
                                      int64_t prompts) {
  int64_t columns = expected.shape()[1];
  std::optional<Tensor> joined = join(group, columns);
  if (!joined || expected.shape()[0] % prompts != 0)
    return std::nullopt;
  int64_t each = expected.shape()[0] / prompts;
  tensors::Range own = promptsOf(prompts, {Axis::Dp}, group.front()->place);
  int64_t rows = own.size() * each;
  if (joined->shape()[1] != columns || joined->shape()[0] < rows)
    return std::nullopt;
  double scale = 0, most = 0;
  for (float value : expected.floats())
    scale = std::max(scale, std::abs(double(value)));
  const Part &first = *group.front();
  int64_t ranks = first.place.grid.size(Axis::Tp);
  for (int64_t i = 0; i < rows * columns; ++i) {
    int64_t row = i / columns, from = row;
    if (first.site->isDealt)
      from = dealtPlace(row, each, ranks, joined->shape()[0]);
    double difference =
        std::abs(double(joined->floats()[from * columns + i % columns]) -
                 expected.floats()[own.begin * each * columns + i]);
    if (!(difference <= most))
      most = difference;
  }
  return scale > 0 ? most / scale : most;
}

std::string execution::findFirstDifference(
    const ProgramInterface &whole, const RankOutcome &expected,
    const ProgramInterface &parts, const std::vector<RankOutcome> &found,
    const RunRequest &request, double tolerance) {
  auto steps = int64_t(request.steps.size());
  Parts sorted = sortParts(parts, found, request.prompts, steps);
  auto layers = countLayers(whole, expected, steps, 1);
  std::map<std::string, int64_t> runs;
  for (const KeptValue &value : expected.values) {
    const std::string &op = whole.sites[value.site].kept->op;
    int64_t run = runs[op]++, each = std::max<int64_t>(1, layers[op]);
    Moment moment{op, run / each, run % each};
    auto entry = sorted.find(moment);
    if (entry == sorted.end())
      continue;
    // The members of a tp group follow each other for each replica and
    // micro-batch.
    std::map<std::pair<int64_t, int64_t>, std::vector<const Part *>> groups;
    for (const Part &part : entry->second)
      if (!part.site->isBetweenExperts)
        groups[{part.place.coordinate(Axis::Dp), part.place.microBatch}]
            .push_back(&part);
    for (const auto &[key, group] : groups) {
      std::optional<double> error =
          distance(value.value, group, request.prompts);
      if (!error || *error <= tolerance)
        continue;
      char text[48];
      std::snprintf(text, sizeof(text), "%.2e", *error);
      std::string words = op + ", layer " + std::to_string(moment.layer) +
                          ", step " + std::to_string(moment.step);
      const StageGrid &grid = parts.grid.groups();
      if (grid.size(Axis::Dp) > 1)
        words += std::string(", ") + spell(writtenAxis(Axis::Dp, grid)) + " " +
                 std::to_string(key.first);
      return words + " (layout " + cost::spell(group.front()->site->layout) +
             "): " + text + " of the largest magnitude";
    }
  }
  return "no op by more than the tolerance";
}
