//===- ArgumentAttributes.cpp - What arguments and results are ------------===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "shardopt/Dialect/LLM/IR/ArgumentAttributes.h"
#include "Fields.h"

#include "shardopt/Support/Limits.h"

#include "mlir/IR/Builders.h"

using namespace mlir;
using namespace shardopt;
using namespace shardopt::llm;

//===----------------------------------------------------------------------===//
// Roles
//===----------------------------------------------------------------------===//

static constexpr StringRef roleNames[] = {"tokens", "positions", "cache",
                                          "param",  "token_ids", "logits"};

StringRef llm::spell(Role role) { return roleNames[size_t(role)]; }

std::optional<Role> llm::parseRole(StringRef name) {
  const StringRef *place = llvm::find(roleNames, name);
  if (place == std::end(roleNames))
    return std::nullopt;
  return Role(place - std::begin(roleNames));
}

std::vector<std::string> llm::listRoles() {
  return {std::begin(roleNames), std::end(roleNames)};
}

std::optional<Role> llm::getRole(DictionaryAttr attributes) {
  auto role = attributes ? attributes.getAs<StringAttr>(roleAttrName) : nullptr;
  return role ? parseRole(role.getValue()) : std::nullopt;
}

NamedAttribute llm::roleAttribute(MLIRContext *context, Role role) {
  return {StringAttr::get(context, roleAttrName),
          StringAttr::get(context, spell(role))};
}

//===----------------------------------------------------------------------===//
// Sources
//===----------------------------------------------------------------------===//

static FailureOr<SourcePart> readPart(Attribute attribute,
                                      const std::string &what,
                                      lowered::EmitError emitError) {
  static constexpr const char *name = "the name of a tensor";
  Fields fields(attribute, what, emitError);
  SourcePart part;
  part.pattern = fields.text("pattern", name);
  part.size = fields.integer("size", 1, maxDimSize, /*otherwise=*/0);
  part.offset = fields.integer("offset", 0, maxDimSize, /*otherwise=*/0);
  if (part.offset != 0 && part.size == 0)
    fields.failField("size", "there with an 'offset'", nullptr);
  part.isTransposed = fields.flag("transposed");
  part.isInterleaved = fields.flag("deinterleave");
  part.scales = fields.text("scales", name, /*otherwise=*/"");
  if (fields.has("factor")) {
    part.factor = fields.number("factor");
    if (part.factor == 0)
      fields.failField("factor", "a positive number",
                       cast<DictionaryAttr>(attribute).get("factor"));
  }
  if (fields.has("shift"))
    part.shift = fields.number("shift");
  if (fields.has("block")) {
    part.block = fields.integers("block");
    bool isPair = part.block.size() == 2 && part.block[0] > 0 &&
                  part.block[0] <= maxDimSize && part.block[1] > 0 &&
                  part.block[1] <= maxDimSize;
    if (!isPair)
      fields.failField("block", "two positive 64-bit integers",
                       cast<DictionaryAttr>(attribute).get("block"));
  }
  return fields.finish(part);
}

FailureOr<Source> Source::read(Attribute attribute, StringRef what,
                               int64_t rank, lowered::EmitError emitError) {
  Fields fields(attribute, what, emitError);
  auto parts = fields.get<ArrayAttr>("parts", "a list of at least one part");
  if (!parts)
    return failure();
  if (parts.empty()) {
    fields.failField("parts", "a list of at least one part", parts);
    return failure();
  }
  Source source;
  for (auto [index, part] : llvm::enumerate(parts)) {
    FailureOr<SourcePart> read = readPart(
        part, ("part " + Twine(index) + " of " + what).str(), emitError);
    if (failed(read))
      return failure();
    source.parts.push_back(std::move(*read));
  }
  if (fields.has("axis") || parts.size() > 1)
    source.axis = fields.integer("axis", 0, rank - 1);
  source.groups = fields.integer("groups", 1, maxDimSize, /*otherwise=*/1);
  if (source.groups > 1 &&
      llvm::any_of(source.parts, [&](const SourcePart &part) {
        return part.size == 0 || part.size % source.groups != 0;
      }))
    fields.failField("groups", "a divisor of every part's size",
                     cast<DictionaryAttr>(attribute).get("groups"));
  return fields.finish(source);
}

DictionaryAttr Source::write(MLIRContext *context) const {
  Builder builder(context);
  SmallVector<Attribute> list;
  for (const SourcePart &part : parts) {
    NamedAttrList fields;
    fields.set("pattern", builder.getStringAttr(part.pattern));
    if (part.isTransposed)
      fields.set("transposed", builder.getUnitAttr());
    if (part.isInterleaved)
      fields.set("deinterleave", builder.getUnitAttr());
    if (part.size > 0)
      fields.set("size", builder.getI64IntegerAttr(part.size));
    if (part.offset > 0)
      fields.set("offset", builder.getI64IntegerAttr(part.offset));
    if (!part.scales.empty())
      fields.set("scales", builder.getStringAttr(part.scales));
    if (!part.block.empty())
      fields.set("block", builder.getDenseI64ArrayAttr(part.block));
    if (part.factor != 1)
      fields.set("factor", builder.getF64FloatAttr(part.factor));
    if (part.shift != 0)
      fields.set("shift", builder.getF64FloatAttr(part.shift));
    list.push_back(fields.getDictionary(context));
  }
  NamedAttrList fields;
  fields.set("parts", builder.getArrayAttr(list));
  if (parts.size() > 1 || axis != 0)
    fields.set("axis", builder.getI64IntegerAttr(axis));
  if (groups > 1)
    fields.set("groups", builder.getI64IntegerAttr(groups));
  return fields.getDictionary(context);
}
