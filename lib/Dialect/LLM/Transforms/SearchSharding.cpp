//===- SearchSharding.cpp - Search for the best strategy ------------------===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "PassOptions.h"
#include "shardopt/Dialect/LLM/Analysis/StrategyAttributes.h"
#include "shardopt/Dialect/LLM/Transforms/Passes.h"
#include "shardopt/Dialect/LLM/Transforms/SeparateLayers.h"
#include "shardopt/Model/DegreeList.h"
#include "shardopt/Planning/Planner.h"
#include "shardopt/Planning/Progress.h"
#include "shardopt/Planning/Trace.h"
#include "shardopt/Support/Choice.h"
#include "shardopt/Support/WriteFile.h"

#include "mlir/IR/Remarks.h"
#include "mlir/Pass/PassManager.h"

namespace shardopt::llm {
#define GEN_PASS_DEF_SEARCHSHARDINGPASS
#include "shardopt/Dialect/LLM/Transforms/Passes.h.inc"
} // namespace shardopt::llm

using namespace mlir;
using namespace shardopt;
using namespace shardopt::llm;

namespace {

/// The files that a search writes; they appear when it has ended.
struct Outputs {
  std::optional<OutputFile> report, trace;
};

class SearchShardingPass
    : public ScenarioPass<
          llm::impl::SearchShardingPassBase<SearchShardingPass>> {
public:
  using ScenarioPass::ScenarioPass;
  explicit SearchShardingPass(PlanningHost host)
      : ScenarioPass(std::move(host)) {}

  void runOnOperation() override {
    if (failed(run()))
      signalPassFailure();
  }

  InsertCollectivesPassOptions collectives() const {
    return {machine, commModel, imbalance};
  }

private:
  LogicalResult run();
  /// Gives layers ops of their own, where `dims` asks for it.
  LogicalResult separate();
  /// What the options ask for, apart from pins.
  std::optional<Error> readRequest(PlanRequest &request);
  search::SearcherOptions searcherOptions() const;
  std::optional<Error> readPins(const ModuleModel &program,
                                PlanRequest &request);
  std::optional<Error> checkFiles();
  LogicalResult open(Outputs &outputs);
  LogicalResult keep(Outputs &outputs);
  LogicalResult finish(const PlanSummary &summary, const ModuleModel &program,
                       Outputs &outputs);
  std::optional<Progress> makeProgress(const Scenario &scenario,
                                       search::Goal goal) const;
  void emitRemarks(const PlanSummary &summary);
};

} // namespace

//===----------------------------------------------------------------------===//
// The request
//===----------------------------------------------------------------------===//

std::optional<Error> SearchShardingPass::readRequest(PlanRequest &request) {
  using List = std::optional<std::vector<int64_t>>;
  for (Degree degree : allDegrees) {
    ErrorOr<List> list = parseDegreeList(degree, optionOf(degree));
    if (!list)
      return list.error();
    request.space.lists[degree] = std::move(*list);
  }
  if (auto error = readStages(request.space.pinned))
    return error;
  if (!engine.empty()) {
    ErrorOr<Engine> chosen = parseEngine(engine);
    if (!chosen)
      return chosen.error();
    request.engine = *chosen;
    request.space.kind = search::SpaceKind::Serving;
  }
  if (!space.empty()) {
    ErrorOr<search::SpaceKind> kind = parseChoice<search::SpaceKind>(
        "space", space,
        {{"uniform", search::SpaceKind::Uniform},
         {"serving", search::SpaceKind::Serving}});
    if (!kind)
      return kind.error();
    request.space.kind = *kind;
  }
  if (devices < 0)
    return Error{"'devices' is " + std::to_string(devices) +
                 ", expected a positive number, or 0 for any"};
  if (devices)
    request.space.devices = devices;
  if (maxDevices)
    request.space.maxDevices = maxDevices;
  if (objective == "latency")
    request.goal = search::Goal::Latency;
  else if (objective != "throughput")
    return unknownChoice("objective", objective, {"throughput", "latency"});
  if (pins != "honour" && pins != "ignore")
    return unknownChoice("pins", pins, {"honour", "ignore"});
  ErrorOr<search::Accounting> counted =
      parseChoice<search::Accounting>("accounting", accounting,
                                      {{"asked", search::Accounting::Asked},
                                       {"new", search::Accounting::New},
                                       {"draws", search::Accounting::Draws}});
  if (!counted)
    return counted.error();
  request.accounting = *counted;
  if (progress != "auto" && progress != "lines" && progress != "none")
    return unknownChoice("progress", progress, {"auto", "lines", "none"});
  request.searcher = searcher;
  request.options = searcherOptions();
  request.seed = seed;
  request.budget = budget;
  request.threads = threadCount(threads);
  request.stop = host.stop;
  request.checkpoint = checkpoint;
  request.warn = [this](const Error &error) {
    emitWarning(getOperation().getLoc(), error.message);
  };
  return std::nullopt;
}

