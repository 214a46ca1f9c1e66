//===- BodyBuilder.cpp - The ops of one layer as a cost body --------------===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "BodyBuilder.h"
#include "shardopt/Cost/BodyIndex.h"
#include "shardopt/Dialect/LLM/IR/LLMOps.h"

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

namespace {

class BodyBuilder {
public:
  explicit BodyBuilder(const LayerOps &layer) : layer(layer) {}

  FailureOr<cost::Body> build();

private:
  LogicalResult addNode(ShardableOpInterface op);
  LogicalResult readExit();
  LogicalResult checkLiveValues();
  FailureOr<cost::ValueId> idOf(Value value, Operation *user);

  const LayerOps &layer;
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
  auto first = dyn_cast<NormOpInterface>(layer.first().getOperation());
  if (!first || first.getAddedResidual() ||
      first.getNormed().get() != layer.residual)
    return layer.first().emitOpError(
        "is the first of a layer, expected a norm, as 'llm.rms_norm', of the "
        "layer's residual, without a residual of its own");
  ids[layer.residual] = body.residual = body.numValues++;
  for (ShardableOpInterface op : layer.ops)
    if (failed(addNode(op)))
      return failure();
  if (failed(readExit()) || failed(checkLiveValues()))
    return failure();
  return std::move(body);
}

LogicalResult BodyBuilder::checkLiveValues() {
  cost::BodyIndex index(body);
  for (auto [op, live] : ::llvm::zip_equal(layer.ops, index.liveAfter))
    if (live.size() > cost::Body::maxLiveValues) {
      ShardableOpInterface at = op;
      return at.emitOpError("leaves ")
             << live.size() << " values that are still needed, expected at "
             << "most " << cost::Body::maxLiveValues;
    }
  return success();
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
  node.op = cast<CostOpInterface>(op.getOperation()).getOpModel();
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

/// The summands of the tree of `llm.add`s that makes `sum`, in no particular
/// order.
static SmallVector<Value> collectSummands(Value sum) {
  SmallVector<Value> open = {sum}, summands;
  while (!open.empty()) {
    Value value = open.pop_back_val();
    if (auto add = value.getDefiningOp<AddOp>())
      open.append({add.getLhs(), add.getRhs()});
    else
      summands.push_back(value);
  }
  return summands;
}

LogicalResult BodyBuilder::readExit() {
  Operation *last = layer.exit.getDefiningOp();
  if (!last)
    last = layer.last();
  if (!isa<AddOp>(last))
    return last->emitOpError(
        "makes what leaves the layer, expected an 'llm.add' of the residual "
        "and the output of the feed-forward block");

  // The residual of the last norm that has one, else that of the layer.
  Value residual = layer.residual;
  for (ShardableOpInterface op : layer.ops)
    if (auto norm = dyn_cast<NormOpInterface>(op.getOperation()))
      if (Value sum = norm.getNewResidual())
        residual = sum;

  SmallVector<Value> summands = collectSummands(layer.exit);
  Value *found = ::llvm::find(summands, residual);
  if (found == summands.end()) {
    InFlightDiagnostic diagnostic =
        last->emitOpError("ends a layer, expected it to add the residual of "
                          "the layer's last norm");
    diagnostic.attachNote(residual.getLoc()) << "the residual";
    return diagnostic;
  }
  summands.erase(found);
  if (summands.empty() || summands.size() > 2)
    return last->emitOpError("ends a layer with ")
           << summands.size()
           << " summands beside the residual, expected the output of the "
              "feed-forward block and at most that of shared experts";

  // Of two, the routed path is the one that comes back from the experts.
  Value main = summands.front();
  if (summands.size() == 2) {
    auto isRouted = [](Value value) {
      auto maker = value.getDefiningOp<ShardableOpInterface>();
      return maker && maker.returnsFromExperts();
    };
    if (isRouted(summands[0]) == isRouted(summands[1]))
      return last->emitOpError(
          "ends a layer with two summands beside the residual, expected one "
          "of them from 'llm.combine'");
    if (isRouted(summands[1]))
      std::swap(summands[0], summands[1]);
    main = summands[0];
    FailureOr<cost::ValueId> shared = idOf(summands[1], last);
    if (failed(shared))
      return failure();
    body.exitShared = *shared;
  }
  FailureOr<cost::ValueId> mainId = idOf(main, last);
  if (failed(mainId))
    return failure();
  body.exitMain = *mainId;
  body.exitResidual = ids[residual];
  return success();
}

FailureOr<cost::Body> shardopt::buildBody(const LayerOps &layer) {
  return BodyBuilder(layer).build();
}
