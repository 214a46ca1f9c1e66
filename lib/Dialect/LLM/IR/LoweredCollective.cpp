//===- LoweredCollective.cpp - Why a collective is there, its cost --------===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Fields.h"

#include "shardopt/Dialect/LLM/IR/LoweredAttributes.h"
#include "shardopt/Support/Limits.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/TypeUtilities.h"

#include <limits>

using namespace mlir;
using namespace shardopt;
using namespace shardopt::llm;
using cost::CollectiveKind;
using Charge = lowered::Collective::Charge;

//===----------------------------------------------------------------------===//
// Kinds
//===----------------------------------------------------------------------===//

static constexpr CollectiveKind allKinds[] = {
    CollectiveKind::AllReduce, CollectiveKind::AllGather,
    CollectiveKind::ReduceScatter, CollectiveKind::AllToAll,
    CollectiveKind::Send};

std::optional<CollectiveKind> lowered::kindOfCollective(StringRef op) {
  op.consume_back("_v");
  if (op == "recv")
    return CollectiveKind::Send;
  for (CollectiveKind kind : allKinds)
    if (op == cost::spell(kind))
      return kind;
  return std::nullopt;
}

//===----------------------------------------------------------------------===//
// Reading
//===----------------------------------------------------------------------===//

static Charge readCharge(Fields &fields, CollectiveKind kind) {
  Charge charge;
  charge.cause = fields.text("cause", "the name of an op");
  charge.bytes =
      fields.integer("bytes", 0, std::numeric_limits<int64_t>::max());
  charge.microseconds = fields.number("microseconds");
  charge.isCharged = fields.boolean("charged");
  charge.kind = kind;
  if (fields.has("counted_as")) {
    SmallVector<StringRef> names;
    for (CollectiveKind known : allKinds)
      names.push_back(cost::spell(known));
    charge.kind = allKinds[fields.choice("counted_as", names)];
  }
  return charge;
}

FailureOr<lowered::Collective> lowered::Collective::read(Attribute attribute,
                                                         CollectiveKind kind,
                                                         EmitError emitError) {
  std::string what = "'" + attrName.str() + "'";
  Fields fields(attribute, what, emitError);
  Collective collective(kind);
  collective.charges = {readCharge(fields, kind)};
  auto type = fields.get<TypeAttr>("type", "an element type");
  if (type && !type.getValue().isIntOrFloat())
    fields.failField("type", "a type of integers or floats", type);
  else if (type)
    collective.type = type.getValue();
  if (!fields.has("layers"))
    return fields.finish(collective);

  auto layers = fields.get<ArrayAttr>("layers", "an array of dictionaries");
  if (layers && layers.empty())
    fields.failField("layers", "at least one dictionary", layers);
  if (fields.hasFailed())
    return failure();
  collective.charges.clear();
  for (Attribute part : layers) {
    Fields own(part, "'layers' of " + what, emitError);
    Charge &charge = collective.charges.emplace_back(readCharge(own, kind));
    charge.layers = own.integer("count", 1, maxLayers);
    if (own.hasFailed())
      return failure();
  }
  return collective;
}

template <>
FailureOr<std::optional<lowered::Collective>>
lowered::readFrom<lowered::Collective>(Operation *op) {
  Attribute attribute = op->getAttr(Collective::attrName);
  std::optional<CollectiveKind> kind =
      kindOfCollective(op->getName().stripDialect());
  if (!attribute || !kind)
    return std::optional<Collective>();
  FailureOr<Collective> value =
      Collective::read(attribute, *kind, [&] { return op->emitOpError(); });
  if (failed(value))
    return failure();
  return std::optional<Collective>(std::move(*value));
}

//===----------------------------------------------------------------------===//
// Writing
//===----------------------------------------------------------------------===//

lowered::Collective::Collective(Operation *op, CollectiveKind kind)
    : kind(kind), type(getElementTypeOrSelf(op->getOperand(0).getType())) {}

static NamedAttrList writeCharge(Builder &builder, const Charge &charge,
                                 CollectiveKind kind) {
  NamedAttrList fields;
  fields.set("cause", builder.getStringAttr(charge.cause));
  fields.set("bytes", builder.getI64IntegerAttr(charge.bytes));
  fields.set("microseconds", builder.getF64FloatAttr(charge.microseconds));
  fields.set("charged", builder.getBoolAttr(charge.isCharged));
  if (charge.kind != kind)
    fields.set("counted_as", builder.getStringAttr(cost::spell(charge.kind)));
  return fields;
}

DictionaryAttr lowered::Collective::write(MLIRContext *context) const {
  Builder builder(context);
  NamedAttrList fields = writeCharge(builder, charges.front(), kind);
  fields.set("type", TypeAttr::get(type));
  if (charges.size() == 1)
    return fields.getDictionary(context);
  SmallVector<Attribute> layers;
  for (const Charge &charge : charges) {
    NamedAttrList part = writeCharge(builder, charge, kind);
    part.set("count", builder.getI64IntegerAttr(charge.layers));
    layers.push_back(part.getDictionary(context));
  }
  fields.set("layers", builder.getArrayAttr(layers));
  return fields.getDictionary(context);
}

lowered::Collective lowered::Collective::slice(int64_t begin,
                                               int64_t size) const {
  if (charges.size() == 1)
    return *this;
  Collective part = *this;
  part.charges.clear();
  int64_t first = 0;
  for (const Charge &charge : charges) {
    int64_t from = std::max(begin, first);
    first += charge.layers;
    int64_t to = std::min(begin + size, first);
    if (from >= to)
      continue;
    part.charges.push_back(charge);
    part.charges.back().layers = to - from;
  }
  return part;
}
