//===- InlineVector.h - A short vector without a heap -----------*- C++ -*-===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef SHARDOPT_SUPPORT_INLINEVECTOR_H
#define SHARDOPT_SUPPORT_INLINEVECTOR_H

#include <algorithm>
#include <cassert>
#include <cstddef>
#include <initializer_list>
#include <new>
#include <type_traits>

namespace shardopt {

/// At most `N` elements, stored in the object itself. More is a bug of the
/// caller (asserted). For plain structs that are made by the thousand: what is
/// beyond size() is neither initialised nor copied.
template <typename T, size_t N> class InlineVector {
  static_assert(std::is_trivially_copyable_v<T>);

public:
  InlineVector() {}
  InlineVector(std::initializer_list<T> values) {
    for (const T &value : values)
      push_back(value);
  }
  InlineVector(const InlineVector &other) { *this = other; }
  InlineVector &operator=(const InlineVector &other) {
    count = other.count;
    std::copy(other.begin(), other.end(), elements);
    return *this;
  }

  void push_back(const T &value) {
    assert(count < N && "inline capacity exceeded");
    new (&elements[count++]) T(value);
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
  union {
    T elements[N]; ///< the first `count` are alive
  };
  size_t count = 0;
};

} // namespace shardopt

#endif // SHARDOPT_SUPPORT_INLINEVECTOR_H
