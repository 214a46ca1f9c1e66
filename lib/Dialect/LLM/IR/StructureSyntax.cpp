//===- StructureSyntax.cpp - How params and layers are written ------------===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
//   %w = llm.param @qkv_proj.weight : tensor<8x12xbf16> from dim 1 [
//       8 of "model.layers.{layer}.self_attn.q_proj.weight" transposed,
//       …]
//   %layers:3 = llm.repeat 4 layers<0-3> windows<128, 0, ...>
//       init(%x = %embed : tensor<?x8xbf16>)
//       caches(%k = %keys : tensor<4x?x?x2x4xbf16>, …)
//       invariants(%p = %positions : tensor<?xi32>) { … }
//
//===----------------------------------------------------------------------===//

#include "StructureSyntax.h"

#include "OpSyntax.h"
#include "shardopt/Dialect/LLM/IR/LLMOps.h"

using namespace mlir;
using namespace shardopt;
using namespace shardopt::llm;

//===----------------------------------------------------------------------===//
// Parts of a source
//===----------------------------------------------------------------------===//

namespace {

/// A part, which its text says in whole.
struct Part {
  StringAttr pattern, scales;
  IntegerAttr size;
  DenseI64ArrayAttr block;
  bool isTransposed = false, isDeinterleaved = false;
};

} // namespace

/// Null where the dictionary says what the text of a part cannot.
static std::optional<Part> readPart(Attribute attribute) {
  auto fields = dyn_cast<DictionaryAttr>(attribute);
  if (!fields)
    return std::nullopt;
  Part part;
  for (NamedAttribute field : fields) {
    StringRef name = field.getName();
    Attribute value = field.getValue();
    bool isUnit = isa<UnitAttr>(value), isKnown = false;
    if (name == "pattern")
      isKnown = bool(part.pattern = dyn_cast<StringAttr>(value));
    else if (name == "scales")
      isKnown = bool(part.scales = dyn_cast<StringAttr>(value));
    else if (name == "transposed")
      isKnown = part.isTransposed = isUnit;
    else if (name == "deinterleave")
      isKnown = part.isDeinterleaved = isUnit;
    else if (name == "size")
      isKnown = (part.size = dyn_cast<IntegerAttr>(value)) &&
                part.size.getType().isInteger(64);
    else if (name == "block")
      isKnown = (part.block = dyn_cast<DenseI64ArrayAttr>(value)) &&
                part.block.size() == 2 && part.block[0] >= 0 &&
                part.block[1] >= 0;
    if (!isKnown)
      return std::nullopt;
  }
  if (!part.pattern ||
      part.pattern.getType() != NoneType::get(fields.getContext()) ||
      (part.scales && part.scales.getType() != part.pattern.getType()))
    return std::nullopt;
  return part;
}

static void printPart(OpAsmPrinter &printer, const Part &part) {
  if (part.size)
    printer << part.size.getInt() << " of ";
  printer.printString(part.pattern);
  if (part.isTransposed)
    printer << " transposed";
  if (part.isDeinterleaved)
    printer << " deinterleaved";
  if (part.scales) {
    printer << " scales ";
    printer.printString(part.scales);
  }
  if (part.block)
    printer << " block " << part.block[0] << 'x' << part.block[1];
}

static ParseResult parsePart(OpAsmParser &parser, Attribute &part) {
  Builder &builder = parser.getBuilder();
  NamedAttrList fields;
  int64_t size;
  OptionalParseResult hasSize = parser.parseOptionalInteger(size);
  if (hasSize.has_value()) {
    if (failed(*hasSize) || parser.parseKeyword("of"))
      return failure();
    fields.set("size", builder.getI64IntegerAttr(size));
  }
  std::string text;
  if (parser.parseString(&text))
    return failure();
  fields.set("pattern", builder.getStringAttr(text));
  if (succeeded(parser.parseOptionalKeyword("transposed")))
    fields.set("transposed", builder.getUnitAttr());
  if (succeeded(parser.parseOptionalKeyword("deinterleaved")))
    fields.set("deinterleave", builder.getUnitAttr());
  if (succeeded(parser.parseOptionalKeyword("scales"))) {
    if (parser.parseString(&text))
      return failure();
    fields.set("scales", builder.getStringAttr(text));
  }
  if (succeeded(parser.parseOptionalKeyword("block"))) {
    SmallVector<int64_t> sizes;
    SMLoc loc = parser.getCurrentLocation();
    if (parser.parseDimensionList(sizes, /*allowDynamic=*/false,
                                  /*withTrailingX=*/false))
      return failure();
    if (sizes.size() != 2)
      return parser.emitError(loc, "expected two sizes of a block, found ")
             << sizes.size();
    fields.set("block", builder.getDenseI64ArrayAttr(sizes));
  }
  part = fields.getDictionary(parser.getContext());
  return success();
}

