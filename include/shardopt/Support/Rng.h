//===- Rng.h - Random numbers that are the same everywhere ------*- C++ -*-===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef SHARDOPT_SUPPORT_RNG_H
#define SHARDOPT_SUPPORT_RNG_H

#include <cassert>
#include <cmath>
#include <cstdint>
#include <random>
#include <vector>

namespace shardopt {

/// The 64-bit Mersenne Twister, whose output the C++ standard fixes, with
/// distributions of our own: those of the standard library differ between
/// implementations, and a seed has to give the same search everywhere.
class Rng {
public:
  explicit Rng(uint64_t seed) : engine(seed) {}

  /// A uniform integer in [0, n), n > 0, without bias.
  uint64_t below(uint64_t n) {
    assert(n > 0 && "empty range");
    // 2^64 mod n draws at the low end would favour small results.
    uint64_t biased = (0 - n) % n;
    uint64_t draw = engine();
    while (draw < biased)
      draw = engine();
    return draw % n;
  }

  /// A uniform double in [0, 1), a multiple of 2^-53.
  double real() { return double(engine() >> 11) * 0x1.0p-53; }

  /// Puts `items` in a uniformly random order (Fisher and Yates).
  template <typename T> void shuffle(std::vector<T> &items) {
    for (size_t i = items.size(); i > 1; --i)
      std::swap(items[i - 1], items[below(i)]);
  }

  /// An index drawn with probability proportional to `weights`, which are not
  /// negative and do not all vanish.
  size_t weighted(const std::vector<double> &weights) {
    double total = 0;
    for (double weight : weights)
      total += weight;
    double left = real() * total;
    size_t last = 0;
    for (size_t i = 0; i < weights.size(); ++i) {
      if (weights[i] <= 0)
        continue;
      last = i;
      left -= weights[i];
      if (left < 0)
        break;
    }
    return last;
  }

  /// A draw of mean 0 and variance 1 (Box and Muller).
  double normal() {
    constexpr double twoPi = 6.283185307179586;
    double radius = std::sqrt(-2 * std::log(1 - real()));
    return radius * std::cos(twoPi * real());
  }

private:
  std::mt19937_64 engine;
};

} // namespace shardopt

#endif // SHARDOPT_SUPPORT_RNG_H
