//===- CostInterfaces.cpp - Rules and costs of the fused ops --------------===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Each op fills in the facts that the cost library asks for, from its types and
// attributes. The formulas are there, not here.
//
//===----------------------------------------------------------------------===//

#include "shardopt/Dialect/LLM/IR/LLMOps.h"
#include "shardopt/Dialect/LLM/IR/Sizes.h"
#include "shardopt/Model/Ops/Combine.h"
#include "shardopt/Model/Ops/Dispatch.h"
#include "shardopt/Model/Ops/Embedding.h"
#include "shardopt/Model/Ops/Ffn.h"
#include "shardopt/Model/Ops/GatedDeltaNet.h"
#include "shardopt/Model/Ops/GqaAttention.h"
#include "shardopt/Model/Ops/Linear.h"
#include "shardopt/Model/Ops/LmHead.h"
#include "shardopt/Model/Ops/Mamba2.h"
#include "shardopt/Model/Ops/MlaAttention.h"
#include "shardopt/Model/Ops/Norm.h"
#include "shardopt/Model/Ops/OutProj.h"
#include "shardopt/Model/Ops/QkvProj.h"
#include "shardopt/Model/Ops/Router.h"

#include "mlir/IR/TypeUtilities.h"

#include <memory>

using namespace mlir;
using namespace shardopt;
using namespace shardopt::llm;

//===----------------------------------------------------------------------===//
// Facts of types
//===----------------------------------------------------------------------===//

/// Bytes of an element.
static double elementBytes(Value value) {
  return getElementTypeOrSelf(value.getType()).getIntOrFloatBitWidth() / 8.0;
}

/// How the quantized weights of the module around `op` are stored; none where
/// it does not say so.
static std::optional<cost::WeightType> weightStorage(Operation *op) {
  auto module = op->getParentOfType<ModuleOp>();
  if (!module)
    return std::nullopt;
  auto name = module->getAttrOfType<StringAttr>(quantizationAttrName);
  if (!name)
    return std::nullopt;
  ErrorOr<cost::WeightType> type =
      cost::parseWeightStorage(quantizationAttrName.str(), name.str());
  return type ? std::optional(*type) : std::nullopt;
}

/// How a weight of `op` is stored. Types of four and eight bits stand for any
/// storage of that width; mxfp4 and one scale a matrix where the module names
/// none.
static cost::WeightType weightType(Operation *op, Value weight) {
  unsigned bits =
      getElementTypeOrSelf(weight.getType()).getIntOrFloatBitWidth();
  if (bits >= 16)
    return bits == 16 ? cost::WeightType::Bf16 : cost::WeightType::F32;
  cost::WeightType plain =
      bits == 4 ? cost::WeightType::Mxfp4 : cost::WeightType::Fp8;
  cost::WeightType stored = weightStorage(op).value_or(plain);
  bool isFour = cost::bytesPerWeight(stored) < 1;
  return isFour == (bits == 4) ? stored : plain;
}

//===----------------------------------------------------------------------===//
// Models of the ops
//===----------------------------------------------------------------------===//

static cost::Embedding model(EmbeddingOp op) {
  auto table = cast<RankedTensorType>(op.getTable().getType());
  cost::Embedding facts;
  facts.vocab = table.getDimSize(0);
  facts.hidden = table.getDimSize(1);
  facts.weights = weightType(op, op.getTable());
  facts.activationBytes = elementBytes(op.getResult());
  return facts;
}

static cost::Norm normModel(NormOpInterface op, int64_t sums) {
  Value input = op.getNormed().get();
  cost::Norm facts;
  facts.hidden = columns(input);
  facts.sums = sums;
  facts.activationBytes = elementBytes(input);
  return facts;
}

static cost::Norm model(RmsNormOp op) { return normModel(op, 1); }

static cost::Norm model(LayerNormOp op) { return normModel(op, 2); }

