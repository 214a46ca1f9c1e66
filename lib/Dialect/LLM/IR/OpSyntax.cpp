//===- OpSyntax.cpp - Reads and writes operators --------------------------===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "OpSyntax.h"

#include "shardopt/Dialect/LLM/IR/LLMOps.h"

#include "mlir/IR/TypeUtilities.h"

#include <charconv>
#include <string>

using namespace mlir;
using namespace shardopt;
using namespace shardopt::llm;

static constexpr StringLiteral segmentsName = "operandSegmentSizes";

/// Whether attribute `name` is written in front of the operands, or not at all.
static bool isWrittenElsewhere(StringRef name, const OpSyntax &syntax) {
  return name == segmentsName ||
         (syntax.isNamed && (name == "name" || name == "sharding")) ||
         (syntax.hasKind && name == "kind");
}

ParseResult
llm::addAttributes(OpAsmParser &parser, SMLoc loc, const NamedAttrList &written,
                   OperationState &state,
                   llvm::function_ref<bool(StringRef)> isElsewhere) {
  for (NamedAttribute attribute : written) {
    if (isElsewhere(attribute.getName()))
      return parser.emitError(loc)
             << "'" << attribute.getName().getValue()
             << "' is not written among the attributes of '"
             << state.name.getStringRef() << "'";
    state.attributes.push_back(attribute);
  }
  return state.name.verifyInherentAttrs(state.attributes, [&] {
    return parser.emitError(loc) << "'" << state.name.getStringRef() << "' op ";
  });
}

//===----------------------------------------------------------------------===//
// Operands
//===----------------------------------------------------------------------===//

namespace {

/// The word in front of an operand, and how many operands may follow it.
struct OperandWord {
  OperandWord(StringRef text)
      : isOptional(text.consume_back("?")), isVariadic(text.consume_back("*")),
        word(text) {}

  bool isOptional, isVariadic;
  StringRef word; ///< empty for the first, a comma for one without a word
};

using Operands = SmallVector<OpAsmParser::UnresolvedOperand>;

} // namespace

/// Reads what stands at one place.
static ParseResult parseOperands(OpAsmParser &parser, OperandWord at,
                                 Operands &operands) {
  bool isBare = at.word.empty() || at.word == ",";
  if (at.word == ",") {
    if (at.isOptional && failed(parser.parseOptionalComma()))
      return success();
    if (!at.isOptional && parser.parseComma())
      return failure();
  }
  if (isBare)
    return parser.parseOperand(operands.emplace_back());
  if (at.isOptional && failed(parser.parseOptionalKeyword(at.word)))
    return success();
  if ((!at.isOptional && parser.parseKeyword(at.word)) || parser.parseLParen())
    return failure();
  if (at.isVariadic) {
    if (parser.parseOperandList(operands))
      return failure();
  } else if (parser.parseOperand(operands.emplace_back())) {
    return failure();
  }
  return parser.parseRParen();
}

static void printOperands(OpAsmPrinter &printer, OperandWord at,
                          OperandRange operands) {
  if (operands.empty() && !at.isVariadic)
    return;
  if (at.word.empty())
    printer << ' ' << operands;
  else if (at.word == ",")
    printer << ", " << operands;
  else
    printer << ' ' << at.word << '(' << operands << ')';
}

//===----------------------------------------------------------------------===//
// Attributes
//===----------------------------------------------------------------------===//

/// `<0>`, `<none>`, or the name of what the op's dim cuts: `<heads>`.
static Attribute parseDim(OpAsmParser &parser, StringRef op,
                          Span<const cost::DimChoice> choices) {
  std::string spelling;
  int64_t number;
  StringRef word;
  if (parser.parseLess())
    return {};
  SMLoc loc = parser.getCurrentLocation();
  OptionalParseResult isNumber = parser.parseOptionalInteger(number);
  if (isNumber.has_value() && succeeded(*isNumber) &&
      number != int64_t(Dim::None)) // which has a word
    spelling = std::to_string(number);
  else if (!isNumber.has_value() &&
           succeeded(parser.parseOptionalKeyword(&word)))
    spelling = word.str();
  std::optional<Dim> dim = cost::parseDim(spelling, choices);
  if (!dim) {
    parser.emitError(loc, "expected a sharding dim of '")
        << op << "': " << cost::listChoices(choices);
    return {};
  }
  if (parser.parseGreater())
    return {};
  return DimAttr::get(parser.getContext(), *dim);
}

