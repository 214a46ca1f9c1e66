//===- NumberColumns.h - Tables of numbers, for Python ----------*- C++ -*-===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef SHARDOPT_PYTHON_NUMBERCOLUMNS_H
#define SHARDOPT_PYTHON_NUMBERCOLUMNS_H

#include <pybind11/pybind11.h>

#include <vector>

namespace shardopt {

/// The columns `at` of comma-separated `text`, as lists of floats, below a
/// first line that is skipped. Each row has `size` finite numbers; None where
/// there is anything else, a quote or an empty line for example. Read here
/// because Python takes longer than a second for a million rows.
pybind11::object numberColumns(const pybind11::str &text, size_t size,
                               const std::vector<size_t> &at);

} // namespace shardopt

#endif // SHARDOPT_PYTHON_NUMBERCOLUMNS_H
