//===- Choice.cpp - Options with a few known values -----------------------===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "shardopt/Support/Choice.h"
#include "shardopt/Support/Suggest.h"

using namespace shardopt;

Error shardopt::unknownChoice(const std::string &option,
                              const std::string &value,
                              const std::vector<std::string> &known) {
  return Error{"unknown " + option + " '" + abbreviate(value) + "'; " +
               listKnown(value, known)};
}
