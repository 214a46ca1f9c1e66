//===- Options.cpp - The command line of shard-solve ----------------------===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Options.h"

#include "shardopt/Support/Suggest.h"

#include <algorithm>
#include <limits>
#include <vector>

using namespace shardopt;

const char *const usageText = R"(usage: shard-solve [options] instance.json[.gz]
       shard-solve --contest instance.json[.gz] seconds

Chooses a strategy for each node of a graph: minimal total cost of nodes and
edges, with memory within its limit at all times.

  -o <file>             write the solution, a JSON array ('-': standard output)
  --time-limit=<s>      seconds, including reading; 0: no limit
                        (default: 60, and 0 with --iterations)
  --iterations=<n>      search rounds; without a time limit, the result is
                        the same on every machine
  --workers=<n>         parallel searches (default: 2)
  --threads=<n>         threads of the searches (default: 2)
  --seed=<n>            random seed (default: 1)
  --gap=<part>          stop at this relative gap to the bound (default: 0)
  --report=<file>       write the result and its statistics as JSON
  --trace=<file>        write one JSON line per round
  --progress=<how>      auto (default), lines, bar or none; on standard error
  --method=<method>     multipliers (default), or penalties: a baseline that
                        weights the memory of each node and has no bound
  --without=<part,...>  disable reductions, messages, neighbourhoods, fixing,
                        tree, tightening, restarts or (with penalties)
                        polishing
  --verify=<file>       check a solution instead of searching
  --export=<format>     write the problem as cfn, wcsp or mps to -o instead of
                        searching
  --contest             print each better solution on its own line
  --help, --version
)";

/// Names between commas.
static OptionTaker takeParts(std::vector<std::string> &target,
                             std::vector<std::string> known) {
  return [&target, known](const std::string &value) -> std::optional<Error> {
    for (std::string_view part : splitAtCommas(value)) {
      if (std::find(known.begin(), known.end(), part) == known.end())
        return Error{"unknown part '" + abbreviate(part) + "', " +
                     listKnown(part, known)};
      target.emplace_back(part);
    }
    return std::nullopt;
  };
}

static CommandLine commandLine(Options &options) {
  constexpr double forever = 1e9;
  constexpr int64_t mostInt64 = std::numeric_limits<int64_t>::max();
  auto setLimit = [&options](double value) { options.timeLimit = value; };
  auto setGap = [&options](double value) { options.gap = value; };
  CommandLine line;
  line.addFlag("--contest", options.contest);
  options.standard.addTo(line);
  line.add("-o", takePath(options.solution));
  line.add("--report", takePath(options.report));
  line.add("--trace", takePath(options.trace));
  line.add("--verify", takePath(options.verify));
  line.add("--export", takeOneOf(options.exportFormat, {"cfn", "wcsp", "mps"}));
  line.add("--progress",
           takeOneOf(options.progress, {"auto", "lines", "bar", "none"}));
  line.add("--time-limit",
           takeNumber(setLimit, 0, forever,
                      "a number of seconds in [0, 1e9], 0 for no limit"));
  line.add("--gap", takeNumber(setGap, 0, 1, "a number in [0, 1]"));
  line.add("--iterations", takeInteger(options.iterations, 1, mostInt64));
  line.add("--workers", takeInteger(options.workers, 1, 256));
  line.add("--threads", takeInteger(options.threads, 1, 256));
  line.add("--seed", takeInteger(options.seed, 0, mostInt64));
  line.add("--without",
           takeParts(options.without,
                     {"reductions", "messages", "neighbourhoods", "fixing",
                      "tree", "tightening", "restarts", "polishing"}));
  line.add("--method", takeOneOf(options.method, {"multipliers", "penalties"}));
  return line;
}

/// The arguments that are no options: the instance and, in the contest, the
/// limit.
static std::optional<Error>
takePositional(const std::vector<std::string> &positional, Options &options) {
  if (options.standard.isAny())
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
  ErrorOr<std::vector<std::string>> positional =
      commandLine(options).parse(argc, argv);
  if (!positional)
    return positional.error();
  if (std::optional<Error> error = takePositional(*positional, options))
    return *error;
  return options;
}
