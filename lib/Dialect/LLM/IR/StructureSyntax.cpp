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
#include "shardopt/Dialect/LLM/IR/ArgumentAttributes.h"
#include "shardopt/Dialect/LLM/IR/LLMOps.h"
#include "shardopt/Support/Limits.h"

using namespace mlir;
using namespace shardopt;
using namespace shardopt::llm;

//===----------------------------------------------------------------------===//
// Sources
//===----------------------------------------------------------------------===//

static void printPart(OpAsmPrinter &printer, const SourcePart &part) {
  if (part.size)
    printer << part.size;
  if (part.offset)
    printer << " from " << part.offset;
  if (part.size)
    printer << " of ";
  printer.printString(part.pattern);
  if (part.isTransposed)
    printer << " transposed";
  if (part.isInterleaved)
    printer << " deinterleaved";
  if (!part.scales.empty()) {
    printer << " scales ";
    printer.printString(part.scales);
  }
  if (!part.block.empty())
    printer << " block " << part.block[0] << 'x' << part.block[1];
  if (part.factor != 1) {
    printer << " times ";
    printReal(printer, APFloat(part.factor));
  }
  if (part.shift != 0) {
    printer << " plus ";
    printReal(printer, APFloat(part.shift));
  }
}

/// A block of scales, where there is one.
static ParseResult parseBlock(OpAsmParser &parser, SourcePart &part) {
  if (failed(parser.parseOptionalKeyword("block")))
    return success();
  SmallVector<int64_t> sizes;
  SMLoc loc = parser.getCurrentLocation();
  if (parser.parseDimensionList(sizes, /*allowDynamic=*/false,
                                /*withTrailingX=*/false))
    return failure();
  if (sizes.size() != 2)
    return parser.emitError(loc, "expected two sizes of a block, found ")
           << sizes.size();
  part.block.assign(sizes.begin(), sizes.end());
  return success();
}

static ParseResult parsePart(OpAsmParser &parser, SourcePart &part) {
  SMLoc loc = parser.getCurrentLocation();
  OptionalParseResult hasSize = parser.parseOptionalInteger(part.size);
  if (hasSize.has_value()) {
    if (failed(*hasSize) ||
        (succeeded(parser.parseOptionalKeyword("from")) &&
         parser.parseInteger(part.offset)) ||
        parser.parseKeyword("of"))
      return failure();
    if (part.offset < 0 || part.offset > maxDimSize)
      return parser.emitError(loc, "expected a beginning from 0 to ")
             << maxDimSize << ", found " << part.offset;
    if (part.size < 1 || part.size > maxDimSize)
      return parser.emitError(loc, "expected a size from 1 to ")
             << maxDimSize << ", found " << part.size;
  }
  if (parser.parseString(&part.pattern))
    return failure();
  part.isTransposed = succeeded(parser.parseOptionalKeyword("transposed"));
  part.isInterleaved = succeeded(parser.parseOptionalKeyword("deinterleaved"));
  if (succeeded(parser.parseOptionalKeyword("scales"))) {
    loc = parser.getCurrentLocation();
    if (parser.parseString(&part.scales))
      return failure();
    if (part.scales.empty())
      return parser.emitError(loc, "expected the name of a tensor of scales");
  }
  if (parseBlock(parser, part) ||
      (succeeded(parser.parseOptionalKeyword("times")) &&
       parser.parseFloat(part.factor)) ||
      (succeeded(parser.parseOptionalKeyword("plus")) &&
       parser.parseFloat(part.shift)))
    return failure();
  return success();
}

ParseResult llm::parseSource(OpAsmParser &parser, DictionaryAttr &attribute) {
  if (succeeded(parser.parseOptionalKeyword("dict")))
    return parser.parseAttribute(attribute);
  Source source;
  auto parseNext = [&] {
    return parsePart(parser, source.parts.emplace_back());
  };
  if (succeeded(parser.parseOptionalKeyword("dim"))) {
    SMLoc loc;
    if (parser.parseInteger(source.axis))
      return failure();
    if (succeeded(parser.parseOptionalKeyword("groups"))) {
      loc = parser.getCurrentLocation();
      if (parser.parseInteger(source.groups))
        return failure();
      if (source.groups < 1 || source.groups > maxDimSize)
        return parser.emitError(loc, "expected groups from 1 to ")
               << maxDimSize << ", found " << source.groups;
    }
    if (parser.parseCommaSeparatedList(AsmParser::Delimiter::Square, parseNext))
      return failure();
  } else if (parseNext()) {
    return failure();
  }
  attribute = source.write(parser.getContext());
  return success();
}

/// The source that `attribute` is; nothing where its text would not say all of
/// it.
static std::optional<Source> readWhole(DictionaryAttr attribute) {
  auto quietly = [&] {
    InFlightDiagnostic error =
        emitError(UnknownLoc::get(attribute.getContext()));
    error.abandon();
    return error;
  };
  FailureOr<Source> source =
      Source::read(attribute, "source", /*rank=*/maxDimSize, quietly);
  if (failed(source) || source->write(attribute.getContext()) != attribute)
    return std::nullopt;
  return std::move(*source);
}

void llm::printSource(OpAsmPrinter &printer, Operation *,
                      DictionaryAttr attribute) {
  std::optional<Source> source = readWhole(attribute);
  if (!source) {
    printer << "dict " << attribute;
    return;
  }
  if (source->parts.size() == 1 && source->axis == 0 && source->groups == 1) {
    printPart(printer, source->parts.front());
    return;
  }
  printer << "dim " << source->axis;
  if (source->groups > 1)
    printer << " groups " << source->groups;
  printer << " [";
  for (int level = 0; level < 2; ++level)
    printer.increaseIndent();
  for (const SourcePart &part : source->parts) {
    printer.printNewline();
    printPart(printer, part);
    printer << (&part == &source->parts.back() ? "]" : ",");
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

/// One list of numbers, for `count` iterations, the attribute `name`.
static ParseResult parseNumbers(
    OpAsmParser &parser, int64_t count, StringRef name,
    ParseResult (*parse)(AsmParser &, int64_t, SmallVectorImpl<int64_t> &),
    OperationState &state) {
  SmallVector<int64_t> numbers;
  if (parse(parser, count, numbers))
    return failure();
  state.addAttribute(name, parser.getBuilder().getDenseI64ArrayAttr(numbers));
  return success();
}

ParseResult RepeatOp::parse(OpAsmParser &parser, OperationState &state) {
  IntegerAttr count;
  Type i64 = parser.getBuilder().getI64Type();
  if (parser.parseAttribute(count, i64, "count", state.attributes))
    return failure();
  if (succeeded(parser.parseOptionalKeyword("layers")) &&
      parseNumbers(parser, count.getInt(), "layers", parseLayers, state))
    return failure();
  if (succeeded(parser.parseOptionalKeyword("windows")) &&
      parseNumbers(parser, count.getInt(), "windows", parseWindows, state))
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
  if (std::optional<ArrayRef<int64_t>> layers = getLayers()) {
    printer << " layers";
    printLayers(printer, *layers);
  }
  if (std::optional<ArrayRef<int64_t>> windows = getWindows()) {
    printer << " windows";
    printWindows(printer, *windows);
  }
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
