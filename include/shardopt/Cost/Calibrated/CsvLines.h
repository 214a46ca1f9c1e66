//===- CsvLines.h - Tables as comma-separated text --------------*- C++ -*-===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef SHARDOPT_LIB_COST_CSVLINES_H
#define SHARDOPT_LIB_COST_CSVLINES_H

#include "shardopt/Support/Error.h"

#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace shardopt::cost {

/// Columns of a table by name.
using CsvColumns = std::map<std::string, size_t>;
using CsvFields = std::vector<std::string_view>;

/// Writes `text`, a table whose first line names its columns, with `added`
/// behind the names and `answer(columns, fields)` behind each row; both begin
/// with a comma. Empty lines are left out. Errors: one of `needed` is no
/// column, or a row has not as many fields as there are.
ErrorOr<std::string> answerRows(
    std::string_view text, const std::string &fileName,
    const std::vector<std::string> &needed, const std::string &neededBy,
    const std::string &added,
    const std::function<std::string(const CsvColumns &, const CsvFields &)>
        &answer);

/// `value` as a field, with three significant digits.
std::string threeDigits(double value);

/// `text` in a field of its own, in which commas would end it.
std::string inField(std::string text);

} // namespace shardopt::cost

#endif // SHARDOPT_LIB_COST_CSVLINES_H
