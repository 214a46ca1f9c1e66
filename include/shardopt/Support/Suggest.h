//===- Suggest.h - Known names, closest first -------------------*- C++ -*-===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef SHARDOPT_SUPPORT_SUGGEST_H
#define SHARDOPT_SUPPORT_SUGGEST_H

#include <string>
#include <string_view>
#include <vector>

namespace shardopt {

/// The end of a message about an unknown name: "known: a, b, c", by rising edit
/// distance (insertions, deletions, substitutions; case does not count) to
/// `name`, those that `name` is the start of before all others; names at the
/// same distance keep their order. Of more than `most` names it gives the
/// closest and the number of the others. It asks "did you mean 'a'?" where
/// `name` is the start of a (and of at most two more), or nearly a.
std::string listKnown(std::string_view name, std::vector<std::string> known,
                      size_t most = 32);

/// `text` for a message, of at most `limit` bytes: what is longer is cut, never
/// within a character, and ends in "…".
std::string abbreviate(std::string_view text, size_t limit = 60);

/// The parts of `text` between commas; of an empty text one, which is empty.
std::vector<std::string_view> splitAtCommas(std::string_view text);

/// `value` with `digits` significant digits, without an exponent unless it is
/// very large or small.
std::string formatNumber(double value, int digits = 6);

} // namespace shardopt

#endif // SHARDOPT_SUPPORT_SUGGEST_H
