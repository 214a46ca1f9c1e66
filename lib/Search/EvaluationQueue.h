//===- EvaluationQueue.h - Evaluations in order, on threads --- -*- C++ -*-===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef SHARDOPT_LIB_SEARCH_EVALUATIONQUEUE_H
#define SHARDOPT_LIB_SEARCH_EVALUATIONQUEUE_H

#include "shardopt/Search/Simulator.h"

#include <condition_variable>
#include <deque>
#include <mutex>
#include <optional>
#include <thread>
#include <vector>

namespace shardopt::search {

/// Strategies go in, their evaluations come out in the same order, whichever is
/// ready first. Several threads evaluate, those that went in first first.
class EvaluationQueue {
public:
  /// The simulator outlives it. With one thread `pop` evaluates.
  EvaluationQueue(const Simulator &simulator, unsigned threads)
      : simulator(simulator), threads(threads) {}
  EvaluationQueue(const EvaluationQueue &) = delete;
  EvaluationQueue &operator=(const EvaluationQueue &) = delete;
  /// Drops what was not begun and waits for the rest.
  ~EvaluationQueue();

  void push(const Strategy &strategy);

  /// The evaluation of the strategy that went in first, once it is there; the
  /// queue is not empty.
  Evaluation pop();

private:
  struct Job {
    Strategy strategy;
    std::optional<Evaluation> evaluation;
  };

  /// Evaluates the next job that was not begun; `lock` is held before and
  /// after.
  void work(std::unique_lock<std::mutex> &lock);
  void help();

  const Simulator &simulator;
  const unsigned threads;
  std::vector<std::thread> helpers; ///< as many as were needed so far

  std::mutex mutex; ///< of all below
  std::condition_variable hasWork, isFinished;
  std::deque<Job> jobs;
  size_t begun = 0; ///< of the jobs, the first ones
  size_t idle = 0;  ///< helpers that wait
  bool isClosing = false;
};

} // namespace shardopt::search

#endif // SHARDOPT_LIB_SEARCH_EVALUATIONQUEUE_H