search::SearcherOptions SearchShardingPass::searcherOptions() const {
  search::SearcherOptions options;
  options.critic = agentCritic;
  options.criticPrior = agentCriticPrior;
  options.mask = agentMask;
  options.warmStart = warmStart;
  options.pretrain = agentPretrain;
  options.save = agentSave;
  options.constants = agentOptions;
  return options;
}

std::optional<Error> SearchShardingPass::readPins(const ModuleModel &program,
                                                  PlanRequest &request) {
  if (pins == "ignore")
    return std::nullopt;
  Annotation annotation = readAnnotation(getOperation(), program);
  StageCut asked = request.space.pinned.stages;
  const StageCut &pinned = annotation.degrees.stages;
  if (!asked.isEmpty() && !pinned.isEmpty() && asked != pinned)
    return Error{"'stages' is pinned to " + spell(pinned) +
                 ", but its option is " + spell(asked)};
  request.space.pinned = annotation.degrees;
  if (!asked.isEmpty())
    request.space.pinned.stages = asked;
  request.space.pinnedDims = annotation.dims;
  if (annotation.strategy())
    emitRemark(getOperation().getLoc(),
               "the module carries a complete strategy, which is evaluated, "
               "not searched; pins=ignore searches afresh");
  return std::nullopt;
}

//===----------------------------------------------------------------------===//
// Outputs
//===----------------------------------------------------------------------===//

/// Whether all files are different ones: those of the options, the output of
/// the tool, and the program itself.
std::optional<Error> SearchShardingPass::checkFiles() {
  FileRoles files = inputFiles(getOperation());
  for (const auto &[name, value] : searcherOptions().named())
    if (StringRef path = value; path.consume_front("file:"))
      files.reads("'" + name + "'", path.str());
  files.writes("'report'", report);
  files.writes("'trace'", trace);
  files.writes("'checkpoint'", checkpoint);
  files.writes("'agent-save'", agentSave);
  return files.check();
}

LogicalResult SearchShardingPass::open(Outputs &outputs) {
  for (auto [path, file] : {std::pair(&report, &outputs.report),
                            std::pair(&trace, &outputs.trace)}) {
    ErrorOr<std::optional<OutputFile>> opened = openIfNamed(*path);
    if (!opened)
      return emitError(getOperation().getLoc(), opened.error().message);
    *file = std::move(*opened);
  }
  return success();
}

LogicalResult SearchShardingPass::keep(Outputs &outputs) {
  // A plan is worth more than the trace of how it was found.
  if (outputs.trace)
    if (std::optional<Error> error = outputs.trace->keep())
      emitWarning(getOperation().getLoc(), error->message);
  if (outputs.report)
    if (std::optional<Error> error = outputs.report->keep())
      return emitError(getOperation().getLoc(), error->message);
  return success();
}

/// What shows the progress; none if nothing is to be shown.
std::optional<Progress>
SearchShardingPass::makeProgress(const Scenario &scenario,
                                 search::Goal goal) const {
  bool isLine =
      progress == "auto" && !host.print && llvm::errs().is_displayed();
  if (progress != "lines" && !isLine)
    return std::nullopt;
  return Progress(isLine ? Progress::Style::Rewritten : Progress::Style::Lines,
                  scenario.objective(goal),
                  [this](std::string_view text) { print(text); });
}

void SearchShardingPass::emitRemarks(const PlanSummary &summary) {
  ModuleOp module = getOperation();
  auto remark = remark::passed(
      module.getLoc(),
      remark::RemarkOpts::name("annotated").category(getArgument()));
  visitWritten(
      summary.plan->strategy.degrees, [&](Degree degree, int64_t value) {
        if (infoOf(degree).names)
          remark << remark::metric(spell(degree), spell(degree, value));
        else
          remark << remark::metric(spell(degree), value);
      });
  if (!summary.plan->strategy.degrees.stages.isEmpty())
    remark << remark::metric(StageCut::key,
                             spell(summary.plan->strategy.degrees.stages));
  remark << remark::metric("throughput", summary.plan->evaluation.throughput)
         << remark::metric("proved", summary.search.proved)
         << remark::metric("evaluations", summary.search.evaluations);
}

