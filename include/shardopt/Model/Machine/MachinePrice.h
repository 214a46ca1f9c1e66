//===- MachinePrice.h - What a device costs ---------------------*- C++ -*-===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Apart from Machine, since no cost model knows of it, and since a plan stays
// what it is when a price changes.
//
//===----------------------------------------------------------------------===//

#ifndef SHARDOPT_MODEL_MACHINE_MACHINEPRICE_H
#define SHARDOPT_MODEL_MACHINE_MACHINEPRICE_H

#include "shardopt/Support/Error.h"

#include <optional>
#include <string>
#include <string_view>

namespace shardopt {

/// Dollars of a device of the machine called `nameOrFile` for an hour; none:
/// its file has no price, or is a pipe.
ErrorOr<std::optional<double>> loadPrice(const std::string &nameOrFile);

/// The same of a machine file's text.
ErrorOr<std::optional<double>> parsePrice(std::string_view text,
                                          const std::string &fileName);

} // namespace shardopt

#endif // SHARDOPT_MODEL_MACHINE_MACHINEPRICE_H
