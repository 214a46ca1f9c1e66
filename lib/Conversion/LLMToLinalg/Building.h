//===- Building.h - Shorthands for loops over tensors -----------*- C++ -*-===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What all lowerings build with. Everything is at the builder's insertion
// point, and bodies get a builder of their own.
//
//===----------------------------------------------------------------------===//

#ifndef SHARDOPT_LIB_CONVERSION_LLMTOLINALG_BUILDING_H
#define SHARDOPT_LIB_CONVERSION_LLMTOLINALG_BUILDING_H

#include "mlir/IR/ImplicitLocOpBuilder.h"
#include "mlir/IR/OpDefinition.h"

namespace shardopt::llm {

using LoopBuilder = mlir::ImplicitLocOpBuilder;
using mlir::Value;
using mlir::ValueRange;
using Sizes = llvm::SmallVector<mlir::OpFoldResult, 4>;
using Values = llvm::SmallVector<Value, 4>;

//===----------------------------------------------------------------------===//
// Scalars
//===----------------------------------------------------------------------===//

Value index(LoopBuilder &b, int64_t value);
Value real(LoopBuilder &b, double value);
Value integer(LoopBuilder &b, int32_t value);
/// -inf, below which no f32 is.
Value lowest(LoopBuilder &b);

/// The scalar that a size is.
Value scalar(LoopBuilder &b, mlir::OpFoldResult size);

/// An i32 as an index, with its sign, and back.
Value toIndex(LoopBuilder &b, Value value);
Value toInteger(LoopBuilder &b, Value value);

Value add(LoopBuilder &b, Value lhs, Value rhs);
Value subtract(LoopBuilder &b, Value lhs, Value rhs);
Value multiply(LoopBuilder &b, Value lhs, Value rhs);
/// Quotients and rests of numbers that are not negative.
Value quotient(LoopBuilder &b, Value lhs, Value rhs);
Value rest(LoopBuilder &b, Value lhs, Value rhs);

//===----------------------------------------------------------------------===//
// Tensors and their parts
//===----------------------------------------------------------------------===//

Sizes sizesOf(LoopBuilder &b, Value tensor);
mlir::OpFoldResult sizeOf(LoopBuilder &b, Value tensor, int64_t dim);
/// A dim that is known.
int64_t staticSize(Value tensor, int64_t dim);
int64_t rankOf(Value tensor);

Value empty(LoopBuilder &b, llvm::ArrayRef<mlir::OpFoldResult> sizes,
            mlir::Type element);
Value filled(LoopBuilder &b, llvm::ArrayRef<mlir::OpFoldResult> sizes,
             Value value);
/// Zeros of f32.
Value zeros(LoopBuilder &b, llvm::ArrayRef<mlir::OpFoldResult> sizes);

/// The value at `indices`; an i32 comes as an index.
Value at(LoopBuilder &b, Value tensor, ValueRange indices);

/// A box of a tensor; only the last `rank` dims are kept. Those before
/// have size 1. All of its dims where `rank` is -1.
Value slice(LoopBuilder &b, Value tensor,
            llvm::ArrayRef<mlir::OpFoldResult> offsets,
            llvm::ArrayRef<mlir::OpFoldResult> sizes, int64_t rank = -1,
            llvm::ArrayRef<mlir::OpFoldResult> strides = {});
/// `tensor` with a box of it replaced; `part` may lack leading dims of size 1.
Value insert(LoopBuilder &b, Value part, Value tensor,
             llvm::ArrayRef<mlir::OpFoldResult> offsets,
             llvm::ArrayRef<mlir::OpFoldResult> sizes);

/// `tensor[i]`, of one dim less, and `tensor` with that part replaced.
Value part(LoopBuilder &b, Value tensor, Value i);
Value replacePart(LoopBuilder &b, Value part, Value tensor, Value i);

/// Entries [offset, offset + size) of the last dim.
Value columns(LoopBuilder &b, Value tensor, int64_t offset, int64_t size,
              int64_t stride = 1);
/// Tensors next to each other along the last dim.
Value beside(LoopBuilder &b, ValueRange tensors);

/// The last dim as several, and the last two as one.
Value splitLast(LoopBuilder &b, Value tensor, llvm::ArrayRef<int64_t> sizes);
Value mergeLast(LoopBuilder &b, Value tensor);

//===----------------------------------------------------------------------===//
// Loops
//===----------------------------------------------------------------------===//

/// A tensor, and which loop each of its dims follows.
struct Operand {
  Value tensor;
  llvm::SmallVector<int64_t, 4> loops;
};

/// A tensor whose dims follow loops 0, 1, ...
Operand whole(Value tensor);

/// Makes values of an element of each operand.
using Elements = llvm::function_ref<Values(LoopBuilder &, ValueRange)>;
using Element = llvm::function_ref<Value(LoopBuilder &, ValueRange)>;

/// A loop nest over elements. The body gets an element of each input and then
/// of each output, and makes the outputs' new ones; loops that an output does
/// not follow are reductions into it.
Values nest(LoopBuilder &b, llvm::ArrayRef<Operand> inputs,
            llvm::ArrayRef<Operand> outputs, Elements body);

/// A new tensor of elements made each from one element of every input. Loop i
/// is dim i of the result.
Value map(LoopBuilder &b, llvm::ArrayRef<mlir::OpFoldResult> sizes,
          mlir::Type element, llvm::ArrayRef<Operand> inputs, Element body);

/// Number of the loop's iteration, within the body of a nest.
Value iteration(LoopBuilder &b, int64_t loop);

/// values = body(i, values) for i from 0 up to `count`.
Values repeatFor(
    LoopBuilder &b, Value count, ValueRange init,
    llvm::function_ref<Values(LoopBuilder &, Value i, ValueRange values)> body);
/// The same with a single value.
Value repeatFor(
    LoopBuilder &b, Value count, Value init,
    llvm::function_ref<Value(LoopBuilder &, Value i, Value value)> body);

} // namespace shardopt::llm

#endif // SHARDOPT_LIB_CONVERSION_LLMTOLINALG_BUILDING_H
