//===- Choice.h - Options with a few known values ---------------*- C++ -*-===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef SHARDOPT_SUPPORT_CHOICE_H
#define SHARDOPT_SUPPORT_CHOICE_H

#include "shardopt/Support/Error.h"

#include <string>
#include <utility>
#include <vector>

namespace shardopt {

/// "unknown <option> '<value>', known: …".
Error unknownChoice(const std::string &option, const std::string &value,
                    const std::vector<std::string> &known);

/// The meaning of `value` among `choices`, or an error with the known ones.
template <typename T>
ErrorOr<T> parseChoice(const std::string &option, const std::string &value,
                       const std::vector<std::pair<std::string, T>> &choices) {
  std::vector<std::string> known;
  for (const auto &[name, meaning] : choices) {
    if (name == value)
      return meaning;
    known.push_back(name);
  }
  return unknownChoice(option, value, known);
}

} // namespace shardopt

#endif // SHARDOPT_SUPPORT_CHOICE_H