//===----------------------------------------------------------------------===//
// Sources
//===----------------------------------------------------------------------===//

ParseResult llm::parseSource(OpAsmParser &parser, DictionaryAttr &source) {
  Builder &builder = parser.getBuilder();
  if (succeeded(parser.parseOptionalKeyword("dict")))
    return parser.parseAttribute(source);
  NamedAttrList fields;
  SmallVector<Attribute> parts;
  auto parseNext = [&] { return parsePart(parser, parts.emplace_back()); };
  if (succeeded(parser.parseOptionalKeyword("dim"))) {
    int64_t axis;
    if (parser.parseInteger(axis) ||
        parser.parseCommaSeparatedList(AsmParser::Delimiter::Square, parseNext))
      return failure();
    fields.set("axis", builder.getI64IntegerAttr(axis));
  } else if (parseNext()) {
    return failure();
  }
  fields.set("parts", builder.getArrayAttr(parts));
  source = fields.getDictionary(parser.getContext());
  return success();
}

/// The parts of `source`; none where its text could not say all of it.
static SmallVector<Part> readParts(DictionaryAttr source) {
  auto list = source.getAs<ArrayAttr>("parts");
  auto axis = source.getAs<IntegerAttr>("axis");
  bool hasAxis = axis && axis.getType().isInteger(64);
  if (!list || source.size() != (hasAxis ? 2 : 1) ||
      (!hasAxis && list.size() != 1))
    return {};
  SmallVector<Part> parts;
  for (Attribute attribute : list) {
    std::optional<Part> part = readPart(attribute);
    if (!part)
      return {};
    parts.push_back(*part);
  }
  return parts;
}

void llm::printSource(OpAsmPrinter &printer, Operation *,
                      DictionaryAttr source) {
  SmallVector<Part> parts = readParts(source);
  if (parts.empty()) {
    printer << "dict " << source;
    return;
  }
  auto axis = source.getAs<IntegerAttr>("axis");
  if (!axis) {
    printPart(printer, parts.front());
    return;
  }
  printer << "dim " << axis.getInt() << " [";
  for (int level = 0; level < 2; ++level)
    printer.increaseIndent();
  for (const Part &part : parts) {
    printer.printNewline();
    printPart(printer, part);
    printer << (&part == &parts.back() ? "]" : ",");
  }
  for (int level = 0; level < 2; ++level)
    printer.decreaseIndent();
}

void ParamOp::getAsmResultNames(OpAsmSetValueNameFn setName) {
  setName(getResult(), getParam());
}

void AddOp::getAsmResultNames(OpAsmSetValueNameFn setName) {
  setName(getResult(), "sum");
}

void AllToAllVOp::getAsmResultNames(OpAsmSetValueNameFn setName) {
  setName(getResult(), "exchanged");
}

//===----------------------------------------------------------------------===//
// Numbers of layers, and windows
//===----------------------------------------------------------------------===//

/// A list may stand for as many numbers as there are iterations, and for no
/// more than any model has layers.
static FailureOr<size_t> limitOf(OpAsmParser &parser, SMLoc loc,
                                 int64_t count) {
  constexpr int64_t maxLayers = int64_t(1) << 20;
  if (count >= 0 && count <= maxLayers)
    return size_t(count);
  return parser.emitError(loc, "expected a list for at most ")
         << maxLayers << " iterations, found " << count;
}

/// `<0-2, 60>`
static ParseResult parseLayers(OpAsmParser &parser, int64_t count,
                               OperationState &state) {
  SmallVector<int64_t> layers;
  FailureOr<size_t> limit = limitOf(parser, parser.getCurrentLocation(), count);
  if (failed(limit))
    return failure();
  auto parseRange = [&]() -> ParseResult {
    SMLoc loc = parser.getCurrentLocation();
    int64_t first, negated;
    if (parser.parseInteger(first))
      return failure();
    // The dash belongs to the second number.
    OptionalParseResult isRange = parser.parseOptionalInteger(negated);
    if (isRange.has_value() && failed(*isRange))
      return failure();
    int64_t last = first;
    if (isRange.has_value())
      last = negated == INT64_MIN ? INT64_MAX : -negated;
    if (first < 0 || last < first)
      return parser.emitError(loc, "expected the number of a layer, or a range "
                                   "of them, first-last");
    if (uint64_t(last - first) >= *limit - std::min(*limit, layers.size()))
      return parser.emitError(loc, "expected at most ")
             << *limit << " layers, one an iteration";
    llvm::append_range(layers, llvm::seq_inclusive(first, last));
    return success();
  };
  if (parser.parseCommaSeparatedList(AsmParser::Delimiter::LessGreater,
                                     parseRange))
    return failure();
  state.addAttribute("layers",
                     parser.getBuilder().getDenseI64ArrayAttr(layers));
  return success();
}

