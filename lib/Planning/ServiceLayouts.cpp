//===- ServiceLayouts.cpp - Layouts of workers on a machine ---------------===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "shardopt/Planning/ServiceSearch.h"
#include "shardopt/Search/Dims/OptimalDims.h"

#include <algorithm>
#include <limits>

using namespace shardopt;
using namespace shardopt::service;

//===----------------------------------------------------------------------===//
// Places
//===----------------------------------------------------------------------===//

namespace {
/// Domains with as much room left.
struct Domains {
  int64_t room = 0, count = 0;
};
} // namespace

/// Places workers of `size` into `domains`, a worker into one of them; false if
/// they do not fit.
static bool place(int64_t workers, int64_t size,
                  std::vector<Domains> &domains) {
  std::vector<Domains> after;
  for (const Domains &some : domains) {
    int64_t each = some.room / size;
    int64_t filled = each ? std::min(some.count, workers / each) : 0;
    workers -= filled * each;
    int64_t rest = some.count - filled;
    if (filled)
      after.push_back({some.room - each * size, filled});
    if (each && rest && workers > 0) {
      after.push_back({some.room - workers * size, 1});
      workers = 0;
      --rest;
    }
    if (rest)
      after.push_back({some.room, rest});
  }
  domains = std::move(after);
  return workers == 0;
}

bool service::havePlaces(int64_t first, int64_t firstSize, int64_t second,
                         int64_t secondSize, int64_t devices, int64_t domain) {
  if (firstSize < secondSize)
    return havePlaces(second, secondSize, first, firstSize, devices, domain);
  int64_t whole = devices / domain, part = devices % domain;
  for (auto [workers, size] :
       {std::pair(first, firstSize), std::pair(second, secondSize)}) {
    if (size < domain || workers == 0)
      continue;
    int64_t rest = size % domain;
    whole -= workers * (size / domain);
    // The last one may end in the domain that is not whole.
    int64_t ends = rest > 0 ? workers : 0;
    bool endsInPart = ends > 0 && rest <= part;
    whole -= ends - (endsInPart ? 1 : 0);
    part -= endsInPart ? rest : 0;
    if (whole < 0)
      return false;
  }
  std::vector<Domains> domains = {{part, 1}, {domain, whole}};
  return (firstSize >= domain || place(first, firstSize, domains)) &&
         (secondSize >= domain || place(second, secondSize, domains));
}

//===----------------------------------------------------------------------===//
// Machines
//===----------------------------------------------------------------------===//

ErrorOr<std::unique_ptr<const Side>>
Side::create(const Scenario &scenario, const cost::ServingEngine &engine,
             const cost::ServingTraits &traits) {
  auto clock = cost::EngineClock::create(scenario.machine(), engine);
  if (!clock)
    return clock.error();
  if (std::optional<std::string> why = (*clock)->whyNot(scenario.model()))
    return Error{*why};
  return std::unique_ptr<const Side>(
      new Side(scenario, std::move(*clock), engine, traits));
}

Side::Side(const Scenario &scenario,
           std::shared_ptr<const cost::EngineClock> given,
           const cost::ServingEngine &engine, const cost::ServingTraits &traits)
    : machineName(scenario.machine().name), clock(std::move(given)),
      model(scenario.model(), clock,
            traits.skew > 0 ? std::optional(traits.skew) : std::nullopt,
            cost::Limits()),
      skew(traits.skew > 0 ? std::optional(traits.skew) : std::nullopt),
      reach(engine.expertReach), spread(engine.expertSpread),
      memoryBytes(
          std::min(scenario.machine().memoryCapacity,
                   cost::usableBytes(
                       scenario.machine().calibration->sheet.memoryBytes))),
      networkBytesPerS(scenario.machine().calibration->sheet.networkBandwidth),
      drafter(traits.drafter),
      overlap(engine.kind == Engine::Sglang ? cost::Overlap::Always
                                            : cost::Overlap::Faster),
      placements(traits.shares && !traits.shares->isEven()
                     ? std::make_shared<cost::ExpertPlacements>(traits.shares,
                                                                reach, spread)
                     : nullptr),
      domain(scenario.machine().domainSize) {}

