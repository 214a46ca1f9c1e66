//===- NumberColumns.cpp - Tables of numbers, for Python ------------------===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "NumberColumns.h"

#include <charconv>
#include <cmath>
#include <optional>
#include <string_view>

namespace py = pybind11;
using namespace shardopt;

/// Reads a row of as many numbers as `row` has, and what ends it; null where it
/// has another form.
static const char *readRow(const char *at, const char *end,
                           std::vector<double> &row) {
  for (size_t i = 0; i < row.size(); ++i) {
    auto [rest, wrong] = std::from_chars(at, end, row[i]);
    bool isLast = i + 1 == row.size();
    if (wrong != std::errc() || !std::isfinite(row[i]))
      return nullptr;
    if (rest == end)
      return isLast ? rest : nullptr;
    if (*rest != (isLast ? '\n' : ','))
      return nullptr;
    at = rest + 1;
  }
  return at;
}

static std::optional<std::vector<std::vector<double>>>
readColumns(std::string_view text, size_t size, const std::vector<size_t> &at) {
  std::vector<std::vector<double>> columns(at.size());
  size_t head = text.find('\n');
  if (text.substr(0, head).find('"') != std::string_view::npos)
    return std::nullopt; // its line may end elsewhere
  if (head == std::string_view::npos)
    return columns;
  std::vector<double> row(size);
  const char *end = text.data() + text.size();
  for (const char *next = text.data() + head + 1; next != end;) {
    next = readRow(next, end, row);
    if (!next)
      return std::nullopt;
    for (size_t i = 0; i < at.size(); ++i)
      columns[i].push_back(row[at[i]]);
  }
  return columns;
}

py::object shardopt::numberColumns(const py::str &text, size_t size,
                                   const std::vector<size_t> &at) {
  for (size_t column : at)
    if (column >= size)
      throw py::index_error("a column behind the last one");
  Py_ssize_t length = 0;
  const char *data = PyUnicode_AsUTF8AndSize(text.ptr(), &length);
  if (!data)
    throw py::error_already_set();
  auto columns = readColumns({data, size_t(length)}, size, at);
  if (!columns)
    return py::none();
  py::list lists;
  for (const std::vector<double> &column : *columns) {
    py::list list(column.size());
    for (size_t i = 0; i < column.size(); ++i)
      PyList_SET_ITEM(list.ptr(), Py_ssize_t(i), PyFloat_FromDouble(column[i]));
    lists.append(std::move(list));
  }
  return lists;
}
