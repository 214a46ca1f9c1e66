//===- Views.h - Parts of tensors -------------------------------*- C++ -*-===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef SHARDOPT_EXECUTION_RUNTIME_VIEWS_H
#define SHARDOPT_EXECUTION_RUNTIME_VIEWS_H

#include "shardopt/Execution/Tensors/Tensor.h"

namespace shardopt::runtime {

using tensors::Element;
using tensors::Shape;
using tensors::Tensor;

/// The largest rank of a tensor that ranks exchange.
constexpr int64_t maxRank = 4;

/// A row-major copy of a strided view; strides are in elements.
Tensor pack(Element element, const std::byte *data, const int64_t *sizes,
            const int64_t *strides, int64_t rank);

/// Indices start … start + size - 1 along `dim`, as a tensor of its own.
Tensor slice(const Tensor &tensor, int64_t dim, int64_t start, int64_t size);

/// Writes `part` into `whole` from index `start` along `dim`; their other sizes
/// are equal.
void place(const Tensor &part, Tensor &whole, int64_t dim, int64_t start);

} // namespace shardopt::runtime

#endif // SHARDOPT_EXECUTION_RUNTIME_VIEWS_H
