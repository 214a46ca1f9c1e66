//===- Import.cpp - From a Hugging Face config to the llm dialect ---------===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "shardopt/Target/HuggingFace/Import.h"

#include "ElementTypes.h"
#include "ModelBuilder.h"

#include "shardopt/Dialect/LLM/IR/ArgumentAttributes.h"
#include "shardopt/Dialect/LLM/IR/LLMOps.h"
#include "shardopt/Dialect/LLM/IR/PlannedOnly.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/Support/Path.h"

using namespace mlir;
using namespace shardopt;
using namespace shardopt::hf;

ModelBuilder::ModelBuilder(OpBuilder &builder, Location loc,
                           const ModelConfig &config,
                           const ImportOptions &options)
    : builder(loc, builder), config(config), options(options),
      types(builder.getContext(), config, options),
      sequence(options.phase == llm::Phase::Prefill ? options.context : 1) {}

//===----------------------------------------------------------------------===//
// Types and names
//===----------------------------------------------------------------------===//

Type ModelBuilder::rows(int64_t columns) const {
  return RankedTensorType::get({ShapedType::kDynamic, columns},
                               types.activations());
}

RankedTensorType ModelBuilder::logitsType() const {
  return cast<RankedTensorType>(rows(config.vocab));
}

RankedTensorType ModelBuilder::indicesType() const {
  return RankedTensorType::get({ShapedType::kDynamic},
                               IntegerType::get(builder.getContext(), 32));
}

std::string ModelBuilder::opName(StringRef name) const {
  return (stack ? stack->opPrefix : "") + name.str();
}

/// `type` with the layers of a stack in front.
static Type stacked(Type type, int64_t layers) {
  auto tensor = cast<RankedTensorType>(type);
  SmallVector<int64_t> shape(tensor.getShape());
  shape.insert(shape.begin(), layers);
  return RankedTensorType::get(shape, tensor.getElementType());
}

//===----------------------------------------------------------------------===//
// Layers
//===----------------------------------------------------------------------===//

static StringRef spell(LayerRope rope) {
  switch (rope) {
  case LayerRope::Global:
    return "global";
  case LayerRope::Local:
    return "local";
  case LayerRope::None:
    return "nope";
  }
  llvm_unreachable("unknown rotary embedding of a layer");
}

/// What tells the kind of `layer` from those of the other layers.
static std::string kindOf(const LayerConfig &layer, const ModelConfig &config) {
  SmallVector<StringRef> words;
  auto differs = [&](auto member) {
    return llvm::any_of(config.layers, [&](const LayerConfig &other) {
      return other.*member != layer.*member;
    });
  };
  if (layer.network &&
      (differs(&LayerConfig::experts) || differs(&LayerConfig::network)))
    words.push_back(layer.experts ? "moe" : "dense");
  if (layer.mixer != Mixer::None && differs(&LayerConfig::mixer))
    words.push_back(layer.mixer == Mixer::DeltaNet ? "linear"
                    : layer.mixer == Mixer::Mamba2 ? "mamba"
                                                   : "full");
  if (differs(&LayerConfig::rope))
    words.push_back(spell(layer.rope));
  return llvm::join(words, ".");
}

/// The runs of adjacent layers of one kind.
static SmallVector<Stack> findStacks(const ModelConfig &config) {
  SmallVector<Stack> stacks;
  llvm::StringMap<int64_t> runs;
  for (auto [number, layer] : llvm::enumerate(config.layers)) {
    std::string kind = kindOf(layer, config);
    if (stacks.empty() || stacks.back().opPrefix != kind) {
      stacks.push_back({layer.experts,
                        layer.mixer,
                        layer.rope,
                        layer.network,
                        {},
                        kind,
                        kind});
      ++runs[kind];
    }
    stacks.back().layers.push_back(number);
  }
  if (stacks.size() == 1)
    return stacks;
  llvm::StringMap<int64_t> next;
  for (Stack &stack : stacks) {
    if (runs[stack.opPrefix] > 1)
      stack.paramPrefix += std::to_string(next[stack.opPrefix]++);
    stack.opPrefix += '.';
    stack.paramPrefix += '.';
  }
  return stacks;
}