static cost::QkvProj model(QkvProjOp op) {
  cost::QkvProj facts;
  facts.hidden = columns(op.getInput());
  facts.heads = op.getHeads();
  facts.kvHeads = op.getKvHeads();
  facts.headDim = op.getHeadDim();
  facts.gated = op.getGated();
  facts.weights = weightType(op, op.getWeight());
  facts.activationBytes = elementBytes(op.getInput());
  return facts;
}

static cost::Linear model(LinearOp op) {
  cost::Linear facts;
  facts.in = columns(op.getInput());
  facts.out = columns(op.getResult());
  facts.heads = op.getHeads().value_or(0);
  facts.innerNorm = op.getNorm() != nullptr;
  for (Operation *user : op.getResult().getUsers())
    if (auto net = dyn_cast<GatedDeltaNetOp>(user))
      facts.apart = 2 * net.getValueHeads();
  facts.weights = weightType(op, op.getWeight());
  facts.activationBytes = elementBytes(op.getInput());
  return facts;
}

static cost::GqaAttention gqaModel(AttentionOp op) {
  cost::GqaAttention facts;
  facts.heads = op.getHeads();
  facts.kvHeads = *op.getKvHeads();
  facts.headDim = *op.getHeadDim();
  facts.qkNorm = op.getEpsilon().has_value();
  facts.normsAllHeads = op.getQkNorm() == HeadNorm::AllHeads;
  facts.normSums = op.getQkNorm() == HeadNorm::Mean ? 2 : 1;
  facts.turnsWholeHalves = op.turnsWholeHalves();
  facts.gated = op.getGated();
  facts.activationBytes = elementBytes(op.getInput());
  facts.cacheBytes = elementBytes(op.getCaches().front());
  return facts;
}

static cost::MlaAttention mlaModel(AttentionOp op) {
  cost::MlaAttention facts;
  facts.heads = op.getHeads();
  facts.latent = *op.getRank();
  facts.nope = *op.getNopeDim();
  facts.rope = *op.getRopeDim();
  facts.value = *op.getValueDim();
  if (std::optional<IndexerAttr> indexer = op.getIndexer()) {
    facts.indexHeads = indexer->getHeads();
    facts.indexDim = indexer->getDim();
    facts.indexTopk = indexer->getTopK();
  }
  facts.weights = weightType(op, op.getKvUp());
  facts.activationBytes = elementBytes(op.getInput());
  facts.cacheBytes = elementBytes(op.getCaches().front());
  return facts;
}

static cost::GatedDeltaNet model(GatedDeltaNetOp op) {
  cost::GatedDeltaNet facts;
  facts.heads = op.getHeads();
  facts.valueHeads = op.getValueHeads();
  facts.keyDim = op.getKeyDim();
  facts.valueDim = op.getValueDim();
  facts.taps = sizeOf(op.getConv(), 0);
  facts.activationBytes = elementBytes(op.getInput());
  facts.convBytes = elementBytes(op.getConvState());
  facts.stateBytes = elementBytes(op.getState());
  return facts;
}

/// Dim 1 keeps groups whole, or the heads of a single group.
static cost::Linear model(Mamba2ProjOp op) {
  cost::Linear facts;
  facts.in = columns(op.getInput());
  facts.out = columns(op.getResult());
  facts.heads = op.getGroups() == 1 ? op.getHeads() : op.getGroups();
  facts.shared = op.getGroups() == 1 ? 2 * op.getStateDim() : 0;
  facts.weights = weightType(op, op.getWeight());
  facts.activationBytes = elementBytes(op.getInput());
  return facts;
}

static cost::Mamba2 model(Mamba2Op op) {
  cost::Mamba2 facts;
  facts.heads = op.getHeads();
  facts.headDim = op.getHeadDim();
  facts.groups = op.getGroups();
  facts.stateDim = op.getStateDim();
  facts.taps = sizeOf(op.getConv(), 0);
  facts.norms = op.getNorm() != nullptr;
  facts.activationBytes = elementBytes(op.getInput());
  facts.convBytes = elementBytes(op.getConvState());
  facts.stateBytes = elementBytes(op.getState());
  return facts;
}