//===----------------------------------------------------------------------===//
// Layouts
//===----------------------------------------------------------------------===//

/// All degrees on at most `most` devices that a program of `layers` layers may
/// have.
static std::vector<Degrees> degreesOn(int64_t most, int64_t layers,
                                      const EngineFacts &facts) {
  std::vector<Degrees> all;
  int64_t mostTp = facts.heads ? std::min(most, facts.heads) : most;
  for (int64_t tp = 1; tp <= mostTp; ++tp) {
    if (facts.heads && facts.heads % tp != 0)
      continue;
    int64_t mostDp = facts.experts ? most / tp : 1;
    for (int64_t dp = 1; dp <= mostDp; ++dp) {
      int64_t stage = tp * dp;
      int64_t mostEp = facts.experts ? std::min(stage, facts.experts) : 1;
      for (int64_t pp = 1; pp <= std::min(layers, most / stage); ++pp)
        for (int64_t ep = 1; ep <= mostEp; ++ep) {
          if (stage % ep != 0)
            continue;
          Degrees degrees(tp, ep, pp, dp * pp);
          degrees.dp = dp;
          all.push_back(degrees);
          if (!facts.experts || stage == 1)
            continue;
          degrees.exchange = exchangeGather;
          all.push_back(degrees);
        }
    }
  }
  return all;
}

/// The degrees with cp ranks that share the positions of a sequence.
static void addContextParallel(std::vector<Degrees> &all) {
  size_t count = all.size();
  for (size_t i = 0; i < count; ++i)
    for (int64_t cp = 2; cp <= all[i].tp; ++cp)
      if (all[i].tp % cp == 0) {
        all.push_back(all[i]);
        all.back().cp = cp;
      }
}

double WorkerLayout::leastBytes(double context) const {
  double bytes = 0;
  for (const cost::StageMemory &stage : steps->memory(context))
    bytes = std::max(bytes, stage.weights + stage.cache);
  return bytes;
}

std::optional<std::vector<Dim>> Side::leastDims(Degrees degrees,
                                                const cost::Workload &workload,
                                                int64_t each) const {
  cost::Model program = model.model();
  program.workload = workload;
  cost::Limits limits;
  limits.memoryBytes = memoryBytes;
  limits.latencySeconds = std::numeric_limits<double>::infinity();
  cost::CostModel costs(std::move(program), clock, skew, limits);
  if (!costs.hasTrellises())
    return std::nullopt;
  degrees.batch = each * degrees.dp;
  std::vector<cost::DimSet> domains(costs.model().numVariables(),
                                    cost::allDims);
  auto best = cost::optimalDims(cost::Tables(costs, degrees), domains,
                                Goal::Throughput);
  return best ? std::optional(best->dims) : std::nullopt;
}

WorkerLayout Side::made(const Degrees &degrees,
                        std::shared_ptr<const cost::LayerTimes> layers,
                        bool overlaps) const {
  WorkerLayout layout{degrees,
                      {},
                      std::make_unique<const cost::StepTimes>(
                          std::move(layers), degrees,
                          overlaps ? overlap : cost::Overlap::Never),
                      {},
                      overlaps};
  layout.worker = {layout.steps.get(), memoryBytes, networkBytesPerS};
  return layout;
}

std::shared_ptr<const cost::LayerTimes>
Side::layersOf(const Degrees &degrees, std::vector<Dim> dims) const {
  return std::make_shared<const cost::LayerTimes>(
      model, Strategy{degrees, std::move(dims)}, skew, reach, spread, drafter,
      placements, domain);
}

WorkerLayout Side::layout(const Degrees &degrees, std::vector<Dim> dims,
                          bool overlaps) const {
  return made(degrees, layersOf(degrees, std::move(dims)), overlaps);
}

