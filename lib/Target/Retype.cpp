//===- Retype.cpp - Other types of weights and caches ---------------------===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "shardopt/Target/Retype.h"

#include "shardopt/Dialect/LLM/IR/LLMOps.h"
#include "shardopt/Dialect/LLM/IR/PlannedOnly.h"
#include "shardopt/Model/OpModel.h"
#include "shardopt/Support/Choice.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/TypeUtilities.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/STLExtras.h"

#include <functional>

using namespace mlir;
using namespace shardopt;

//===----------------------------------------------------------------------===//
// Types by name
//===----------------------------------------------------------------------===//

namespace {
/// An element type of the program, and how quantised weights of it are stored.
struct Format {
  std::function<Type(MLIRContext *)> element;
  std::optional<cost::WeightType> storage;
};
} // namespace

template <typename T> static Type make(MLIRContext *context) {
  return T::get(context);
}

static ErrorOr<Format> parseFormat(const std::string &option,
                                   const std::string &name, bool isCache) {
  using cost::WeightType;
  auto plain = [](auto type) { return Format{type, std::nullopt}; };
  std::vector<std::pair<std::string, Format>> choices = {
      {"bf16", plain(make<BFloat16Type>)},
      {"f16", plain(make<Float16Type>)},
      {"f32", plain(make<Float32Type>)}};
  if (isCache) {
    choices.emplace_back("fp8", plain(make<Float8E4M3FNType>));
    return parseChoice<Format>(option, name, choices);
  }
  // Of eight and of four bits there is one element type each.
  for (WeightType type :
       {WeightType::Fp8, WeightType::Fp8Block, WeightType::Int8,
        WeightType::Int4, WeightType::Nvfp4, WeightType::Mxfp4})
    choices.emplace_back(cost::spell(type),
                         cost::bytesPerWeight(type) < 1
                             ? Format{make<Float4E2M1FNType>, type}
                             : Format{make<Float8E4M3FNType>, type});
  return parseChoice<Format>(option, name, choices);
}

//===----------------------------------------------------------------------===//
// Weights
//===----------------------------------------------------------------------===//

/// The rank of a tensor of floating-point numbers; 0 of another value.
static int64_t floatRank(Value value) {
  auto type = dyn_cast<RankedTensorType>(value.getType());
  return type && isa<FloatType>(type.getElementType()) ? type.getRank() : 0;
}

/// The caches or states that `op` reads, and gives back; of fewer dims are
/// activations and weights.
static SmallVector<Value> cachesOf(Operation *op) {
  auto isCache = [](Value value) { return floatRank(value) >= 3; };
  if (llvm::none_of(op->getResults(), isCache))
    return {};
  return llvm::filter_to_vector(op->getOperands(), isCache);
}

static bool isActivation(Operation *op, Value value) {
  auto shardable = dyn_cast<llm::ShardableOpInterface>(op);
  return shardable &&
         llvm::any_of(shardable.getActivations(), [&](OpOperand *operand) {
           return operand->get() == value;
         });
}

/// The weight matrix that `op` multiplies with, or looks rows up in: of what it
/// reads and no op makes the first with columns. Null where it has none.
static Value matrixOf(Operation *op) {
  auto charged = dyn_cast<llm::CostOpInterface>(op);
  if (!charged)
    return {};
  cost::OpTypes types = charged.getOpModel()->types();
  bool isProjection = types.attention || types.dense || types.experts;
  bool hasCaches = !cachesOf(op).empty();
  if (hasCaches && !isProjection)
    return {}; // what follows a state has the type of activations
  for (Value operand : op->getOperands()) {
    int64_t rank = floatRank(operand);
    auto type = dyn_cast<RankedTensorType>(operand.getType());
    if (rank >= 2 && rank <= (hasCaches ? 2 : 3) && type.hasStaticShape() &&
        !operand.getDefiningOp<llm::CostOpInterface>() &&
        !isActivation(op, operand))
      return operand;
  }
  return {};
}

/// Whether a method that stores weights as `storage` quantises that of `op`.
static bool quantizes(cost::WeightType storage, Operation *op) {
  cost::OpTypes types = cast<llm::CostOpInterface>(op).getOpModel()->types();
  if (storage == cost::WeightType::Mxfp4)
    return types.experts.has_value();
  return types.attention || types.dense || types.experts;
}

//===----------------------------------------------------------------------===//
// Values
//===----------------------------------------------------------------------===//

namespace {
/// Gives values other element types, and all that they are part of.
class Retyper {
public:
  void retype(Value value, Type element);

private:
  /// What has the type of `value` because it is a slice of it, is read from it,
  /// or is written into it.
  SmallVector<Value> related(Value value) const;

  DenseSet<Value> done;
};
} // namespace

/// The body of `repeat` at `argument`: its operand, argument, result and what
/// is yielded for it. The first operand is the residual.
static SmallVector<Value> sliceOf(llm::RepeatOp repeat, unsigned argument) {
  SmallVector<Value> all = {repeat->getOperand(argument),
                            repeat.getBody().getArgument(argument)};
  if (argument < repeat->getNumResults()) {
    all.push_back(repeat->getResult(argument));
    all.push_back(repeat.getBodyBlock()->getTerminator()->getOperand(argument));
  }
  return all;
}

