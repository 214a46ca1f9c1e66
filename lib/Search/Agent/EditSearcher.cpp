//===- EditSearcher.cpp - searcher=ppo ------------------------------------===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "shardopt/Search/Agent/EditSearcher.h"
#include "shardopt/Search/Agent/PolicyFile.h"
#include "shardopt/Search/Driver.h"
#include "shardopt/Support/Suggest.h"
#include "shardopt/Support/WriteFile.h"

namespace shardopt::agent {

using namespace search;

using SearcherOr = ErrorOr<std::unique_ptr<Searcher>>;

ConstantTable EditSearcherConstants::table() {
  ConstantTable table("'agent-options' of searcher 'ppo'");
  screened.addTo(table);
  edits.addTo(table);
  table.integer("pretrain-calls", pretrainCalls, 1, 10000000,
                "Evaluations of each search of the free model that the policy "
                "is pretrained in.");
  table.integer("pretrain-runs", pretrainRuns, 1, 10000,
                "Such searches, each from the start.");
  return table;
}

namespace {

/// Lends a policy to a search.
class BorrowedEdits final : public EditPolicy {
public:
  explicit BorrowedEdits(std::shared_ptr<LearnedEdits> policy)
      : policy(std::move(policy)) {}

  std::vector<EditSequence> draw(const std::vector<EditStart> &starts,
                                 const NichedArchive &archive,
                                 Rng &rng) override {
    return policy->draw(starts, archive, rng);
  }
  void learn(const EditOutcome &outcome,
             const NichedArchive &archive) override {
    policy->learn(outcome, archive);
  }

private:
  std::shared_ptr<LearnedEdits> policy;
};

/// A search, its policy, and where that is saved.
class EditSearcher final : public Searcher {
public:
  EditSearcher(std::unique_ptr<Searcher> search,
               std::shared_ptr<LearnedEdits> policy,
               std::shared_ptr<const StrategySpace> space,
               std::optional<OutputFile> saved)
      : search(std::move(search)), policy(std::move(policy)),
        space(std::move(space)), saved(std::move(saved)) {}

  std::vector<Strategy> ask(size_t n) override { return search->ask(n); }
  void tell(const std::vector<Strategy> &strategies,
            const std::vector<Evaluation> &evaluations) override {
    search->tell(strategies, evaluations);
  }
  bool done() const override { return policy->failure() || search->done(); }
  uint64_t rejected() const override { return search->rejected(); }

  std::optional<Error> finish() override {
    if (policy->failure())
      return policy->failure();
    if (saved)
      return savePolicy(*saved, policy->network(), *space);
    return std::nullopt;
  }

private:
  std::unique_ptr<Searcher> search;
  std::shared_ptr<LearnedEdits> policy;
  const std::shared_ptr<const StrategySpace> space;
  std::optional<OutputFile> saved; ///< where the policy goes
};

} // namespace

/// Searches the free model as the search proper will search its simulator, but
/// for what that model itself would give away.
static std::optional<Error>
pretrainOnModel(const SearcherContext &context,
                const EditSearcherConstants &constants,
                const std::shared_ptr<LearnedEdits> &policy) {
  if (!context.freeModel)
    return Error{"'agent-pretrain' is 'roofline', which needs a model of the "
                 "program, and there is none; expected "
                 "'none' or 'file:<path>'"};
  SearcherContext practice{context.space,
                           unowned(context.freeModel->decomposition()),
                           context.objective};
  practice.budget = constants.pretrainCalls;
  practice.threads = context.threads;
  practice.stopRequested = context.stopRequested;
  practice.options.critic = context.options.critic;
  practice.options.criticPrior = "none";
  practice.options.warmStart = "none";
  practice.isHopeless = context.isHopeless;
  DriverOptions options;
  options.budget = practice.budget;
  options.stopRequested = context.stopRequested;
  Rng seeds(context.seed);
  for (int64_t run = 0; run < constants.pretrainRuns; ++run) {
    practice.seed = seeds.below(uint64_t(1) << 63);
    auto search = makeScreenedSearch(practice, constants.screened,
                                     std::make_unique<BorrowedEdits>(policy));
    if (!search)
      return search.error();
    runSearch(**search, *context.freeModel, context.objective, options);
    policy->forgetTrajectories();
  }
  return policy->failure();
}

static std::optional<Error>
pretrain(const SearcherContext &context, const EditSearcherConstants &constants,
         const std::shared_ptr<LearnedEdits> &policy) {
  const std::string &choice = context.options.pretrain;
  std::string fromFile = "file:";
  if (choice.empty() || choice == "none")
    return std::nullopt;
  if (choice == "roofline")
    return pretrainOnModel(context, constants, policy);
  if (choice.compare(0, fromFile.size(), fromFile) == 0) {
    auto error = loadPolicy(choice.substr(fromFile.size()), policy->network(),
                            *context.space);
    policy->reload();
    return error;
  }
  return Error{"unknown agent-pretrain '" + abbreviate(choice) + "', " +
               listKnown(choice, {"roofline", "file:<path>", "none"})};
}

SearcherOr makeEditSearcher(const SearcherContext &context,
                            const EditSearcherConstants &constants,
                            std::unique_ptr<EditNetwork> network) {
  auto policy = std::make_shared<LearnedEdits>(
      *context.space, context.objective, constants.edits,
      constants.screened.elites, context.seed, std::move(network));
  // Opened before the first call, so that a wrong path costs none.
  ErrorOr<std::optional<OutputFile>> saved = openIfNamed(context.options.save);
  if (!saved)
    return saved.error();
  if (auto error = pretrain(context, constants, policy))
    return *error;
  auto search = makeScreenedSearch(context, constants.screened,
                                   std::make_unique<BorrowedEdits>(policy));
  if (!search)
    return search.error();
  return std::unique_ptr<Searcher>(std::make_unique<EditSearcher>(
      std::move(*search), std::move(policy), context.space, std::move(*saved)));
}

} // namespace shardopt::agent
