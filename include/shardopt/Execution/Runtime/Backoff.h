//===- Backoff.h - Waits that leave the core to others ----------*- C++ -*-===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef SHARDOPT_EXECUTION_RUNTIME_BACKOFF_H
#define SHARDOPT_EXECUTION_RUNTIME_BACKOFF_H

#include <sched.h>
#include <unistd.h>

namespace shardopt::runtime {

/// The pause between two looks at whether something has come. There are often
/// more ranks than cores, and the one that is waited for may have none: with 8
/// ranks on 2 cores, 3000 small collectives under MPICH took 7 s where waits
/// only yield, and 0.8 s where they soon sleep.
class Backoff {
public:
  void pause() {
    if (++pauses <= yields)
      ::sched_yield();
    else
      ::usleep(sleepMicroseconds);
  }

private:
  static constexpr int yields = 16;
  static constexpr int sleepMicroseconds = 20;
  int pauses = 0;
};

} // namespace shardopt::runtime

#endif // SHARDOPT_EXECUTION_RUNTIME_BACKOFF_H