SmallVector<Value> Retyper::related(Value value) const {
  SmallVector<Value> all;
  auto add = [&](Operation *op, unsigned number) {
    if (auto repeat = dyn_cast<llm::RepeatOp>(op))
      all.append(sliceOf(repeat, number));
  };
  if (auto argument = dyn_cast<BlockArgument>(value))
    add(argument.getOwner()->getParentOp(), argument.getArgNumber());
  else
    add(value.getDefiningOp(), cast<OpResult>(value).getResultNumber());
  // Caches come back behind what their op makes, in the order of its operands.
  auto addCaches = [&](Operation *op) {
    SmallVector<Value> caches = cachesOf(op);
    for (auto [cache, made] :
         llvm::zip(caches, op->getResults().take_back(caches.size())))
      if (cache == value || made == value)
        all.append({cache, made});
  };
  if (isa_and_nonnull<llm::CostOpInterface>(value.getDefiningOp()))
    addCaches(value.getDefiningOp());
  for (OpOperand &use : value.getUses()) {
    add(use.getOwner(), use.getOperandNumber());
    if (isa<llm::YieldOp>(use.getOwner()))
      add(use.getOwner()->getParentOp(), use.getOperandNumber());
    if (isa<llm::CostOpInterface>(use.getOwner()))
      addCaches(use.getOwner());
  }
  return all;
}

void Retyper::retype(Value first, Type element) {
  SmallVector<Value> left = {first};
  while (!left.empty()) {
    Value value = left.pop_back_val();
    if (!done.insert(value).second)
      continue;
    Value(value).setType(
        cast<RankedTensorType>(value.getType()).clone(element));
    left.append(related(value));
  }
}

/// What a function takes and returns, after its values have other types.
static void renewTypes(ModuleOp module) {
  module.walk([](func::FuncOp function) {
    if (function.isExternal())
      return;
    Block &entry = function.getBody().front();
    function.setFunctionType(
        FunctionType::get(function.getContext(), entry.getArgumentTypes(),
                          entry.getTerminator()->getOperandTypes()));
  });
}

//===----------------------------------------------------------------------===//
// Modules
//===----------------------------------------------------------------------===//

static std::optional<Error> retypeWeights(ModuleOp module, const Format &format,
                                          const std::string &name,
                                          Retyper &values) {
  MLIRContext *context = module.getContext();
  Type element = format.element(context);
  Type plain = element;
  int64_t quantized = 0;
  // The table comes first, which no method quantises.
  module.walk([&](Operation *op) {
    Value matrix = matrixOf(op);
    if (!matrix)
      return;
    bool isQuantized = format.storage && quantizes(*format.storage, op);
    if (format.storage && !isQuantized && plain == element)
      plain = getElementTypeOrSelf(matrix.getType());
    quantized += isQuantized;
    values.retype(matrix, isQuantized ? element : plain);
  });
  if (!format.storage) {
    module->removeAttr(llm::quantizationAttrName);
    return std::nullopt;
  }
  if (quantized == 0)
    return Error{"the model has no " +
                 std::string(*format.storage == cost::WeightType::Mxfp4
                                 ? "routed experts"
                                 : "projections") +
                 ", which weights of 'weight-type' " + name + " are"};
  module->setAttr(llm::quantizationAttrName, StringAttr::get(context, name));
  bool isExecuted = *format.storage == cost::WeightType::Fp8 ||
                    *format.storage == cost::WeightType::Fp8Block ||
                    *format.storage == cost::WeightType::Mxfp4;
  if (!isExecuted && !llm::getPlannedOnly(module))
    module->setAttr(llm::plannedOnlyAttrName,
                    StringAttr::get(context, "its weights are of " + name));
  return std::nullopt;
}

static std::optional<Error> retypeCaches(ModuleOp module, const Format &format,
                                         Retyper &values) {
  Type element = format.element(module.getContext());
  int64_t caches = 0;
  module.walk([&](llm::CostOpInterface op) {
    if (!op.getOpModel()->types().cacheBytes)
      return;
    for (Value cache : cachesOf(op)) {
      values.retype(cache, element);
      ++caches;
    }
  });
  if (caches == 0)
    return Error{"the model has no caches of keys and values, which "
                 "'kv-type' is of"};
  return std::nullopt;
}

std::optional<Error> shardopt::retype(ModuleOp module,
                                      const TypeChoice &choice) {
  Retyper values;
  if (!choice.weights.empty()) {
    ErrorOr<Format> format =
        parseFormat("weight-type", choice.weights, /*isCache=*/false);
    if (!format)
      return format.error();
    if (auto why = retypeWeights(module, *format, choice.weights, values))
      return why;
  }
  if (!choice.caches.empty()) {
    ErrorOr<Format> format =
        parseFormat("kv-type", choice.caches, /*isCache=*/true);
    if (!format)
      return format.error();
    if (auto why = retypeCaches(module, *format, values))
      return why;
  }
  renewTypes(module);
  return std::nullopt;
}