static cost::OutProj model(OutProjOp op) {
  cost::OutProj facts;
  facts.heads = op.getHeads();
  facts.headDim = columns(op.getInput()) / op.getHeads();
  facts.hidden = columns(op.getResult());
  facts.weights = weightType(op, op.getWeight());
  facts.activationBytes = elementBytes(op.getInput());
  return facts;
}

static cost::Router model(RouterOp op) {
  cost::Router facts;
  facts.hidden = columns(op.getInput());
  facts.experts = columns(op.getWeight());
  facts.topK = op.getTopK();
  facts.scalesTokens = op.getScaleTokens();
  facts.weights = weightType(op, op.getWeight());
  facts.activationBytes = elementBytes(op.getInput());
  return facts;
}

static cost::Dispatch model(DispatchOp op) {
  cost::Dispatch facts;
  facts.hidden = columns(op.getTokens());
  facts.topK = columns(op.getIndices());
  facts.activationBytes = elementBytes(op.getTokens());
  return facts;
}

static cost::Combine model(CombineOp op) {
  cost::Combine facts;
  facts.hidden = columns(op.getRows());
  facts.topK = columns(op.getWeights());
  facts.activationBytes = elementBytes(op.getRows());
  return facts;
}

/// A product without counts is dense for the tokens of its rank, whether the
/// layer also has routed experts or not.
template <typename Facts, typename Op> static Facts ffnModel(Op op) {
  Facts facts;
  facts.kind = op.getCounts() ? cost::FfnKind::Grouped : cost::FfnKind::Shared;
  facts.weights = weightType(op, op.getWeight());
  facts.activationBytes = elementBytes(op.getInput());
  return facts;
}

static cost::FfnUp model(FfnUpOp op) {
  auto facts = ffnModel<cost::FfnUp>(op);
  facts.hidden = columns(op.getInput());
  facts.inner = columns(op.getResult());
  facts.gated = op.getActivation() && op.getActivation()->getGated();
  facts.gatesRows = op.getRowGate() != nullptr;
  return facts;
}

static cost::FfnDown model(FfnDownOp op) {
  auto facts = ffnModel<cost::FfnDown>(op);
  facts.hidden = columns(op.getResult());
  facts.inner = columns(op.getInput());
  return facts;
}

static cost::LmHead model(LmHeadOp op) {
  auto weight = cast<RankedTensorType>(op.getWeight().getType());
  cost::LmHead facts;
  facts.vocab = weight.getDimSize(op.getTied() ? 0 : 1);
  facts.hidden = columns(op.getInput());
  facts.normSums = op.subtractsMean() ? 2 : 1;
  facts.weights = weightType(op, op.getWeight());
  facts.activationBytes = elementBytes(op.getInput());
  return facts;
}

//===----------------------------------------------------------------------===//
// Interface methods
//===----------------------------------------------------------------------===//

template <typename Facts>
static std::shared_ptr<const cost::OpModel> share(const Facts &facts) {
  return std::make_shared<const Facts>(facts);
}

/// Of every op with such facts: they have no say in what dims are called.
template <typename Facts> static Span<const cost::DimChoice> choicesOfModel() {
  return Facts().choices();
}

std::shared_ptr<const cost::OpModel> AttentionOp::getOpModel() {
  return getKind() == AttentionKind::Mla ? share(mlaModel(*this))
                                         : share(gqaModel(*this));
}

SmallVector<OpOperand *> AttentionOp::getActivations() {
  SmallVector<OpOperand *> operands = {&getInputMutable()};
  if (getLatent())
    operands.push_back(&*getLatentMutable().begin());
  if (getIndexQueries())
    operands.push_back(&*getIndexQueriesMutable().begin());
  return operands;
}

cost::LayerFacts AttentionOp::getLayerFacts() {
  cost::LayerFacts facts;
  facts.window = getWindow().value_or(0);
  return facts;
}

