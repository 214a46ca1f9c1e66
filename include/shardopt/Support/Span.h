//===- Span.h - A view of contiguous elements -------------------*- C++ -*-===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef SHARDOPT_SUPPORT_SPAN_H
#define SHARDOPT_SUPPORT_SPAN_H

#include <cassert>
#include <cstddef>
#include <type_traits>
#include <utility>

namespace shardopt {

/// A view of `size` elements that someone else owns; std::span of C++20, as
/// far as it is needed here. `Span<const T>` binds to any container with
/// data() and size().
template <typename T> class Span {
public:
  Span() = default;
  Span(T *data, size_t size) : first(data), length(size) {}
  template <size_t N> Span(T (&array)[N]) : first(array), length(N) {}
  template <typename Container,
            typename = std::enable_if_t<std::is_convertible_v<
                decltype(std::declval<Container &>().data()), T *>>>
  Span(Container &&container)
      : first(container.data()), length(container.size()) {}

  size_t size() const { return length; }
  bool empty() const { return length == 0; }
  T *data() const { return first; }
  T *begin() const { return first; }
  T *end() const { return first + length; }
  T &operator[](size_t i) const { return assert(i < length), first[i]; }

private:
  T *first = nullptr;
  size_t length = 0;
};

} // namespace shardopt

#endif // SHARDOPT_SUPPORT_SPAN_H