static void printLayers(OpAsmPrinter &printer, ArrayRef<int64_t> layers) {
  printer << " layers<";
  for (size_t first = 0; first < layers.size();) {
    size_t end = first + 1;
    while (end < layers.size() && layers[end] == layers[end - 1] + 1)
      ++end;
    printer << (first == 0 ? "" : ", ") << layers[first];
    if (end > first + 1)
      printer << '-' << layers[end - 1];
    first = end;
  }
  printer << '>';
}

/// `<128, 0, ...>`: from the dots on it starts again.
static ParseResult parseWindows(OpAsmParser &parser, int64_t count,
                                OperationState &state) {
  SmallVector<int64_t> windows;
  bool startsAgain = false;
  SMLoc loc = parser.getCurrentLocation();
  auto parseNext = [&]() -> ParseResult {
    if (startsAgain)
      return parser.emitError(loc, "expected nothing behind '...'");
    int64_t window;
    OptionalParseResult isNumber = parser.parseOptionalInteger(window);
    if (isNumber.has_value()) {
      windows.push_back(window);
      return *isNumber;
    }
    startsAgain = true;
    return parser.parseEllipsis();
  };
  if (parser.parseCommaSeparatedList(AsmParser::Delimiter::LessGreater,
                                     parseNext))
    return failure();
  if (startsAgain) {
    FailureOr<size_t> limit = limitOf(parser, loc, count);
    if (failed(limit))
      return failure();
    if (windows.empty())
      return parser.emitError(loc, "expected a window in front of '...'");
    for (size_t period = windows.size(); windows.size() < *limit;)
      windows.push_back(windows[windows.size() - period]);
  }
  state.addAttribute("windows",
                     parser.getBuilder().getDenseI64ArrayAttr(windows));
  return success();
}

static void printWindows(OpAsmPrinter &printer, ArrayRef<int64_t> windows) {
  size_t period = 1;
  auto repeats = [&] {
    return windows.drop_front(period) == windows.drop_back(period);
  };
  while (period < windows.size() && !repeats())
    ++period;
  printer << " windows<";
  llvm::interleaveComma(windows.take_front(period), printer);
  printer << (period < windows.size() ? ", ...>" : ">");
}

//===----------------------------------------------------------------------===//
// llm.repeat
//===----------------------------------------------------------------------===//

namespace {

/// Operands of a repeat, and the arguments of its body that stand for them.
struct Assignments {
  SmallVector<OpAsmParser::UnresolvedOperand> operands;
  SmallVector<Type> types;
  SmallVector<OpAsmParser::Argument> arguments;
};

} // namespace

/// `%a = %b : type`, where `%a` has the type of one layer's slice if the
/// operands `areStacked`.
static ParseResult parseAssignment(OpAsmParser &parser, bool areStacked,
                                   Assignments &to) {
  OpAsmParser::Argument &argument = to.arguments.emplace_back();
  SMLoc loc;
  if (parser.parseArgument(argument) || parser.parseEqual() ||
      parser.parseOperand(to.operands.emplace_back()) || parser.parseColon())
    return failure();
  loc = parser.getCurrentLocation();
  if (parser.parseType(argument.type))
    return failure();
  to.types.push_back(argument.type);
  if (!areStacked)
    return success();
  auto stacked = dyn_cast<RankedTensorType>(argument.type);
  if (!stacked || stacked.getRank() == 0)
    return parser.emitError(loc, "expected a tensor with a leading size, one "
                                 "entry a layer");
  argument.type = RepeatOp::getSliceType(stacked);
  return success();
}

/// `word(%a = %b : type, …)`, where there is the word.
static ParseResult parseAssignments(OpAsmParser &parser, StringRef word,
                                    bool areStacked, Assignments &to) {
  if (failed(parser.parseOptionalKeyword(word)))
    return success();
  return parser.parseCommaSeparatedList(AsmParser::Delimiter::Paren, [&] {
    return parseAssignment(parser, areStacked, to);
  });
}