Value ModelBuilder::normWeight(StringRef name, int64_t size, StringRef tensor) {
  HubTensor part;
  part.pattern = tensor.str();
  part.shift = config.normShift;
  return vector(name, size, part);
}

ResultRange ModelBuilder::norm(StringRef name, Value input, Value residual,
                               StringRef hubName) {
  std::string tensor = ofLayer(hubName);
  Type sum = residual ? residual.getType() : Type();
  APFloat epsilon(config.epsilon);
  Value weight =
      normWeight((name + ".weight").str(), config.hidden, tensor + ".weight");
  if (!config.layerNorm)
    return llm::RmsNormOp::create(builder, input.getType(), sum, input,
                                  residual, weight, /*norm_first=*/false,
                                  epsilon, opName(name), llm::DimAttr())
        ->getResults();
  Value bias;
  if (config.normBias)
    bias = vector((name + ".bias").str(), {config.hidden},
                  HubTensor{tensor + ".bias"});
  return llm::LayerNormOp::create(builder, input.getType(), sum, input,
                                  residual, weight, bias, epsilon, opName(name),
                                  llm::DimAttr())
      ->getResults();
}

Value ModelBuilder::addNorm(StringRef name, Value input, Value residual,
                            StringRef hubName) {
  Value weight = normWeight((name + ".weight").str(), config.hidden,
                            ofLayer(hubName) + ".weight");
  return llm::RmsNormOp::create(builder, input.getType(), /*sum=*/Type(), input,
                                residual, weight, /*norm_first=*/true,
                                APFloat(config.epsilon), opName(name),
                                llm::DimAttr())
      .getResult();
}

Value ModelBuilder::update(Value input) {
  return stack->experts ? expertNetwork(input) : denseNetwork(input);
}

Value ModelBuilder::layerOfNormsBehind(Value residual, Value positions,
                                       SmallVectorImpl<Value> &caches) {
  const HubNames &names = config.names;
  Value attended = attention(residual, positions, caches);
  residual = addNorm("attn_norm", attended, residual, names.attentionPostNorm);
  return addNorm("ffn_norm", update(residual), residual, names.networkPostNorm);
}

Value ModelBuilder::parallelLayer(Value residual, Value positions,
                                  SmallVectorImpl<Value> &caches) {
  Value normed =
      norm("attn_norm", residual, Value(), config.names.attentionNorm)[0];
  Value attended = attention(normed, positions, caches);
  Value sum =
      llm::AddOp::create(builder, residual.getType(), residual, attended);
  return llm::AddOp::create(builder, residual.getType(), sum, update(normed));
}

Value ModelBuilder::layerOfNorms(Value residual, Value positions,
                                 SmallVectorImpl<Value> &caches) {
  const HubNames &names = config.names;
  Value normed = norm("attn_norm", residual, Value(), names.attentionNorm)[0];
  Value attended = attention(normed, positions, caches);
  if (!names.attentionPostNorm.empty())
    attended =
        norm("attn_post_norm", attended, Value(), names.attentionPostNorm)[0];
  ResultRange ffnNorm = norm("ffn_norm", attended, residual, names.networkNorm);
  Value added = update(ffnNorm[0]);
  if (!names.networkPostNorm.empty())
    added = norm("ffn_post_norm", added, Value(), names.networkPostNorm)[0];
  return llm::AddOp::create(builder, residual.getType(), ffnNorm[1], added);
}

Value ModelBuilder::layerOfOne(Value residual, Value positions,
                               SmallVectorImpl<Value> &caches) {
  const HubNames &names = config.names;
  Value made;
  if (stack->network)
    made = update(norm("ffn_norm", residual, Value(), names.networkNorm)[0]);
  else
    made =
        attention(norm("attn_norm", residual, Value(), names.attentionNorm)[0],
                  positions, caches);
  return llm::AddOp::create(builder, residual.getType(), residual, made);
}

