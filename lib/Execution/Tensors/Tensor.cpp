//===- Tensor.cpp - Tensors on the host -----------------------------------===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "shardopt/Execution/Tensors/Tensor.h"

#include <algorithm>
#include <cassert>
#include <cstdio>
#include <cstring>

using namespace shardopt;
using namespace shardopt::tensors;

int64_t tensors::sizeOf(Element element) {
  return element == Element::Byte ? 1 : 4;
}

const char *tensors::spell(Element element) {
  switch (element) {
  case Element::F32:
    return "f32";
  case Element::I32:
    return "i32";
  case Element::Byte:
    break;
  }
  return "byte";
}

std::optional<int64_t> tensors::countBytes(Element element,
                                           const Shape &shape) {
  // No elements are no bytes, however large the other sizes are.
  if (std::find(shape.begin(), shape.end(), 0) != shape.end())
    return 0;
  int64_t bytes = sizeOf(element);
  for (int64_t size : shape)
    if (__builtin_mul_overflow(bytes, size, &bytes))
      return std::nullopt;
  return bytes;
}

int64_t tensors::countElements(const Shape &shape) {
  std::optional<int64_t> bytes = countBytes(Element::Byte, shape);
  assert(bytes && "checked before");
  return *bytes;
}

std::string tensors::toString(const Shape &shape) {
  if (shape.empty())
    return "scalar";
  std::string text;
  for (int64_t size : shape)
    text += (text.empty() ? "" : "x") + std::to_string(size);
  return text;
}

std::string tensors::describe(const Tensor &tensor) {
  std::string text;
  for (int64_t size : tensor.shape())
    text += std::to_string(size) + "x";
  return text + spell(tensor.element());
}

Tensor::Tensor(Element element, Shape shape)
    : type(element), sizes(std::move(shape)), count(countElements(sizes)) {
  // Not nothing, so that an empty tensor's memory can be freed like any other.
  auto wanted = size_t(std::max<int64_t>(bytes(), 1));
  memory.reset(static_cast<std::byte *>(std::calloc(wanted, 1)));
  if (memory)
    return;
  std::fprintf(stderr, "error: no memory for a tensor of %s, %zu bytes\n",
               describe(*this).c_str(), wanted);
  std::exit(1);
}

Tensor::Tensor(const Tensor &other) : Tensor(other.type, other.sizes) {
  // A tensor without sizes is a scalar, or none.
  count = other.count;
  if (count > 0)
    std::memcpy(data(), other.data(), size_t(bytes()));
}

void Tensor::swap(Tensor &other) noexcept {
  std::swap(type, other.type);
  std::swap(sizes, other.sizes);
  std::swap(count, other.count);
  std::swap(memory, other.memory);
}

std::byte *Tensor::release() {
  count = 0;
  sizes.clear();
  return memory.release();
}

Span<float> Tensor::floats() {
  assert(type == Element::F32);
  return {reinterpret_cast<float *>(data()), size_t(count)};
}
Span<const float> Tensor::floats() const {
  assert(type == Element::F32);
  return {reinterpret_cast<const float *>(data()), size_t(count)};
}
Span<int32_t> Tensor::ints() {
  assert(type == Element::I32);
  return {reinterpret_cast<int32_t *>(data()), size_t(count)};
}
Span<const int32_t> Tensor::ints() const {
  assert(type == Element::I32);
  return {reinterpret_cast<const int32_t *>(data()), size_t(count)};
}
