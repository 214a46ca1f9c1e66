//===- CommandLine.h - Options of tools without LLVM ------------*- C++ -*-===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef SHARDOPT_SUPPORT_COMMANDLINE_H
#define SHARDOPT_SUPPORT_COMMANDLINE_H

#include "shardopt/Support/Error.h"

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace shardopt {

/// Takes the value of an option, or says what it should have been.
using OptionTaker =
    std::function<std::optional<Error>(const std::string &value)>;

/// "expected `what`, found 'found'"
Error expectedOption(const std::string &what, const std::string &found);

// Takers. What they fill outlives them.
OptionTaker takePath(std::string &target);
OptionTaker takeInteger(int64_t &target, int64_t least, int64_t most);
/// A finite number in [least, most]; `what` says so.
OptionTaker takeNumber(std::function<void(double)> target, double least,
                       double most, const std::string &what);
OptionTaker takeOneOf(std::string &target, std::vector<std::string> known);
/// Integers between commas; from `fewest` to `most` of them, in [least, …].
OptionTaker takeIntegers(std::vector<int64_t> &target, size_t fewest,
                         size_t most, int64_t least);

/// A finite number that is all of `text`.
std::optional<double> readNumber(const std::string &text);

/// "--name=value", "--name value" and "--flag", in any order with the arguments
/// that are no options.
class CommandLine {
public:
  void add(std::string name, OptionTaker take) {
    options.push_back({std::move(name), std::move(take)});
  }
  void addFlag(std::string name, bool &target) {
    flags.push_back({std::move(name), &target});
  }

  /// Fills the targets and returns what is no option. Errors name the option,
  /// and the closest ones for one that is unknown.
  ErrorOr<std::vector<std::string>> parse(int argc, char **argv) const;

private:
  struct Option {
    std::string name;
    OptionTaker take;
  };
  struct Flag {
    std::string name;
    bool *target;
  };
  std::vector<Option> options;
  std::vector<Flag> flags;
};

/// What every tool answers besides its own options.
struct StandardOptions {
  bool help = false, version = false;

  void addTo(CommandLine &line) {
    line.addFlag("--help", help);
    line.addFlag("--version", version);
  }
  bool isAny() const { return help || version; }
  /// Prints `usage`, or the version.
  void answer(const char *usage, const char *versionNumber) const;
};

/// Prints "error: …" and returns the exit code 1.
int fail(const std::string &message);
/// Prints "warning: …".
void warn(const std::string &message);

} // namespace shardopt

#endif // SHARDOPT_SUPPORT_COMMANDLINE_H
