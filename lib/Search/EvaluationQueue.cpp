//===- EvaluationQueue.cpp - Evaluations in order, on threads -------------===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "EvaluationQueue.h"

#include <cassert>

namespace shardopt::search {

EvaluationQueue::~EvaluationQueue() {
  {
    std::lock_guard lock(mutex);
    isClosing = true;
  }
  hasWork.notify_all();
  for (std::thread &helper : helpers)
    helper.join();
}

void EvaluationQueue::push(const Strategy &strategy) {
  std::lock_guard lock(mutex);
  jobs.push_back({strategy, std::nullopt});
  // One job alone is for the thread that waits for it.
  if (threads <= 1 || jobs.size() == 1)
    return;
  while (idle < jobs.size() - begun && helpers.size() < threads) {
    ++idle;
    helpers.emplace_back([this] { help(); });
  }
  hasWork.notify_all();
}

/// A reference to a job stays good: others come and go at the ends only.
void EvaluationQueue::work(std::unique_lock<std::mutex> &lock) {
  Job &job = jobs[begun++];
  lock.unlock();
  Evaluation evaluation = simulator.evaluate(job.strategy);
  lock.lock();
  job.evaluation = evaluation;
  isFinished.notify_one();
}

void EvaluationQueue::help() {
  std::unique_lock lock(mutex);
  while (true) {
    hasWork.wait(lock, [&] { return isClosing || begun < jobs.size(); });
    if (isClosing)
      return;
    --idle;
    work(lock);
    ++idle;
  }
}

Evaluation EvaluationQueue::pop() {
  std::unique_lock lock(mutex);
  assert(!jobs.empty() && "nothing to wait for");
  if (begun == 0)
    work(lock);
  isFinished.wait(lock, [&] { return jobs.front().evaluation.has_value(); });
  Evaluation evaluation = *jobs.front().evaluation;
  jobs.pop_front();
  --begun;
  return evaluation;
}

} // namespace shardopt::search
