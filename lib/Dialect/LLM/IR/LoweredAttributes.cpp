//===- LoweredAttributes.cpp - What a lowered program says ----------------===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "shardopt/Dialect/LLM/IR/LoweredAttributes.h"
#include "Fields.h"

#include "shardopt/Model/Strategy.h"
#include "shardopt/Support/Limits.h"

#include "mlir/IR/Builders.h"

using namespace mlir;
using namespace shardopt;
using namespace shardopt::llm;
using cost::Layout;

//===----------------------------------------------------------------------===//
// shardopt.value
//===----------------------------------------------------------------------===//

static constexpr StringRef layoutNames[] = {"R",   "T",   "H",  "P",
                                            "T.R", "T.H", "T.P"};
static constexpr StringRef rowNames[] = {"tokens", "prompts", "experts",
                                         "positions"};

FailureOr<lowered::Value> lowered::Value::read(Attribute attribute,
                                               EmitError emitError) {
  Fields fields(attribute, "'" + attrName.str() + "'", emitError);
  Value value;
  value.op = fields.text("op", "the name of an op");
  value.layout = Layout(fields.choice("layout", layoutNames));
  if (fields.has("rows"))
    value.rows = rowNames[fields.choice("rows", rowNames)].str();
  value.order = fields.text("order", "an order of features", "");
  if (fields.has("columns") || value.layout == Layout::H ||
      value.layout == Layout::TH) {
    value.columns = fields.get<ArrayAttr>("columns", "lists of runs");
    if (value.columns &&
        failed(readRuns(value.columns, "'columns' of '" + attrName.str() + "'",
                        maxDimSize, emitError)))
      return failure();
  }
  return fields.finish(value);
}

DictionaryAttr lowered::Value::write(MLIRContext *context) const {
  Builder builder(context);
  NamedAttrList fields;
  fields.set("op", builder.getStringAttr(op));
  fields.set("layout", builder.getStringAttr(layoutNames[size_t(layout)]));
  if (!rows.empty())
    fields.set("rows", builder.getStringAttr(rows));
  if (!order.empty())
    fields.set("order", builder.getStringAttr(order));
  if (columns)
    fields.set("columns", columns);
  return fields.getDictionary(context);
}

//===----------------------------------------------------------------------===//
// shardopt.stage
//===----------------------------------------------------------------------===//

FailureOr<lowered::Stage> lowered::Stage::read(Attribute attribute,
                                               EmitError emitError) {
  Fields fields(attribute, "'" + attrName.str() + "'", emitError);
  Stage stage;
  stage.count = fields.integer("count", 1, maxDegree);
  stage.index = fields.integer("index", 0, stage.count - 1);
  return fields.finish(stage);
}

DictionaryAttr lowered::Stage::write(MLIRContext *context) const {
  Builder builder(context);
  return builder.getDictionaryAttr(
      {builder.getNamedAttr("index", builder.getI64IntegerAttr(index)),
       builder.getNamedAttr("count", builder.getI64IntegerAttr(count))});
}

//===----------------------------------------------------------------------===//
// shardopt.sites
//===----------------------------------------------------------------------===//

FailureOr<lowered::Site> lowered::Site::read(Attribute attribute,
                                             EmitError emitError) {
  Fields fields(attribute, "a site of '" + attrName.str() + "'", emitError);
  Site site;
  if (fields.has("keep")) {
    FailureOr<Value> kept = Value::read(
        fields.get<DictionaryAttr>("keep", "a dictionary"), emitError);
    if (failed(kept))
      return failure();
    site.keep = std::move(*kept);
    return fields.finish(site);
  }
  site.op = fields.text("op", "the name of a collective");
  site.axes = fields.integers("axes");
  if (fields.has("collective")) {
    std::optional<cost::CollectiveKind> kind = kindOfCollective(site.op);
    if (!kind) {
      fields.failField("op", "the name of a collective",
                       fields.get<StringAttr>("op", "a string"));
      return failure();
    }
    FailureOr<Collective> collective = Collective::read(
        fields.get<DictionaryAttr>("collective", "a dictionary"), *kind,
        emitError);
    if (failed(collective))
      return failure();
    site.collective = std::move(*collective);
  }
  return fields.finish(site);
}

DictionaryAttr lowered::Site::write(MLIRContext *context) const {
  Builder builder(context);
  NamedAttrList fields;
  if (keep) {
    fields.set("keep", keep->write(context));
    return fields.getDictionary(context);
  }
  fields.set("op", builder.getStringAttr(op));
  fields.set("axes", builder.getDenseI64ArrayAttr(axes));
  if (collective) {
    fields.set("collective", collective->write(context));
    fields.set("name",
               builder.getStringAttr(collective->charges.front().cause));
  }
  return fields.getDictionary(context);
}
