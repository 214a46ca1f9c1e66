//===- Options.cpp - The command line of shard-solve ----------------------===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Options.h"

#include "shardopt/Support/Suggest.h"

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <cstdlib>
#include <functional>
#include <limits>
#include <vector>

using namespace shardopt;

const char *const usageText = R"(usage: shard-solve [options] instance.json[.gz]
       shard-solve --contest instance.json[.gz] seconds

Chooses a strategy for each node so that nodes and edges cost least and memory
stays within its limit at all times.

  -o <file>             write the solution, a JSON array ('-': standard output)
  --time-limit=<s>      seconds, reading included (default: 60; none with
                        --iterations)
  --iterations=<n>      rounds of search; without a time limit, the result is
                        the same on every machine
  --workers=<n>         searches that run beside each other (default: 2)
  --threads=<n>         threads that they run on (default: 2)
  --seed=<n>            (default: 1)
  --gap=<part>          stop at this distance from the bound (default: 0)
  --report=<file>       write what was found and how, as JSON
  --trace=<file>        write a line of JSON after each round
  --progress=<how>      auto (default), lines, bar or none; on standard error
  --method=<method>     multipliers (default), or penalties: a weight on the
                        memory of each node, to compare with; it has no bound
  --without=<part,...>  leave out reductions, messages, neighbourhoods, fixing,
                        tree, restarts or (of penalties) polishing
  --verify=<file>       check a solution instead of searching
  --export=<format>     write the problem as cfn, wcsp or mps to -o instead of
                        searching
  --contest             print each better solution on a line of its own
  --help, --version
)";

namespace {

/// An option with a value: its name, and what takes the value or says what it
/// should have been.
struct ValueOption {
  std::string name;
  std::function<std::optional<Error>(const std::string &)> take;
};

using Taker = std::function<std::optional<Error>(const std::string &)>;

} // namespace

static Error expected(const std::string &what, const std::string &found) {
  return Error{"expected " + what + ", found '" + abbreviate(found) + "'"};
}

static Taker text(std::string &target) {
  return [&target](const std::string &value) -> std::optional<Error> {
    if (value.empty())
      return expected("the path of a file", value);
    target = value;
    return std::nullopt;
  };
}

static Taker integer(int64_t &target, int64_t least, int64_t most) {
  return [&target, least, most](const std::string &value) {
    char *end = nullptr;
    errno = 0;
    long long number = std::strtoll(value.c_str(), &end, 10);
    std::optional<Error> error;
    if (value.empty() || *end || errno || number < least || number > most)
      error = expected("an integer in [" + std::to_string(least) + ", " +
                           std::to_string(most) + "]",
                       value);
    else
      target = number;
    return error;
  };
}

static std::optional<double> readNumber(const std::string &value) {
  char *end = nullptr;
  double number = std::strtod(value.c_str(), &end);
  if (value.empty() || *end || !std::isfinite(number))
    return std::nullopt;
  return number;
}

static Taker number(std::function<void(double)> target, double least,
                    double most, const std::string &what) {
  return [=](const std::string &value) -> std::optional<Error> {
    std::optional<double> found = readNumber(value);
    if (!found || *found < least || *found > most)
      return expected(what, value);
    target(*found);
    return std::nullopt;
  };
}

static Taker oneOf(std::string &target, std::vector<std::string> known) {
  return [&target, known](const std::string &value) -> std::optional<Error> {
    for (const std::string &name : known)
      if (name == value) {
        target = value;
        return std::nullopt;
      }
    return Error{"unknown value '" + abbreviate(value) + "', " +
                 listKnown(value, known)};
  };
}

static Taker parts(std::vector<std::string> &target,
                   std::vector<std::string> known) {
  return [&target, known](const std::string &value) -> std::optional<Error> {
    size_t begin = 0;
    while (begin <= value.size()) {
      size_t end = std::min(value.find(',', begin), value.size());
      std::string part = value.substr(begin, end - begin);
      if (std::find(known.begin(), known.end(), part) == known.end())
        return Error{"unknown part '" + abbreviate(part) + "', " +
                     listKnown(part, known)};
      target.push_back(part);
      begin = end + 1;
    }
    return std::nullopt;
  };
}

