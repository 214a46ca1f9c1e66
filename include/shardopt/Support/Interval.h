//===- Interval.h - Bounds of what is not known exactly ---------*- C++ -*-===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef SHARDOPT_SUPPORT_INTERVAL_H
#define SHARDOPT_SUPPORT_INTERVAL_H

#include <algorithm>
#include <cmath>

namespace shardopt {

/// A number from `low` to `high`, not negative. Operations contain every result
/// for numbers in their operands; a difference is cut off at 0.
struct Interval {
  double low = 0, high = 0;

  Interval() = default;
  Interval(double value) : low(value), high(value) {}
  Interval(double low, double high) : low(low), high(high) {}

  friend Interval operator+(Interval a, Interval b) {
    return {a.low + b.low, a.high + b.high};
  }
  friend Interval operator-(Interval a, Interval b) {
    return {std::max(0.0, a.low - b.high), std::max(0.0, a.high - b.low)};
  }
  friend Interval operator*(Interval a, Interval b) {
    return {a.low * b.low, a.high * b.high};
  }
  friend Interval operator/(Interval a, Interval b) {
    return {a.low / b.high, a.high / b.low};
  }
  Interval &operator+=(Interval other) { return *this = *this + other; }
  Interval &operator/=(Interval other) { return *this = *this / other; }
};

inline Interval largest(Interval a, Interval b) {
  return {std::max(a.low, b.low), std::max(a.high, b.high)};
}
inline Interval least(Interval a, Interval b) {
  return {std::min(a.low, b.low), std::min(a.high, b.high)};
}
inline Interval root(Interval a) {
  return {std::sqrt(a.low), std::sqrt(a.high)};
}

// The same of exact numbers, for formulas of either.
inline double largest(double a, double b) { return std::max(a, b); }
inline double least(double a, double b) { return std::min(a, b); }
inline double root(double a) { return std::sqrt(a); }
inline double lowOf(double a) { return a; }
inline double highOf(double a) { return a; }
inline double lowOf(Interval a) { return a.low; }
inline double highOf(Interval a) { return a.high; }

} // namespace shardopt

#endif // SHARDOPT_SUPPORT_INTERVAL_H
