//===- DegreeTable.cpp - The table of degrees, for Python -----------------===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "DegreeTable.h"
#include "shardopt/Model/Degrees.h"

#include <pybind11/stl.h>

namespace py = pybind11;
using namespace shardopt;

/// The fallback of a degree, if it does not depend on others.
static std::optional<int64_t> constantFallback(const DegreeInfo &info) {
  if (info.isRequired())
    return std::nullopt;
  Degrees ones, others;
  for (Degree degree : allDegrees) {
    ones[degree] = 1;
    others[degree] = 2;
  }
  int64_t value = info.fallback(ones);
  return value == info.fallback(others) ? std::optional(value) : std::nullopt;
}

static std::vector<std::string> namesOf(const DegreeInfo &info) {
  if (!info.names)
    return {};
  return {info.names, info.names + info.most};
}

/// All degrees, of those that are not None.
static std::vector<int64_t>
fillDegrees(const std::vector<std::optional<int64_t>> &given) {
  if (given.size() != numDegrees)
    throw py::value_error("expected " + std::to_string(numDegrees) +
                          " degrees, found " + std::to_string(given.size()));
  PartialDegrees partial;
  for (Degree degree : allDegrees)
    partial[degree] = given[size_t(degree)];
  Degrees filled = partial.filled();
  std::vector<int64_t> result;
  for (Degree degree : allDegrees)
    result.push_back(filled[degree]);
  return result;
}

void shardopt::addDegrees(py::module_ &module) {
  py::list table;
  for (const DegreeInfo &info : degreeTable)
    table.append(py::make_tuple(info.name, info.isRequired(),
                                constantFallback(info), namesOf(info)));
  module.attr("degree_table") = table;
  module.attr("degrees") = degreeNames();
  module.def("fill_degrees", &fillDegrees);
}
