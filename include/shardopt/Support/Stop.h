//===- Stop.h - Asking a running search to stop -----------------*- C++ -*-===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef SHARDOPT_SUPPORT_STOP_H
#define SHARDOPT_SUPPORT_STOP_H

#include <atomic>

namespace shardopt {

/// Says to whoever polls it that a signal asked the program to stop. The tool
/// that handles signals owns the token and outlives all that polls it.
class StopToken {
public:
  /// Asks to stop because of `signal` (SIGINT, SIGTERM). Safe in a signal
  /// handler and from any thread; the first signal stays.
  void request(int signal) noexcept {
    int none = 0;
    received.compare_exchange_strong(none, signal);
  }

  bool requested() const noexcept { return signal() != 0; }
  /// The signal that asked, 0 if none did.
  int signal() const noexcept {
    return received.load(std::memory_order_relaxed);
  }

private:
  static_assert(std::atomic<int>::is_always_lock_free,
                "a signal handler may touch lock-free atomics only");
  std::atomic<int> received{0};
};

} // namespace shardopt

#endif // SHARDOPT_SUPPORT_STOP_H
