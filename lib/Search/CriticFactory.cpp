//===- CriticFactory.cpp - The critic that the options ask for ------------===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "CriticFactory.h"
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
  return context.freeModel.get();
}

ErrorOr<std::unique_ptr<Critic>>
makeCritic(const SearcherContext &context, const ScreenedConstants &constants) {
  const std::string choice =
      context.options.critic.empty() ? "ridge" : context.options.critic;
  ErrorOr<const Simulator *> prior = priorModel(context);
  if (!prior)
    return prior.error();
  if (choice == "none")
    return std::unique_ptr<Critic>();
  // A stream of its own, so that critics do not change what policies draw.
  if (choice == "random")
    return std::unique_ptr<Critic>(
        std::make_unique<RandomCritic>(~context.seed));
  if (choice == "ridge")
    return std::unique_ptr<Critic>(std::make_unique<LearnedCritic>(
        *context.space, context.objective, *prior, constants.refit));
  return Error{"unknown agent-critic '" + abbreviate(choice) + "', " +
               listKnown(choice, {"ridge", "random", "none"})};
}

} // namespace shardopt::search
