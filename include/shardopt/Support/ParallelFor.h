//===- ParallelFor.h - A loop over several threads --------------*- C++ -*-===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef SHARDOPT_SUPPORT_PARALLELFOR_H
#define SHARDOPT_SUPPORT_PARALLELFOR_H

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <thread>
#include <vector>

namespace shardopt {

/// Calls `body(i)` once for every i in [0, n), on at most `threads` threads,
/// in no particular order; returns when all calls have.
template <typename Body>
void parallelFor(size_t n, unsigned threads, Body body) {
  if (threads <= 1 || n <= 1) {
    for (size_t i = 0; i < n; ++i)
      body(i);
    return;
  }
  std::atomic<size_t> next{0};
  auto work = [&] {
    for (size_t i = next++; i < n; i = next++)
      body(i);
  };
  std::vector<std::thread> helpers;
  for (size_t i = 1; i < std::min<size_t>(threads, n); ++i)
    helpers.emplace_back(work);
  work();
  for (std::thread &helper : helpers)
    helper.join();
}

} // namespace shardopt

#endif // SHARDOPT_SUPPORT_PARALLELFOR_H
