//===- Failure.cpp - How a simulator fails --------------------------------===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "shardopt/Search/BlackBox/Failure.h"

#include <numeric>

using namespace shardopt;
using namespace shardopt::blackbox;

static constexpr std::array<const char *, numFailures> names = {
    "crash", "timeout", "nonsense", "not_a_number", "error", "refused_start"};

const char *blackbox::spell(Failure failure) { return names[size_t(failure)]; }

uint64_t FailureCounts::total() const {
  return std::accumulate(counts.begin(), counts.end(), uint64_t(0));
}

std::string blackbox::describe(const FailureCounts &failures) {
  std::string text;
  for (size_t i = 0; i < numFailures; ++i)
    if (failures.counts[i])
      text += (text.empty() ? "" : ", ") + std::to_string(failures.counts[i]) +
              " " + names[i];
  return text;
}
