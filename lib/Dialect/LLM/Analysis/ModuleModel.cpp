//===- ModuleModel.cpp - A module as the cost model sees it ---------------===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Two steps: `ProgramReader` walks the program and cuts it into layers, and
// `BodyBuilder` makes a `cost::Body` of each kind of layer.
//
//===----------------------------------------------------------------------===//

#include "shardopt/Dialect/LLM/Analysis/ModuleModel.h"
#include "BodyBuilder.h"
#include "shardopt/Dialect/LLM/Analysis/StrategyAttributes.h"
#include "shardopt/Dialect/LLM/IR/LLMOps.h"
#include "shardopt/Dialect/LLM/IR/ModuleAttributes.h"
#include "shardopt/Dialect/LLM/IR/PlannedOnly.h"

#include "mlir/IR/TypeUtilities.h"
#include "mlir/Interfaces/FunctionInterfaces.h"
#include "llvm/ADT/StringMap.h"

using namespace mlir;
using namespace shardopt;
using namespace shardopt::llm;

namespace {

/// Cuts a program into layers and collects their kinds.
class ProgramReader {
public:
  explicit ProgramReader(ModuleOp module) : module(module) {}

  FailureOr<ModuleModel> read();

private:
  LogicalResult findEmbedding();
  LogicalResult readWorkload();
  LogicalResult readOp(Operation &op);
  LogicalResult readRepeat(RepeatOp repeat);
  LogicalResult readShardableOp(ShardableOpInterface op);
  LogicalResult readHead(LmHeadOp head);
  bool isInLayer(Value value) const;

  /// Ends the layer outside of repeats that is being read, if there is one:
  /// `exit` is what the next op takes for the residual.
  LogicalResult closeLayer(Value exit);
  /// Checks that `op` is not behind the head.
  LogicalResult checkNotEnded(Operation *op);
  /// Checks that `residual`, operand of `user`, is what was made last.
  LogicalResult checkChain(Value residual, Operation *user);
  /// Adds `layers` layers, one for each of `windows`.
  LogicalResult addLayers(const LayerOps &layer, ArrayRef<int64_t> windows);
  /// The index of the kind of `layer`, a new one if needed.
  FailureOr<unsigned> kindOf(const LayerOps &layer);
  FailureOr<unsigned> addKind(const LayerOps &layer, cost::Body body);
  /// Checks that prompts have as many rows as the workload says.
  LogicalResult checkPrompts(ShardableOpInterface op);

  void numberVariables();

  ModuleOp module;
  cost::Workload workload;
  EmbeddingOp embedding;
  LmHeadOp head;
  Value chain;         ///< the residual after what was read so far
  LayerOps open;       ///< the layer outside of repeats being read
  bool isOpen = false; ///< whether there is one

  // By kind of layer, which the names of its ops say. Ops of one name are
  // alike: the verifier checks that.
  OpModels models;
  std::vector<cost::Body> bodies;
  std::vector<std::vector<std::vector<ShardableOpInterface>>> kindOps;
  llvm::StringMap<unsigned> kindOfName;
  std::vector<cost::Segment> segments;
};

} // namespace

//===----------------------------------------------------------------------===//
// Facts of the module
//===----------------------------------------------------------------------===//

LogicalResult ProgramReader::findEmbedding() {
  if (isPartitioned(module))
    return emitError(module.getLoc(),
                     "the module is lowered to a per-rank program, "
                     "expected the program that was annotated");
  WalkResult result = module.walk([&](EmbeddingOp op) {
    if (!embedding) {
      embedding = op;
      return WalkResult::advance();
    }
    op.emitOpError("is the second of the module, expected one program")
            .attachNote(embedding.getLoc())
        << "the first one";
    return WalkResult::interrupt();
  });
  if (result.wasInterrupted())
    return failure();
  if (!embedding)
    return emitError(
        module.getLoc(),
        "module has no 'llm.embedding', expected a program of the 'llm' "
        "dialect");
  return success();
}

LogicalResult ProgramReader::readWorkload() {
  FailureOr<std::optional<cost::Workload>> found = llm::readWorkload(module);
  if (failed(found))
    return failure();
  if (!*found)
    return emitError(module.getLoc(), "module has no '")
           << workloadAttrName
           << "', expected #llm.workload<phase = decode|prefill, context = N>";
  workload = **found;
  return success();
}

