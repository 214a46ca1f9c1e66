//===- Environment.h - A variable for one test ------------------*- C++ -*-===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef SHARDOPT_UNITTESTS_SUPPORT_ENVIRONMENT_H
#define SHARDOPT_UNITTESTS_SUPPORT_ENVIRONMENT_H

#include <cstdlib>
#include <optional>
#include <string>

namespace shardopt {

/// Sets a variable of the environment while it lives.
class Environment {
public:
  Environment(const char *name, const std::string &value) : name(name) {
    if (const char *before = std::getenv(name))
      saved = before;
    setenv(name, value.c_str(), 1);
  }
  ~Environment() {
    if (saved)
      setenv(name, saved->c_str(), 1);
    else
      unsetenv(name);
  }

private:
  const char *name;
  std::optional<std::string> saved;
};

} // namespace shardopt

#endif // SHARDOPT_UNITTESTS_SUPPORT_ENVIRONMENT_H
