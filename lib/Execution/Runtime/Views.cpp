//===- Views.cpp - Parts of tensors ---------------------------------------===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "shardopt/Execution/Runtime/Views.h"

#include <cstring>

using namespace shardopt;
using namespace shardopt::runtime;

/// The product of sizes begin to end - 1.
static int64_t product(const Shape &sizes, size_t begin, size_t end) {
  int64_t result = 1;
  for (size_t i = begin; i < end; ++i)
    result *= sizes[i];
  return result;
}

//===----------------------------------------------------------------------===//
// Copies
//===----------------------------------------------------------------------===//

/// Copies the view from `dim` on to `out`; returns where the copy ends.
static std::byte *packFrom(const std::byte *data, const int64_t *sizes,
                           const int64_t *strides, int64_t dims, int64_t width,
                           std::byte *out) {
  if (dims == 0 || (dims == 1 && strides[0] == 1)) {
    int64_t bytes = (dims == 0 ? 1 : sizes[0]) * width;
    std::memcpy(out, data, bytes);
    return out + bytes;
  }
  for (int64_t i = 0; i < sizes[0]; ++i)
    out = packFrom(data + i * strides[0] * width, sizes + 1, strides + 1,
                   dims - 1, width, out);
  return out;
}

Tensor runtime::pack(Element type, const std::byte *data, const int64_t *sizes,
                     const int64_t *strides, int64_t rank) {
  Tensor result(type, Shape(sizes, sizes + rank));
  if (result.size() > 0)
    packFrom(data, sizes, strides, rank, sizeOf(type), result.data());
  return result;
}

namespace {

/// A tensor as `outer` runs of rows along a dim, each `row` bytes an index.
struct Rows {
  int64_t outer, size, row;
  Rows(const Tensor &tensor, int64_t dim)
      : outer(product(tensor.shape(), 0, dim)), size(tensor.shape()[dim]),
        row(product(tensor.shape(), dim + 1, tensor.shape().size()) *
            sizeOf(tensor.element())) {}
};

} // namespace

Tensor runtime::slice(const Tensor &tensor, int64_t dim, int64_t start,
                      int64_t size) {
  Shape shape = tensor.shape();
  shape[dim] = size;
  Tensor result(tensor.element(), std::move(shape));
  Rows from(tensor, dim);
  for (int64_t i = 0; size > 0 && i < from.outer; ++i)
    std::memcpy(result.data() + i * size * from.row,
                tensor.data() + (i * from.size + start) * from.row,
                size * from.row);
  return result;
}

void runtime::place(const Tensor &part, Tensor &whole, int64_t dim,
                    int64_t start) {
  Rows from(part, dim), to(whole, dim);
  for (int64_t i = 0; i < from.outer; ++i)
    std::memcpy(whole.data() + (i * to.size + start) * to.row,
                part.data() + i * from.size * from.row, from.size * from.row);
}
