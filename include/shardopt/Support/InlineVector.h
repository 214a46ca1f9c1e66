//===- InlineVector.h - A short vector without a heap -----------*- C++ -*-===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef SHARDOPT_SUPPORT_INLINEVECTOR_H
#define SHARDOPT_SUPPORT_INLINEVECTOR_H

#include <cassert>
#include <cstddef>
#include <initializer_list>

namespace shardopt {

/// At most `N` elements, stored in the object itself. More is a bug of the
/// caller (asserted). For plain structs that are made by the thousand.
template <typename T, size_t N> class InlineVector {
public:
  InlineVector() = default;
  InlineVector(std::initializer_list<T> values) {
    for (const T &value : values)
      push_back(value);
  }

  void push_back(const T &value) {
    assert(count < N && "inline capacity exceeded");
    elements[count++] = value;
  }
  size_t size() const { return count; }
  bool empty() const { return count == 0; }
  T *data() { return elements; }
  const T *data() const { return elements; }
  T *begin() { return elements; }
  T *end() { return elements + count; }
  const T *begin() const { return elements; }
  const T *end() const { return elements + count; }
  T &operator[](size_t i) { return assert(i < count), elements[i]; }
  const T &operator[](size_t i) const { return assert(i < count), elements[i]; }

private:
  T elements[N] = {};
  size_t count = 0;
};

} // namespace shardopt

#endif // SHARDOPT_SUPPORT_INLINEVECTOR_H