/// `gqa "attention" dim<0>`
static ParseResult parseFront(OpAsmParser &parser, OperationState &state,
                              const OpSyntax &syntax) {
  if (syntax.hasKind) {
    Attribute kind = AttentionKindAttr::parse(parser, {});
    if (!kind)
      return failure();
    state.addAttribute("kind", kind);
  }
  if (!syntax.isNamed)
    return success();
  StringAttr name;
  if (parser.parseAttribute(name, "name", state.attributes))
    return failure();
  if (failed(parser.parseOptionalKeyword("dim")))
    return success();
  Attribute dim = parseDim(parser, state.name.getStringRef(), syntax.choices());
  if (!dim)
    return failure();
  state.addAttribute("sharding", dim);
  return success();
}

static void printFront(OpAsmPrinter &printer, Operation *op,
                       const OpSyntax &syntax) {
  if (syntax.hasKind)
    printer << ' ' << stringifyAttentionKind(cast<AttentionOp>(op).getKind());
  if (!syntax.isNamed)
    return;
  auto shardable = cast<ShardableOpInterface>(op);
  printer << ' ';
  printer.printString(shardable.getShardingName());
  std::optional<Attribute> dim = op->getInherentAttr("sharding");
  if (!dim || !*dim)
    return;
  printer << " dim";
  cast<DimAttr>(*dim).print(printer);
}

static ParseResult parseFacts(OpAsmParser &parser, OperationState &state,
                              const OpSyntax &syntax) {
  NamedAttrList facts;
  SMLoc loc = parser.getCurrentLocation();
  if (parser.parseOptionalAttrDict(facts))
    return failure();
  return addAttributes(parser, loc, facts, state, [&](StringRef name) {
    return isWrittenElsewhere(name, syntax);
  });
}

void llm::printReal(AsmPrinter &printer, const APFloat &value) {
  if (!value.isFinite()) {
    printer.printFloat(value);
    return;
  }
  char buffer[32];
  double number = value.convertToDouble();
  char *end = std::to_chars(buffer, std::end(buffer), number).ptr;
  auto [mantissa, exponent] = StringRef(buffer, end - buffer).split('e');
  printer << mantissa << (mantissa.contains('.') ? "" : ".0");
  if (exponent.empty())
    return;
  exponent.consume_front("+");
  printer << 'e' << (exponent.consume_front("-") ? "-" : "")
          << exponent.ltrim('0');
}

/// An attribute as in a dictionary, but numbers of the usual types without
/// them.
static void printFact(OpAsmPrinter &printer, NamedAttribute fact) {
  printer.printKeywordOrString(fact.getName());
  Attribute value = fact.getValue();
  if (isa<UnitAttr>(value))
    return;
  printer << " = ";
  if (auto real = dyn_cast<FloatAttr>(value);
      real && real.getType().isF64() && real.getValue().isFinite())
    printReal(printer, real.getValue());
  else if (auto integer = dyn_cast<IntegerAttr>(value);
           integer && integer.getType().isInteger(64))
    printer << integer.getInt();
  else
    printer << value;
}

static void printFacts(OpAsmPrinter &printer, Operation *op,
                       const OpSyntax &syntax, DictionaryAttr defaults) {
  SmallVector<NamedAttribute> facts;
  for (NamedAttribute fact : op->getAttrDictionary())
    if (!isWrittenElsewhere(fact.getName(), syntax) &&
        !(defaults && defaults.get(fact.getName()) == fact.getValue()))
      facts.push_back(fact);
  if (facts.empty())
    return;
  printer << " {";
  llvm::interleaveComma(facts, printer,
                        [&](NamedAttribute fact) { printFact(printer, fact); });
  printer << '}';
}

