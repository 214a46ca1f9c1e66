//===- Interrupt.h - Work that Python may interrupt -------------*- C++ -*-===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef SHARDOPT_PYTHON_INTERRUPT_H
#define SHARDOPT_PYTHON_INTERRUPT_H

#include "shardopt/Support/Stop.h"

#include <pybind11/pybind11.h>

#include <chrono>
#include <csignal>
#include <exception>
#include <future>
#include <optional>
#include <utility>

namespace py = pybind11;

namespace shardopt {

/// A token that stops what runs, in one thread of Python or several; its
/// address stays, and what comes when all has ended is not stopped.
class Interrupt {
public:
  const StopToken *token() const { return &*stop; }

  /// The result of `work`, and whether an interrupt ended it. It runs in a
  /// thread of its own, so that Python sees signals while it does; `tick` is
  /// called in that of Python. What `tick` or a signal handler raises stops the
  /// work, and is raised again when that has ended.
  template <typename Work, typename Tick> auto run(Work work, Tick tick) {
    Run one(*this);
    auto running = std::async(std::launch::async, work);
    std::exception_ptr raised;
    while (!isReady(running)) {
      try {
        if (!stop->requested())
          tick();
        if (PyErr_CheckSignals() != 0)
          throw py::error_already_set();
      } catch (py::error_already_set &error) {
        if (!raised && !error.matches(PyExc_KeyboardInterrupt))
          raised = std::current_exception();
        stop->request(SIGINT);
      }
    }
    if (raised)
      std::rethrow_exception(raised);
    bool isInterrupted = stop->requested();
    return std::pair(running.get(), isInterrupted);
  }

  /// The result of `work`, which an interrupt makes a KeyboardInterrupt.
  template <typename Work> auto finish(Work work) {
    auto [made, isInterrupted] = run(work, [] {});
    if (isInterrupted) {
      PyErr_SetNone(PyExc_KeyboardInterrupt);
      throw py::error_already_set();
    }
    return std::move(made);
  }

private:
  /// Waits for a moment without Python's lock.
  template <typename Future> static bool isReady(const Future &running) {
    constexpr auto period = std::chrono::milliseconds(50);
    const py::gil_scoped_release release;
    return running.wait_for(period) == std::future_status::ready;
  }

  /// Begins and ends with Python's lock held, and ends behind its thread.
  struct Run {
    explicit Run(Interrupt &interrupt) : interrupt(interrupt) {
      ++interrupt.runs;
    }
    ~Run() {
      if (--interrupt.runs == 0)
        interrupt.stop.emplace();
    }
    Interrupt &interrupt;
  };

  std::optional<StopToken> stop{std::in_place};
  int runs = 0;
};

} // namespace shardopt

#endif // SHARDOPT_PYTHON_INTERRUPT_H
