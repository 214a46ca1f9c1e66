//===- Options.h - The command line of shard-schedule -----------*- C++ -*-===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef SHARDOPT_TOOLS_SCHEDULE_OPTIONS_H
#define SHARDOPT_TOOLS_SCHEDULE_OPTIONS_H

#include "shardopt/Support/CommandLine.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

struct Options {
  std::string graph;                 ///< a file; otherwise a pattern
  std::string machine;               ///< of a module; empty: its own
  std::string simulator = "auto";    ///< of a module
  std::vector<int64_t> chunks = {1}; ///< of a module
  /// Of a module, jointly; empty: as usual, 0: no ring.
  std::vector<int64_t> ring;
  bool reorders = false;   ///< of a module
  bool isJoint = false;    ///< chooses dims and stages of a module, too
  bool isTraining = false; ///< forward and backward passes of a module
  std::string pattern;     ///< train, experts, overlap, prefill, decode
  int64_t stages = 0, microbatches = 0;
  std::vector<int64_t> times;
  /// Of overlap: the times of a batch that is cut in 1, 2, …; `times` is one of
  /// them, or there is only that.
  std::vector<std::vector<int64_t>> splitTimes;
  int64_t tokens = 0, send = 0; ///< of decode; of prefill, the prompt's
  std::string placement;        ///< empty: the pattern's own
  std::optional<int64_t> memory;
  int64_t mostMemory = 0; ///< of a front, which begins at `memory`; 0: none
  std::string objective = "makespan";
  std::string backend = "portfolio";
  std::optional<double> timeLimit;
  int64_t rounds = 0, threads = 1, seed = 1;
  std::string schedule; ///< -o; none if empty, as are the other outputs
  std::string report, gantt, trace, front;
  shardopt::StandardOptions standard;
};

/// Whether `graph` is a program with a strategy.
bool isModule(const Options &options);

/// Reads the arguments after the name of the program.
shardopt::ErrorOr<Options> parseOptions(int argc, char **argv);

/// What --help prints.
extern const char *const usageText;

#endif // SHARDOPT_TOOLS_SCHEDULE_OPTIONS_H
