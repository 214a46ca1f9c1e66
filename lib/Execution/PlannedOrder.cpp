//===- PlannedOrder.cpp - A schedule that a program follows ---------------===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "shardopt/Execution/PlannedOrder.h"

#include "shardopt/Support/Json.h"
#include "shardopt/Support/Limits.h"

#include <algorithm>
#include <set>
#include <tuple>

using namespace shardopt;
using namespace shardopt::execution;
using runtime::Turn;

/// Reads never fail at once: the document keeps the first error.
class PlannedOrder::Reader {
public:
  explicit Reader(const json::Value &root) : root(root) {}

  PlannedOrder read();

private:
  /// The kernels of one op of one micro-batch.
  struct Kernels {
    json::Value place; ///< in the file
    std::string id;    ///< "3.ffn_up": the op, behind its layer
    int64_t microBatch = 0;
    int64_t start = 0;
    int64_t end = 0;

    std::string describe() const {
      return "'" + id + "' of micro-batch " + std::to_string(microBatch);
    }
  };

  /// When a stage has a micro-batch.
  struct Stay {
    int64_t start = 0;
    int64_t end = 0;
    const Kernels *first = nullptr;
  };

  void readEntry(const json::Value &entry);
  void checkStage(std::vector<Kernels> &kernels);
  void checkHandOver(size_t stage);
  std::string opOf(const std::string &id) const;
  int64_t makeLabel(const std::string &op);

  json::Value root;
  PlannedOrder plan;
  std::vector<std::vector<Kernels>> stages;
  std::vector<std::vector<Stay>> stays; ///< by stage and micro-batch
};

/// "ffn_up" of "3.ffn_up"; embedding and head have no layer.
std::string PlannedOrder::Reader::opOf(const std::string &id) const {
  size_t digits = id.find_first_not_of("0123456789");
  bool hasLayer =
      digits != std::string::npos && digits > 0 && id[digits] == '.';
  return hasLayer ? id.substr(digits + 1) : id;
}

int64_t PlannedOrder::Reader::makeLabel(const std::string &op) {
  if (plan.labelOf(op) < 0)
    plan.ops.push_back(op);
  return plan.labelOf(op);
}

void PlannedOrder::Reader::readEntry(const json::Value &entry) {
  Kernels kernels = {entry, entry["id"].string(),
                     entry["microbatch"].integer(std::nullopt, 0, maxDegree),
                     entry["start"].integer(std::nullopt, 0), 0};
  kernels.end = entry["end"].integer(std::nullopt, kernels.start);
  auto device = size_t(entry["device"].integer(std::nullopt, 0, maxDegree));
  if (!entry["machine"].choice<bool>({{"compute", true}, {"comm", false}}))
    return;
  plan.microBatches = std::max(plan.microBatches, kernels.microBatch + 1);
  stages.resize(std::max(stages.size(), device + 1));
  stages[device].push_back(std::move(kernels));
}

/// In the order of their starts: one after the other, and alike for all
/// micro-batches.
void PlannedOrder::Reader::checkStage(std::vector<Kernels> &kernels) {
  std::stable_sort(kernels.begin(), kernels.end(),
                   [](const Kernels &a, const Kernels &b) {
                     return std::tie(a.start, a.end) < std::tie(b.start, b.end);
                   });
  std::vector<std::vector<const Kernels *>> programs(plan.microBatches);
  for (size_t k = 0; k < kernels.size(); ++k) {
    const Kernels &one = kernels[k];
    if (k > 0 && one.start < kernels[k - 1].end)
      one.place.fail(
          one.describe() + " starts at " + std::to_string(one.start) +
          ", before " + kernels[k - 1].describe() + " ends at " +
          std::to_string(kernels[k - 1].end) + " on the same machine");
    programs[one.microBatch].push_back(&one);
  }
  auto &stay = stays.emplace_back(plan.microBatches);
  for (int64_t m = 0; m < plan.microBatches; ++m) {
    const std::vector<const Kernels *> &mine = programs[m],
                                       &first = programs.front();
    for (size_t k = 0; k < std::max(mine.size(), first.size()); ++k) {
      if (k < mine.size() && k < first.size() && mine[k]->id == first[k]->id)
        continue;
      const Kernels &found = k < mine.size() ? *mine[k] : *first[k];
      found.place.fail(found.describe() + " is number " + std::to_string(k) +
                       " of its micro-batch in this stage, " +
                       (k < mine.size() && k < first.size()
                            ? first[k]->describe() + " is of its own"
                            : "micro-batch " +
                                  std::to_string(k < mine.size() ? 0 : m) +
                                  " has fewer") +
                       ": expected the order of the program in each");
      return;
    }
    if (!mine.empty())
      stay[m] = {mine.front()->start, mine.back()->end, mine.front()};
  }
}

