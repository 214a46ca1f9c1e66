//===- Compare.cpp - Whether a sharded program computed the same ----------===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "shardopt/Execution/Compare.h"

#include "shardopt/Execution/Arguments.h"

#include <algorithm>
#include <cmath>

using namespace shardopt;
using namespace shardopt::execution;
using namespace shardopt::tensors;

bool ResultError::isWithin(double tolerance) const {
  // Written so that NaN is not.
  return isInteger ? unequal == 0 : maxRel <= tolerance;
}

double execution::largest(const Tensor &tensor) {
  double most = 0;
  if (tensor.element() == Element::F32)
    for (float value : tensor.floats())
      most = std::max(most, std::abs(double(value)));
  return most;
}

/// "[2, 5]": the place of a linear index.
static std::string describeIndex(const Shape &shape, int64_t index) {
  std::string text;
  for (size_t i = shape.size(); i-- > 0; index /= shape[i])
    text = std::to_string(index % shape[i]) + (text.empty() ? "" : ", ") + text;
  return "[" + text + "]";
}

void execution::accumulate(const Tensor &expected, const Tensor &found,
                           double scale, const std::string &where,
                           ResultError &error) {
  error.count += expected.size();
  for (int64_t i = 0; i < expected.size(); ++i) {
    if (expected.element() == Element::I32) {
      error.isInteger = true;
      if (expected.ints()[i] == found.ints()[i])
        continue;
      if (error.unequal++ == 0)
        error.where = where + ", at " + describeIndex(expected.shape(), i) +
                      ": " + std::to_string(found.ints()[i]) + ", not " +
                      std::to_string(expected.ints()[i]);
      continue;
    }
    double wanted = expected.floats()[i], difference = found.floats()[i];
    difference = std::abs(difference - wanted);
    if (difference <= error.maxAbs)
      continue;
    if (std::isnan(error.maxAbs))
      continue;
    error.maxAbs = difference;
    error.maxRel = scale > 0 ? difference / scale : difference;
    error.where = where + ", at " + describeIndex(expected.shape(), i);
  }
}

//===----------------------------------------------------------------------===//
// Outcomes
//===----------------------------------------------------------------------===//

Expected execution::collect(const ProgramInterface &interface,
                            RankOutcome outcome) {
  Expected expected;
  for (auto &microBatches : outcome.results)
    expected.results.push_back(std::move(microBatches.front()));
  const std::vector<Operand> &caches = interface.stages.front().caches;
  if (!outcome.caches.empty())
    for (size_t i = 0; i < caches.size(); ++i)
      expected.caches[caches[i].name] = std::move(outcome.caches.front()[i]);
  return expected;
}

/// Calls `visit(place, microBatch, stage)` for each micro-batch of a rank.
template <typename Visit>
static void visitMicroBatches(const ProgramInterface &interface, int64_t rank,
                              int64_t prompts, Visit visit) {
  Place place = interface.place(rank, prompts);
  for (place.microBatch = 0; place.microBatch < place.microBatches;
       ++place.microBatch)
    visit(place, interface.stages[place.coordinate(Axis::Pp)]);
}

static Error shapeError(const Operand &operand, const Tensor &found,
                        const Shape &wanted, const std::string &where) {
  return Error{"'" + operand.name + "' has the shape " +
               toString(found.shape()) + ", expected " + toString(wanted) +
               " (" + where + ")"};
}

/// "rank 1, micro-batch 0".
static std::string describe(const Place &place) {
  std::string text = "rank " + std::to_string(place.rank);
  if (place.microBatches > 1)
    text += ", micro-batch " + std::to_string(place.microBatch);
  return text;
}

