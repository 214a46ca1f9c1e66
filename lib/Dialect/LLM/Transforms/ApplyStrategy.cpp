//===- ApplyStrategy.cpp - Write a strategy on a module -------------------===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "PassOptions.h"
#include "shardopt/Dialect/LLM/Analysis/StrategyAttributes.h"
#include "shardopt/Dialect/LLM/Analysis/StructuralCheck.h"
#include "shardopt/Dialect/LLM/Transforms/Passes.h"
#include "shardopt/Model/StrategyJson.h"
#include "shardopt/Planning/StrategyList.h"
#include "shardopt/Support/Suggest.h"

#include "mlir/IR/Remarks.h"
#include "llvm/ADT/StringExtras.h"

namespace shardopt::llm {
#define GEN_PASS_DEF_APPLYSTRATEGYPASS
#include "shardopt/Dialect/LLM/Transforms/Passes.h.inc"
} // namespace shardopt::llm

using namespace mlir;
using namespace shardopt;
using namespace shardopt::llm;

namespace {

class ApplyStrategyPass
    : public ListsOptions<llm::impl::ApplyStrategyPassBase<ApplyStrategyPass>> {
public:
  using ListsOptions::ListsOptions;

  void runOnOperation() override {
    if (failed(run()))
      signalPassFailure();
  }

private:
  LogicalResult run();
  /// Replaces what the options give in `annotation`.
  std::optional<Error> readOptions(Annotation &annotation,
                                   const cost::Model &model);
};

} // namespace

/// "0,heads,1,none": a dim for each of `ops`.
static ErrorOr<std::vector<Dim>>
parseDims(StringRef text, const std::vector<const cost::Node *> &ops) {
  SmallVector<StringRef> items;
  text.split(items, ',');
  if (items.size() != ops.size())
    return Error{"'dims' has " + std::to_string(items.size()) +
                 " dims, expected one for each of " +
                 std::to_string(ops.size()) + " ops"};
  std::vector<Dim> dims;
  for (auto [item, node] : llvm::zip_equal(items, ops)) {
    std::optional<Dim> dim =
        cost::parseDim(item.trim().str(), node->op->choices());
    if (!dim)
      return Error{"'dims' has '" + abbreviate(item.trim().str()) + "' for '" +
                   node->name + "', expected " +
                   cost::listChoices(node->op->choices())};
    dims.push_back(*dim);
  }
  return dims;
}

/// Whether what `annotation` has breaks no structural limit. Of one that is
/// incomplete only the degrees are checked, those missing as 1, which fits
/// wherever a larger one does, and no more than that of how they divide each
/// other.
static LogicalResult checkAnnotation(ModuleOp module,
                                     const ModuleModel &program,
                                     const Annotation &annotation) {
  if (std::optional<Strategy> strategy = annotation.strategy())
    return checkStructure(module, program, *strategy);
  PartialDegrees required = annotation.degrees;
  for (Degree degree : allDegrees)
    if (!infoOf(degree).isRequired())
      required[degree].reset();
  return checkDegrees(module, program, required.filled());
}

std::optional<Error> ApplyStrategyPass::readOptions(Annotation &annotation,
                                                    const cost::Model &model) {
  for (Degree degree : allDegrees) {
    const std::string &text = optionOf(degree);
    if (text.empty())
      continue;
    const char *name = spell(degree);
    std::optional<int64_t> value = parseDegreeValue(degree, text);
    if (!value)
      return Error{std::string("'") + name + "' is " + abbreviate(text) +
                   ", expected " + wantedOf(degree)};
    if (!strategies.empty())
      return Error{std::string("'") + name +
                   "' and 'strategies' are given, expected one of them"};
    annotation.degrees[degree] = value;
  }
  if (!stages.empty() && !strategies.empty())
    return Error{"'stages' and 'strategies' are given, expected one of them"};
  if (auto error = readStages(annotation.degrees))
    return error;
  if (!dims.empty()) {
    if (!strategies.empty())
      return Error{"'dims' and 'strategies' are given, expected one of them"};
    ErrorOr<std::vector<Dim>> parsed = parseDims(dims, model.nodesByVariable());
    if (!parsed)
      return parsed.error();
    annotation.dims.assign(parsed->begin(), parsed->end());
  }
  if (strategies.empty() && line != 0)
    return Error{"'line' is given without 'strategies', the file to take it "
                 "from"};
  if (strategies.empty())
    return std::nullopt;
  if (line < 0)
    return Error{"'line' is " + std::to_string(line) + ", expected at least 0"};
  ErrorOr<Strategy> strategy = readListLine(strategies, line, model);
  if (!strategy)
    return strategy.error();
  annotation = Annotation(*strategy);
  return std::nullopt;
}

LogicalResult ApplyStrategyPass::run() {
  ModuleOp module = getOperation();
  FailureOr<ModuleModel> program = buildModuleModel(module);
  if (failed(program))
    return failure();
  Annotation annotation = readAnnotation(module, *program);
  if (auto error = readOptions(annotation, program->model))
    return emitError(module.getLoc(), error->message);
  if (failed(checkAnnotation(module, *program, annotation)))
    return failure();
  writeAnnotation(module, *program, annotation);
  remark::passed(module.getLoc(),
                 remark::RemarkOpts::name("applied").category(getArgument()))
      << remark::metric("ops", program->ops.size());
  return success();
}