/// The attributes that have their own place in the text of a repeat.
static SmallVector<StringRef> namesInText(OperationName repeat) {
  return {RepeatOp::getCountAttrName(repeat),
          RepeatOp::getLayersAttrName(repeat),
          RepeatOp::getWindowsAttrName(repeat),
          RepeatOp::getOperandSegmentSizesAttrName(repeat)};
}

ParseResult RepeatOp::parse(OpAsmParser &parser, OperationState &state) {
  IntegerAttr count;
  Type i64 = parser.getBuilder().getI64Type();
  if (parser.parseAttribute(count, i64, "count", state.attributes))
    return failure();
  if (succeeded(parser.parseOptionalKeyword("layers")) &&
      parseLayers(parser, count.getInt(), state))
    return failure();
  if (succeeded(parser.parseOptionalKeyword("windows")) &&
      parseWindows(parser, count.getInt(), state))
    return failure();

  Assignments all;
  SMLoc loc = parser.getCurrentLocation();
  if (parser.parseKeyword("init") || parser.parseLParen() ||
      parseAssignment(parser, /*areStacked=*/false, all) ||
      parser.parseRParen() ||
      parseAssignments(parser, "caches", /*areStacked=*/true, all))
    return failure();
  state.addTypes(all.types);
  if (parseAssignments(parser, "stacked", /*areStacked=*/true, all))
    return failure();
  int32_t stacked = all.operands.size() - 1;
  if (parseAssignments(parser, "invariants", /*areStacked=*/false, all))
    return failure();
  int32_t invariants = all.operands.size() - 1 - stacked;
  state.addAttribute(
      getOperandSegmentSizesAttrName(state.name),
      parser.getBuilder().getDenseI32ArrayAttr({1, stacked, invariants}));
  NamedAttrList others;
  SMLoc othersLoc = parser.getCurrentLocation();
  auto isElsewhere = [&](StringRef name) {
    return llvm::is_contained(namesInText(state.name), name);
  };
  return failure(
      parser.parseOptionalAttrDictWithKeyword(others) ||
      addAttributes(parser, othersLoc, others, state, isElsewhere) ||
      parser.resolveOperands(all.operands, all.types, loc, state.operands) ||
      parser.parseRegion(*state.addRegion(), all.arguments));
}

static void printAssignments(OpAsmPrinter &printer, StringRef word,
                             ArrayRef<BlockArgument> arguments,
                             ValueRange operands) {
  if (operands.empty())
    return;
  printer << ' ' << word << '(';
  llvm::interleaveComma(
      llvm::zip_equal(arguments, operands), printer, [&](auto pair) {
        auto [argument, operand] = pair;
        printer << argument << " = " << operand << " : " << operand.getType();
      });
  printer << ')';
}

void RepeatOp::print(OpAsmPrinter &printer) {
  printer << ' ' << getCount();
  if (std::optional<ArrayRef<int64_t>> layers = getLayers())
    printLayers(printer, *layers);
  if (std::optional<ArrayRef<int64_t>> windows = getWindows())
    printWindows(printer, *windows);
  size_t numCaches = getStacks().size();
  printAssignments(printer, "init", getResidual(), getInit());
  printAssignments(printer, "caches", getSlices().take_front(numCaches),
                   getStacked().take_front(numCaches));
  printAssignments(printer, "stacked", getSlices().drop_front(numCaches),
                   getStacked().drop_front(numCaches));
  printAssignments(printer, "invariants", getInvariantArguments(),
                   getInvariants());
  printer.printOptionalAttrDictWithKeyword((*this)->getAttrs(),
                                           namesInText((*this)->getName()));
  printer << ' ';
  printer.printRegion(getBody(), /*printEntryBlockArgs=*/false);
}

void RepeatOp::getAsmResultNames(OpAsmSetValueNameFn setName) {
  setName(getResult(), "layers");
}

void RepeatOp::getAsmBlockArgumentNames(Region &body,
                                        OpAsmSetValueNameFn setName) {
  size_t numCaches = getStacks().size(), numStacked = getStacked().size();
  for (BlockArgument argument : body.getArguments()) {
    size_t index = argument.getArgNumber();
    auto type = dyn_cast<RankedTensorType>(argument.getType());
    if (index == 0)
      setName(argument, "residual");
    else if (index <= numCaches)
      setName(argument, numCaches != 2 ? "cache"
                        : index == 1   ? "keys"
                                       : "values");
    else if (index <= numStacked)
      setName(argument, "weight");
    else if (type && type.getRank() == 1 && type.getElementType().isInteger())
      setName(argument, "positions");
    else
      setName(argument, "invariant");
  }
}