void ModelBuilder::layer(Block *body) {
  Value residual = body->getArgument(0);
  Value positions = body->getArguments().back();
  SmallVector<Value> caches(body->getArguments().drop_front().drop_back());
  bool isOne = stack->mixer == Mixer::None || !stack->network;
  Value left = isOne ? layerOfOne(residual, positions, caches)
               : config.parallelBlock
                   ? parallelLayer(residual, positions, caches)
               : config.names.attentionNorm.empty()
                   ? layerOfNormsBehind(residual, positions, caches)
                   : layerOfNorms(residual, positions, caches);
  SmallVector<Value> yielded = {left};
  yielded.append(caches);
  llm::YieldOp::create(builder, yielded);
}

Value ModelBuilder::repeat(const Stack &ofLayers, Value residual,
                           Value positions, ValueRange caches,
                           SmallVectorImpl<Value> &newCaches) {
  int64_t count = ofLayers.layers.size();
  SmallVector<int64_t> windows;
  for (int64_t number : ofLayers.layers)
    windows.push_back(config.layers[number].window);
  DenseI64ArrayAttr windowsAttr;
  if (llvm::any_of(windows, [](int64_t window) { return window != 0; }))
    windowsAttr = builder.getDenseI64ArrayAttr(windows);
  auto op = llm::RepeatOp::create(
      builder, residual.getType(), caches.getTypes(),
      builder.getI64IntegerAttr(count), residual, caches, positions,
      builder.getDenseI64ArrayAttr(ofLayers.layers), windowsAttr);

  SmallVector<Type> arguments = {residual.getType()};
  arguments.append(layerCaches(ofLayers));
  arguments.push_back(positions.getType());
  SmallVector<Location> locations(arguments.size(), builder.getLoc());
  OpBuilder::InsertionGuard guard(builder);
  stack = &ofLayers;
  layer(builder.createBlock(&op.getBody(), {}, arguments, locations));
  stack = nullptr;
  newCaches.append(op.getStacks().begin(), op.getStacks().end());
  return op.getResult();
}

//===----------------------------------------------------------------------===//
// The program
//===----------------------------------------------------------------------===//

void ModelBuilder::build(Block *entry, ArrayRef<Stack> stacks) {
  builder.setInsertionPointToStart(entry);
  std::string hubModel(config.names.model);
  Value tokens = entry->getArgument(0), positions = entry->getArgument(1);
  Value table =
      matrix("embed.weight", {config.vocab, config.hidden}, WeightClass::Plain,
             HubTensor{hubModel + "." + std::string(config.names.embedding) +
                       ".weight"});
  Value residual = llm::EmbeddingOp::create(
      builder, rows(config.hidden), tokens, table,
      /*offset=*/Value(), APFloat(config.embeddingScale), opName("embed"),
      llm::DimAttr());

  SmallVector<Value> caches;
  size_t first = 2;
  for (const Stack &stack : stacks) {
    size_t count = layerCaches(stack).size();
    ValueRange slice = entry->getArguments().slice(first, count);
    residual = repeat(stack, residual, positions, slice, caches);
    first += count;
  }

  std::string finalNorm = hubModel + "." + std::string(config.names.finalNorm);
  Value norm = normWeight("lm_head.norm", config.hidden, finalNorm + ".weight");
  Value normBias;
  if (config.normBias)
    normBias = vector("lm_head.norm_bias", {config.hidden},
                      HubTensor{finalNorm + ".bias"});
  Value head = table;
  if (!config.tiedEmbeddings)
    head = matrix(
        "lm_head.weight", {config.hidden, config.vocab}, WeightClass::Plain,
        HubTensor{std::string(config.names.head) + ".weight", config.vocab,
                  /*transposed=*/true});
  Value headBias;
  if (config.headBias)
    headBias = vector("lm_head.bias", {config.vocab},
                      HubTensor{std::string(config.names.head) + ".bias"});
  auto lmHead = llm::LmHeadOp::create(
      builder, indicesType(), options.logits ? logitsType() : Type(), residual,
      norm, head, normBias, headBias, config.layerNorm && !config.normBias,
      APFloat(config.epsilon), sequence, config.tiedEmbeddings,
      APFloat(config.logitScale),
      config.logitCap == 0 ? FloatAttr()
                           : builder.getF64FloatAttr(config.logitCap),
      opName("lm_head"), llm::DimAttr());
  SmallVector<Value> results(lmHead->getResults());
  results.append(caches);
  func::ReturnOp::create(builder, results);
}

