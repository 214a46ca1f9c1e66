//===- CommandLine.cpp - Options of tools without LLVM --------------------===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "shardopt/Support/CommandLine.h"

#include "shardopt/Support/Suggest.h"

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <cstdio>
#include <cstdlib>

using namespace shardopt;

Error shardopt::expectedOption(const std::string &what,
                               const std::string &found) {
  return Error{"expected " + what + ", found '" + abbreviate(found) + "'"};
}

OptionTaker shardopt::takePath(std::string &target) {
  return [&target](const std::string &value) -> std::optional<Error> {
    if (value.empty())
      return expectedOption("the path of a file", value);
    target = value;
    return std::nullopt;
  };
}

static std::optional<int64_t> readInteger(const std::string &text) {
  char *end = nullptr;
  errno = 0;
  long long number = std::strtoll(text.c_str(), &end, 10);
  if (text.empty() || *end || errno)
    return std::nullopt;
  return number;
}

OptionTaker shardopt::takeInteger(int64_t &target, int64_t least,
                                  int64_t most) {
  return
      [&target, least, most](const std::string &value) -> std::optional<Error> {
        std::optional<int64_t> number = readInteger(value);
        if (!number || *number < least || *number > most)
          return expectedOption("an integer in [" + std::to_string(least) +
                                    ", " + std::to_string(most) + "]",
                                value);
        target = *number;
        return std::nullopt;
      };
}

OptionTaker shardopt::takeIntegers(std::vector<int64_t> &target, size_t fewest,
                                   size_t most, int64_t least) {
  return [=, &target](const std::string &value) -> std::optional<Error> {
    std::string count =
        fewest == most ? std::to_string(most)
                       : std::to_string(fewest) + " to " + std::to_string(most);
    Error error = expectedOption(count + " integers of at least " +
                                     std::to_string(least) + " between commas",
                                 value);
    std::vector<int64_t> numbers;
    for (std::string_view part : splitAtCommas(value)) {
      std::optional<int64_t> number = readInteger(std::string(part));
      if (!number || *number < least)
        return error;
      numbers.push_back(*number);
    }
    if (numbers.size() < fewest || numbers.size() > most)
      return error;
    target = std::move(numbers);
    return std::nullopt;
  };
}

std::optional<double> shardopt::readNumber(const std::string &text) {
  char *end = nullptr;
  double number = std::strtod(text.c_str(), &end);
  if (text.empty() || *end || !std::isfinite(number))
    return std::nullopt;
  return number;
}

OptionTaker shardopt::takeNumber(std::function<void(double)> target,
                                 double least, double most,
                                 const std::string &what) {
  return [=](const std::string &value) -> std::optional<Error> {
    std::optional<double> found = readNumber(value);
    if (!found || *found < least || *found > most)
      return expectedOption(what, value);
    target(*found);
    return std::nullopt;
  };
}

OptionTaker shardopt::takeOneOf(std::string &target,
                                std::vector<std::string> known) {
  return [&target, known](const std::string &value) -> std::optional<Error> {
    if (std::find(known.begin(), known.end(), value) == known.end())
      return Error{"unknown value '" + abbreviate(value) + "', " +
                   listKnown(value, known)};
    target = value;
    return std::nullopt;
  };
}

ErrorOr<std::vector<std::string>> CommandLine::parse(int argc,
                                                     char **argv) const {
  std::vector<std::string> known, positional;
  for (const Flag &flag : flags)
    known.push_back(flag.name);
  for (const Option &option : options)
    known.push_back(option.name);

  for (int i = 1; i < argc; ++i) {
    std::string argument = argv[i];
    if (argument.size() < 2 || argument[0] != '-') {
      positional.push_back(argument);
      continue;
    }
    size_t equals = argument.find('=');
    std::string name = argument.substr(0, equals);
    auto isNamed = [&](const auto &candidate) {
      return candidate.name == name;
    };
    auto flag = std::find_if(flags.begin(), flags.end(), isNamed);
    if (flag != flags.end() && equals == std::string::npos) {
      *flag->target = true;
      continue;
    }
    auto option = std::find_if(options.begin(), options.end(), isNamed);
    if (option == options.end())
      return Error{"unknown option '" + abbreviate(argument) + "', " +
                   listKnown(name, known)};
    if (equals == std::string::npos && i + 1 == argc)
      return Error{name + ": expected a value"};
    std::string value =
        equals == std::string::npos ? argv[++i] : argument.substr(equals + 1);
    if (std::optional<Error> error = option->take(value))
      return Error{name + ": " + error->message};
  }
  return positional;
}

void StandardOptions::answer(const char *usage,
                             const char *versionNumber) const {
  if (help)
    std::fputs(usage, stdout);
  else
    std::printf("shardopt %s\n", versionNumber);
}

int shardopt::fail(const std::string &message) {
  std::fprintf(stderr, "error: %s\n", message.c_str());
  return 1;
}

void shardopt::warn(const std::string &message) {
  std::fprintf(stderr, "warning: %s\n", message.c_str());
}