LogicalResult SearchShardingPass::finish(const PlanSummary &summary,
                                         const ModuleModel &program,
                                         Outputs &outputs) {
  ModuleOp module = getOperation();
  if (host.planned)
    host.planned(summary);
  if (!summary.emptySpace)
    print(planTable(summary));
  if (outputs.report)
    outputs.report->write(reportJson(summary));
  if (failed(keep(outputs)))
    return failure();
  if (!report.empty() && !summary.emptySpace)
    print("\n  report    " + report + "\n");
  if (summary.breakdown && summary.plan)
    emitWarning(module.getLoc(),
                "the search ended early, with the best so far: ")
        << summary.breakdown->message;
  if (summary.plan) {
    writeAnnotation(module, program, Annotation(summary.plan->strategy));
    // A later pass must not take another machine for this one.
    if (!machine.empty())
      module->setAttr(machineAttrName,
                      StringAttr::get(&getContext(), lastingName(machine)));
    emitRemarks(summary);
    return success();
  }
  return emitError(module.getLoc(), failureOf(summary)->message);
}

LogicalResult SearchShardingPass::separate() {
  using By = std::optional<SeparateBy>;
  ErrorOr<By> by = parseChoice<By>("dims", dims,
                                   {{"shared", std::nullopt},
                                    {"per-window", SeparateBy::Window},
                                    {"per-layer", SeparateBy::Layer}});
  if (!by)
    return emitError(getOperation().getLoc(), by.error().message);
  return *by ? separateLayers(getOperation(), **by) : success();
}

LogicalResult SearchShardingPass::run() {
  ModuleOp module = getOperation();
  PlanRequest request;
  if (std::optional<Error> error = readRequest(request))
    return emitError(module.getLoc(), error->message);
  if (std::optional<Error> error = checkFiles())
    return emitError(module.getLoc(), error->message);
  ScenarioOptions options = scenarioOptions();
  if (devices)
    options.maxDevices =
        maxDevices ? std::min<int64_t>(maxDevices, devices) : int64_t(devices);
  Outputs outputs;
  if (failed(separate()))
    return failure();
  FailureOr<ModuleScenario> planned = createScenario(module, options);
  if (failed(planned) || failed(open(outputs)))
    return failure();
  const Scenario &scenario = *planned->scenario;
  if (std::optional<Error> error = readPins(planned->program, request))
    return emitError(module.getLoc(), error->message);
  if (!checkpoint.empty())
    request.program = fingerprintProgram(module);
  if (outputs.trace)
    request.trace = [&](const search::TraceEntry &entry) {
      outputs.trace->write(traceLine(entry, scenario, request.goal));
    };

  std::optional<Progress> shown = makeProgress(scenario, request.goal);
  if (shown)
    request.progress = [&](const search::TraceEntry &entry,
                           std::optional<double> bound) {
      shown->tell(entry, bound);
    };

  ErrorOr<PlanSummary> summary = makePlan(planned->scenario, request);
  if (shown)
    shown->finish();
  if (!summary)
    return emitError(module.getLoc(), summary.error().message);
  if (summary->resumedEvaluations)
    emitRemark(module.getLoc(), "resumed ")
        << summary->resumedEvaluations << " evaluations of '" << checkpoint
        << "'";
  return finish(*summary, planned->program, outputs);
}

std::unique_ptr<Pass> llm::createSearchShardingPass(PlanningHost host) {
  return std::make_unique<SearchShardingPass>(std::move(host));
}

FailureOr<InsertCollectivesPassOptions> llm::addSearchShardingPass(
    OpPassManager &manager, StringRef options,
    function_ref<LogicalResult(const Twine &)> errorHandler,
    const PlanningHost &host) {
  auto search = std::make_unique<SearchShardingPass>(host);
  if (failed(search->initializeOptions(options, errorHandler)))
    return failure();
  InsertCollectivesPassOptions collectives = search->collectives();
  manager.addPass(std::move(search));
  return collectives;
}
