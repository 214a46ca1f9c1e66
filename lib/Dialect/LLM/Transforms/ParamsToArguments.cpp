//===- ParamsToArguments.cpp - Weights as arguments -----------------------===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "PassOptions.h"
#include "shardopt/Dialect/LLM/IR/ArgumentAttributes.h"
#include "shardopt/Dialect/LLM/IR/LLMOps.h"
#include "shardopt/Dialect/LLM/Transforms/ExecutionPasses.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/ADT/Sequence.h"

namespace shardopt::llm {
#define GEN_PASS_DEF_PARAMSTOARGUMENTSPASS
#include "shardopt/Dialect/LLM/Transforms/ExecutionPasses.h.inc"
} // namespace shardopt::llm

using namespace mlir;
using namespace shardopt;
using namespace shardopt::llm;

namespace {

struct ParamsToArguments
    : public ListsOptions<
          shardopt::llm::impl::ParamsToArgumentsPassBase<ParamsToArguments>> {
  using ListsOptions::ListsOptions;

  void runOnOperation() override;
};

} // namespace

/// The numbers of the layers of `repeat`.
static LayersAttr layersOf(RepeatOp repeat) {
  SmallVector<int64_t> layers;
  for (int64_t iteration : llvm::seq<int64_t>(0, repeat.getCount()))
    layers.push_back(repeat.getLayer(iteration));
  return LayersAttr::get(repeat.getContext(), layers);
}

/// What the argument says that takes the place of `param`.
static DictionaryAttr describe(ParamOp param, RepeatOp repeat) {
  Builder builder(param.getContext());
  NamedAttrList attributes(param->getDiscardableAttrDictionary());
  NamedAttribute role = roleAttribute(param.getContext(), Role::Param);
  attributes.set(role.getName(), role.getValue());
  attributes.set(paramAttrName, builder.getStringAttr(param.getParam()));
  if (DictionaryAttr source = param.getSourceAttr())
    attributes.set(Source::attrName, source);
  if (repeat)
    attributes.set(layersAttrName, layersOf(repeat));
  return attributes.getDictionary(builder.getContext());
}

/// The type of the weights of all iterations of `repeat`.
static RankedTensorType stack(RankedTensorType layer, RepeatOp repeat) {
  SmallVector<int64_t> shape = {int64_t(repeat.getCount())};
  llvm::append_range(shape, layer.getShape());
  return layer.clone(shape);
}

/// Reads the layer's slice of `stacked` where the body of `repeat` had `param`.
static void passStacked(RepeatOp repeat, ParamOp param, Value stacked) {
  unsigned index = 1 + repeat.getStacked().size();
  BlockArgument slice = repeat.getBody().front().insertArgument(
      index, param.getType(), param.getLoc());
  repeat.getStackedMutable().append(stacked);
  param.getResult().replaceAllUsesWith(slice);
}

static LogicalResult run(func::FuncOp func, ModuleOp module) {
  SmallVector<ParamOp> params;
  func.walk([&](ParamOp param) { params.push_back(param); });
  if (params.empty())
    return success();
  if (!SymbolTable::symbolKnownUseEmpty(func, module))
    return func.emitOpError("has params and is called: expected an entry, to "
                            "which a caller gives its weights");

  SmallVector<RepeatOp> repeats;
  SmallVector<unsigned> indices(params.size(), func.getNumArguments());
  SmallVector<Type> types;
  SmallVector<DictionaryAttr> attributes;
  SmallVector<Location> locs;
  for (ParamOp param : params) {
    auto repeat = param->getParentOfType<RepeatOp>();
    if (repeat && repeat->getParentOfType<RepeatOp>())
      return param.emitOpError("stands in a repeat of a repeat: expected one, "
                               "for a stack of weights has one leading size");
    auto type = cast<RankedTensorType>(param.getType());
    repeats.push_back(repeat);
    types.push_back(repeat ? stack(type, repeat) : type);
    attributes.push_back(describe(param, repeat));
    locs.push_back(param.getLoc());
  }
  unsigned first = func.getNumArguments();
  if (failed(func.insertArguments(indices, types, attributes, locs)))
    return failure();
  for (auto [index, param] : llvm::enumerate(params)) {
    BlockArgument argument = func.getArgument(first + index);
    if (RepeatOp repeat = repeats[index])
      passStacked(repeat, param, argument);
    else
      param.getResult().replaceAllUsesWith(argument);
    param.erase();
  }
  return success();
}

void ParamsToArguments::runOnOperation() {
  ModuleOp module = getOperation();
  for (auto func : module.getOps<func::FuncOp>())
    if (failed(::run(func, module)))
      return signalPassFailure();
}
