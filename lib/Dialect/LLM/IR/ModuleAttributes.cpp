//===- ModuleAttributes.cpp - Strategy and workload of a module -----------===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "shardopt/Dialect/LLM/IR/ModuleAttributes.h"
#include "Fields.h"

#include "shardopt/Dialect/LLM/IR/LLMDialect.h"
#include "shardopt/Model/ProgramGrid.h"
#include "shardopt/Support/Limits.h"

#include "mlir/IR/Builders.h"

using namespace mlir;
using namespace shardopt;
using namespace shardopt::llm;

//===----------------------------------------------------------------------===//
// Strategies
//===----------------------------------------------------------------------===//

bool llm::isPartitioned(ModuleOp module) {
  return module->hasAttr(loweredStrategyAttrName);
}

PartialDegrees llm::readStrategy(ModuleOp module) {
  auto strategy = module->getAttrOfType<StrategyAttr>(strategyAttrName);
  return strategy ? strategy.getDegrees() : PartialDegrees();
}

static int64_t readDegree(Fields &fields, Degree degree) {
  const DegreeInfo &info = infoOf(degree);
  if (!info.names)
    return fields.integer(spell(degree), 1, info.most);
  SmallVector<StringRef> known(info.names, info.names + info.most);
  return 1 + int64_t(fields.choice(spell(degree), known));
}

/// The axes of the grid that each degree is over; null where they are those of
/// a grid pp x ep x tp.
static DictionaryAttr describeAxes(MLIRContext *context,
                                   const Degrees &degrees) {
  if (degrees.dp == degrees.ep && degrees.cp == 1 && degrees.tp2 == 1)
    return {};
  ProgramGrid grid(degrees);
  Builder builder(context);
  NamedAttrList axes;
  for (Axis axis : {Axis::Tp, Axis::Dp, Axis::Ep, Axis::Etp, Axis::Cp})
    axes.set(spell(axis), builder.getDenseI16ArrayAttr(grid.axes(axis)));
  if (degrees.tp2 > 1)
    for (Axis axis : {Axis::Tp1, Axis::Tp2})
      axes.set(spell(axis), builder.getDenseI16ArrayAttr(grid.axes(axis)));
  return axes.getDictionary(context);
}

FailureOr<std::optional<Degrees>> llm::readLoweredStrategy(ModuleOp module) {
  Attribute attribute = module->getAttr(loweredStrategyAttrName);
  if (!attribute)
    return std::optional<Degrees>();
  // Of the reader only a reference is kept.
  auto fail = [&] { return emitError(module.getLoc()); };
  Fields fields(attribute, "'" + loweredStrategyAttrName.str() + "'", fail);
  PartialDegrees written;
  for (Degree degree : allDegrees)
    if (infoOf(degree).isRequired() || fields.has(spell(degree)))
      written[degree] = readDegree(fields, degree);
  if (fields.has(StageCut::key))
    written.stages.layers = fields.integers(StageCut::key);
  if (fields.hasFailed())
    return failure();
  if (std::optional<std::string> error = written.stagesError()) {
    fields.fail() << "'" << loweredStrategyAttrName << "': " << *error;
    return failure();
  }
  Degrees degrees = written.filled();
  if (std::optional<std::string> error = gridError(degrees, true)) {
    fields.fail() << "'" << loweredStrategyAttrName << "': " << *error;
    return failure();
  }
  DictionaryAttr axes = describeAxes(module.getContext(), degrees);
  if (axes && fields.has("axes")) {
    auto found = fields.get<DictionaryAttr>("axes", "a dictionary");
    if (found && found != axes)
      fields.fail() << "'axes' of '" << loweredStrategyAttrName << "' must be "
                    << axes << ", those of its degrees, found " << found;
  }
  return fields.finish(std::optional<Degrees>(degrees));
}

void llm::lowerStrategy(ModuleOp module, const Degrees &degrees) {
  Builder builder(module.getContext());
  NamedAttrList fields;
  visitWritten(degrees, [&](Degree degree, int64_t value) {
    Attribute written = builder.getI64IntegerAttr(value);
    if (infoOf(degree).names)
      written = builder.getStringAttr(spell(degree, value));
    fields.set(spell(degree), written);
  });
  if (!degrees.stages.isEmpty())
    fields.set(StageCut::key,
               builder.getDenseI64ArrayAttr(degrees.stages.layers));
  if (DictionaryAttr axes = describeAxes(module.getContext(), degrees))
    fields.set("axes", axes);
  module->setAttr(loweredStrategyAttrName,
                  fields.getDictionary(module.getContext()));
  module->removeAttr(strategyAttrName);
}

//===----------------------------------------------------------------------===//
// Workloads
//===----------------------------------------------------------------------===//

FailureOr<std::optional<cost::Workload>> llm::readWorkload(ModuleOp module) {
  if (auto attribute = module->getAttrOfType<WorkloadAttr>(workloadAttrName))
    return std::optional(
        cost::Workload{attribute.getPhase(), attribute.getContextLength()});
  Attribute attribute = module->getAttr(loweredWorkloadAttrName);
  if (!attribute)
    return std::optional<cost::Workload>();
  // Of the reader only a reference is kept.
  auto fail = [&] { return emitError(module.getLoc()); };
  Fields fields(attribute, "'" + loweredWorkloadAttrName.str() + "'", fail);
  cost::Workload workload;
  workload.phase =
      cost::Phase(fields.choice("phase", {cost::spell(cost::Phase::Decode),
                                          cost::spell(cost::Phase::Prefill)}));
  workload.context = fields.integer("context", 1, maxContext);
  return fields.finish(std::optional<cost::Workload>(workload));
}

FailureOr<cost::Workload> llm::readWorkloadOrToken(ModuleOp module) {
  FailureOr<std::optional<cost::Workload>> workload = readWorkload(module);
  if (failed(workload))
    return failure();
  return workload->value_or(cost::Workload{cost::Phase::Decode, 1});
}

void llm::lowerWorkload(ModuleOp module) {
  auto workload = module->getAttrOfType<WorkloadAttr>(workloadAttrName);
  if (!workload)
    return;
  Builder builder(module.getContext());
  StringAttr phase = builder.getStringAttr(cost::spell(workload.getPhase()));
  IntegerAttr context = builder.getI64IntegerAttr(workload.getContextLength());
  module->setAttr(
      loweredWorkloadAttrName,
      builder.getDictionaryAttr({builder.getNamedAttr("phase", phase),
                                 builder.getNamedAttr("context", context)}));
  module->removeAttr(workloadAttrName);
}
