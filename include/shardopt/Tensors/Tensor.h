//===- Tensor.h - Tensors on the host ---------------------------*- C++ -*-===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What goes into a compiled program and comes out of it. Programs compute in
// f32, so there are two element types; files of other types are converted when
// they are read.
//
//===----------------------------------------------------------------------===//

#ifndef SHARDOPT_TENSORS_TENSOR_H
#define SHARDOPT_TENSORS_TENSOR_H

#include "shardopt/Support/Span.h"

#include <cstdint>
#include <string>
#include <vector>

namespace shardopt::tensors {

enum class Element : uint8_t { F32, I32 };

using Shape = std::vector<int64_t>;

/// The product of the sizes.
int64_t countElements(const Shape &shape);
/// "4x101"; "scalar" without sizes.
std::string toString(const Shape &shape);

/// A dense tensor in row-major order.
class Tensor {
public:
  Tensor() = default;
  /// Zeros.
  Tensor(Element element, Shape shape);

  Element element() const { return type; }
  const Shape &shape() const { return sizes; }
  int64_t size() const { return int64_t(words.size()); }

  /// The elements; only of the type that it has.
  Span<float> floats();
  Span<const float> floats() const;
  Span<int32_t> ints();
  Span<const int32_t> ints() const;
  void *data() { return words.data(); }
  const void *data() const { return words.data(); }

private:
  Element type = Element::F32;
  Shape sizes;
  std::vector<uint32_t> words; ///< both types are as wide
};

} // namespace shardopt::tensors

#endif // SHARDOPT_TENSORS_TENSOR_H
