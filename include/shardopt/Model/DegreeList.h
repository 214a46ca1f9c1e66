//===- DegreeList.h - Lists of values as users spell them -------*- C++ -*-===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef SHARDOPT_MODEL_DEGREELIST_H
#define SHARDOPT_MODEL_DEGREELIST_H

#include "shardopt/Model/Degrees.h"
#include "shardopt/Support/Error.h"

#include <optional>
#include <string_view>
#include <vector>

namespace shardopt {

/// The values of `degree` that `text` lists; none if it is empty. Items are
/// joined by commas. Each is a value, or a range "first:last:step" of numbers:
/// "1:9:+2" is 1,3,5,7,9, and "256:4096:*1.05" multiplies, by at least 1 more
/// each time. A range ends before it exceeds `last`.
ErrorOr<std::optional<std::vector<int64_t>>>
parseDegreeList(Degree degree, std::string_view text);

} // namespace shardopt

#endif // SHARDOPT_MODEL_DEGREELIST_H
