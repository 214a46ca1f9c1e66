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
  module.def("list_known", [](const std::string &name,
                              std::vector<std::string> known, size_t most) {
    return shardopt::listKnown(name, std::move(known), most);
  });
  shardopt::addDegrees(module);
}
