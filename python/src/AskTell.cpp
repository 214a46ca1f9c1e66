//===- AskTell.cpp - A searcher that is asked and told --------------------===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "AskTell.h"

#include "shardopt/Planning/Searchers.h"

using namespace shardopt;

ErrorOr<std::unique_ptr<AskTell>>
AskTell::create(std::shared_ptr<const Scenario> scenario,
                const PlanRequest &request) {
  ErrorOr<search::StrategySpace> space =
      search::StrategySpace::create(scenario->spaceFacts(), request.space);
  if (!space)
    return space.error();
  search::Objective objective = scenario->objective(request.goal);
  std::unique_ptr<AskTell> made(
      new AskTell(std::move(scenario), std::move(*space), objective));
  made->searcherName =
      request.searcher.empty() ? "surrogate" : request.searcher;
  search::SearcherContext context{search::unowned(&made->space), nullptr,
                                  objective};
  context.seed = request.seed;
  if (request.budget)
    context.budget = request.budget;
  made->stop = request.stop;
  context.stopRequested = [&stop = made->stop] {
    return stop && stop->requested();
  };
  context.options = request.options;
  context.freeModel = search::unowned(&made->scenario->roofline());
  auto searcher = allSearchers().create(made->searcherName, context);
  if (!searcher)
    return searcher.error();
  made->searcher = std::move(*searcher);
  made->stop = nullptr;
  return made;
}
