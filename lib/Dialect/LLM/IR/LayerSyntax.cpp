//===- LayerSyntax.cpp - How numbers of layers are written ----------------===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "StructureSyntax.h"

#include "shardopt/Dialect/LLM/IR/LLMDialect.h"
#include "shardopt/Support/Limits.h"

using namespace mlir;
using namespace shardopt;
using namespace shardopt::llm;

/// A list may stand for as many numbers as there are iterations, and for no
/// more than any model has layers.
static FailureOr<size_t> limitOf(AsmParser &parser, SMLoc loc, int64_t count) {
  if (count >= 0 && count <= maxLayers)
    return size_t(count);
  return parser.emitError(loc, "expected a list for at most ")
         << maxLayers << " iterations, found " << count;
}

ParseResult llm::parseLayers(AsmParser &parser, int64_t count,
                             SmallVectorImpl<int64_t> &layers) {
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
    // The last one may be the largest number of all.
    for (int64_t i = 0; i <= last - first; ++i)
      layers.push_back(first + i);
    return success();
  };
  return parser.parseCommaSeparatedList(AsmParser::Delimiter::LessGreater,
                                        parseRange);
}

void llm::printLayers(AsmPrinter &printer, ArrayRef<int64_t> layers) {
  printer << '<';
  for (size_t first = 0; first < layers.size();) {
    size_t end = first + 1;
    while (end < layers.size() && layers[end] - 1 == layers[end - 1])
      ++end;
    printer << (first == 0 ? "" : ", ") << layers[first];
    if (end > first + 1)
      printer << '-' << layers[end - 1];
    first = end;
  }
  printer << '>';
}

ParseResult llm::parseWindows(AsmParser &parser, int64_t count,
                              SmallVectorImpl<int64_t> &windows) {
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
  return success();
}

void llm::printWindows(AsmPrinter &printer, ArrayRef<int64_t> windows) {
  size_t period = 1;
  auto repeats = [&] {
    return windows.drop_front(period) == windows.drop_back(period);
  };
  while (period < windows.size() && !repeats())
    ++period;
  printer << '<';
  llvm::interleaveComma(windows.take_front(period), printer);
  printer << (period < windows.size() ? ", ...>" : ">");
}

//===----------------------------------------------------------------------===//
// #llm.layers
//===----------------------------------------------------------------------===//

Attribute LayersAttr::parse(AsmParser &parser, Type) {
  SmallVector<int64_t> numbers;
  if (parseLayers(parser, maxLayers, numbers))
    return {};
  return get(parser.getContext(), numbers);
}

void LayersAttr::print(AsmPrinter &printer) const {
  printLayers(printer, getNumbers());
}
