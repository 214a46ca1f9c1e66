//===- CriticFactory.cpp - The critic that the options ask for ------------===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "CriticFactory.h"
#include "shardopt/Search/KernelRidge.h"
#include "shardopt/Search/MlpEnsemble.h"
#include "shardopt/Support/Suggest.h"

namespace shardopt::search {

/// The model whose difference to the simulator is learned; null: none.
static ErrorOr<const Simulator *> priorModel(const SearcherContext &context) {
  std::string choice = context.options.criticPrior;
  if (choice.empty())
    choice = context.freeModel && isBlackBox(context) ? "roofline" : "none";
  if (choice == "none")
    return static_cast<const Simulator *>(nullptr);
  if (choice != "roofline")
    return Error{"unknown agent-critic-prior '" + abbreviate(choice) + "', " +
                 listKnown(choice, {"roofline", "none"})};
  if (!context.freeModel)
    return Error{"'agent-critic-prior' is 'roofline', which needs a model of "
                 "the program beside the simulator, and there is none; "
                 "expected 'none'"};
  return context.freeModel;
}

ErrorOr<std::unique_ptr<Critic>> makeCritic(const SearcherContext &context,
                                            ScreenedConstants &constants) {
  constexpr double unscreenedOfEnsemble = .1;
  const std::string choice =
      context.options.critic.empty() ? "ridge" : context.options.critic;
  ErrorOr<const Simulator *> prior = priorModel(context);
  if (!prior)
    return prior.error();
  if (constants.unscreened < 0)
    constants.unscreened = choice == "ensemble" ? unscreenedOfEnsemble : 0;

  // Streams of their own, so that critics do not change what policies draw.
  const uint64_t seed = ~context.seed;
  auto learned = [&](LearnedCritic::MakeRegressor make, size_t interval) {
    return std::unique_ptr<Critic>(std::make_unique<LearnedCritic>(
        context.space, context.objective, *prior, std::move(make), interval));
  };
  const StrategySpace &space = context.space;
  if (choice == "none")
    return std::unique_ptr<Critic>();
  if (choice == "random")
    return std::unique_ptr<Critic>(std::make_unique<RandomCritic>(seed));
  if (choice == "ridge")
    return learned(
        [&space] {
          return std::make_unique<KernelRidge>(space, KernelRidge::Options());
        },
        constants.refit);
  // Its members train a little at a time; each fit picks another one.
  if (choice == "ensemble")
    return learned(
        [&space, seed] {
          return std::make_unique<MlpEnsemble>(space, MlpEnsemble::Options(),
                                               seed);
        },
        1);
  return Error{"unknown agent-critic '" + abbreviate(choice) + "', " +
               listKnown(choice, {"ridge", "ensemble", "random", "none"})};
}

} // namespace shardopt::search