//===----------------------------------------------------------------------===//
// Types
//===----------------------------------------------------------------------===//

/// Makes the types that are not written, from those that are.
static LogicalResult applyRule(const OpSyntax &syntax, OpTypes &types) {
  if (syntax.weightOperand >= 0 && !types.weightElement)
    types.weightElement = types.getElement(types.operands[0]);
  syntax.typeRule(types);
  if (types.failed() || llvm::is_contained(types.results, Type()))
    return failure();
  for (auto [place, type] : llvm::enumerate(types.operands))
    if (types.has(place) && !type)
      return failure();
  return success();
}

/// The types of all operands: each place's, as often as it has operands.
static SmallVector<Type> flatten(const OpTypes &types) {
  SmallVector<Type> flat;
  for (auto [place, type] : llvm::enumerate(types.operands))
    flat.append(types.getSize(place), type);
  return flat;
}

/// `(operands) -> (results)`, behind the first parenthesis.
static ParseResult parseAllTypes(OpAsmParser &parser,
                                 SmallVectorImpl<Type> &operands,
                                 SmallVectorImpl<Type> &results) {
  if (failed(parser.parseOptionalRParen()) &&
      (parser.parseTypeList(operands) || parser.parseRParen()))
    return failure();
  return parser.parseArrowTypeList(results);
}

/// `T, T -> T weights f8E4M3FN`
static ParseResult parseWrittenTypes(OpAsmParser &parser,
                                     const OpSyntax &syntax, OpTypes &types) {
  bool isFirst = true;
  for (unsigned place : syntax.writtenOperands) {
    if (!types.has(place))
      continue;
    if ((!isFirst && parser.parseComma()) ||
        parser.parseType(types.operands[place]))
      return failure();
    isFirst = false;
  }
  if (syntax.writtenResults != 0 &&
      (parser.parseArrow() || parser.parseTypeList(types.results)))
    return failure();
  if (syntax.weightOperand >= 0 &&
      succeeded(parser.parseOptionalKeyword("weights")))
    return parser.parseType(types.weightElement);
  return success();
}

static ParseResult parseTypes(OpAsmParser &parser, OperationState &state,
                              const OpSyntax &syntax, ArrayRef<unsigned> sizes,
                              SmallVectorImpl<Type> &operands) {
  if (parser.parseColon())
    return failure();
  SMLoc loc = parser.getCurrentLocation();
  if (succeeded(parser.parseOptionalLParen())) {
    if (parseAllTypes(parser, operands, state.types))
      return failure();
    return success();
  }
  OpTypes types(parser.getContext(), sizes,
                [&](StringRef name) { return state.attributes.get(name); });
  if (parseWrittenTypes(parser, syntax, types))
    return failure();
  if (syntax.writtenResults != allResults &&
      types.results.size() != syntax.writtenResults)
    return parser.emitError(loc)
           << "expected the types of " << syntax.writtenResults
           << " results, found " << types.results.size();
  if (failed(applyRule(syntax, types)))
    return parser.emitError(loc, "the other types do not follow from these and "
                                 "the attributes: expected all of them, (types "
                                 "of operands) -> (types of results)");
  operands = flatten(types);
  state.addTypes(types.results);
  return success();
}

