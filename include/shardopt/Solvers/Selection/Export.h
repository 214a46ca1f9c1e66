//===- Export.h - Problems for other solvers --------------------*- C++ -*-===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef SHARDOPT_SOLVERS_SELECTION_EXPORT_H
#define SHARDOPT_SOLVERS_SELECTION_EXPORT_H

#include "shardopt/Solvers/Selection/Problem.h"

#include <functional>
#include <string_view>

namespace shardopt::solve {

enum class ExportFormat {
  Cfn,  ///< a cost function network as JSON, of toulbar2
  Wcsp, ///< the same as numbers
  Mps   ///< a mixed-integer program, free format
};

/// Takes a text piece by piece.
using TextSink = std::function<void(std::string_view)>;

/// The problem, memory included, as a text in another format, which goes to
/// `sink` while it is made; its optimum is that of the problem. Nodes keep
/// their numbers and strategies theirs: the first variables of a network are
/// the nodes, and those after them say that a strategy is not taken; in a
/// program, x<i>_<s> is 1 if node i takes s.
///
/// Infinite costs become what the format forbids with. An error where finite
/// ones sum to more than the format holds, or to as much as an infinite one;
/// `sink` gets nothing then.
std::optional<Error> exportProblem(const Problem &problem, ExportFormat format,
                                   const TextSink &sink);

} // namespace shardopt::solve

#endif // SHARDOPT_SOLVERS_SELECTION_EXPORT_H