/// Between two stages messages keep their order, so micro-batches have to.
void PlannedOrder::Reader::checkHandOver(size_t stage) {
  const std::vector<Stay> &from = stays[stage - 1], &to = stays[stage];
  std::string before = "stage " + std::to_string(stage - 1);
  for (size_t m = 0; m < to.size(); ++m) {
    if (to[m].start < from[m].end)
      to[m].first->place.fail(to[m].first->describe() + " starts at " +
                              std::to_string(to[m].start) + ", before " +
                              before + " has done its part, at " +
                              std::to_string(from[m].end));
    for (size_t n = 0; n < m; ++n)
      if ((from[m].end < from[n].end) != (to[m].start < to[n].start))
        to[m].first->place.fail(
            "micro-batches " + std::to_string(n) + " and " + std::to_string(m) +
            " begin here in another order than they leave " + before +
            ", expected the same");
  }
}

PlannedOrder PlannedOrder::Reader::read() {
  std::set<std::tuple<std::string, int64_t>> seen;
  for (const json::Value &entry : root.elements())
    readEntry(entry);
  if (stages.empty())
    root.failExpected("entries with kernels");
  for (size_t s = 0; s < stages.size(); ++s) {
    if (stages[s].empty())
      root.fail("device " + std::to_string(s) + " has nothing to do");
    for (const Kernels &kernels : stages[s])
      if (!seen.insert({kernels.id, kernels.microBatch}).second)
        kernels.place.fail(kernels.describe() + " is planned twice");
    checkStage(stages[s]);
    if (s > 0 && !stages[s].empty() && !stages[s - 1].empty())
      checkHandOver(s);
    auto &turns = plan.byStage.emplace_back();
    for (const Kernels &kernels : stages[s])
      turns.push_back({kernels.microBatch, makeLabel(opOf(kernels.id))});
  }
  return std::move(plan);
}

ErrorOr<PlannedOrder> PlannedOrder::read(const std::string &path) {
  ErrorOr<json::Document> document = json::Document::parseFile(path);
  if (!document)
    return document.error();
  PlannedOrder plan = Reader(document->root()).read();
  if (document->failed())
    return document->error();
  return plan;
}

int64_t PlannedOrder::labelOf(const std::string &op) const {
  auto known = std::find(ops.begin(), ops.end(), op);
  return known == ops.end() ? -1 : known - ops.begin();
}

std::string PlannedOrder::describe(const Turn &turn) const {
  return (turn.label < 0 ? "an op that is not planned"
                         : "'" + ops[turn.label] + "'") +
         " of micro-batch " + std::to_string(turn.program);
}

std::optional<Error> PlannedOrder::fit(const ProgramInterface &interface,
                                       int64_t prompts) {
  for (auto [what, planned, found] :
       {std::tuple("stages", int64_t(byStage.size()), interface.numStages()),
        std::tuple("micro-batches", microBatches,
                   interface.microBatches(prompts))})
    if (planned != found)
      return Error{"the schedule has " + std::to_string(planned) + " " + what +
                   ", the program " + std::to_string(found) +
                   ": expected a schedule of the same strategy, in one chunk"};
  std::vector<bool> isTold(ops.size(), false);
  for (const Site &site : interface.sites)
    if (site.kept)
      if (int64_t label = labelOf(site.kept->op); label >= 0)
        isTold[label] = true;
  for (std::vector<Turn> &turns : byStage) {
    std::vector<Turn> told;
    std::vector<bool> hasLast(microBatches, false);
    for (auto turn = turns.rbegin(); turn != turns.rend(); ++turn)
      if (isTold[turn->label] || !hasLast[turn->program]) {
        hasLast[turn->program] = true;
        told.push_back(*turn);
      }
    turns.assign(told.rbegin(), told.rend());
  }
  return std::nullopt;
}
