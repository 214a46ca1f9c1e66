//===- Repeat.cpp - Layers as a loop --------------------------------------===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Lowering.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

#include <limits>

using namespace mlir;
using namespace shardopt;
using namespace shardopt::llm;

/// A window that nothing is outside of. It is subtracted from a position.
static constexpr int64_t unlimited = std::numeric_limits<int64_t>::max() / 2;

/// The window of layer `i`, an index; null where no layer has one.
static Value windowOf(LoopBuilder &b, RepeatOp op, Value i) {
  SmallVector<int64_t> windows;
  for (int64_t layer = 0; layer < int64_t(op.getCount()); ++layer) {
    int64_t window = op.getWindow(layer);
    windows.push_back(window == 0 ? unlimited : window);
  }
  if (!llvm::all_equal(windows)) {
    auto type = RankedTensorType::get(windows.size(), b.getIndexType());
    Value all = arith::ConstantOp::create(
        b, DenseElementsAttr::get(type, ArrayRef(windows)));
    return at(b, all, i);
  }
  return windows.front() == unlimited ? Value() : index(b, windows.front());
}

/// Moves the body's ops to the builder, with `arguments` for its own; returns
/// what it yields.
static Values moveBody(LoopBuilder &b, RepeatOp op, ValueRange arguments) {
  Block *body = op.getBodyBlock(), *target = b.getInsertionBlock();
  for (auto [old, argument] : llvm::zip_equal(body->getArguments(), arguments))
    old.replaceAllUsesWith(argument);
  Operation *yield = body->getTerminator();
  Values yielded(yield->getOperands());
  yield->erase();
  target->getOperations().splice(b.getInsertionPoint(), body->getOperations());
  return yielded;
}

scf::ForOp llm::convertRepeat(RepeatOp op, Lowering &lowering) {
  LoopBuilder b(op.getLoc(), op);
  size_t caches = op.getStacks().size();
  Values init = {op.getInit()};
  llvm::append_range(init, op.getStacked().take_front(caches));

  Value window;
  Values results =
      repeatFor(b, index(b, op.getCount()), init,
                [&](LoopBuilder &b, Value i, ValueRange state) {
                  // Caches are updated layer by layer where they lie, weights
                  // only read.
                  ValueRange stacks = state.drop_front();
                  Values arguments = {state.front()};
                  for (Value stack : stacks)
                    arguments.push_back(part(b, stack, i));
                  for (Value stack : op.getStacked().drop_front(caches))
                    arguments.push_back(part(b, stack, i));
                  llvm::append_range(arguments, op.getInvariants());
                  window = windowOf(b, op, i);

                  Values next = moveBody(b, op, arguments);
                  for (auto [layer, stack] : llvm::zip_equal(
                           MutableArrayRef(next).drop_front(), stacks))
                    layer = replacePart(b, layer, stack, i);
                  return next;
                });
  auto loop = results.front().getDefiningOp<scf::ForOp>();
  if (window)
    lowering.windows[loop] = window;
  op->replaceAllUsesWith(results);
  op->erase();
  return loop;
}
