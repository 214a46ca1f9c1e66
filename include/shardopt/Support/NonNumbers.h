//===- NonNumbers.h - What JSON has no word for -----------------*- C++ -*-===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef SHARDOPT_SUPPORT_NONNUMBERS_H
#define SHARDOPT_SUPPORT_NONNUMBERS_H

#include <string>
#include <string_view>

namespace shardopt::json {

/// `text` with null in place of what is no finite number outside of strings:
/// NaN, Infinity and inf, which some libraries write though JSON has none, and
/// numbers beyond double.
std::string nullNonNumbers(std::string_view text);

} // namespace shardopt::json

#endif // SHARDOPT_SUPPORT_NONNUMBERS_H
