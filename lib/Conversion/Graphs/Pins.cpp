//===- Pins.cpp - Shardings that a user gives -----------------------------===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Pins.h"
#include "FactorGraph.h"
#include "shardopt/Support/Json.h"
#include "shardopt/Support/Suggest.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/Location.h"

using namespace mlir;
using namespace shardopt;
using namespace shardopt::graphs;

/// What JAX calls a result that is written over an argument.
static constexpr StringLiteral aliasAttrName = "tf.aliasing_output";

std::string graphs::nameOf(Location location) {
  if (auto name = dyn_cast<NameLoc>(location))
    return name.getName().str();
  return {};
}

/// Whether `name` is `pattern`, where `*` stands for anything.
static bool matches(StringRef pattern, StringRef name) {
  auto [head, tail] = pattern.split('*');
  if (!pattern.contains('*'))
    return pattern == name;
  if (!name.consume_front(head))
    return false;
  for (size_t at = 0; at <= name.size(); ++at)
    if (matches(tail, name.drop_front(at)))
      return true;
  return false;
}

namespace {

/// An argument or a result.
struct Pinned {
  std::string name, place;
  RankedTensorType type;
  bool isResult;
  unsigned number;
  std::string by; ///< the pattern that pinned it
};

} // namespace

static std::vector<Pinned> valuesOf(func::FuncOp func) {
  std::vector<Pinned> values;
  for (BlockArgument argument : func.getArguments())
    if (auto type = dyn_cast<RankedTensorType>(argument.getType())) {
      unsigned number = argument.getArgNumber();
      std::string place = "arg" + std::to_string(number);
      std::string name = nameOf(argument.getLoc());
      values.push_back(
          {name.empty() ? place : name, place, type, false, number, ""});
    }
  for (auto [i, each] : llvm::enumerate(func.getResultTypes()))
    if (auto type = dyn_cast<RankedTensorType>(each)) {
      std::string place = "result" + std::to_string(i);
      values.push_back({place, place, type, true, unsigned(i), ""});
    }
  return values;
}

/// The layout that a JSON array says, an element for each dim.
static AxisDims readSharding(const json::Value &sharding, const Mesh &mesh,
                             int64_t rank) {
  AxisDims layout = replicated;
  std::vector<json::Value> dims = sharding.elements();
  if (sharding.isArray() && int64_t(dims.size()) != rank)
    sharding.fail("expected " + std::to_string(rank) +
                  " dims, each null, an axis or an array of axes, found " +
                  std::to_string(dims.size()));
  for (auto [dim, each] : llvm::enumerate(dims)) {
    std::vector<json::Value> names;
    if (each.isArray())
      names = each.elements();
    else if (!each.isNull())
      names.push_back(each);
    for (const json::Value &name : names) {
      std::string wanted = name.string();
      std::string known;
      bool isKnown = false;
      for (auto [i, axis] : llvm::enumerate(mesh.axes())) {
        known += (known.empty() ? "" : ", ") + axis.name;
        if (axis.name != wanted)
          continue;
        isKnown = true;
        if (layout[i] >= 0)
          name.fail("axis '" + wanted + "' shards a second dim");
        layout[i] = int8_t(dim);
      }
      if (!isKnown)
        name.fail("'" + wanted + "' is no axis of the mesh, expected " + known);
    }
  }
  return layout;
}

static void setPin(func::FuncOp func, const Pinned &value,
                   DenseI64ArrayAttr dims) {
  if (value.isResult)
    func.setResultAttr(value.number, shardedAttrName, dims);
  else
    func.setArgAttr(value.number, shardedAttrName, dims);
}

