//===- Options.cpp - The command line of shard-schedule -------------------===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Options.h"

#include "shardopt/Schedule/Solver.h"
#include "shardopt/Support/Suggest.h"

using namespace shardopt;

const char *const usageText = R"(usage: shard-schedule [options] graph.json
       shard-schedule [options] --pattern=<name> --stages=<n>

Decides where and when operators run, so that all end soonest within the memory
of each device, and says how far that is from the best.

  --pattern=<name>      train, experts, overlap or prefill instead of a file
  --stages=<n>          devices of a pipeline; of overlap, its layers
  --microbatches=<n>    repetitions of a graph (default: 1)
  --times=<t,...>       F,Bi,W of a chunk (train), A,D,E,C of a layer (experts,
                        overlap), one for each chunk of the prompt (prefill)
  --placement=<how>     linear, bidirectional, v, wave or free
  --memory=<n>          of each device: activations of chunks, or bytes
  --objective=<what>    makespan (default), own-span or memory
  --backend=<name>      portfolio (default) or one of its parts
  --time-limit=<s>      seconds (default: 60; none with --rounds)
  --rounds=<n>          steps of search; without a time limit, the result is
                        the same on every machine
  --threads=<n>         (default: 1)
  --seed=<n>            (default: 1)
  -o <file>             write the schedule as JSON ('-': standard output)
  --report=<file>       write what was found and how, as JSON
  --gantt=<file>        draw it as SVG, below it orders made by hand
  --trace=<file>        write it for trace viewers (Chrome, Perfetto)
  --help, --version
)";

/// What needs no more than the options themselves to be seen wrong.
static std::optional<Error>
checkTogether(const Options &options,
              const std::vector<std::string> &positional) {
  if (positional.size() > 1)
    return Error{"unexpected argument '" + abbreviate(positional[1]) + "'"};
  if (options.graph.empty() == options.pattern.empty())
    return Error{options.graph.empty()
                     ? "expected a graph or --pattern; see --help"
                     : "expected a graph or --pattern, found both"};
  if (!options.pattern.empty() && !options.stages)
    return Error{"--pattern: needs --stages, an integer of at least 1"};
  if (options.pattern.empty() && (options.stages || !options.times.empty()))
    return Error{"--stages and --times are of patterns, a graph has its own"};
  return std::nullopt;
}

ErrorOr<Options> parseOptions(int argc, char **argv) {
  Options options;
  CommandLine line;
  constexpr double forever = 1e9;
  constexpr int64_t most = int64_t(1) << 62;
  constexpr int64_t mostDevices = 4096;
  int64_t memory = -1;
  auto setLimit = [&options](double value) { options.timeLimit = value; };
  options.standard.addTo(line);
  line.add("--pattern", takeOneOf(options.pattern,
                                  {"train", "experts", "overlap", "prefill"}));
  line.add("--stages", takeInteger(options.stages, 1, mostDevices));
  line.add("--microbatches",
           takeInteger(options.microbatches, 1, schedule::maxOps));
  line.add("--times", takeIntegers(options.times, 1, 4096, 0));
  line.add("--placement",
           takeOneOf(options.placement,
                     {"linear", "bidirectional", "v", "wave", "free"}));
  line.add("--memory", takeInteger(memory, 0, most));
  line.add("--objective",
           takeOneOf(options.objective, {"makespan", "own-span", "memory"}));
  line.add("--backend",
           [&options](const std::string &value) -> std::optional<Error> {
             std::string missing = schedule::missingLibrary(value);
             if (!missing.empty())
               return Error{"'" + value +
                            "' is not part of this build, which "
                            "found no " +
                            missing};
             return takeOneOf(options.backend, schedule::backendNames())(value);
           });
  line.add("--time-limit", takeNumber(setLimit, 0, forever,
                                      "a number of seconds of at least 0"));
  line.add("--rounds", takeInteger(options.rounds, 1, most));
  line.add("--threads", takeInteger(options.threads, 1, 256));
  line.add("--seed", takeInteger(options.seed, 0, most));
  line.add("-o", takePath(options.schedule));
  line.add("--report", takePath(options.report));
  line.add("--gantt", takePath(options.gantt));
  line.add("--trace", takePath(options.trace));

  ErrorOr<std::vector<std::string>> positional = line.parse(argc, argv);
  if (!positional)
    return positional.error();
  if (options.standard.isAny())
    return options;
  if (!positional->empty())
    options.graph = positional->front();
  if (memory >= 0)
    options.memory = memory;
  if (std::optional<Error> error = checkTogether(options, *positional))
    return *error;
  return options;
}
