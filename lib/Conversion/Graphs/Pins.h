//===- Pins.h - Shardings that a user gives -------------------- -*- C++
//-*-===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef SHARDOPT_LIB_CONVERSION_GRAPHS_PINS_H
#define SHARDOPT_LIB_CONVERSION_GRAPHS_PINS_H

#include "Mesh.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace shardopt::graphs {

/// The name that a location has, as JAX gives it to arguments; else none.
std::string nameOf(mlir::Location location);

/// Gives arguments and results the pins of a JSON file, whose object
/// "parameters" has for each name the axes of each dim: `[null, ["model"]]`.
/// Names are those of locations, or arg0 and result0; `*` stands for anything.
mlir::LogicalResult applyPins(mlir::func::FuncOp func, const Mesh &mesh,
                              const std::string &file);

/// That the pins of arguments and results are possible, and that an argument
/// that becomes a result in place has its pin.
mlir::LogicalResult checkPins(mlir::func::FuncOp func, const Mesh &mesh);

} // namespace shardopt::graphs

#endif // SHARDOPT_LIB_CONVERSION_GRAPHS_PINS_H
