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

static int64_t readNumber(PyObject *number) {
  const int64_t value = PyLong_AsLongLong(number);
  if (value == -1 && PyErr_Occurred())
    throw py::error_already_set();
  return value;
}

namespace {
/// Reads strategies of Python: lists of numbers, and dictionaries as reports
/// have them, where all in them is a number.
class RowReader {
public:
  RowReader(const Scenario &scenario, const py::object &numbersOf);

  /// The numbers of `row`, up to the next call. What is neither is for
  /// `numbersOf`; what is no list of integers then is a TypeError.
  const Numbers &read(py::handle row);

private:
  bool readDict(PyObject *row);
  void readList(PyObject *row);
  static int64_t degreeOf(Degree degree, PyObject *value);

  const Scenario &scenario;
  const py::object numbersOf;
  DegreeMap<py::object> degreeKeys;
  std::vector<py::object> opKeys;
  /// The dims that each op has, a bit for each.
  std::vector<unsigned> dimsOfOps;
  const py::str dimsKey{"dims"};
  Numbers numbers;
};
} // namespace

RowReader::RowReader(const Scenario &scenario, const py::object &numbersOf)
    : scenario(scenario), numbersOf(numbersOf) {
  for (Degree degree : allDegrees)
    degreeKeys[degree] = py::str(spell(degree));
  for (const cost::Node *node : scenario.model().nodesByVariable()) {
    opKeys.push_back(py::str(node->name));
    unsigned dims = 0;
    for (const cost::DimChoice &choice : node->op->choices())
      dims |= 1u << unsigned(choice.dim);
    dimsOfOps.push_back(dims);
  }
}

const Numbers &RowReader::read(py::handle row) {
  if (PyList_Check(row.ptr())) {
    readList(row.ptr());
  } else if (!PyDict_CheckExact(row.ptr()) || !readDict(row.ptr())) {
    const py::object found = numbersOf(row);
    readList(found.ptr());
  }
  return numbers;
}

void RowReader::readList(PyObject *row) {
  if (!PyList_Check(row))
    throw py::type_error("a strategy is no list");
  numbers.resize(size_t(PyList_GET_SIZE(row)));
  for (size_t i = 0; i < numbers.size(); ++i)
    numbers[i] = readNumber(PyList_GET_ITEM(row, Py_ssize_t(i)));
}

/// Whether `row` has the degrees and dims of a strategy, and nothing else.
bool RowReader::readDict(PyObject *row) {
  Degrees degrees;
  DegreeMap<bool> isGiven;
  Py_ssize_t known = 1; // dims
  for (Degree degree : allDegrees) {
    PyObject *value = PyDict_GetItemWithError(row, degreeKeys[degree].ptr());
    isGiven[degree] = value != nullptr;
    if (!value) {
      if (infoOf(degree).isRequired())
        return false;
      continue;
    }
    ++known;
    degrees[degree] = degreeOf(degree, value);
    if (degrees[degree] < 1)
      return false;
  }
  PyObject *dims = PyDict_GetItemWithError(row, dimsKey.ptr());
  if (!dims || !PyDict_CheckExact(dims) || PyDict_GET_SIZE(row) != known ||
      PyDict_GET_SIZE(dims) != Py_ssize_t(opKeys.size()))
    return false;
  numbers.clear();
  for (Degree degree : allDegrees)
    numbers.push_back(isGiven[degree] ? degrees[degree]
                                      : infoOf(degree).fallback(degrees));
  for (size_t op = 0; op < opKeys.size(); ++op) {
    PyObject *dim = PyDict_GetItemWithError(dims, opKeys[op].ptr());
    if (!dim || !PyLong_CheckExact(dim))
      return false;
    int overflow = 0;
    const int64_t number = PyLong_AsLongLongAndOverflow(dim, &overflow);
    if (number < 0 || number >= int64_t(maxDims) ||
        !(dimsOfOps[op] >> number & 1))
      return false;
    numbers.push_back(number);
  }
  return true;
}

/// What `value`, a number or a name, says; 0 where it is neither.
int64_t RowReader::degreeOf(Degree degree, PyObject *value) {
  const DegreeInfo &info = infoOf(degree);
  if (!info.names) {
    int overflow = 0;
    return PyLong_CheckExact(value)
               ? PyLong_AsLongLongAndOverflow(value, &overflow)
               : 0;
  }
  for (int64_t number = 1; number <= info.most; ++number)
    if (PyUnicode_CheckExact(value) &&
        PyUnicode_CompareWithASCIIString(value, info.names[number - 1]) == 0)
      return number;
  return 0;
}

py::list shardopt::evaluateRows(const Scenario &scenario, const py::list &rows,
                                const py::type &metricsType,
                                const py::object &numbersOf) {
  RowReader reader(scenario, numbersOf);
  std::vector<Strategy> strategies;
  strategies.reserve(rows.size());
  for (py::handle row : rows)
    strategies.push_back(shardopt::readStrategy(scenario, reader.read(row)));
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
