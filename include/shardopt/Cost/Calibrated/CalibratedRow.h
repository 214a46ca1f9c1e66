//===- CalibratedRow.h - One row, and what is predicted for it --*- C++ -*-===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef SHARDOPT_LIB_COST_CALIBRATEDROW_H
#define SHARDOPT_LIB_COST_CALIBRATEDROW_H

#include "shardopt/Cost/Calibrated/CalibratedKernels.h"

#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace shardopt::cost::calibrated {

/// The fields of a row by name. The first read that finds no number above 0
/// (or of 0, where that says something) becomes the reason.
class Row {
public:
  Row(const std::map<std::string, size_t> &columns,
      const std::vector<std::string_view> &fields)
      : columns(columns), fields(fields) {}

  /// A finite number of at least `least`; it counts for the range of sizes.
  double size(const std::string &name, double least = 1);
  /// The same of a key, which does not.
  double number(const std::string &name, double least);
  std::string text(const std::string &name) const;
  bool has(const std::string &name) const { return columns.count(name); }

  /// Records why there is no number; the first reason stands.
  void fail(std::string why);
  const std::string &failure() const { return reason; }
  /// Whether a size is outside the range of the group, and which.
  std::string outside(const CalibratedGroup &group) const;

private:
  const std::map<std::string, size_t> &columns;
  const std::vector<std::string_view> &fields;
  std::map<std::string, double> sizes;
  std::string reason;
};

struct Prediction {
  double us = 0;
  const CalibratedGroup *group = nullptr;
  std::string differs; ///< keys in which the group is but near
};

/// A kernel that rows can be of.
struct RowKernel {
  const char *name;
  std::vector<std::string> columns; ///< that a table needs
  /// One prediction, or two for what has two ways. Without a group for a row,
  /// it fails the row.
  std::vector<Prediction> (*predict)(const CalibratedKernels &, Row &);
};

const std::vector<RowKernel> &rowKernels();

} // namespace shardopt::cost::calibrated

#endif // SHARDOPT_LIB_COST_CALIBRATEDROW_H
