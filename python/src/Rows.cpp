//===- Rows.cpp - Strategies and metrics of Python ------------------------===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Rows.h"
#include "shardopt/Support/Hash.h"
#include "shardopt/Support/Suggest.h"

#include <algorithm>
#include <array>
#include <map>

namespace py = pybind11;
using namespace shardopt;

Strategy shardopt::readStrategy(const Scenario &scenario,
                                const Numbers &numbers) {
  size_t ops = scenario.opNames().size();
  if (numbers.size() < numDegrees + ops)
    throw py::value_error("a strategy has " + std::to_string(numbers.size()) +
                          " numbers, expected " + std::to_string(numDegrees) +
                          " degrees, " + std::to_string(ops) +
                          " dims, and the layers of stages where they are "
                          "said");
  Strategy strategy;
  strategy.dims.reserve(ops);
  for (Degree degree : allDegrees) {
    int64_t value = numbers[size_t(degree)];
    if (value < 1 || value > infoOf(degree).most)
      throw py::value_error(std::string("'") + spell(degree) + "' is " +
                            std::to_string(value) + ", expected " +
                            wantedOf(degree));
    strategy.degrees[degree] = value;
  }
  for (size_t op = 0; op < ops; ++op) {
    int64_t dim = numbers[numDegrees + op];
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
  auto layers = int64_t(scenario.model().numLayers());
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

namespace {
/// Strings that keys are looked for by, each with the object that was equal to
/// it last: rows that come from one place share theirs.
class Key {
public:
  Key() = default;
  explicit Key(const std::string &text)
      : name(py::reinterpret_steal<py::object>(
            PyUnicode_InternFromString(text.c_str()))),
        last(name) {}

  PyObject *ptr() const { return name.ptr(); }
  bool is(PyObject *key) {
    if (key == last.ptr())
      return true;
    if (!PyUnicode_CheckExact(key) || PyUnicode_Compare(key, name.ptr()) != 0)
      return false;
    last = py::reinterpret_borrow<py::object>(key);
    return true;
  }

private:
  py::object name, last;
};

/// Reads strategies of Python: lists of numbers, objects, and dictionaries as
/// reports have them, where all in them is a number.
class RowReader {
public:
  RowReader(const Scenario &scenario, const py::type &strategyType,
            const py::object &numbersOf);

  /// The numbers of `row`, up to the next call. What is neither is for
  /// `numbersOf`; what is no list of integers then is a ValueError.
  const Numbers &read(py::handle row);

private:
  bool readObject(PyObject *row);
  bool readDict(PyObject *row);
  void readList(PyObject *row);
  bool takeDegrees(const DegreeMap<int64_t> &given);
  bool takeDim(size_t op, PyObject *name, PyObject *dim);
  bool takePair(size_t op, PyObject *pair);
  bool takeStages(PyObject *stages);

  const Scenario &scenario;
  const py::type strategyType;
  const py::object numbersOf;
  DegreeMap<Key> degreeKeys;
  std::vector<Key> opKeys;
  /// The dims that each op has, a bit for each.
  std::vector<unsigned> dimsOfOps;
  /// For each op and dim the pair of them that was read last: strategies share
  /// theirs.
  std::vector<std::array<py::object, maxDims>> pairs;
  Key dimsKey{"dims"}, stagesKey{StageCut::key};
  Numbers numbers;
};
} // namespace

RowReader::RowReader(const Scenario &scenario, const py::type &strategyType,
                     const py::object &numbersOf)
    : scenario(scenario), strategyType(strategyType), numbersOf(numbersOf) {
  for (Degree degree : allDegrees)
    degreeKeys[degree] = Key(spell(degree));
  for (const cost::Node *node : scenario.model().nodesByVariable()) {
    opKeys.emplace_back(node->name);
    unsigned dims = 0;
    for (const cost::DimChoice &choice : node->op->choices())
      dims |= 1u << unsigned(choice.dim);
    dimsOfOps.push_back(dims);
  }
  pairs.resize(opKeys.size());
}

const Numbers &RowReader::read(py::handle row) {
  PyObject *object = row.ptr();
  if (PyList_Check(object)) {
    readList(object);
    return numbers;
  }
  numbers.clear();
  bool isRead =
      PyDict_CheckExact(object)
          ? readDict(object)
          : PyObject_TypeCheck(
                object, reinterpret_cast<PyTypeObject *>(strategyType.ptr())) &&
                readObject(object);
  if (!isRead) {
    py::object found = numbersOf(row);
    readList(found.ptr());
  }
  return numbers;
}

/// What `number` says; 0, which no degree is, where it is no integer of ours.
static int64_t readExact(PyObject *number) {
  int overflow = 0;
  return PyLong_CheckExact(number)
             ? PyLong_AsLongLongAndOverflow(number, &overflow)
             : 0;
}

/// What a message says of any object, never long.
static std::string shown(PyObject *object) {
  return py::module_::import("shardopt.border")
      .attr("shown")(py::handle(object))
      .cast<std::string>();
}

void RowReader::readList(PyObject *row) {
  if (!PyList_Check(row))
    throw py::type_error("a strategy is no list");
  numbers.resize(size_t(PyList_GET_SIZE(row)));
  for (size_t i = 0; i < numbers.size(); ++i) {
    PyObject *number = PyList_GET_ITEM(row, Py_ssize_t(i));
    // Those of other libraries are integers too, and truth is none.
    bool isTruth = PyBool_Check(number);
    numbers[i] = isTruth ? 0 : PyLong_AsLongLong(number);
    if (!isTruth && (numbers[i] != -1 || !PyErr_Occurred()))
      continue;
    PyErr_Clear();
    throw py::value_error("number " + std::to_string(i) + " of a strategy is " +
                          shown(number) +
                          ", expected an integer of at most 64 bits");
  }
}

/// What `value`, a number or a name, says; 0 where it is neither.
static int64_t degreeOf(Degree degree, PyObject *value) {
  const DegreeInfo &info = infoOf(degree);
  if (!info.names)
    return readExact(value);
  for (int64_t number = 1; number <= info.most; ++number)
    if (PyUnicode_CheckExact(value) &&
        PyUnicode_CompareWithASCIIString(value, info.names[number - 1]) == 0)
      return number;
  return 0;
}

/// Adds the degrees, 0 where one is not given; false where one has to be.
bool RowReader::takeDegrees(const DegreeMap<int64_t> &given) {
  Degrees degrees;
  for (Degree degree : allDegrees) {
    if (given[degree])
      degrees[degree] = given[degree];
    else if (infoOf(degree).isRequired())
      return false;
  }
  for (Degree degree : allDegrees)
    numbers.push_back(given[degree] ? degrees[degree]
                                    : infoOf(degree).fallback(degrees));
  return true;
}

/// Adds the dim of op number `op`, which `name` shall be.
bool RowReader::takeDim(size_t op, PyObject *name, PyObject *dim) {
  if (!opKeys[op].is(name) || !PyLong_CheckExact(dim))
    return false;
  int overflow = 0;
  int64_t number = PyLong_AsLongLongAndOverflow(dim, &overflow);
  if (number < 0 || number >= int64_t(maxDims) ||
      !(dimsOfOps[op] >> number & 1))
    return false;
  numbers.push_back(number);
  return true;
}

/// Adds the dim of op number `op` of `pair`, its name and the dim.
bool RowReader::takePair(size_t op, PyObject *pair) {
  for (size_t dim = 0; dim < maxDims; ++dim)
    if (pairs[op][dim].ptr() == pair) {
      numbers.push_back(int64_t(dim));
      return true;
    }
  if (!PyTuple_CheckExact(pair) || PyTuple_GET_SIZE(pair) != 2 ||
      !takeDim(op, PyTuple_GET_ITEM(pair, 0), PyTuple_GET_ITEM(pair, 1)))
    return false;
  pairs[op][size_t(numbers.back())] = py::reinterpret_borrow<py::object>(pair);
  return true;
}

/// Adds the layers of the stages, a tuple.
bool RowReader::takeStages(PyObject *stages) {
  if (!PyTuple_CheckExact(stages))
    return false;
  for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(stages); ++i) {
    numbers.push_back(readExact(PyTuple_GET_ITEM(stages, i)));
    if (numbers.back() < 1)
      return false;
  }
  return true;
}

/// Whether `row`, a Strategy, is one for the ops in their order.
bool RowReader::readObject(PyObject *row) {
  auto get = [&](const Key &key) {
    PyObject *value = PyObject_GetAttr(row, key.ptr());
    if (!value)
      throw py::error_already_set();
    return py::reinterpret_steal<py::object>(value);
  };
  DegreeMap<int64_t> given;
  for (Degree degree : allDegrees) {
    py::object value = get(degreeKeys[degree]);
    given[degree] = value.is_none() ? 0 : degreeOf(degree, value.ptr());
    if (!value.is_none() && given[degree] < 1)
      return false;
  }
  py::object dims = get(dimsKey);
  if (!PyTuple_CheckExact(dims.ptr()) ||
      PyTuple_GET_SIZE(dims.ptr()) != Py_ssize_t(opKeys.size()) ||
      !takeDegrees(given))
    return false;
  for (size_t op = 0; op < opKeys.size(); ++op)
    if (!takePair(op, PyTuple_GET_ITEM(dims.ptr(), Py_ssize_t(op))))
      return false;
  return takeStages(get(stagesKey).ptr());
}

/// Whether `row` has the degrees of a strategy and its dims in the order of the
/// ops, and nothing else.
bool RowReader::readDict(PyObject *row) {
  DegreeMap<int64_t> given;
  for (Degree degree : allDegrees)
    given[degree] = 0;
  PyObject *dims = nullptr, *key = nullptr, *value = nullptr;
  Py_ssize_t place = 0;
  size_t next = 0; // reports have degrees in their order
  while (PyDict_Next(row, &place, &key, &value)) {
    if (dimsKey.is(key)) {
      dims = value;
      continue;
    }
    while (next < numDegrees && !degreeKeys[allDegrees[next]].is(key))
      ++next;
    if (next == numDegrees)
      return false;
    Degree degree = allDegrees[next++];
    given[degree] = degreeOf(degree, value);
    if (given[degree] < 1)
      return false;
  }
  if (!dims || !PyDict_CheckExact(dims) ||
      PyDict_GET_SIZE(dims) != Py_ssize_t(opKeys.size()) || !takeDegrees(given))
    return false;
  place = 0;
  for (size_t op = 0; PyDict_Next(dims, &place, &key, &value); ++op)
    if (!takeDim(op, key, value))
      return false;
  return true;
}

/// The order in which strategies are evaluated: those of equal degrees
/// together, whose tables are then at hand. A black box is asked in the order
/// given.
static std::vector<uint32_t> orderOf(const Scenario &scenario,
                                     const std::vector<Strategy> &strategies) {
  std::vector<uint32_t> order(strategies.size());
  for (size_t i = 0; i < order.size(); ++i)
    order[i] = uint32_t(i);
  if (scenario.external())
    return order;
  std::vector<uint64_t> hashes;
  hashes.reserve(strategies.size());
  for (const Strategy &strategy : strategies) {
    WordHash hash;
    for (Degree degree : allDegrees)
      hash.add(uint64_t(strategy.degrees[degree]));
    hashes.push_back(hash.value());
  }
  std::sort(order.begin(), order.end(), [&](uint32_t a, uint32_t b) {
    return hashes[a] != hashes[b] ? hashes[a] < hashes[b] : a < b;
  });
  return order;
}

/// The strategies of `rows`; an error says in which one it is.
static std::vector<Strategy> readRows(const Scenario &scenario,
                                      const py::list &rows, RowReader &reader) {
  std::vector<Strategy> strategies;
  strategies.reserve(rows.size());
  auto errorOf = [&](const std::string &what) {
    return py::value_error("strategies[" + std::to_string(strategies.size()) +
                           "]: " + what);
  };
  for (py::handle row : rows) {
    try {
      strategies.push_back(shardopt::readStrategy(scenario, reader.read(row)));
    } catch (const py::value_error &error) {
      throw errorOf(error.what());
    } catch (const py::error_already_set &error) {
      if (!error.matches(PyExc_ValueError))
        throw;
      throw errorOf(py::str(error.value()).cast<std::string>());
    }
  }
  return strategies;
}

py::list shardopt::evaluateRows(const Scenario &scenario, const py::list &rows,
                                const py::type &metricsType,
                                const py::type &strategyType,
                                const py::object &numbersOf) {
  RowReader reader(scenario, strategyType, numbersOf);
  std::vector<Strategy> strategies = readRows(scenario, rows, reader);
  std::vector<Evaluation> found(strategies.size());
  {
    py::gil_scoped_release release;
    for (uint32_t i : orderOf(scenario, strategies))
      found[i] = scenario.simulator().evaluate(strategies[i]);
  }
  auto *type = reinterpret_cast<PyTypeObject *>(metricsType.ptr());
  if (!PyType_IsSubtype(type, &PyTuple_Type))
    throw py::type_error("metrics are no tuples");
  std::map<Reason, py::str> reasons;
  py::str phase(scenario.isPrefill() ? "prefill" : "decode");
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
