//===- EvaluationLog.h - Evaluations in a file ------------------*- C++ -*-===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef SHARDOPT_SEARCH_EVALUATIONLOG_H
#define SHARDOPT_SEARCH_EVALUATIONLOG_H

#include "shardopt/Model/StrategyJson.h"
#include "shardopt/Search/Simulator.h"
#include "shardopt/Support/Error.h"

#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace shardopt::search {

/// What a search is: all that its evaluations and its result depend on, by
/// name, in a fixed order.
using SearchIdentity = std::vector<std::pair<std::string, std::string>>;

/// The checkpoint of a search: a file of JSON lines. The first says
/// what the search is,
///
///   {"checkpoint": 2, "search": {"searcher": "genetic", "seed": "7", …}}
///
/// and each other one is an evaluation: its strategy, its metrics with as many
/// digits as give the same doubles back, and a check of what the line says, so
/// that a number that was altered is not believed. A line is handed to the
/// system as soon as it is made, so that a process that is killed loses at most
/// the last one; a last line without an end is dropped when the file is opened
/// again.
class EvaluationLog {
public:
  /// How an evaluation is spelled.
  struct Format {
    std::vector<std::string> opNames;
    LatencyKey latency = LatencyKey::Tpot;
  };

  /// Creates the file at `path`, or opens the one that is there for more lines.
  /// One that is no regular file, is no checkpoint, belongs to another search
  /// (the message names what differs), is in use by another process, or has a
  /// line that cannot be read is an error, and stays as it is.
  static ErrorOr<std::unique_ptr<EvaluationLog>>
  open(const std::string &path, const SearchIdentity &identity, Format format);

  /// The member `name` of the identity in the file at `path`; none where there
  /// is no checkpoint to read.
  static std::optional<std::string> readIdentity(const std::string &path,
                                                 const std::string &name);

  EvaluationLog(const EvaluationLog &) = delete;
  EvaluationLog &operator=(const EvaluationLog &) = delete;
  ~EvaluationLog();

  /// The evaluations that were there when the file was opened, in its order.
  const std::vector<Plan> &resumed() const { return evaluations; }

  /// Appends an evaluation. After an error, which names the file, the file has
  /// what was appended before and perhaps an unfinished line.
  std::optional<Error> append(const Plan &plan);

private:
  EvaluationLog(std::string path, Format format)
      : path(std::move(path)), format(std::move(format)) {}

  std::optional<Error> openFile();
  /// Reads what is in the file, or begins it.
  std::optional<Error> load(const SearchIdentity &identity);
  std::optional<Error> readEvaluations(std::string_view lines);
  std::optional<Error> write(std::string_view text);
  Error fail(const std::string &problem) const;

  const std::string path;
  const Format format;
  std::vector<Plan> evaluations;
  int descriptor = -1;
};

} // namespace shardopt::search

#endif // SHARDOPT_SEARCH_EVALUATIONLOG_H
