//===- Tensor.h - Values that ranks exchange --------------------*- C++ -*-===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef SHARDOPT_RUNTIME_TENSOR_H
#define SHARDOPT_RUNTIME_TENSOR_H

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <string>
#include <vector>

namespace shardopt::runtime {

/// Element types of collectives; `Byte` is what the host itself exchanges.
enum class ElementType : uint8_t { F32, F64, BF16, I32, Byte };

/// The largest rank of a tensor.
constexpr int64_t maxRank = 4;

/// Bytes of an element.
int64_t sizeOf(ElementType type);

/// "f32", "f64", "bf16", "i32", "byte".
const char *spell(ElementType type);

/// A row-major tensor that owns its memory, which is malloc's: compiled code
/// frees what it is given by `release`.
class Tensor {
public:
  Tensor() = default;
  /// Elements have no value yet. Aborts where memory is short.
  Tensor(ElementType type, std::vector<int64_t> shape);

  ElementType type() const { return elementType; }
  const std::vector<int64_t> &shape() const { return sizes; }
  int64_t elements() const;
  int64_t bytes() const { return elements() * sizeOf(elementType); }

  std::byte *data() { return memory.get(); }
  const std::byte *data() const { return memory.get(); }
  /// The elements as T, which has to be of the element type's size.
  template <typename T> T *as() { return reinterpret_cast<T *>(data()); }
  template <typename T> const T *as() const {
    return reinterpret_cast<const T *>(data());
  }

  /// The memory, from now on the caller's to `free`.
  std::byte *release() { return memory.release(); }

private:
  struct Free {
    void operator()(std::byte *memory) const { std::free(memory); }
  };

  ElementType elementType = ElementType::Byte;
  std::vector<int64_t> sizes = {0};
  std::unique_ptr<std::byte, Free> memory;
};

/// "4x8xf32".
std::string describe(const Tensor &tensor);

/// A row-major copy of a strided view; strides are in elements.
Tensor pack(ElementType type, const std::byte *data, const int64_t *sizes,
            const int64_t *strides, int64_t rank);

/// Indices start … start + size - 1 along `dim`, as a tensor of its own.
Tensor slice(const Tensor &tensor, int64_t dim, int64_t start, int64_t size);

/// Writes `part` into `whole` from index `start` along `dim`; their other sizes
/// are equal.
void place(const Tensor &part, Tensor &whole, int64_t dim, int64_t start);

} // namespace shardopt::runtime

#endif // SHARDOPT_RUNTIME_TENSOR_H
