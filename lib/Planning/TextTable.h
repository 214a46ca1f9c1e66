//===- TextTable.h - Columns of text ----------------------------*- C++ -*-===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef SHARDOPT_LIB_PLANNING_TEXTTABLE_H
#define SHARDOPT_LIB_PLANNING_TEXTTABLE_H

#include <string>
#include <vector>

namespace shardopt {

/// Rows of cells: the first column is aligned to the left, the others to the
/// right, each as wide as its widest cell.
class TextTable {
public:
  using Row = std::vector<std::string>;

  void add(Row row) { rows.push_back(std::move(row)); }
  void addBlank() { rows.emplace_back(); }

  /// The rows, indented by two, without blanks at their ends.
  std::string print() const;

private:
  std::vector<Row> rows;
};

/// `value` with `decimals` digits after the point.
std::string fixed(double value, int decimals);

} // namespace shardopt

#endif // SHARDOPT_LIB_PLANNING_TEXTTABLE_H
