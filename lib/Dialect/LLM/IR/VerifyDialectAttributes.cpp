//===- VerifyDialectAttributes.cpp - Attributes called llm.* --------------===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "shardopt/Dialect/LLM/IR/ArgumentAttributes.h"
#include "shardopt/Dialect/LLM/IR/LLMDialect.h"
#include "shardopt/Dialect/LLM/IR/PlannedOnly.h"
#include "shardopt/Support/Limits.h"
#include "shardopt/Support/Suggest.h"

#include "mlir/IR/BuiltinOps.h"
#include "shardopt/Model/Kernel.h"

#include "mlir/IR/BuiltinTypes.h"
#include "mlir/Interfaces/FunctionInterfaces.h"

using namespace mlir;
using namespace shardopt;
using namespace shardopt::llm;

/// The end of a message about an attribute of an unknown name.
static std::string knownAttributes(StringRef name) {
  return listKnown(name.str(),
                   {modelAttrName.str(), machineAttrName.str(),
                    workloadAttrName.str(), strategyAttrName.str(),
                    serviceAttrName.str(), roleAttrName.str(),
                    paramAttrName.str(), sourceAttrName.str(),
                    layersAttrName.str(), plannedOnlyAttrName.str(),
                    architectureAttrName.str(), quantizationAttrName.str()});
}

static LogicalResult failUnknown(Operation *op, StringRef name) {
  return op->emitError() << "unknown attribute '" << name << "', "
                         << knownAttributes(name);
}

/// Whether `name` is an attribute of an argument that was an `llm.param`.
static bool isOfParams(StringRef name) {
  return name == paramAttrName || name == sourceAttrName ||
         name == layersAttrName;
}

/// Whether `name` is an attribute of a module that holds a string.
static bool isModuleString(StringRef name) {
  return name == modelAttrName || name == machineAttrName ||
         name == plannedOnlyAttrName || name == architectureAttrName;
}

/// An attribute of a module, of type `AttrT`.
template <typename AttrT>
static LogicalResult verifyModuleAttribute(Operation *op, NamedAttribute attr,
                                           StringRef wanted) {
  StringRef name = attr.getName();
  if (!isa<ModuleOp>(op))
    return op->emitError() << "'" << name
                           << "' belongs on a 'builtin.module', found on '"
                           << op->getName() << "'";
  if (isa<AttrT>(attr.getValue()))
    return success();
  return op->emitError() << "'" << name << "' must be " << wanted << ", found "
                         << attr.getValue();
}

LogicalResult LLMDialect::verifyOperationAttribute(Operation *op,
                                                   NamedAttribute attr) {
  StringRef name = attr.getName();
  if (isModuleString(name))
    return verifyModuleAttribute<StringAttr>(op, attr, "a string");
  if (name == quantizationAttrName) {
    if (failed(verifyModuleAttribute<StringAttr>(op, attr, "a string")))
      return failure();
    ErrorOr<cost::WeightType> type = cost::parseWeightStorage(
        name.str(), cast<StringAttr>(attr.getValue()).str());
    return type ? success() : op->emitError() << type.error().message;
  }
  if (name == workloadAttrName)
    return verifyModuleAttribute<WorkloadAttr>(op, attr, "an '#llm.workload'");
  if (name == strategyAttrName)
    return verifyModuleAttribute<StrategyAttr>(op, attr, "an '#llm.strategy'");
  if (name == serviceAttrName)
    return verifyModuleAttribute<ServiceAttr>(op, attr, "an '#llm.service'");
  if (name == roleAttrName)
    return op->emitError() << "'" << name
                           << "' belongs on arguments and results of "
                              "functions, found on '"
                           << op->getName() << "'";
  if (isOfParams(name))
    return op->emitError() << "'" << name
                           << "' belongs on arguments of functions, found on '"
                           << op->getName() << "'";
  return failUnknown(op, name);
}

/// An attribute of an argument or a result, `what`, of a function.
static LogicalResult verifyRole(Operation *op, StringRef what, unsigned index,
                                NamedAttribute attr) {
  StringRef name = attr.getName();
  if (isModuleString(name) || name == workloadAttrName ||
      name == strategyAttrName || name == serviceAttrName ||
      name == quantizationAttrName)
    return op->emitError() << "'" << name
                           << "' belongs on a 'builtin.module', found on "
                           << what << " " << index;
  if (isOfParams(name))
    return op->emitError() << "'" << name
                           << "' belongs on arguments of functions, found on "
                           << what << " " << index;
  if (name != roleAttrName)
    return failUnknown(op, name);
  if (!isa<FunctionOpInterface>(op))
    return op->emitError() << "'" << name
                           << "' belongs on arguments and results of "
                              "functions, found on '"
                           << op->getName() << "'";
  auto role = dyn_cast<StringAttr>(attr.getValue());
  if (!role)
    return op->emitError() << "'" << name << "' of " << what << " " << index
                           << " must be a string, found " << attr.getValue();
  if (parseRole(role.getValue()))
    return success();
  return op->emitError() << "unknown role '" << role.getValue() << "' of "
                         << what << " " << index << ", "
                         << listKnown(role.str(), listRoles());
}

/// What is left of a param on argument `index` of a function.
static LogicalResult verifyParam(Operation *op, unsigned index,
                                 NamedAttribute attr) {
  StringRef name = attr.getName();
  auto fail = [&](StringRef wanted) -> LogicalResult {
    return op->emitError() << "'" << name << "' of argument " << index
                           << " must be " << wanted << ", found "
                           << attr.getValue();
  };
  auto func = dyn_cast<FunctionOpInterface>(op);
  if (!func)
    return op->emitError() << "'" << name << "' of argument " << index
                           << " belongs on an argument of a function";
  // A tensor, or a buffer, or nothing that has sizes any more.
  auto type = dyn_cast<ShapedType>(func.getArgumentTypes()[index]);
  bool hasSizes = type && type.hasRank();
  if (name == paramAttrName && !isa<StringAttr>(attr.getValue()))
    return fail("a string");
  if (name == sourceAttrName) {
    bool isStack = func.getArgAttr(index, layersAttrName) != nullptr;
    std::string what = ("'" + name + "' of argument " + Twine(index)).str();
    int64_t rank = hasSizes ? type.getRank() - isStack : maxDimSize;
    return success(succeeded(Source::read(attr.getValue(), what, rank,
                                          [&] { return op->emitError(); })));
  }
  if (name == layersAttrName) {
    auto layers = dyn_cast<LayersAttr>(attr.getValue());
    if (!layers)
      return fail("numbers of layers, #llm.layers<0-3>");
    int64_t count = hasSizes && type.getRank() ? type.getDimSize(0) : 0;
    if (hasSizes && count != int64_t(layers.getNumbers().size()))
      return fail(
          ("one number for each layer of the stack, " + Twine(count)).str());
  }
  return success();
}

LogicalResult LLMDialect::verifyRegionArgAttribute(Operation *op,
                                                   unsigned regionIndex,
                                                   unsigned argIndex,
                                                   NamedAttribute attr) {
  if (isOfParams(attr.getName()))
    return verifyParam(op, argIndex, attr);
  return verifyRole(op, "argument", argIndex, attr);
}

LogicalResult LLMDialect::verifyRegionResultAttribute(Operation *op,
                                                      unsigned regionIndex,
                                                      unsigned resultIndex,
                                                      NamedAttribute attr) {
  return verifyRole(op, "result", resultIndex, attr);
}
