//===- Rows.h - Strategies and metrics of Python ----------------*- C++ -*-===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef SHARDOPT_PYTHON_ROWS_H
#define SHARDOPT_PYTHON_ROWS_H

#include "shardopt/Planning/Scenario.h"

#include <pybind11/pybind11.h>

#include <vector>

namespace shardopt {

/// A strategy as Python has it: the degrees in the order of the table, a dim
/// for each op, and the layers of each stage where they are not divided evenly.
using Numbers = std::vector<int64_t>;

Numbers numbersOf(const Strategy &strategy);
/// What is no strategy of the model is a ValueError.
Strategy readStrategy(const Scenario &scenario, const Numbers &numbers);

/// A `metricsType`, which is a tuple of six fields, for each of `rows`: lists
/// of integers, `strategyType`s, or dictionaries of degrees and dims. Those of
/// another form are what `numbersOf` makes of them. Read and made here because
/// Python takes longer for that than evaluating does.
pybind11::list evaluateRows(const Scenario &scenario,
                            const pybind11::list &rows,
                            const pybind11::type &metricsType,
                            const pybind11::type &strategyType,
                            const pybind11::object &numbersOf);

} // namespace shardopt

#endif // SHARDOPT_PYTHON_ROWS_H