LogicalResult ProgramReader::checkPrompts(ShardableOpInterface op) {
  int64_t rows = workload.phase == cost::Phase::Prefill ? workload.context : 1;
  int64_t sequence = op.getPromptRows().value_or(rows);
  if (sequence == rows)
    return success();
  InFlightDiagnostic error = op.emitOpError("has 'sequence' ");
  error << sequence << ", but a prompt of the module's workload has " << rows
        << (rows == 1 ? " row" : " rows");
  error.attachNote(module.getLoc()) << "workload is given here";
  return error;
}

//===----------------------------------------------------------------------===//
// What is charged
//===----------------------------------------------------------------------===//

static bool isFloatTensor(Type type) {
  return isa<TensorType>(type) && isa<FloatType>(getElementTypeOrSelf(type));
}

/// Checks that the numbers which `op` reads and makes have a type with a cost.
static LogicalResult checkTypes(Operation *op) {
  auto hasNoCost = [](Type type) {
    unsigned bits = getElementTypeOrSelf(type).getIntOrFloatBitWidth();
    return bits != 4 && bits != 8 && bits != 16 && bits != 32;
  };
  for (auto types :
       {TypeRange(op->getOperandTypes()), TypeRange(op->getResultTypes())})
    for (Type type : types)
      if (isFloatTensor(type) && hasNoCost(type))
        return op->emitOpError("has numbers of ")
               << getElementTypeOrSelf(type)
               << ", which nothing here charges, expected f32, bf16, f16, "
                  "f8E4M3FN or f4E2M1FN";
  return success();
}

/// Checks `op`, which is neither a repeat nor shardable: params are charged
/// with the ops that read them, sums with their layers, and what makes no
/// numbers is free.
static LogicalResult checkFree(Operation *op) {
  if (isa<ParamOp, AddOp>(op) || op->hasTrait<OpTrait::IsTerminator>() ||
      op->hasTrait<OpTrait::ConstantLike>() ||
      op->getName().getStringRef() == "tensor.cast" ||
      llvm::none_of(op->getResultTypes(), isFloatTensor))
    return success();
  return op->emitOpError("makes numbers, and nothing here charges it, expected "
                         "shardable ops of the 'llm' dialect");
}

//===----------------------------------------------------------------------===//
// The chain of layers
//===----------------------------------------------------------------------===//

FailureOr<ModuleModel> ProgramReader::read() {
  if (failed(findEmbedding()) || failed(readWorkload()))
    return failure();
  chain = embedding.getResult();
  for (Operation &op : *embedding->getBlock())
    if (failed(checkTypes(&op)) || failed(readOp(op)))
      return failure();
  if (!head)
    return embedding.emitOpError(
        "has no 'llm.lm_head' after it, expected one to end the program");
  if (segments.empty())
    return head.emitOpError("follows no layer, expected at least one");

  ModuleModel result;
  if (auto name = module->getAttrOfType<StringAttr>(modelAttrName))
    result.name = name.str();
  else if (std::optional<StringRef> name = module.getSymName())
    result.name = name->str();
  if (getPlannedOnly(module))
    result.name += " (cost-only)";
  if (auto name = module->getAttrOfType<StringAttr>(architectureAttrName))
    result.model.architecture = name.str();
  result.model.workload = workload;
  numberVariables();

  result.model.embed.name = embedding.getName().str();
  result.model.embed.op = embedding.getOpModel();
  result.model.embed.results = {0};
  result.ops.push_back({embedding});
  for (auto [body, ops] : llvm::zip_equal(bodies, kindOps)) {
    result.model.bodies.push_back(std::move(body));
    for (std::vector<ShardableOpInterface> &variable : ops)
      result.ops.push_back(std::move(variable));
  }
  result.model.head.name = head.getName().str();
  result.model.head.op = head.getOpModel();
  result.model.head.operands = {0};
  result.model.head.variable = result.ops.size();
  result.ops.push_back({head});
  result.model.segments = std::move(segments);

  auto residual = cast<RankedTensorType>(embedding.getResult().getType());
  result.model.rowBytes =
      residual.getShape().back() * residual.getElementTypeBitWidth() / 8.0;
  auto table = embedding.getTable().getDefiningOp<ParamOp>();
  auto weight = head.getWeight().getDefiningOp<ParamOp>();
  result.model.tiedEmbeddings =
      head.getWeight() == embedding.getTable() ||
      (table && weight && table.getParam() == weight.getParam());
  return result;
}