/// An attribute dictionary with the role of an argument or result.
static DictionaryAttr describe(Builder &builder, llm::Role role) {
  return builder.getDictionaryAttr(
      llm::roleAttribute(builder.getContext(), role));
}

OwningOpRef<ModuleOp> shardopt::hf::importModel(MLIRContext *context,
                                                const ModelConfig &config,
                                                const ImportOptions &options) {
  context->loadDialect<func::FuncDialect, llm::LLMDialect>();
  OpBuilder builder(context);
  Location loc = builder.getUnknownLoc();
  OwningOpRef<ModuleOp> module = ModuleOp::create(loc);
  (*module)->setAttr(llm::modelAttrName, builder.getStringAttr(options.model));
  (*module)->setAttr(llm::workloadAttrName,
                     llm::WorkloadAttr::get(context, options.phase,
                                            options.context, options.requests));

  if (!config.architecture.empty())
    (*module)->setAttr(llm::architectureAttrName,
                       builder.getStringAttr(config.architecture));
  if (auto storage = ElementTypes(context, config, options).storage())
    (*module)->setAttr(llm::quantizationAttrName,
                       builder.getStringAttr(cost::spell(*storage)));
  if (!config.plannedOnly.empty())
    (*module)->setAttr(llm::plannedOnlyAttrName,
                       builder.getStringAttr(config.plannedOnly));

  ModelBuilder model(builder, loc, config, options);
  SmallVector<Stack> stacks = findStacks(config);
  SmallVector<Type> arguments = {model.indicesType(), model.indicesType()};
  SmallVector<Attribute> argumentRoles = {
      describe(builder, llm::Role::Tokens),
      describe(builder, llm::Role::Positions)};
  SmallVector<Type> results = {model.indicesType()};
  SmallVector<Attribute> resultRoles = {describe(builder, llm::Role::TokenIds)};
  if (options.logits) {
    results.push_back(model.logitsType());
    resultRoles.push_back(describe(builder, llm::Role::Logits));
  }
  for (const Stack &stack : stacks)
    for (Type cache : model.layerCaches(stack)) {
      Type type = stacked(cache, stack.layers.size());
      arguments.push_back(type);
      argumentRoles.push_back(describe(builder, llm::Role::Cache));
      results.push_back(type);
      resultRoles.push_back(describe(builder, llm::Role::Cache));
    }

  builder.setInsertionPointToEnd(module->getBody());
  auto function =
      func::FuncOp::create(builder, loc, cost::spell(options.phase),
                           builder.getFunctionType(arguments, results));
  function.setArgAttrsAttr(builder.getArrayAttr(argumentRoles));
  function.setResAttrsAttr(builder.getArrayAttr(resultRoles));
  model.build(function.addEntryBlock(), stacks);
  return module;
}

std::string shardopt::hf::modelName(const std::string &path) {
  StringRef stem = llvm::sys::path::stem(path);
  if (stem == "config") {
    StringRef folder =
        llvm::sys::path::filename(llvm::sys::path::parent_path(path));
    return (folder.empty() ? stem : folder).str();
  }
  stem.consume_back("_config");
  return stem.str();
}
