//===- ServiceSpace.cpp - Layouts that a search takes ---------------------===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ServiceSpace.h"

#include <algorithm>

using namespace shardopt;
using namespace shardopt::service;

/// Most workers of `devices` each on `all` devices of a machine.
static int64_t mostWorkers(const Side &side, int64_t devices, int64_t all) {
  int64_t low = 0, high = all / devices;
  while (low < high) {
    int64_t middle = (low + high + 1) / 2;
    if (havePlaces(middle, devices, 0, 1, all, side.domainSize()))
      low = middle;
    else
      high = middle - 1;
  }
  return low;
}

/// Devices that a worker on `side` may have of `all`.
static int64_t mostOf(const Side &side, const ServiceGoal &goal, int64_t all) {
  return goal.withinDomains ? std::min(all, side.domainSize()) : all;
}

DecodeSpace::DecodeSpace(const Side &side, Runner runner,
                         const cost::ServingEngine &engine,
                         const ServiceGoal &goal)
    : layouts(side.layouts(runner, mostOf(side, goal, goal.devices),
                           goal.load.longestContext(), cost::Phase::Decode,
                           shortage, goal.pins.mayOverlap())) {
  for (const WorkerLayout &layout : layouts) {
    if (goal.isStopped())
      break;
    if (goal.pins.allowDecode(layout.degrees, layout.overlaps))
      decodes.push_back({AnswerCurve(layout, engine, goal),
                         mostWorkers(side, layout.devices(), goal.devices)});
  }
}

static bool isOf(const WorkerLayout &layout, const ServiceRole &role) {
  Degrees degrees = role.degrees;
  degrees.batch = layout.degrees.batch;
  return layout.degrees == degrees && layout.overlaps == role.overlaps;
}

const Decode *DecodeSpace::find(const ServiceRole &role) const {
  for (const Decode &decode : decodes)
    if (isOf(decode.curve.layout(), role))
      return &decode;
  return nullptr;
}

const Prefill *PrefillSpace::find(const ServiceRole &role) const {
  for (const Prefill &prefill : prefills)
    if (isOf(*prefill.layout, role))
      return &prefill;
  return nullptr;
}

PrefillSpace::PrefillSpace(const Side &side, bool isApart, Runner runner,
                           const cost::ServingEngine &engine,
                           const ServiceGoal &goal)
    : side(&side), isApart(isApart),
      devices(isApart ? goal.prefillDevices : goal.devices),
      layouts(side.layouts(runner, mostOf(side, goal, devices),
                           goal.load.longestInput(), cost::Phase::Prefill,
                           shortage, goal.pins.mayOverlap())),
      runner(runner), facts(side.costs().model()) {
  for (const WorkerLayout &layout : layouts) {
    if (goal.isStopped())
      break;
    if (!goal.pins.prefill.allow(layout.degrees, layout.overlaps))
      continue;
    cost::DisaggregatedLoop alone({layout.worker, 1}, {layout.worker, 1},
                                  engine, goal.load);
    if (!alone.hasRoom())
      continue;
    double prompt = layout.worker.groups() / alone.prefillRate();
    prefills.push_back(
        {&layout,
         {alone.prefillRate(), engine.firstTokenMs * 1e-3 + prompt},
         mostWorkers(side, layout.devices(), devices)});
  }
}

const PrefillSpace::Senders *PrefillSpace::to(const Degrees &decode) const {
  auto [entry, isNew] = sendersTo.try_emplace(classOf(decode), nullptr);
  if (!isNew)
    return entry->second;
  std::map<TransferClass, bool> classes;
  std::vector<bool> can;
  for (const Prefill &prefill : prefills) {
    const Degrees &from = prefill.layout->degrees;
    auto [sends, isNewClass] = classes.try_emplace(classOf(from), false);
    if (isNewClass)
      sends->second = !whyNoTransfer(runner, from, decode, facts);
    can.push_back(sends->second);
  }
  if (std::find(can.begin(), can.end(), true) == can.end())
    return nullptr;
  auto [senders, isNewSet] =
      known.try_emplace(can, Senders{{}, PrefillReach(devices)});
  if (isNewSet) {
    for (size_t i = 0; i < can.size(); ++i) {
      const Prefill &prefill = prefills[i];
      if (!can[i])
        continue;
      senders->second.all.push_back(&prefill);
      senders->second.reach.add(prefill.one, prefill.devices(), prefill.most);
    }
    senders->second.reach.finish();
  }
  return entry->second = &senders->second;
}