LogicalResult ProgramReader::readOp(Operation &op) {
  if (&op == embedding)
    return success();
  if (auto repeat = dyn_cast<RepeatOp>(op))
    return readRepeat(repeat);
  if (auto last = dyn_cast<LmHeadOp>(op))
    return readHead(last);
  if (auto shardable = dyn_cast<ShardableOpInterface>(op))
    return readShardableOp(shardable);
  // Params, sums, constants, the terminator: nothing to shard.
  WalkResult nested = op.walk([&](ShardableOpInterface shardable) {
    InFlightDiagnostic error = shardable.emitOpError("is nested in '");
    error << op.getName() << "', expected it in an 'llm.repeat' or next to '"
          << embedding->getName() << "'";
    error.attachNote(op.getLoc()) << "nested in this op";
    return WalkResult::interrupt();
  });
  return nested.wasInterrupted() ? failure() : checkFree(&op);
}

LogicalResult ProgramReader::checkChain(Value residual, Operation *user) {
  if (residual == chain)
    return success();
  InFlightDiagnostic diagnostic = user->emitOpError(
      "does not read what the program made before it, expected the residual "
      "of the layer, or the embedding, that precedes");
  if (Operation *last = chain.getDefiningOp())
    diagnostic.attachNote(last->getLoc()) << "made here";
  return diagnostic;
}

LogicalResult ProgramReader::checkNotEnded(Operation *op) {
  if (!head)
    return success();
  InFlightDiagnostic error =
      op->emitOpError("follows 'llm.lm_head', which ends a program");
  error.attachNote(head.getLoc()) << "the program ends here";
  return error;
}

LogicalResult ProgramReader::readRepeat(RepeatOp repeat) {
  if (failed(checkNotEnded(repeat)))
    return failure();
  if (failed(closeLayer(repeat.getInit())) ||
      failed(checkChain(repeat.getInit(), repeat)))
    return failure();
  chain = repeat.getResult();

  LayerOps layer;
  layer.residual = repeat.getResidual();
  layer.exit = repeat.getBodyBlock()->getTerminator()->getOperand(0);
  for (Operation &op : *repeat.getBodyBlock()) {
    if (failed(checkTypes(&op)))
      return failure();
    if (auto shardable = dyn_cast<ShardableOpInterface>(op))
      layer.ops.push_back(shardable);
    else if (op.getNumRegions() != 0)
      return op.emitOpError(
          "is nested in a layer, expected 'llm' ops without regions there");
    else if (failed(checkFree(&op)))
      return failure();
  }
  if (layer.ops.empty())
    return repeat.emitOpError("has no shardable op in its body");
  int64_t ownWindow = layer.window();
  std::vector<int64_t> windows;
  for (int64_t i = 0, count = repeat.getCount(); i < count; ++i)
    windows.push_back(repeat.getWindows() ? repeat.getWindow(i) : ownWindow);
  return addLayers(layer, windows);
}

/// Whether a norm of `value` is one more of the layer being read: of what
/// entered it, or of what an op of it made.
bool ProgramReader::isInLayer(Value value) const {
  return isOpen && (value == open.residual ||
                    llvm::is_contained(
                        open.ops, value.getDefiningOp<ShardableOpInterface>()));
}

LogicalResult ProgramReader::readShardableOp(ShardableOpInterface op) {
  if (failed(checkNotEnded(op)))
    return failure();
  auto norm = dyn_cast<NormOpInterface>(op.getOperation());
  if (norm && !norm.getAddedResidual() && !isInLayer(norm.getNormed().get())) {
    Value residual = norm.getNormed().get();
    if (failed(closeLayer(residual)) || failed(checkChain(residual, norm)))
      return failure();
    isOpen = true;
    open = LayerOps();
    open.residual = residual;
  }
  if (!isOpen)
    return op.emitOpError("is outside of a layer, expected a norm, as "
                          "'llm.rms_norm', without residual before it to begin "
                          "one");
  open.ops.push_back(op);
  return success();
}

LogicalResult ProgramReader::readHead(LmHeadOp last) {
  if (failed(checkNotEnded(last)))
    return failure();
  if (failed(closeLayer(last.getInput())) ||
      failed(checkChain(last.getInput(), last)) || failed(checkPrompts(last)))
    return failure();
  head = last;
  return success();
}

LogicalResult ProgramReader::closeLayer(Value exit) {
  if (!isOpen)
    return success();
  isOpen = false;
  open.exit = chain = exit;
  return addLayers(open, {open.window()});
}

