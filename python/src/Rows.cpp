//===- Rows.cpp - Strategies and metrics of Python ------------------------===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Rows.h"

#include <map>

namespace py = pybind11;
using namespace shardopt;

Strategy shardopt::readStrategy(const Scenario &scenario,
                                const Numbers &numbers) {
  const size_t ops = scenario.opNames().size();
  if (numbers.size() < numDegrees + ops)
    throw py::value_error("a strategy has " + std::to_string(numbers.size()) +
                          " numbers, expected " + std::to_string(numDegrees) +
                          " degrees, " + std::to_string(ops) +
                          " dims, and the layers of stages where they are "
                          "said");
  Strategy strategy;
  strategy.dims.reserve(ops);
  for (Degree degree : allDegrees) {
    const int64_t value = numbers[size_t(degree)];
    if (value < 1 || value > infoOf(degree).most)
      throw py::value_error(std::string("'") + spell(degree) + "' is " +
                            std::to_string(value) + ", expected " +
                            wantedOf(degree));
    strategy.degrees[degree] = value;
  }
  for (size_t op = 0; op < ops; ++op) {
    const int64_t dim = numbers[numDegrees + op];
    if (dim < 0 || dim >= int64_t(maxDims))
      throw py::value_error("the dim of '" + scenario.opNames()[op] + "' is " +
                            std::to_string(dim) + ", expected 0 to " +
                            std::to_string(maxDims - 1));
    strategy.dims.push_back(Dim(dim));
  }
  StageCut &stages = strategy.degrees.stages;
  stages.layers.assign(numbers.begin() + ptrdiff_t(numDegrees + ops),
                       numbers.end());
  if (stages.isEmpty())
    return strategy;
  const auto layers = int64_t(scenario.model().numLayers());
  if (auto why = stageCutError(stages, strategy.degrees.pp, layers))
    throw py::value_error("'stages': " + *why);
  return strategy;
}

Numbers shardopt::numbersOf(const Strategy &strategy) {
  Numbers numbers;
  for (Degree degree : allDegrees)
    numbers.push_back(strategy.degrees[degree]);
  for (Dim dim : strategy.dims)
    numbers.push_back(int64_t(dim));
  const std::vector<int64_t> &stages = strategy.degrees.stages.layers;
  numbers.insert(numbers.end(), stages.begin(), stages.end());
  return numbers;
}

/// The numbers of a list; what is no list of integers is a TypeError.
static Numbers readNumbers(PyObject *row) {
  if (!PyList_Check(row))
    throw py::type_error("a strategy is no list");
  Numbers numbers(size_t(PyList_GET_SIZE(row)));
  for (size_t i = 0; i < numbers.size(); ++i) {
    numbers[i] = PyLong_AsLongLong(PyList_GET_ITEM(row, Py_ssize_t(i)));
    if (numbers[i] == -1 && PyErr_Occurred())
      throw py::error_already_set();
  }
  return numbers;
}

py::list shardopt::evaluateRows(const Scenario &scenario, const py::list &rows,
                                const py::type &metricsType) {
  std::vector<Strategy> strategies;
  strategies.reserve(rows.size());
  for (py::handle row : rows)
    strategies.push_back(
        shardopt::readStrategy(scenario, readNumbers(row.ptr())));
  std::vector<Evaluation> found;
  found.reserve(strategies.size());
  {
    py::gil_scoped_release release;
    for (const Strategy &strategy : strategies)
      found.push_back(scenario.simulator().evaluate(strategy));
  }
  auto *type = reinterpret_cast<PyTypeObject *>(metricsType.ptr());
  if (!PyType_IsSubtype(type, &PyTuple_Type))
    throw py::type_error("metrics are no tuples");
  std::map<Reason, py::str> reasons;
  const py::str phase(scenario.isPrefill() ? "prefill" : "decode");
  py::list metrics(found.size());
  for (size_t i = 0; i < found.size(); ++i) {
    const Evaluation &one = found[i];
    auto [reason, isNew] = reasons.try_emplace(one.reason);
    if (isNew)
      reason->second = py::str(spell(one.reason));
    py::object fields[] = {
        py::bool_(one.valid),       reason->second,
        py::float_(one.throughput), py::float_(one.latencyMs),
        py::float_(one.memoryGb),   phase};
    PyObject *made = type->tp_alloc(type, Py_ssize_t(std::size(fields)));
    if (!made)
      throw py::error_already_set();
    for (size_t field = 0; field < std::size(fields); ++field)
      PyTuple_SET_ITEM(made, Py_ssize_t(field), fields[field].release().ptr());
    // It holds no containers: nothing for the collector of cycles to look at.
    PyObject_GC_UnTrack(made);
    PyList_SET_ITEM(metrics.ptr(), Py_ssize_t(i), made);
  }
  return metrics;
}
