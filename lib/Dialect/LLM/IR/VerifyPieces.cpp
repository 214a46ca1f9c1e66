//===- VerifyPieces.cpp - Verifiers of pieces on features and logits ------===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Verify.h"
#include "shardopt/Dialect/LLM/IR/LLMOps.h"

using namespace mlir;
using namespace shardopt;
using namespace shardopt::llm;

//===----------------------------------------------------------------------===//
// llm.select_columns
//===----------------------------------------------------------------------===//

/// Whether all columns of a run, `[start, size, stride, count, step]`, lie in
/// [0, width). Columns are linear in both counters, so it is enough to look at
/// the corners. Numbers that overflow lie outside.
static bool isInside(ArrayRef<int64_t> run, int64_t width) {
  int64_t start = run[0], size = run[1], stride = run[2], count = run[3],
          step = run[4];
  for (int64_t i : {int64_t(0), size - 1})
    for (int64_t c : {int64_t(0), count - 1}) {
      int64_t inner, outer, column;
      if (llvm::MulOverflow(i, stride, inner) ||
          llvm::MulOverflow(c, step, outer) ||
          llvm::AddOverflow(inner, outer, column) ||
          llvm::AddOverflow(column, start, column))
        return false;
      if (column < 0 || column >= width)
        return false;
    }
  return true;
}

LogicalResult SelectColumnsOp::verify() {
  constexpr size_t numbersOfRun = 5;
  constexpr int64_t zeros = -1;
  ArrayRef<int64_t> runs = getRuns();
  // (C1)
  if (runs.size() % numbersOfRun != 0)
    return emitOpError() << "'runs' must hold five numbers a run, found "
                         << runs.size() << " numbers";
  int64_t width = columns(getInput());
  int64_t written = 0;
  for (size_t at = 0; at != runs.size(); at += numbersOfRun) {
    ArrayRef<int64_t> run = runs.slice(at, numbersOfRun);
    size_t number = at / numbersOfRun;
    // (C1)
    if (run[1] < 1 || run[3] < 1)
      return emitOpError() << "run " << number
                           << " must have a positive size and count, found "
                           << run[1] << " and " << run[3];
    // (C3)
    if (run[0] != zeros && !isInside(run, width))
      return emitOpError() << "run " << number
                           << " must stay inside the input's " << width
                           << " columns, or start at -1, found [" << run << "]";
    written = plus(written, times(run[1], run[3]));
  }
  // (C2)
  if (failed(expectSize(*this, "result", "columns", written,
                        "those that the runs write", columns(getResult()))))
    return failure();
  // (C4)
  Type element = getElementTypeOrSelf(getInput());
  if (getElementTypeOrSelf(getResult()) == element)
    return success();
  return emitOpError() << "'result' must have elements of type " << element
                       << ", like the input, found "
                       << getElementTypeOrSelf(getResult());
}

//===----------------------------------------------------------------------===//
// Features
//===----------------------------------------------------------------------===//

LogicalResult ActivationOp::verify() {
  int64_t width = columns(getResult());
  bool gated = getActivation().getGated();
  // (C1)
  if (failed(expectSize(*this, "input", "columns",
                        gated ? times(2, width) : width,
                        gated ? "twice the width of the result, gate and up"
                              : "the width of the result",
                        columns(getInput()))))
    return failure();
  // (C2)
  return expectDivides(*this, "blocks", getBlocks(), "the width of the result",
                       width);
}

LogicalResult SumSquaresOp::verify() {
  // (C1)
  if (failed(expectDivides(*this, "groups", getGroups(),
                           "the width of the input", columns(getInput()))))
    return failure();
  if (getSums())
    return expectSize(*this, "result", "columns", times(2, getGroups()),
                      "two a group", columns(getResult()));
  return expectSize(*this, "result", "columns", getGroups(), "one a group",
                    columns(getResult()));
}

LogicalResult ScaleNormOp::verify() {
  // (C1)
  int64_t groups = columns(getSquares());
  bool hasSums = getBias() || getSums();
  if (hasSums && groups % 2 != 0)
    return emitOpError() << "'squares' must have a sum for every square, with "
                         << (getBias() ? "a bias" : "'sums'") << ", found "
                         << groups << " columns";
  groups /= hasSums ? 2 : 1;
  if (failed(expectDivides(*this, "squares", groups, "the width of the input",
                           columns(getInput()))))
    return failure();
  for (auto [what, vector] :
       {std::pair(StringRef("weight"), getWeight()), {"bias", getBias()}}) {
    bool isEach = vector && vector == getWeight() &&
                  sizeOf(vector, 0) == columns(getInput());
    if (vector && !isEach &&
        failed(expectSize(*this, what, "entries", columns(getInput()) / groups,
                          "the width of a group", sizeOf(vector, 0))))
      return failure();
  }
  // (C2)
  if (failed(expectPositive(*this, "size", getSize())))
    return failure();
  return expectPositive(*this, "epsilon", getEpsilon());
}

//===----------------------------------------------------------------------===//
// Head
//===----------------------------------------------------------------------===//

LogicalResult LastRowsOp::verify() {
  // (C1)
  if (failed(expectLike(*this, "result", getResult(), "the input", getInput())))
    return failure();
  // (C2)
  return expectPositive(*this, "sequence", getSequence());
}

LogicalResult ArgmaxOp::verify() {
  // (C1)
  if (failed(expectSize(*this, "result", "columns", 2, "a value and an index",
                        columns(getResult()))))
    return failure();
  // (C2)
  return expectPositive(*this, "vocabulary", getVocabulary());
}

LogicalResult ArgmaxMergeOp::verify() {
  // (C1)
  int64_t width = columns(getCandidates());
  if (width > 0 && width % 2 == 0)
    return success();
  return emitOpError() << "'candidates' must have pairs of columns, a value "
                          "and an index, found "
                       << width;
}
