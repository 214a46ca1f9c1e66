//===- FurtherModule.cpp - Python's table of degrees with one more --------===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "DegreeTable.h"
#include "shardopt/Support/Suggest.h"

#include <pybind11/stl.h>

PYBIND11_MODULE(_shardopt, module) {
  module.attr("version") = "further";
  module.def("closest_first",
             [](const std::string &name, std::vector<std::string> known) {
               return shardopt::closestFirst(name, std::move(known));
             });
  shardopt::addDegrees(module);
}