static std::vector<ValueOption> valueOptions(Options &options) {
  constexpr double forever = 1e9;
  constexpr int64_t mostInt64 = std::numeric_limits<int64_t>::max();
  auto setLimit = [&options](double value) { options.timeLimit = value; };
  auto setGap = [&options](double value) { options.gap = value; };
  return {
      {"-o", text(options.solution)},
      {"--report", text(options.report)},
      {"--trace", text(options.trace)},
      {"--verify", text(options.verify)},
      {"--export", oneOf(options.exportFormat, {"cfn", "wcsp", "mps"})},
      {"--progress", oneOf(options.progress, {"auto", "lines", "bar", "none"})},
      {"--time-limit",
       number(setLimit, 0, forever, "a number of seconds of at least 0")},
      {"--gap", number(setGap, 0, 1, "a number in [0, 1]")},
      {"--iterations", integer(options.iterations, 1, mostInt64)},
      {"--workers", integer(options.workers, 1, 256)},
      {"--threads", integer(options.threads, 1, 256)},
      {"--seed", integer(options.seed, 0, mostInt64)},
      {"--without",
       parts(options.without, {"reductions", "messages", "neighbourhoods",
                               "fixing", "tree", "restarts", "polishing"})},
      {"--method", oneOf(options.method, {"multipliers", "penalties"})},
  };
}

/// The arguments that are no options: the instance and, in the contest, the
/// limit.
static std::optional<Error>
takePositional(const std::vector<std::string> &positional, Options &options) {
  if (options.help || options.version)
    return std::nullopt;
  if (positional.empty())
    return Error{"expected an instance; see --help"};
  options.instance = positional[0];
  size_t wanted = options.contest ? 2 : 1;
  if (positional.size() > wanted)
    return Error{"unexpected argument '" + abbreviate(positional[wanted]) +
                 "'"};
  if (!options.contest)
    return std::nullopt;
  std::optional<double> seconds;
  if (positional.size() == 2)
    seconds = readNumber(positional[1]);
  if (!seconds || *seconds <= 0)
    return Error{"--contest: expected an instance and a number of seconds"};
  options.timeLimit = seconds;
  return std::nullopt;
}

ErrorOr<Options> parseOptions(int argc, char **argv) {
  Options options;
  std::vector<ValueOption> withValue = valueOptions(options);
  std::vector<std::string> known = {"--contest", "--help", "--version"};
  for (const ValueOption &option : withValue)
    known.push_back(option.name);

  std::vector<std::string> positional;
  for (int i = 1; i < argc; ++i) {
    std::string argument = argv[i];
    if (argument.size() < 2 || argument[0] != '-') {
      positional.push_back(argument);
      continue;
    }
    size_t equals = argument.find('=');
    std::string name = argument.substr(0, equals);
    bool *flag = name == "--contest"   ? &options.contest
                 : name == "--help"    ? &options.help
                 : name == "--version" ? &options.version
                                       : nullptr;
    if (flag && equals == std::string::npos) {
      *flag = true;
      continue;
    }
    const ValueOption *option = nullptr;
    for (const ValueOption &candidate : withValue)
      if (candidate.name == name)
        option = &candidate;
    if (!option)
      return Error{"unknown option '" + abbreviate(argument) + "', " +
                   listKnown(name, known)};
    if (equals == std::string::npos && i + 1 == argc)
      return Error{name + ": expected a value"};
    std::string value =
        equals == std::string::npos ? argv[++i] : argument.substr(equals + 1);
    if (std::optional<Error> error = option->take(value))
      return Error{name + ": " + error->message};
  }
  if (std::optional<Error> error = takePositional(positional, options))
    return *error;
  return options;
}