ErrorOr<Expected> execution::assemble(const ProgramInterface &interface,
                                      const std::vector<RankOutcome> &outcomes,
                                      const RunRequest &request) {
  Expected whole;
  std::optional<Error> failure;
  const std::vector<Operand> &results = interface.stages.back().results;
  for (size_t step = 0; step < request.steps.size(); ++step) {
    auto &tensors = whole.results.emplace_back();
    for (const Operand &result : results)
      tensors.emplace_back(result.element, resolveShape(result, request));
  }
  for (size_t rank = 0; rank < outcomes.size(); ++rank) {
    const RankOutcome &outcome = outcomes[rank];
    visitMicroBatches(
        interface, int64_t(rank), request.prompts,
        [&](const Place &place, const Entry &stage) {
          auto write = [&](const Tensor &part, const Operand &operand,
                           Tensor &global) {
            Shape wanted = localShape(operand.slice, global.shape(),
                                      request.prompts, place);
            if (part.shape() == wanted)
              put(part,
                  entriesOf(operand.slice, global.shape(), request.prompts,
                            place),
                  global);
            else if (!failure)
              failure = shapeError(operand, part, wanted, describe(place));
          };
          for (size_t i = 0; i < stage.caches.size(); ++i) {
            const Operand &cache = stage.caches[i];
            auto [entry, isNew] = whole.caches.try_emplace(cache.name);
            if (isNew)
              entry->second =
                  Tensor(cache.element, resolveShape(cache, request));
            if (!outcome.caches.empty())
              write(outcome.caches[place.microBatch][i], cache, entry->second);
          }
          if (&stage != &interface.stages.back())
            return;
          for (size_t step = 0; step < outcome.results.size(); ++step)
            for (size_t i = 0; i < results.size(); ++i) {
              const Tensor &part = outcome.results[step][place.microBatch][i];
              Tensor &global = whole.results[step][i];
              // What nothing cuts has the size that it has.
              if (results[i].slice.shape.empty())
                global = part;
              else
                write(part, results[i], global);
            }
        });
  }
  if (failure)
    return *failure;
  return whole;
}

ErrorOr<std::vector<ResultError>>
execution::compare(const Expected &expected, const ProgramInterface &interface,
                   const std::vector<RankOutcome> &outcomes,
                   const RunRequest &request) {
  const std::vector<Operand> &results = interface.stages.back().results;
  std::vector<ResultError> errors(results.size());
  std::vector<double> scales(results.size());
  for (size_t i = 0; i < results.size(); ++i) {
    errors[i].name = results[i].name;
    for (const auto &step : expected.results)
      scales[i] = std::max(scales[i], largest(step[i]));
  }
  std::map<std::string, ResultError> caches;
  std::optional<Error> failure;
  auto check = [&](const Tensor &global, const Operand &operand,
                   const Place &place, const Tensor &found, double scale,
                   const std::string &where, ResultError &error) {
    if (!canCut(operand.slice, global.shape(), request.prompts)) {
      if (!failure)
        failure = shapeError(operand, global, resolveShape(operand, request),
                             "the unsharded program");
      return;
    }
    Tensor part = take(global, entriesOf(operand.slice, global.shape(),
                                         request.prompts, place));
    if (part.shape() == found.shape())
      return accumulate(part, found, scale, where, error);
    if (!failure)
      failure = shapeError(operand, found, part.shape(), where);
  };
  for (size_t rank = 0; rank < outcomes.size(); ++rank) {
    const RankOutcome &outcome = outcomes[rank];
    visitMicroBatches(
        interface, int64_t(rank), request.prompts,
        [&](const Place &place, const Entry &stage) {
          std::string at = describe(place);
          for (size_t i = 0; i < stage.caches.size(); ++i) {
            const Operand &cache = stage.caches[i];
            auto known = expected.caches.find(cache.name);
            if (outcome.caches.empty() || known == expected.caches.end())
              continue;
            ResultError &error = caches[cache.name];
            error.name = "cache " + cache.name;
            check(known->second, cache, place,
                  outcome.caches[place.microBatch][i], largest(known->second),
                  at, error);
          }
          if (&stage != &interface.stages.back())
            return;
          for (size_t step = 0; step < outcome.results.size(); ++step)
            for (size_t i = 0; i < results.size(); ++i)
              check(expected.results[step][i], results[i], place,
                    outcome.results[step][place.microBatch][i], scales[i],
                    "step " + std::to_string(step) + ", " + at, errors[i]);
        });
  }
  if (failure)
    return *failure;
  for (auto &[name, error] : caches)
    errors.push_back(std::move(error));
  return errors;
}
