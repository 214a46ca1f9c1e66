//===- CollectiveNote.cpp - Why a collective is there, and what it costs --===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "shardopt/Dialect/LLM/Transforms/Partition/CollectiveNote.h"

#include "shardopt/Dialect/LLM/IR/LLMDialect.h"
#include "shardopt/Dialect/LLM/IR/LLMOps.h"
#include "shardopt/Dialect/LLM/IR/LoweredAttributes.h"

#include "mlir/Dialect/Shard/IR/ShardOps.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/TypeUtilities.h"
#include "llvm/ADT/TypeSwitch.h"

#include <cmath>

using namespace mlir;
using namespace shardopt;
using namespace shardopt::llm;
using cost::CollectiveKind;

/// The kind that `op` is, as the cost model has it.
static CollectiveKind kindOf(Operation *op) {
  return llvm::TypeSwitch<Operation *, CollectiveKind>(op)
      .Case<shard::AllReduceOp>([](auto) { return CollectiveKind::AllReduce; })
      .Case<shard::AllGatherOp>([](auto) { return CollectiveKind::AllGather; })
      .Case<shard::ReduceScatterOp>(
          [](auto) { return CollectiveKind::ReduceScatter; })
      .Case<shard::AllToAllOp, AllToAllVOp>(
          [](auto) { return CollectiveKind::AllToAll; })
      .Default([](Operation *) { return CollectiveKind::Send; });
}

static std::optional<CollectiveKind> parseKind(StringRef name) {
  for (CollectiveKind kind :
       {CollectiveKind::AllReduce, CollectiveKind::AllGather,
        CollectiveKind::ReduceScatter, CollectiveKind::AllToAll,
        CollectiveKind::Send})
    if (name == cost::spell(kind))
      return kind;
  return std::nullopt;
}

static std::optional<CollectiveNote::Entry> readEntry(DictionaryAttr fields,
                                                      CollectiveKind kind) {
  auto cause = fields.getAs<StringAttr>("cause");
  auto bytes = fields.getAs<IntegerAttr>("bytes");
  auto microseconds = fields.getAs<FloatAttr>("microseconds");
  auto charged = fields.getAs<BoolAttr>("charged");
  if (!cause || !bytes || !microseconds || !charged)
    return std::nullopt;
  CollectiveNote::Entry entry;
  entry.cause = cause.str();
  entry.bytes = double(bytes.getInt());
  entry.seconds = microseconds.getValueAsDouble() / 1e6;
  entry.charged = charged.getValue();
  entry.kind = kind;
  if (auto counted = fields.getAs<StringAttr>("counted_as"))
    entry.kind = parseKind(counted).value_or(kind);
  if (auto layers = fields.getAs<IntegerAttr>("count"))
    entry.layers = layers.getInt();
  return entry;
}

std::optional<CollectiveNote> CollectiveNote::read(Operation *op) {
  auto fields =
      op->getAttrOfType<DictionaryAttr>(lowered::Collective::attrName);
  if (!fields)
    return std::nullopt;
  CollectiveNote note;
  auto layers = fields.getAs<ArrayAttr>("layers");
  SmallVector<Attribute> parts = {fields};
  if (layers)
    parts = llvm::to_vector(layers.getValue());
  for (Attribute part : parts) {
    auto dictionary = dyn_cast<DictionaryAttr>(part);
    std::optional<Entry> entry;
    if (dictionary)
      entry = readEntry(dictionary, kindOf(op));
    if (!entry)
      return std::nullopt;
    note.entries.push_back(std::move(*entry));
  }
  return note;
}

static SmallVector<NamedAttribute>
writeEntry(Builder &builder, const CollectiveNote::Entry &entry,
           CollectiveKind kind) {
  SmallVector<NamedAttribute> fields = {
      {"cause", builder.getStringAttr(entry.cause)},
      {"bytes", builder.getI64IntegerAttr(std::llround(entry.bytes))},
      {"microseconds", builder.getF64FloatAttr(entry.seconds * 1e6)},
      {"charged", builder.getBoolAttr(entry.charged)}};
  if (entry.kind != kind)
    fields.emplace_back(builder.getNamedAttr(
        "counted_as", builder.getStringAttr(cost::spell(entry.kind))));
  return fields;
}

void CollectiveNote::write(Operation *op) const {
  Builder builder(op->getContext());
  CollectiveKind kind = kindOf(op);
  SmallVector<NamedAttribute> fields =
      writeEntry(builder, entries.front(), kind);
  Type type = getElementTypeOrSelf(op->getOperand(0).getType());
  fields.emplace_back(builder.getNamedAttr("type", TypeAttr::get(type)));
  if (entries.size() > 1) {
    SmallVector<Attribute> layers;
    for (const Entry &entry : entries) {
      SmallVector<NamedAttribute> part = writeEntry(builder, entry, kind);
      part.emplace_back(builder.getNamedAttr(
          "count", builder.getI64IntegerAttr(entry.layers)));
      layers.push_back(builder.getDictionaryAttr(part));
    }
    fields.emplace_back(
        builder.getNamedAttr("layers", builder.getArrayAttr(layers)));
  }
  op->setAttr(lowered::Collective::attrName, builder.getDictionaryAttr(fields));
}

CollectiveNote CollectiveNote::slice(int64_t begin, int64_t size) const {
  if (entries.size() == 1)
    return *this;
  CollectiveNote part;
  int64_t first = 0;
  for (const Entry &entry : entries) {
    int64_t from = std::max(begin, first);
    first += entry.layers;
    int64_t to = std::min(begin + size, first);
    if (from >= to)
      continue;
    part.entries.push_back(entry);
    part.entries.back().layers = to - from;
  }
  return part;
}