/// The rule's types from those of `op` that would be written; null where the
/// types of `op` are others.
static std::optional<Type> weightOfRule(Operation *op, const OpSyntax &syntax,
                                        ArrayRef<unsigned> sizes) {
  OpTypes types(op->getContext(), sizes, [&](StringRef name) {
    return op->getInherentAttr(name).value_or(Attribute());
  });
  unsigned next = 0;
  SmallVector<Type> first;
  for (unsigned size : sizes) {
    first.push_back(size == 0 ? Type() : op->getOperand(next).getType());
    next += size;
  }
  for (unsigned place : syntax.writtenOperands)
    types.operands[place] = first[place];
  if (syntax.weightOperand >= 0 && first[syntax.weightOperand])
    types.weightElement = types.getElement(first[syntax.weightOperand]);
  types.results.assign(op->result_type_begin(), op->result_type_end());
  if (syntax.writtenResults < types.results.size())
    types.results.truncate(syntax.writtenResults);
  if (failed(applyRule(syntax, types)) ||
      !llvm::equal(flatten(types), op->getOperandTypes()) ||
      !llvm::equal(types.results, op->getResultTypes()))
    return std::nullopt;
  return types.weightElement;
}

static void printTypes(OpAsmPrinter &printer, Operation *op,
                       const OpSyntax &syntax, ArrayRef<unsigned> sizes) {
  printer << " : ";
  std::optional<Type> weight = weightOfRule(op, syntax, sizes);
  if (!weight) {
    printer.printFunctionalType(op);
    return;
  }
  SmallVector<Type> written;
  for (unsigned place : syntax.writtenOperands) {
    unsigned index = 0;
    for (unsigned before = 0; before < place; ++before)
      index += sizes[before];
    if (sizes[place] != 0)
      written.push_back(op->getOperand(index).getType());
  }
  llvm::interleaveComma(written, printer);
  if (syntax.writtenResults != 0) {
    printer << " -> ";
    unsigned count = std::min(syntax.writtenResults, op->getNumResults());
    llvm::interleaveComma(op->getResults().take_front(count).getTypes(),
                          printer);
  }
  if (*weight && *weight != getElementTypeOrSelf(op->getOperand(0)))
    printer << " weights " << *weight;
}

//===----------------------------------------------------------------------===//
// Ops
//===----------------------------------------------------------------------===//

ParseResult llm::parseOp(OpAsmParser &parser, OperationState &state,
                         const OpSyntax &syntax) {
  if (parseFront(parser, state, syntax))
    return failure();
  SMLoc loc = parser.getCurrentLocation();
  Operands operands;
  SmallVector<unsigned> sizes;
  for (StringRef text : syntax.operands) {
    size_t before = operands.size();
    if (parseOperands(parser, OperandWord(text), operands))
      return failure();
    sizes.push_back(operands.size() - before);
  }
  SmallVector<Type> types;
  if (parseFacts(parser, state, syntax) ||
      parseTypes(parser, state, syntax, sizes, types))
    return failure();
  if (state.name.hasTrait<OpTrait::AttrSizedOperandSegments>()) {
    SmallVector<int32_t> segments(sizes.begin(), sizes.end());
    state.addAttribute(segmentsName,
                       parser.getBuilder().getDenseI32ArrayAttr(segments));
  }
  return parser.resolveOperands(operands, types, loc, state.operands);
}

void llm::printOp(OpAsmPrinter &printer, Operation *op, const OpSyntax &syntax,
                  ArrayRef<unsigned> sizes, DictionaryAttr defaults) {
  printFront(printer, op, syntax);
  unsigned next = 0;
  for (auto [text, size] : llvm::zip_equal(syntax.operands, sizes)) {
    printOperands(printer, OperandWord(text),
                  op->getOperands().slice(next, size));
    next += size;
  }
  printFacts(printer, op, syntax, defaults);
  printTypes(printer, op, syntax, sizes);
}

void llm::nameResults(Operation *op, OpAsmSetValueNameFn setName,
                      ArrayRef<StringRef> more) {
  if (op->getNumResults() == 0)
    return;
  StringRef name = op->getName().stripDialect();
  if (auto attribute = dyn_cast_or_null<StringAttr>(
          op->getInherentAttr("name").value_or(Attribute())))
    name = attribute;
  setName(op->getResult(0), name);
  for (auto [result, word] : llvm::zip(op->getResults().drop_front(), more))
    setName(result, word);
}
