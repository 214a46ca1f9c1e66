//===- Tensor.cpp - Tensors on the host -----------------------------------===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "shardopt/Tensors/Tensor.h"

#include <cassert>

using namespace shardopt;
using namespace shardopt::tensors;

int64_t tensors::countElements(const Shape &shape) {
  int64_t count = 1;
  for (int64_t size : shape)
    count *= size;
  return count;
}

std::string tensors::toString(const Shape &shape) {
  if (shape.empty())
    return "scalar";
  std::string text;
  for (int64_t size : shape)
    text += (text.empty() ? "" : "x") + std::to_string(size);
  return text;
}

Tensor::Tensor(Element element, Shape shape)
    : type(element), sizes(std::move(shape)), words(countElements(sizes)) {}

Span<float> Tensor::floats() {
  assert(type == Element::F32);
  return {reinterpret_cast<float *>(words.data()), words.size()};
}
Span<const float> Tensor::floats() const {
  assert(type == Element::F32);
  return {reinterpret_cast<const float *>(words.data()), words.size()};
}
Span<int32_t> Tensor::ints() {
  assert(type == Element::I32);
  return {reinterpret_cast<int32_t *>(words.data()), words.size()};
}
Span<const int32_t> Tensor::ints() const {
  assert(type == Element::I32);
  return {reinterpret_cast<const int32_t *>(words.data()), words.size()};
}
