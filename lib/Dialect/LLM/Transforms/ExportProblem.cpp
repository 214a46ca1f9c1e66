//===- ExportProblem.cpp - A module as a selection problem ----------------===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "PassOptions.h"
#include "shardopt/Dialect/LLM/Analysis/StrategyAttributes.h"
#include "shardopt/Dialect/LLM/Analysis/StructuralCheck.h"
#include "shardopt/Dialect/LLM/Transforms/Passes.h"
#include "shardopt/Search/Dims/ScaledProblem.h"
#include "shardopt/Solvers/Selection/ProblemReader.h"
#include "shardopt/Support/Suggest.h"
#include "shardopt/Support/WriteFile.h"

namespace shardopt::llm {
#define GEN_PASS_DEF_EXPORTPROBLEMPASS
#include "shardopt/Dialect/LLM/Transforms/Passes.h.inc"
} // namespace shardopt::llm

using namespace mlir;
using namespace shardopt;
using namespace shardopt::llm;

namespace {

class ExportProblemPass
    : public ScenarioPass<llm::impl::ExportProblemPassBase<ExportProblemPass>> {
public:
  using ScenarioPass::ScenarioPass;

  void runOnOperation() override {
    if (failed(run()))
      signalPassFailure();
    else
      markAllAnalysesPreserved();
  }

private:
  LogicalResult run();
  std::optional<Error> readDegrees(PartialDegrees &degrees) const;
  std::optional<Error> write(const selection::StrategyGraph &graph) const;
};

} // namespace

/// Those of the options come before those of the module.
std::optional<Error>
ExportProblemPass::readDegrees(PartialDegrees &degrees) const {
  for (Degree degree : allDegrees) {
    const std::string &text = optionOf(degree);
    if (text.empty())
      continue;
    degrees[degree] = parseDegreeValue(degree, text);
    if (!degrees[degree])
      return Error{std::string("'") + spell(degree) + "' is " +
                   abbreviate(text) + ", expected " + wantedOf(degree)};
  }
  if (auto error = readStages(degrees))
    return error;
  if (std::optional<Degree> missing = degrees.firstMissing())
    return Error{std::string("'") + spell(*missing) +
                 "' is missing, expected it as an option or in '" +
                 strategyAttrName.str() + "': a problem is one of dims"};
  return std::nullopt;
}

std::optional<Error>
ExportProblemPass::write(const selection::StrategyGraph &graph) const {
  selection::ScaledProblem scaled =
      selection::makeProblem(graph, selection::aimAtSum(graph));
  if (auto error = writeFile(problem, solve::toJson(scaled.problem)))
    return error;
  if (meaning.empty())
    return std::nullopt;
  return writeFile(meaning, selection::meaningJson(graph, scaled));
}

LogicalResult ExportProblemPass::run() {
  ModuleOp module = getOperation();
  auto fail = [&](const std::string &message) {
    return emitError(module.getLoc(), message);
  };
  if (problem.empty())
    return fail("'problem' is missing, expected the file to write to");
  FileRoles files = inputFiles(module);
  files.writes("'problem'", problem);
  files.writes("'meaning'", meaning);
  if (std::optional<Error> error = files.check())
    return fail(error->message);
  FailureOr<ModuleScenario> planned = createScenario(module, scenarioOptions());
  if (failed(planned))
    return failure();
  const Scenario &scenario = *planned->scenario;
  if (std::optional<Error> error = checkCanBeOpened(scenario))
    return fail(error->message);
  Annotation annotation = readAnnotation(module, planned->program);
  if (std::optional<Error> error = readDegrees(annotation.degrees))
    return fail(error->message);
  Degrees degrees = annotation.degrees.filled();
  if (failed(checkDegrees(module, planned->program, degrees,
                          scenario.maxDevices())))
    return failure();
  std::vector<cost::DimSet> domains;
  for (const cost::Node *node : scenario.model().nodesByVariable()) {
    cost::DimSet all = 0;
    for (const cost::DimChoice &choice : node->op->choices())
      all |= cost::only(choice.dim);
    std::optional<Dim> pin = annotation.dims[node->variable];
    domains.push_back(pin ? cost::only(*pin) : all);
  }
  if (std::optional<Error> error =
          write(selection::StrategyGraph(scenario.costs(), degrees, domains)))
    return fail(error->message);
  return success();
}
