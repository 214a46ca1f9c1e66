//===- Settings.h - What Python asks, as values of our own ------*- C++ -*-===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef SHARDOPT_PYTHON_SETTINGS_H
#define SHARDOPT_PYTHON_SETTINGS_H

#include "shardopt/Planning/ServiceEvaluation.h"

#include <pybind11/pybind11.h>
#include <pybind11/stl.h>

#include <array>
#include <map>
#include <string>

namespace py = pybind11;

namespace shardopt {

template <typename T> T orRaise(ErrorOr<T> value) {
  if (!value)
    throw py::value_error(value.error().message);
  return std::move(*value);
}

/// Moves the member `name` of `settings` into `value` where it is there.
template <typename T>
void take(const py::dict &settings, const char *name, T &value) {
  if (settings.contains(name))
    value = settings[name].cast<T>();
}

/// What is said of a role, by name.
using RoleNumbers = std::map<std::string, py::object>;

/// Numbers by name, which are in their ranges.
RequestLoad readLoad(const std::map<std::string, double> &numbers);
/// Prompt tokens, output tokens and the share of requests that have these.
std::vector<cost::LengthShare>
readLengths(const std::vector<std::array<double, 3>> &rows);
/// What `settings` ask of a service.
ServiceRequest readService(const py::dict &settings);
/// The role that `said` spells: degrees by name, "workers", and "dims", one
/// for each op, which the model is asked about when it is evaluated.
GivenRole readRole(const std::string &role, const RoleNumbers &said);
/// The service of `roles`, either "serve", or "prefill" and "decode".
GivenService readGiven(const py::dict &settings);

} // namespace shardopt

#endif // SHARDOPT_PYTHON_SETTINGS_H
