//===- Tensor.h - Tensors on the host ---------------------------*- C++ -*-===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What goes into a compiled program, comes out of it, and goes from rank to
// rank. Programs compute in f32, so there are few element types; files of other
// types are converted when they are read.
//
//===----------------------------------------------------------------------===//

#ifndef SHARDOPT_EXECUTION_TENSORS_TENSOR_H
#define SHARDOPT_EXECUTION_TENSORS_TENSOR_H

#include "shardopt/Support/Span.h"

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace shardopt::tensors {

/// `Byte` is what programs do not compute with, such as a file.
enum class Element : uint8_t { F32, I32, Byte };

/// Bytes of an element.
int64_t sizeOf(Element element);
/// "f32", "i32", "byte".
const char *spell(Element element);

using Shape = std::vector<int64_t>;

/// The product of the sizes, which fits; none is negative.
int64_t countElements(const Shape &shape);
/// The bytes of such a tensor; nothing where they do not fit an int64.
std::optional<int64_t> countBytes(Element element, const Shape &shape);
/// "4x101"; "scalar" without sizes.
std::string toString(const Shape &shape);

/// A dense tensor in row-major order. Its memory is from malloc: compiled code
/// may take it over.
class Tensor {
public:
  /// Of no elements.
  Tensor() = default;
  /// Zeros. Ends the program where memory is short: whoever makes tensors of
  /// sizes that a user gives asks first.
  Tensor(Element element, Shape shape);

  Tensor(const Tensor &other);
  Tensor(Tensor &&other) noexcept { swap(other); }
  Tensor &operator=(Tensor other) noexcept {
    swap(other);
    return *this;
  }

  Element element() const { return type; }
  const Shape &shape() const { return sizes; }
  int64_t size() const { return count; }
  int64_t bytes() const { return count * sizeOf(type); }

  /// The elements; only of the type that it has.
  Span<float> floats();
  Span<const float> floats() const;
  Span<int32_t> ints();
  Span<const int32_t> ints() const;
  std::byte *data() { return memory.get(); }
  const std::byte *data() const { return memory.get(); }

  /// The memory as it is, little endian.
  std::string_view text() const {
    return {reinterpret_cast<const char *>(data()), size_t(bytes())};
  }

  /// The memory, from now on the caller's to `free`.
  std::byte *release();

private:
  struct Free {
    void operator()(std::byte *memory) const { std::free(memory); }
  };
  void swap(Tensor &other) noexcept;

  Element type = Element::F32;
  Shape sizes;
  int64_t count = 0;
  std::unique_ptr<std::byte, Free> memory;
};

/// "4x8xf32".
std::string describe(const Tensor &tensor);

} // namespace shardopt::tensors

#endif // SHARDOPT_EXECUTION_TENSORS_TENSOR_H
