//===- Turns.cpp - Programs of one rank that take turns -------------------===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "shardopt/Execution/Runtime/Turns.h"

#include <algorithm>
#include <thread>

using namespace shardopt;
using namespace shardopt::runtime;

Turns::Turns(Process &process, std::vector<Turn> order, int64_t programs,
             std::function<std::string(const Turn &)> describe)
    : process(process), order(std::move(order)), programs(programs),
      describe(std::move(describe)) {}

/// After a failure programs go on one by one, to find it and leave.
void Turns::passOn() {
  isHeadDone = false;
  bool isPlanned = head < order.size() && !process.failure();
  owner = isPlanned
              ? order[head].program
              : std::find(isOver.begin(), isOver.end(), false) - isOver.begin();
  changed.notify_all();
}

void Turns::finish(int64_t label) {
  Turn made = {owner, label};
  bool hasTurn = turnsLeft[owner] > 0;
  if (!hasTurn || !(order[head] == made)) {
    process.report({describe(made) + " was done where " +
                    (hasTurn ? describe(order[head]) : "nothing") +
                    " was planned, turn " + std::to_string(finished.size())});
    return;
  }
  finished.push_back(made);
  if (--turnsLeft[owner] == 0) {
    isHeadDone = true;
    return;
  }
  process.suspend([&] {
    std::unique_lock<std::mutex> lock(mutex);
    ++head;
    passOn();
    changed.wait(lock, [&] { return owner == made.program; });
  });
}

/// Of the program that goes on, which has come to its end.
std::optional<Error> Turns::end(std::optional<Error> error) {
  if (error || process.failure())
    return error;
  if (turnsLeft[owner] > 1)
    return process.report({"a program ended where " + describe(order[head]) +
                           " was planned, turn " +
                           std::to_string(finished.size())});
  if (turnsLeft[owner] == 1)
    finished.push_back(order[head]);
  else if (!isHeadDone)
    return std::nullopt; // it has no turns
  turnsLeft[owner] = 0;
  ++head;
  return std::nullopt;
}

std::optional<Error>
Turns::run(const std::function<std::optional<Error>(int64_t)> &body) {
  head = 0;
  finished.clear();
  isOver.assign(programs, false);
  turnsLeft.assign(programs, 0);
  for (const Turn &turn : order)
    ++turnsLeft[turn.program];
  owner = -1;
  std::optional<Error> first;
  std::vector<std::thread> threads;
  for (int64_t program = 0; program < programs; ++program)
    threads.emplace_back([&, program] {
      ProcessScope scope(process);
      std::unique_lock<std::mutex> lock(mutex);
      changed.wait(lock, [&] { return owner == program; });
      if (!process.failure()) {
        lock.unlock();
        std::optional<Error> error = end(body(program));
        lock.lock();
        if (error && !first)
          first = process.report(*error);
      }
      isOver[program] = true;
      passOn();
    });
  {
    std::lock_guard<std::mutex> lock(mutex);
    passOn();
  }
  for (std::thread &thread : threads)
    thread.join();
  return first;
}