std::optional<int64_t> AttentionOp::getPromptRows() { return getSequence(); }

bool AttentionOp::mixesRows() { return true; }

bool AttentionOp::cutsInsideHeads() { return getShardingDim() == Dim::One; }

std::optional<int64_t> GatedDeltaNetOp::getPromptRows() {
  return getSequence();
}

bool GatedDeltaNetOp::mixesRows() { return true; }

std::optional<int64_t> Mamba2Op::getPromptRows() { return getSequence(); }

bool Mamba2Op::mixesRows() { return true; }

std::optional<int64_t> LmHeadOp::getPromptRows() { return getSequence(); }

cost::LayerFacts DispatchOp::getLayerFacts() {
  cost::LayerFacts facts;
  facts.experts = getExperts();
  facts.topK = columns(getIndices());
  return facts;
}

bool CombineOp::returnsFromExperts() { return true; }

SmallVector<OpOperand *> EmbeddingOp::getActivations() { return {}; }

static SmallVector<OpOperand *> activationsOf(NormOpInterface norm) {
  SmallVector<OpOperand *> operands = {&norm.getNormed()};
  if (OpOperand *residual = norm.getAddedResidual())
    operands.push_back(residual);
  return operands;
}

SmallVector<OpOperand *> RmsNormOp::getActivations() {
  return activationsOf(*this);
}

SmallVector<OpOperand *> LayerNormOp::getActivations() {
  return activationsOf(*this);
}

SmallVector<OpOperand *> DispatchOp::getActivations() {
  return {&getTokensMutable()};
}

SmallVector<OpOperand *> CombineOp::getActivations() {
  return {&getRowsMutable()};
}

// Ops whose only activation is their `input`.
#define LLM_ONE_INPUT(OP)                                                      \
  SmallVector<OpOperand *> OP::getActivations() { return {&getInputMutable()}; }
LLM_ONE_INPUT(QkvProjOp)
LLM_ONE_INPUT(LinearOp)
LLM_ONE_INPUT(GatedDeltaNetOp)
LLM_ONE_INPUT(Mamba2ProjOp)
LLM_ONE_INPUT(Mamba2Op)
LLM_ONE_INPUT(OutProjOp)
LLM_ONE_INPUT(RouterOp)
LLM_ONE_INPUT(FfnUpOp)
LLM_ONE_INPUT(FfnDownOp)
LLM_ONE_INPUT(LmHeadOp)
#undef LLM_ONE_INPUT

namespace shardopt::llm {

// What such an op may be sharded on, where it is read. Latent attention has
// some of the dims that attention has.
Span<const cost::DimChoice> choicesOf(AttentionOp) {
  return choicesOfModel<cost::GqaAttention>();
}

// Ops with one model.
#define LLM_MODELLED(OP)                                                       \
  std::shared_ptr<const cost::OpModel> OP::getOpModel() {                      \
    return share(model(*this));                                                \
  }                                                                            \
  Span<const cost::DimChoice> choicesOf(OP) {                                  \
    return choicesOfModel<decltype(model(std::declval<OP>()))>();              \
  }
LLM_MODELLED(EmbeddingOp)
LLM_MODELLED(RmsNormOp)
LLM_MODELLED(LayerNormOp)
LLM_MODELLED(QkvProjOp)
LLM_MODELLED(LinearOp)
LLM_MODELLED(GatedDeltaNetOp)
LLM_MODELLED(Mamba2ProjOp)
LLM_MODELLED(Mamba2Op)
LLM_MODELLED(OutProjOp)
LLM_MODELLED(RouterOp)
LLM_MODELLED(DispatchOp)
LLM_MODELLED(FfnUpOp)
LLM_MODELLED(FfnDownOp)
LLM_MODELLED(CombineOp)
LLM_MODELLED(LmHeadOp)
#undef LLM_MODELLED

} // namespace shardopt::llm