//===----------------------------------------------------------------------===//
// Kinds of layers
//===----------------------------------------------------------------------===//

LogicalResult ProgramReader::addLayers(const LayerOps &layer,
                                       ArrayRef<int64_t> windows) {
  FailureOr<unsigned> kind = kindOf(layer);
  if (failed(kind))
    return failure();
  if (segments.empty() || segments.back().body != *kind)
    segments.push_back({*kind, {}});
  std::vector<int64_t> &all = segments.back().windows;
  all.insert(all.end(), windows.begin(), windows.end());
  return success();
}

static bool isWiredAlike(const cost::Body &a, const cost::Body &b) {
  auto isSameNode = [](const cost::Node &a, const cost::Node &b) {
    return a.name == b.name && a.operands == b.operands &&
           a.results == b.results;
  };
  return std::equal(a.nodes.begin(), a.nodes.end(), b.nodes.begin(),
                    b.nodes.end(), isSameNode) &&
         a.exitResiduals == b.exitResiduals && a.exitOutputs == b.exitOutputs;
}

FailureOr<unsigned> ProgramReader::kindOf(const LayerOps &layer) {
  for (ShardableOpInterface op : layer.ops)
    if (failed(checkPrompts(op)))
      return failure();
  FailureOr<cost::Body> body = buildBody(layer, models);
  if (failed(body))
    return failure();

  auto known = kindOfName.find(layer.first().getShardingName());
  if (known == kindOfName.end())
    return addKind(layer, std::move(*body));
  unsigned kind = known->second;
  if (!isWiredAlike(*body, bodies[kind])) {
    InFlightDiagnostic diagnostic = layer.first().emitOpError(
        "begins a layer whose ops have the names of another kind of layer, but "
        "are not connected in the same way");
    diagnostic.attachNote(kindOps[kind].front().front().getLoc())
        << "the first layer of that kind";
    return diagnostic;
  }
  for (auto [variable, op] : llvm::zip_equal(kindOps[kind], layer.ops))
    variable.push_back(op);
  return kind;
}

FailureOr<unsigned> ProgramReader::addKind(const LayerOps &layer,
                                           cost::Body body) {
  // More than models have layers; only so that no count overflows.
  constexpr size_t maxKinds = 1024;
  unsigned kind = bodies.size();
  if (kind == maxKinds)
    return layer.first().emitOpError("begins one more kind of layer, expected "
                                     "at most ")
           << maxKinds << "; layers that are alike belong in an 'llm.repeat'";
  kindOps.emplace_back();
  for (ShardableOpInterface op : layer.ops) {
    auto [named, isNew] = kindOfName.try_emplace(op.getShardingName(), kind);
    if (!isNew) {
      auto diagnostic = op.emitOpError("has the name '")
                        << op.getShardingName()
                        << "' of an op of another kind of layer";
      diagnostic.attachNote(kindOps[named->second].front().front().getLoc())
          << "that kind begins here";
      return diagnostic;
    }
    kindOps.back().push_back({op});
  }
  bodies.push_back(std::move(body));
  return kind;
}

//===----------------------------------------------------------------------===//
// Variables
//===----------------------------------------------------------------------===//

static bool isDense(const cost::Body &body) {
  return StringRef(body.nodes.front().name).starts_with("dense.");
}

/// Orders kinds as variables are, and numbers their ops from 1 on.
void ProgramReader::numberVariables() {
  std::vector<unsigned> order;
  for (bool dense : {true, false})
    for (unsigned kind = 0; kind < bodies.size(); ++kind)
      if (isDense(bodies[kind]) == dense)
        order.push_back(kind);

  std::vector<unsigned> position(order.size());
  std::vector<cost::Body> orderedBodies;
  decltype(kindOps) orderedOps;
  unsigned variable = 1;
  for (auto [i, kind] : llvm::enumerate(order)) {
    position[kind] = i;
    for (cost::Node &node : bodies[kind].nodes)
      node.variable = variable++;
    orderedBodies.push_back(std::move(bodies[kind]));
    orderedOps.push_back(std::move(kindOps[kind]));
  }
  bodies = std::move(orderedBodies);
  kindOps = std::move(orderedOps);
  for (cost::Segment &segment : segments)
    segment.body = position[segment.body];
}

FailureOr<ModuleModel> shardopt::buildModuleModel(ModuleOp module) {
  return ProgramReader(module).read();
}
