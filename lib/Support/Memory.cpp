//===- Memory.cpp - How much memory there is ------------------------------===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "shardopt/Support/Memory.h"

#include <algorithm>
#include <cstdio>
#include <fstream>
#include <limits>
#include <optional>

using namespace shardopt;

static constexpr int64_t unknown = std::numeric_limits<int64_t>::max();

/// The number in a file that holds nothing else.
static std::optional<int64_t> readNumber(const char *path) {
  std::ifstream file(path);
  int64_t number;
  if (file >> number)
    return number;
  return std::nullopt;
}

/// MemAvailable of /proc/meminfo, which is in KiB.
static int64_t availableOnMachine() {
  std::ifstream file("/proc/meminfo");
  std::string name, unit;
  int64_t number;
  while (file >> name >> number) {
    if (name == "MemAvailable:")
      return number * 1024;
    std::getline(file, unit);
  }
  return unknown;
}

/// What a control group may take and has not; its limit may be "max".
static int64_t availableInGroup() {
  std::optional<int64_t> limit = readNumber("/sys/fs/cgroup/memory.max");
  std::optional<int64_t> taken = readNumber("/sys/fs/cgroup/memory.current");
  return limit && taken ? std::max<int64_t>(0, *limit - *taken) : unknown;
}

int64_t shardopt::availableMemory() {
  return std::min(availableOnMachine(), availableInGroup());
}

std::string shardopt::toGigabytes(double bytes) {
  char text[48];
  std::snprintf(text, sizeof(text), "%.1f GB", bytes / 1e9);
  return text;
}
