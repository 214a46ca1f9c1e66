//===- ForeignOp.cpp - Ops whose dialect is not loaded --------------------===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ForeignOp.h"

#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Diagnostics.h"
#include "llvm/ADT/StringExtras.h"

using namespace mlir;
using namespace shardopt;
using namespace shardopt::graphs;

/// Integers that an attribute is read of: far more than a tensor has dims.
static constexpr int64_t mostIntegers = 256;

static ArrayRef<int64_t> shapeOf(Type type) {
  auto tensor = dyn_cast<RankedTensorType>(type);
  return tensor ? tensor.getShape() : ArrayRef<int64_t>();
}

double graphs::elementsOf(ArrayRef<int64_t> shape) {
  double count = 1;
  for (int64_t size : shape)
    count *= double(size);
  return count;
}

ForeignOp::ForeignOp(Operation *op) : op(op) {}

ArrayRef<int64_t> ForeignOp::operand(unsigned index) const {
  if (index >= op->getNumOperands())
    return {};
  return shapeOf(op->getOperand(index).getType());
}

ArrayRef<int64_t> ForeignOp::result(unsigned index) const {
  if (index >= op->getNumResults())
    return {};
  return shapeOf(op->getResult(index).getType());
}

bool ForeignOp::want(bool holds, const Twine &wanted) {
  if (!holds && error.empty())
    error = wanted.str();
  return holds;
}

//===----------------------------------------------------------------------===//
// Attributes
//===----------------------------------------------------------------------===//

StringRef ForeignOp::text(StringRef name) const {
  auto opaque = dyn_cast_or_null<OpaqueAttr>(op->getAttr(name));
  return opaque ? opaque.getAttrData() : StringRef();
}

/// The integers behind "member = " in the text of an attribute.
static std::optional<SmallVector<int64_t>> readMember(StringRef text,
                                                      StringRef member) {
  size_t at = 0;
  while ((at = text.find(member, at)) != StringRef::npos) {
    StringRef rest = text.drop_front(at + member.size()).ltrim();
    bool isWord =
        at > 0 && (llvm::isAlnum(text[at - 1]) || text[at - 1] == '_');
    if (isWord || !rest.consume_front("=")) {
      ++at;
      continue;
    }
    rest = rest.ltrim();
    bool isList = rest.consume_front("[");
    rest = rest.substr(0, rest.find_first_of(isList ? "]" : ",>"));
    SmallVector<StringRef> parts;
    rest.split(parts, ',', -1, /*KeepEmpty=*/false);
    SmallVector<int64_t> numbers;
    for (StringRef part : parts)
      if (part.trim().getAsInteger(10, numbers.emplace_back()))
        return std::nullopt;
    return numbers;
  }
  return std::nullopt;
}

std::optional<SmallVector<int64_t>> ForeignOp::read(StringRef name) const {
  auto [attribute, member] = name.split('.');
  if (!member.empty())
    return readMember(text(attribute), member);
  Attribute found = op->getAttr(attribute);
  if (auto array = dyn_cast_or_null<DenseI64ArrayAttr>(found))
    return SmallVector<int64_t>(array.asArrayRef());
  if (auto number = dyn_cast_or_null<IntegerAttr>(found))
    return SmallVector<int64_t>{number.getValue().getSExtValue()};
  if (auto dense = dyn_cast_or_null<DenseIntElementsAttr>(found);
      dense && dense.getNumElements() <= mostIntegers) {
    SmallVector<int64_t> numbers;
    for (const APInt &number : dense)
      numbers.push_back(number.getSExtValue());
    return numbers;
  }
  if (auto flags = dyn_cast_or_null<DenseBoolArrayAttr>(found))
    return SmallVector<int64_t>(flags.asArrayRef());
  if (auto array = dyn_cast_or_null<ArrayAttr>(found)) {
    SmallVector<int64_t> numbers;
    for (Attribute each : array) {
      auto number = dyn_cast<IntegerAttr>(each);
      if (!number)
        return std::nullopt;
      numbers.push_back(number.getValue().getSExtValue());
    }
    return numbers;
  }
  return std::nullopt;
}

bool ForeignOp::has(StringRef name) const { return read(name).has_value(); }

SmallVector<int64_t> ForeignOp::integers(StringRef name) {
  auto numbers = read(name);
  want(numbers.has_value(), "expected integers in '" + name + "'");
  return numbers.value_or(SmallVector<int64_t>());
}

int64_t ForeignOp::integer(StringRef name, int64_t otherwise) {
  auto numbers = read(name);
  if (!numbers || numbers->size() != 1)
    return otherwise;
  return numbers->front();
}

SmallVector<int64_t> ForeignOp::dims(StringRef name, size_t rank) {
  SmallVector<int64_t> numbers = integers(name);
  bool areDims = llvm::all_of(
      numbers, [&](int64_t dim) { return dim >= 0 && dim < int64_t(rank); });
  if (!want(areDims, "expected dims of a tensor of rank " + Twine(rank) +
                         " in '" + name + "'"))
    numbers.clear();
  return numbers;
}

//===----------------------------------------------------------------------===//
// Factors
//===----------------------------------------------------------------------===//

Factor &ForeignOp::add(int64_t size, bool isReduced) {
  Factor factor;
  factor.size = size;
  factor.isReduced = isReduced;
  factor.operands.assign(numOperands(), -1);
  factor.results.assign(numResults(), -1);
  return found.factors.emplace_back(std::move(factor));
}

void ForeignOp::addAlike(int64_t dim) {
  Factor &factor = add(operand(0)[size_t(dim)]);
  factor.operands[0] = int(dim);
  factor.results.assign(numResults(), int(dim));
}

FailureOr<OpFactors> ForeignOp::finish() {
  if (!error.empty())
    return op->emitOpError(error);
  return std::move(found);
}

void graphs::addReshape(ForeignOp &op) {
  ArrayRef<int64_t> from = op.operand(0), to = op.result();
  if (!op.want(elementsOf(from) == elementsOf(to),
               "expected as many elements in the result as in the operand"))
    return;
  op.found.work = Work::View;
  size_t i = 0, j = 0;
  // What is left of the dims at i and j, and whether that is all of them.
  int64_t a = from.empty() ? 1 : from[0], b = to.empty() ? 1 : to[0];
  bool wholeA = true, wholeB = true;
  auto nextA = [&] {
    a = ++i < from.size() ? from[i] : 1;
    wholeA = true;
  };
  auto nextB = [&] {
    b = ++j < to.size() ? to[j] : 1;
    wholeB = true;
  };
  while (i < from.size() && j < to.size()) {
    if (a == 1) {
      nextA();
      continue;
    }
    if (b == 1) {
      nextB();
      continue;
    }
    int64_t common = std::min(a, b);
    if (common == 0 || std::max(a, b) % common != 0) {
      // Dims that share no blocks: on to where both end together.
      double left = double(a), right = double(b);
      while (left != right && i < from.size() && j < to.size()) {
        if (left < right) {
          nextA();
          left *= double(a);
        } else {
          nextB();
          right *= double(b);
        }
      }
      nextA();
      nextB();
      continue;
    }
    if (wholeA && wholeB) {
      Factor &factor = op.add(common);
      factor.operands[0] = int(i);
      factor.results[0] = int(j);
    }
    a /= common;
    b /= common;
    wholeA = wholeB = false;
  }
}
