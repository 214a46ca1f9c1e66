//===- CriticFactory.cpp - The critic that the options ask for ------------===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "CriticFactory.h"
#include "shardopt/Support/Suggest.h"

#include <algorithm>

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
                 "the program, and there is none; "
                 "expected 'none'"};
  return context.freeModel.get();
}

ErrorOr<bool> asksForJointCritic(const SearcherContext &context) {
  const std::string &choice = context.options.critic;
  std::vector<std::string> known = {"joint", "ridge", "random", "none"};
  if (!choice.empty() &&
      std::find(known.begin(), known.end(), choice) == known.end())
    return Error{"unknown agent-critic '" + abbreviate(choice) + "', " +
                 listKnown(choice, known)};
  ErrorOr<const Simulator *> prior = priorModel(context);
  if (!prior)
    return prior.error();
  if (choice == "joint" && *prior)
    return Error{"'agent-critic' is 'joint', which starts from no model; "
                 "expected 'agent-critic-prior' to be 'none', or another "
                 "critic: 'ridge'"};
  return choice.empty() ? !*prior : choice == "joint";
}

ErrorOr<std::unique_ptr<Critic>>
makeCritic(const SearcherContext &context, const ScreenedConstants &constants) {
  const std::string &choice = context.options.critic;
  ErrorOr<const Simulator *> prior = priorModel(context);
  if (!prior)
    return prior.error();
  if (choice == "none")
    return std::unique_ptr<Critic>();
  // A stream of its own, so that critics do not change what policies draw.
  if (choice == "random")
    return std::unique_ptr<Critic>(
        std::make_unique<RandomCritic>(~context.seed));
  return std::unique_ptr<Critic>(std::make_unique<LearnedCritic>(
      *context.space, context.objective, *prior, constants.refit));
}

} // namespace shardopt::search
