//===- Inherited.h - Values of a machine file, or of another ----*- C++ -*-===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef SHARDOPT_LIB_MODEL_MACHINE_INHERITED_H
#define SHARDOPT_LIB_MODEL_MACHINE_INHERITED_H

#include "shardopt/Support/Json.h"

#include <utility>
#include <vector>

namespace shardopt {

/// A place in a file and the same place in those that it is like, the nearest
/// first. It stands for the value of the first that has one.
class Inherited {
public:
  explicit Inherited(std::vector<json::Value> values)
      : values(std::move(values)) {}

  /// Of the file itself.
  const json::Value &own() const { return values.front(); }

  Inherited operator[](std::string_view key) const {
    std::vector<json::Value> members;
    for (const json::Value &value : values)
      members.push_back(value[key]);
    return Inherited(std::move(members));
  }

  operator json::Value() const {
    for (const json::Value &value : values)
      if (value)
        return value;
    return own();
  }

private:
  std::vector<json::Value> values;
};

} // namespace shardopt

#endif // SHARDOPT_LIB_MODEL_MACHINE_INHERITED_H
