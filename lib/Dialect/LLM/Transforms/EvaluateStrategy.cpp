//===- EvaluateStrategy.cpp - Metrics of given strategies -----------------===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "PassOptions.h"
#include "shardopt/Dialect/LLM/Analysis/StrategyAttributes.h"
#include "shardopt/Dialect/LLM/Analysis/StructuralCheck.h"
#include "shardopt/Dialect/LLM/Transforms/Passes.h"
#include "shardopt/Planning/Plan.h"
#include "shardopt/Planning/StrategyList.h"
#include "shardopt/Support/WriteFile.h"

#include "mlir/IR/Remarks.h"

namespace shardopt::llm {
#define GEN_PASS_DEF_EVALUATESTRATEGYPASS
#include "shardopt/Dialect/LLM/Transforms/Passes.h.inc"
} // namespace shardopt::llm

using namespace mlir;
using namespace shardopt;
using namespace shardopt::llm;

namespace {

class EvaluateStrategyPass
    : public ScenarioPass<
          llm::impl::EvaluateStrategyPassBase<EvaluateStrategyPass>> {
public:
  using ScenarioPass::ScenarioPass;
  explicit EvaluateStrategyPass(PlanningHost host)
      : ScenarioPass(std::move(host)) {}

  void runOnOperation() override {
    FileRoles files = inputFiles(getOperation());
    files.reads("'strategies'", strategies);
    files.writes("'report'", report);
    if (std::optional<Error> error = files.check()) {
      emitError(getOperation().getLoc(), error->message);
      return signalPassFailure();
    }
    FailureOr<ModuleScenario> planned =
        createScenario(getOperation(), scenarioOptions());
    if (failed(planned) ||
        failed(strategies.empty() ? evaluateAnnotation(*planned)
                                  : evaluateFile(*planned->scenario)))
      return signalPassFailure();
    markAllAnalysesPreserved();
  }

private:
  unsigned listThreads(const Scenario &scenario) const;
  LogicalResult evaluateFile(const Scenario &scenario);
  LogicalResult evaluateAnnotation(const ModuleScenario &planned);
  LogicalResult writeReport(const PlanSummary &summary);
};

} // namespace

/// Enough to keep every worker of the simulator busy.
unsigned EvaluateStrategyPass::listThreads(const Scenario &scenario) const {
  unsigned wanted = threadCount(threads);
  return scenario.external() ? std::max(wanted, scenario.external()->workers())
                             : wanted;
}

LogicalResult EvaluateStrategyPass::evaluateFile(const Scenario &scenario) {
  ModuleOp module = getOperation();
  if (report.empty())
    return emitError(module.getLoc(),
                     "'strategies' needs 'report', the file to write "
                     "the metrics to");
  ErrorOr<OutputFile> out = OutputFile::open(report);
  if (!out)
    return emitError(module.getLoc(), out.error().message);
  ErrorOr<ListSummary> summary = evaluateList(scenario, strategies, *out,
                                              listThreads(scenario), host.stop);
  if (!summary)
    return emitError(module.getLoc(), summary.error().message);
  if (std::optional<Error> error = out->keep())
    return emitError(module.getLoc(), error->message);
  if (scenario.external())
    if (auto failures = scenario.external()->failures(); failures.total())
      emitWarning(module.getLoc(), "failures of the simulator: ")
          << blackbox::describe(failures);
  remark::passed(module.getLoc(),
                 remark::RemarkOpts::name("evaluated").category(getArgument()))
      << remark::metric("lines", summary->lines)
      << remark::metric("valid", summary->valid)
      << remark::metric("unreadable", summary->unreadable);
  return success();
}

LogicalResult
EvaluateStrategyPass::evaluateAnnotation(const ModuleScenario &planned) {
  ModuleOp module = getOperation();
  const ModuleModel &program = planned.program;
  const Scenario &scenario = *planned.scenario;
  Annotation annotation = readAnnotation(module, program);
  std::optional<Strategy> strategy = annotation.strategy();
  if (!strategy)
    return emitError(module.getLoc(), "the strategy is incomplete: ")
           << annotation.firstMissing(program) << " is missing";

  PlanSummary summary(planned.scenario);
  summary.planName = "annotated";
  summary.tellsEngines = !strategy->degrees.isUniform();
  Evaluation evaluation = scenario.simulator().evaluate(*strategy);
  summary.plan = search::Plan{*strategy, evaluation};
  summary.search.evaluations = summary.search.distinctEvaluations = 1;
  if (!evaluation.valid)
    summary.binding = explainInvalid(scenario, *summary.plan);
  if (host.planned)
    host.planned(summary);
  print(planTable(summary));
  if (failed(writeReport(summary)))
    return failure();

  remark::passed(module.getLoc(),
                 remark::RemarkOpts::name("evaluated").category(getArgument()))
      << remark::metric("valid", evaluation.valid)
      << remark::metric("throughput", evaluation.throughput);
  if (evaluation.valid)
    return success();
  if (failed(checkStructure(module, program, *strategy, scenario.maxDevices())))
    return failure();
  return emitError(module.getLoc(), "the strategy is invalid: ")
         << describe(summary.binding, scenario);
}

LogicalResult EvaluateStrategyPass::writeReport(const PlanSummary &summary) {
  if (report.empty())
    return success();
  if (std::optional<Error> error = writeFile(report, reportJson(summary)))
    return emitError(getOperation().getLoc(), error->message);
  return success();
}

std::unique_ptr<Pass> llm::createEvaluateStrategyPass(PlanningHost host) {
  return std::make_unique<EvaluateStrategyPass>(std::move(host));
}
