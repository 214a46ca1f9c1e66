//===- Options.h - The command line of shard-solve --------------*- C++ -*-===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef SHARDOPT_TOOLS_SOLVE_OPTIONS_H
#define SHARDOPT_TOOLS_SOLVE_OPTIONS_H

#include "shardopt/Support/CommandLine.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

struct Options {
  std::string instance;
  std::string solution; ///< -o; none if empty, as are the other outputs
  std::string report;
  std::string trace;
  std::string verify;       ///< a solution to check instead of searching
  std::string exportFormat; ///< to write the problem in instead of searching
  std::string progress = "auto";
  std::optional<double> timeLimit;
  int64_t iterations = 0;
  int64_t workers = 2, threads = 2, seed = 1;
  double gap = 0;
  bool contest = false;
  std::string method = "multipliers";
  std::vector<std::string> without; ///< parts of the solver
  shardopt::StandardOptions standard;
};

/// Reads the arguments after the name of the program.
shardopt::ErrorOr<Options> parseOptions(int argc, char **argv);

/// What --help prints.
extern const char *const usageText;

#endif // SHARDOPT_TOOLS_SOLVE_OPTIONS_H
