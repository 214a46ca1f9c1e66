//===- ProblemReader.h - Problems and solutions in files --------*- C++ -*-===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef SHARDOPT_SOLVERS_SELECTION_PROBLEMREADER_H
#define SHARDOPT_SOLVERS_SELECTION_PROBLEMREADER_H

#include "shardopt/Solvers/Selection/Verify.h"

#include <memory>
#include <string>
#include <string_view>

namespace shardopt::solve {

/// Reads and checks the problem in the file at `path`, which may be compressed
/// by gzip and may be a pipe: the format of the ASPLOS / EuroSys 2025 contest
/// (docs/Solve.md). Errors name the file and the place in it.
ErrorOr<Problem> readProblem(const std::string &path);

/// The same of a text in memory; `name` stands for the file in messages.
ErrorOr<Problem> parseProblem(std::string_view text, const std::string &name);

/// Reads a solution: a JSON array of integers.
ErrorOr<Solution> readSolution(const std::string &path);

/// A problem in the same format, a row a line.
std::string toJson(const Problem &problem);

/// A solution as a JSON array on one line, without its end.
std::string toJson(const Solution &solution);

} // namespace shardopt::solve

#endif // SHARDOPT_SOLVERS_SELECTION_PROBLEMREADER_H