std::vector<Degrees> Side::withEplb(Runner runner, const Degrees &degrees,
                                    const EngineFacts &facts) const {
  std::vector<Degrees> all;
  if (!whyNotRun(runner, degrees, facts))
    all.push_back(degrees);
  Degrees more = degrees;
  more.eplb = eplbWith(0);
  if (!placements || degrees.ep == 1 || whyNotRun(runner, more, facts))
    return all;
  auto fullestOf = [&](const Degrees &at) {
    double most = 1;
    for (const cost::Body &body : model.model().bodies)
      if (body.experts)
        most = std::max(
            most, placements->of(body.experts, body.topK, at).imbalance());
    return most;
  };
  // What more replicas have to take off the fullest rank.
  constexpr double gain = 0.01;
  double fullest = all.empty() ? std::numeric_limits<double>::infinity()
                               : fullestOf(degrees);
  for (int64_t redundant : {0, 1, 2, 4, 8, 16}) {
    more.eplb = eplbWith(redundant);
    if ((1 - gain) * fullest < 1 || model.structuralError(more))
      break;
    double next = fullestOf(more);
    if (next > (1 - gain) * fullest)
      continue;
    fullest = next;
    all.push_back(more);
  }
  return all;
}

ErrorOr<WorkerLayout> Side::layout(Runner runner, const Degrees &degrees,
                                   cost::Phase phase,
                                   const std::vector<Dim> &dims,
                                   bool overlaps) const {
  if (auto why = model.structuralError(degrees))
    return Error{*why};
  EngineFacts facts(model.model());
  facts.isPrefill = phase == cost::Phase::Prefill;
  WorkerLayout layout = this->layout(
      degrees, dims.empty() ? engineDims(runner, degrees, facts) : dims,
      overlaps);
  layout.dims = dims;
  if (!layout.steps->isLegal())
    return Error{"the model cannot be sharded with the dims that " +
                 (dims.empty()
                      ? "'" + std::string(spell(runner)) + "' gives to its ops"
                      : "its ops are given")};
  return layout;
}

std::vector<WorkerLayout> Side::layouts(Runner runner, int64_t most,
                                        double context, cost::Phase phase,
                                        ServiceShortage &shortage,
                                        bool mayOverlap) const {
  EngineFacts facts(model.model());
  facts.isPrefill = phase == cost::Phase::Prefill;
  std::vector<Degrees> candidates =
      degreesOn(most, model.layers().numLayers(), facts);
  if (phase == cost::Phase::Decode)
    addContextParallel(candidates);
  std::vector<WorkerLayout> all;
  // Layers that are made, by degrees without stages.
  std::map<Degrees, std::shared_ptr<const cost::LayerTimes>> known;
  bool isRun = false;
  auto take = [&](const Degrees &degrees) {
    Degrees stage = degrees;
    stage.pp = stage.batch = 1;
    std::shared_ptr<const cost::LayerTimes> &layers = known[stage];
    if (!layers)
      layers = layersOf(stage, engineDims(runner, stage, facts));
    WorkerLayout layout = made(degrees, layers, /*overlaps=*/false);
    if (!layout.steps->isLegal())
      return;
    if (layout.worker.room(context) > 0) {
      all.push_back(std::move(layout));
      if (mayOverlap && !whyNotOverlap(runner, degrees, facts))
        all.push_back(made(degrees, layers, /*overlaps=*/true));
      return;
    }
    double bytes = layout.leastBytes(context);
    if (shortage.leastBytes == 0 || bytes < shortage.leastBytes)
      shortage.leastBytes = bytes;
  };
  for (const Degrees &degrees : candidates) {
    if (model.structuralError(degrees))
      continue;
    std::vector<Degrees> placed = withEplb(runner, degrees, facts);
    isRun |= !placed.empty();
    if (placed.empty() && shortage.example.empty())
      shortage.example =
          spell(degrees) + ": " + *whyNotRun(runner, degrees, facts);
    for (const Degrees &one : placed)
      take(one);
  }
  shortage.capacityBytes = memoryBytes;
  shortage.part = !all.empty() ? "" : isRun ? "memory" : "engine";
  return all;
}
