//===- BodyBuilder.cpp - The ops of one layer as a cost body --------------===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "BodyBuilder.h"
#include "shardopt/Dialect/LLM/IR/LLMOps.h"

#include "mlir/IR/Builders.h"
#include "llvm/ADT/DenseMap.h"

using namespace mlir;
using namespace shardopt;
using namespace shardopt::llm;

int64_t LayerOps::window() const {
  for (ShardableOpInterface op : ops)
    if (int64_t window = op.getLayerFacts().window)
      return window;
  return 0;
}

/// All that a model is made of, in one module.
static Attribute factsOf(Operation *op) {
  NamedAttrList attributes(op->getAttrDictionary());
  attributes.erase("name");
  attributes.erase("sharding");
  Builder builder(op->getContext());
  SmallVector<Attribute> facts = {
      builder.getStringAttr(op->getName().getStringRef()),
      attributes.getDictionary(op->getContext())};
  for (Type type : op->getOperandTypes())
    facts.push_back(TypeAttr::get(type));
  for (Type type : op->getResultTypes())
    facts.push_back(TypeAttr::get(type));
  return builder.getArrayAttr(facts);
}

std::shared_ptr<const cost::OpModel> OpModels::of(CostOpInterface op) {
  // What ops of other dialects read is not known.
  if (!isa<LLMDialect>(op->getDialect()))
    return op.getOpModel();
  std::shared_ptr<const cost::OpModel> &model = known[factsOf(op)];
  if (!model)
    model = op.getOpModel();
  return model;
}

namespace {

class BodyBuilder {
public:
  BodyBuilder(const LayerOps &layer, OpModels &models)
      : layer(layer), models(models) {}

  FailureOr<cost::Body> build();

private:
  LogicalResult addNode(ShardableOpInterface op);
  LogicalResult readExit();
  FailureOr<cost::ValueId> idOf(Value value, Operation *user);

  const LayerOps &layer;
  OpModels &models;
  cost::Body body;
  DenseMap<Value, cost::ValueId> ids;
};

} // namespace

/// Whether `value` lies over the tensor-parallel group: rows of features, and
/// not indices, counts or caches.
static bool isActivation(Value value) {
  auto type = dyn_cast<RankedTensorType>(value.getType());
  return type && type.getRank() == 2 && isa<FloatType>(type.getElementType());
}

FailureOr<cost::Body> BodyBuilder::build() {
  auto read = layer.first().getActivations();
  if (read.size() != 1 || read.front()->get() != layer.residual)
    return layer.first().emitOpError(
        "is the first of a layer, expected an op that reads the layer's "
        "residual, as 'llm.rms_norm', and no other activation");
  ids[layer.residual] = body.residual = body.numValues++;
  for (ShardableOpInterface op : layer.ops)
    if (failed(addNode(op)))
      return failure();
  if (failed(readExit()))
    return failure();
  return std::move(body);
}

FailureOr<cost::ValueId> BodyBuilder::idOf(Value value, Operation *user) {
  auto known = ids.find(value);
  if (known != ids.end())
    return known->second;
  InFlightDiagnostic diagnostic = user->emitOpError(
      "reads an activation from elsewhere, expected the layer's residual or "
      "what a shardable op of the layer made");
  diagnostic.attachNote(value.getLoc()) << "made here";
  return diagnostic;
}

LogicalResult BodyBuilder::addNode(ShardableOpInterface op) {
  cost::Node node;
  node.name = op.getShardingName().str();
  auto charged = dyn_cast<CostOpInterface>(op.getOperation());
  if (!charged)
    return op.emitOpError("has no cost, expected an op that says what it costs "
                          "('CostOpInterface')");
  node.op = models.of(charged);
  for (OpOperand *operand : op.getActivations()) {
    FailureOr<cost::ValueId> id = idOf(operand->get(), op);
    if (failed(id))
      return failure();
    node.operands.push_back(*id);
  }
  // A rule lists activations first; what follows them does not flow on.
  for (Value result : op->getResults()) {
    if (!isActivation(result))
      break;
    node.results.push_back(body.numValues);
    ids[result] = body.numValues++;
  }
  if (cost::LayerFacts facts = op.getLayerFacts(); facts.experts != 0) {
    body.experts = facts.experts;
    body.topK = facts.topK;
  }
  body.nodes.push_back(std::move(node));
  return success();
}

/// Whether `add` is merely part of a longer sum.
static bool isPartOfSum(AddOp add) {
  return add->hasOneUse() && isa<AddOp>(*add->user_begin()) &&
         add->user_begin()->getBlock() == add->getBlock();
}

/// What the sum `add` adds up, in order.
static void collectSummands(AddOp add, SmallVectorImpl<Value> &summands) {
  for (Value operand : add->getOperands()) {
    auto inner = operand.getDefiningOp<AddOp>();
    if (inner && isPartOfSum(inner))
      collectSummands(inner, summands);
    else
      summands.push_back(operand);
  }
}

/// Residuals go through the layer, and norms may add to them on the way; what
/// other ops make is added to them in the end. A layer may also leave with what
/// one op made, as that of a norm behind the sum.
LogicalResult BodyBuilder::readExit() {
  Operation *last = layer.exit.getDefiningOp();
  if (layer.exit == layer.residual)
    return layer.last().emitOpError(
        "is the last of a layer that leaves its residual as it was, expected "
        "one that leaves what its ops make");
  SmallVector<Value> summands = {layer.exit};
  if (auto sum = dyn_cast_or_null<AddOp>(last)) {
    summands.clear();
    collectSummands(sum, summands);
  }
  if (summands.size() > cost::Body::maxSummands)
    return last->emitOpError("ends a layer with a sum of ")
           << summands.size() << " values, expected at most "
           << cost::Body::maxSummands;
  for (Value summand : summands) {
    FailureOr<cost::ValueId> id =
        idOf(summand, last ? last : layer.last().getOperation());
    if (failed(id))
      return failure();
    auto maker = summand.getDefiningOp();
    bool isOutput = maker && !isa<NormOpInterface>(maker);
    (isOutput ? body.exitOutputs : body.exitResiduals).push_back(*id);
  }
  return success();
}

FailureOr<cost::Body> shardopt::buildBody(const LayerOps &layer,
                                          OpModels &models) {
  return BodyBuilder(layer, models).build();
}
