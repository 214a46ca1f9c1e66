//===- DeclaredFactors.cpp - Factors that an op declares ------------------===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Shardy's rule of an op: `#sdy.op_sharding_rule<([ij, k], [k, l])->([ij, l])
// {i=2, j=4, k=8, l=8} reduction={k}>`. A factor is a letter, or one with a
// number, z_1.
//
//===----------------------------------------------------------------------===//

#include "ForeignOp.h"

#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/BuiltinTypes.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSet.h"

using namespace mlir;
using namespace shardopt;
using namespace shardopt::graphs;

static constexpr StringLiteral attrName = "sdy.sharding_rule";

bool graphs::declaresFactors(Operation *op) { return op->hasAttr(attrName); }

namespace {

/// The text of a rule from here on.
class RuleText {
public:
  explicit RuleText(StringRef text) : rest(text) {}

  bool consume(StringRef token) {
    rest = rest.ltrim();
    return rest.consume_front(token);
  }
  /// A name, or nothing.
  StringRef factor() {
    rest = rest.ltrim();
    if (rest.empty() || !llvm::isAlpha(rest.front()))
      return {};
    size_t size = 1;
    if (size < rest.size() && rest[size] == '_') {
      ++size;
      while (size < rest.size() && llvm::isDigit(rest[size]))
        ++size;
    }
    StringRef name = rest.take_front(size);
    rest = rest.drop_front(size);
    return name;
  }
  bool number(int64_t &value) {
    rest = rest.ltrim();
    return !rest.consumeInteger(10, value);
  }

private:
  StringRef rest;
};

/// Names of the factors of each dim of each value.
using Values = SmallVector<SmallVector<SmallVector<StringRef>>>;

struct DeclaredRule {
  Values operands, results;
  llvm::MapVector<StringRef, int64_t> sizes;
  llvm::StringSet<> reduced, replicated;
};

} // namespace

/// `([i, j], [j])`
static bool parseValues(RuleText &text, Values &values) {
  if (!text.consume("("))
    return false;
  if (text.consume(")"))
    return true;
  do {
    auto &dims = values.emplace_back();
    if (!text.consume("["))
      return false;
    if (text.consume("]"))
      continue;
    do {
      auto &names = dims.emplace_back();
      for (StringRef name = text.factor(); !name.empty(); name = text.factor())
        names.push_back(name);
    } while (text.consume(","));
    if (!text.consume("]"))
      return false;
  } while (text.consume(","));
  return text.consume(")");
}

/// `{i, j}`
static bool parseSet(RuleText &text, llvm::StringSet<> &names) {
  if (!text.consume("{"))
    return false;
  do
    names.insert(text.factor());
  while (text.consume(","));
  return text.consume("}");
}

static std::optional<DeclaredRule> parseRule(StringRef data) {
  DeclaredRule rule;
  RuleText text(data);
  if (!text.consume("op_sharding_rule<") || !parseValues(text, rule.operands) ||
      !text.consume("->") || !parseValues(text, rule.results))
    return std::nullopt;
  if (text.consume("{") && !text.consume("}")) {
    do {
      int64_t &size = rule.sizes[text.factor()];
      if (!text.consume("=") || !text.number(size) || size < 1)
        return std::nullopt;
    } while (text.consume(","));
    if (!text.consume("}"))
      return std::nullopt;
  }
  llvm::StringSet<> unused;
  while (!text.consume(">")) {
    if (text.consume("reduction=") ? !parseSet(text, rule.reduced)
        : text.consume("need_replication=") || text.consume("permutation=")
            ? !parseSet(text, rule.replicated)
        : text.consume("blocked_propagation=") ? !parseSet(text, unused)
                                               : !text.consume(", custom"))
      return std::nullopt;
  }
  return rule;
}

/// The dim whose first factor is `name`; -1: none. `isInner` where it stands
/// behind another one, so that its blocks are not those of the dim.
static int placeOf(ArrayRef<SmallVector<StringRef>> dims, StringRef name,
                   bool &isInner) {
  int place = -1;
  for (auto [dim, names] : llvm::enumerate(dims)) {
    if (!names.empty() && names.front() == name)
      place = int(dim);
    else
      isInner |= llvm::is_contained(names, name);
  }
  return place;
}

FailureOr<OpFactors> graphs::declaredFactors(Operation *op) {
  auto attribute = dyn_cast<OpaqueAttr>(op->getAttr(attrName));
  std::optional<DeclaredRule> rule;
  if (attribute)
    rule = parseRule(attribute.getAttrData());
  ForeignOp foreign(op);
  auto fits = [](const Values &values, TypeRange types) {
    return values.size() == types.size() &&
           llvm::all_of(llvm::zip_equal(values, types), [](auto pair) {
             auto tensor = dyn_cast<RankedTensorType>(std::get<1>(pair));
             return std::get<0>(pair).size() ==
                    size_t(tensor ? tensor.getRank() : 0);
           });
  };
  if (!rule || !fits(rule->operands, op->getOperandTypes()) ||
      !fits(rule->results, op->getResultTypes()))
    return op->emitOpError("has ")
           << op->getAttr(attrName) << " in '" << attrName
           << "', expected #sdy.op_sharding_rule<([i, j])->([i, j]) {i=2, "
              "j=4}> with each dim of each value";
  for (const auto &[name, size] : rule->sizes) {
    bool isInner = rule->replicated.contains(name);
    Factor factor;
    factor.size = size;
    factor.isReduced = rule->reduced.contains(name);
    for (const auto &dims : rule->operands)
      factor.operands.push_back(placeOf(dims, name, isInner));
    for (const auto &dims : rule->results)
      factor.results.push_back(placeOf(dims, name, isInner));
    if (!isInner)
      foreign.found.factors.push_back(std::move(factor));
  }
  foreign.found.arithmetic = elementsOf(foreign.result());
  return foreign.finish();
}
