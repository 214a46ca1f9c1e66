//===- DegreeTable.h - The table of degrees, for Python ---------*- C++ -*-===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef SHARDOPT_PYTHON_DEGREETABLE_H
#define SHARDOPT_PYTHON_DEGREETABLE_H

#include <pybind11/pybind11.h>

namespace shardopt {

/// Gives `module` what Python builds its strategies of: `degrees`, the names;
/// `degree_table`, for each its name, whether a strategy has to say it, its
/// fallback where that is the same for all strategies, and the names of its
/// values from 1, if they have names; and `fill_degrees`, which puts fallbacks
/// where None is.
void addDegrees(pybind11::module_ &module);

} // namespace shardopt

#endif // SHARDOPT_PYTHON_DEGREETABLE_H
