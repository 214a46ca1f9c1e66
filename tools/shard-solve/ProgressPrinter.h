//===- ProgressPrinter.h - How far a search is, for people ------*- C++ -*-===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef SHARDOPT_TOOLS_SOLVE_PROGRESSPRINTER_H
#define SHARDOPT_TOOLS_SOLVE_PROGRESSPRINTER_H

#include "shardopt/Solvers/Selection/Solver.h"
#include "shardopt/Support/StatusLine.h"

#include <string>

/// Prints on the standard error: a line that is written over on a terminal, or
/// lines, few of them where nothing changes.
class ProgressPrinter {
public:
  /// `how`: auto, lines, bar or none. `timeLimit`: 0 for none.
  ProgressPrinter(const std::string &how, double timeLimit);
  /// Ends the line that is written over.
  ~ProgressPrinter() { line.keep(); }

  void print(const shardopt::solve::Progress &progress);

private:
  bool isSilent, isBar;
  shardopt::StatusLine line;
  double timeLimit;
  double nextLine = 0; ///< seconds
  const char *lastPhase = nullptr;
};

#endif // SHARDOPT_TOOLS_SOLVE_PROGRESSPRINTER_H