LogicalResult graphs::applyPins(func::FuncOp func, const Mesh &mesh,
                                const std::string &file) {
  ErrorOr<json::Document> document = json::Document::parseFile(file);
  if (!document)
    return func.emitOpError(document.error().message);
  std::vector<Pinned> values = valuesOf(func);
  for (const auto &[pattern, sharding] :
       document->root()["parameters"].members()) {
    bool isUsed = false;
    for (Pinned &value : values) {
      if (!matches(pattern, value.name) && !matches(pattern, value.place))
        continue;
      isUsed = true;
      AxisDims layout = readSharding(sharding, mesh, value.type.getRank());
      SmallVector<int64_t> dims(layout.begin(),
                                layout.begin() + mesh.axes().size());
      auto pin = DenseI64ArrayAttr::get(func.getContext(), dims);
      DictionaryAttr known = value.isResult
                                 ? func.getResultAttrDict(value.number)
                                 : func.getArgAttrDict(value.number);
      auto before = pinOf(known);
      if (!document->failed() && before && *before != layout)
        sharding.fail(
            "pins '" + value.name + "' unlike " +
            (value.by.empty() ? "its attribute" : "'" + value.by + "'") +
            ", expected one sharding of it");
      if (!before)
        setPin(func, value, pin);
      value.by = pattern;
    }
    if (isUsed)
      continue;
    std::vector<std::string> names;
    for (const Pinned &value : values)
      names.push_back(value.name);
    sharding.fail("'" + pattern + "' is no argument or result, " +
                  listKnown(pattern, std::move(names)));
  }
  if (document->failed())
    return func.emitOpError(document->error().message);
  return success();
}

//===----------------------------------------------------------------------===//
// Checks
//===----------------------------------------------------------------------===//

/// That what a caller says of a value can be.
static LogicalResult checkPin(func::FuncOp func, const Mesh &mesh,
                              const Twine &what, Type type,
                              DictionaryAttr attributes) {
  if (!attributes || !attributes.contains(shardedAttrName))
    return success();
  if (attributes.contains(replicatedAttrName))
    return func.emitOpError()
           << what << " has '" << replicatedAttrName << "' and '"
           << shardedAttrName << "', expected one of them";
  auto tensor = dyn_cast<RankedTensorType>(type);
  SmallVector<int64_t> dims;
  auto each = attributes.getAs<DenseI64ArrayAttr>(shardedAttrName);
  if (auto dim = attributes.getAs<IntegerAttr>(shardedAttrName))
    dims.push_back(dim.getInt());
  else if (each)
    dims.append(each.asArrayRef().begin(), each.asArrayRef().end());
  size_t axes = mesh.axes().size();
  if (!tensor || dims.size() != axes || llvm::any_of(dims, [&](int64_t dim) {
        return dim < (each ? -1 : 0) || dim >= tensor.getRank();
      })) {
    InFlightDiagnostic error =
        func.emitOpError() << what << ": '" << shardedAttrName << "' is "
                           << attributes.get(shardedAttrName) << ", expected ";
    return axes == 1 ? error << "a dim of " << type
                     : error << "array<i64: …> with a dim of " << type
                             << ", or -1, for each of " << axes << " axes";
  }
  AxisDims layout = *pinOf(attributes);
  for (auto [dim, size] : llvm::enumerate(tensor.getShape()))
    if (int64_t blocks = mesh.blocks(layout, int(dim)); size % blocks)
      return func.emitOpError()
             << what << ": '" << shardedAttrName << "' is " << dim
             << ", whose size " << size << " is not divided by " << blocks
             << " devices";
  return success();
}

/// A result that is written over an argument has its layout.
static LogicalResult checkAlias(func::FuncOp func, unsigned argument) {
  Attribute alias = func.getArgAttr(argument, aliasAttrName);
  if (!alias)
    return success();
  auto result = dyn_cast<IntegerAttr>(alias);
  if (!result || result.getInt() < 0 || result.getInt() >= func.getNumResults())
    return func.emitOpError("argument ")
           << argument << ": '" << aliasAttrName << "' is " << alias
           << ", expected one of " << func.getNumResults() << " results";
  auto taken = pinOf(func.getArgAttrDict(argument));
  auto made = pinOf(func.getResultAttrDict(unsigned(result.getInt())));
  if (taken && taken == made.value_or(replicated))
    return success();
  return func.emitOpError("argument ")
         << argument << " becomes result " << result.getInt() << " in place ('"
         << aliasAttrName << "'), expected one pin for both: arg" << argument
         << " and result" << result.getInt();
}

LogicalResult graphs::checkPins(func::FuncOp func, const Mesh &mesh) {
  for (auto [i, type] : llvm::enumerate(func.getArgumentTypes()))
    if (failed(checkPin(func, mesh, "argument " + Twine(i), type,
                        func.getArgAttrDict(i))) ||
        failed(checkAlias(func, unsigned(i))))
      return failure();
  for (auto [i, type] : llvm::enumerate(func.getResultTypes()))
    if (failed(checkPin(func, mesh, "result " + Twine(i), type,
                        func.getResultAttrDict(i))))
      return failure();
  return success();
}
