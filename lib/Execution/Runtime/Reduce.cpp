//===- Reduce.cpp - Sums and largest elements of tensors ------------------===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Reduce.h"

using namespace shardopt;
using namespace shardopt::runtime;

/// Wraps around, as the addition of compiled code does.
static int32_t add(int32_t a, int32_t b) {
  return int32_t(uint32_t(a) + uint32_t(b));
}
static float add(float a, float b) { return a + b; }

/// NaN where either is.
template <typename T> static T larger(T a, T b) {
  return a > b || a != a ? a : b;
}

/// Adds `values` to `total`, or takes the larger ones.
template <typename T>
static void reduceInto(Span<T> total, Span<const T> values,
                       Reduction reduction) {
  for (size_t i = 0; i < total.size(); ++i)
    total[i] = reduction == Reduction::Sum ? add(total[i], values[i])
                                           : larger(total[i], values[i]);
}

Tensor
runtime::reduce(const std::vector<std::shared_ptr<const Tensor>> &tensors,
                Reduction reduction) {
  Tensor result = *tensors.front();
  for (size_t member = 1; member < tensors.size(); ++member) {
    if (result.element() == Element::F32)
      reduceInto(result.floats(), tensors[member]->floats(), reduction);
    else
      reduceInto(result.ints(), tensors[member]->ints(), reduction);
  }
  return result;
}
