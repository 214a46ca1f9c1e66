//===- Options.cpp - The command line of shard-schedule -------------------===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Options.h"

#include "shardopt/Solvers/Schedule/Solver.h"
#include "shardopt/Support/Suggest.h"

#include <algorithm>

using namespace shardopt;

const char *const usageText = R"(usage: shard-schedule [options] graph.json
       shard-schedule [options] module.mlir
       shard-schedule [options] --pattern=<name> --stages=<n>

Decides where and when operators run: minimal makespan within the memory of each
device, with a lower bound.

  --pattern=<name>      train, experts, overlap, prefill or decode instead of a
                        file
  --machine=<name>      modules: machine name or file (default: the module's)
  --simulator=<name>    modules: times by roofline, calibrated, or auto, which
                        takes measured kernels where it can (default)
  --chunks=<n,...>      modules: chunks per micro-batch, numbers to choose from
                        (default: 1)
  --reorder             modules: allow ops of a chunk to be reordered
  --joint               modules: choose dims, stages and order together, and
                        compare with choosing them one by one
  --training            modules: a training step of the strategy, whose stages
                        are the devices of --placement; --memory in bytes
                        (default: that of the machine)
  --ring=<n,...>        --joint: micro-batches in flight in decode, numbers to
                        choose from (default: those of the strategy, one less
                        and one more; 0: one step alone)
  --stages=<n>          devices of a pipeline, or layers (overlap)
  --microbatches=<n>    repetitions of a graph (default: 1), or groups of
                        requests (decode; default: the fewest that keep all
                        stages busy)
  --times=<t,...>       F,Bi,W of a chunk (train), A,D,E,C of a layer (experts,
                        overlap), one for each chunk of the prompt (prefill),
                        one for each stage or for all (decode);
                        with --tokens, of a token and of its attention to 1024
                        before it (prefill);
                        t,.../t,... of a batch in 1, 2, ... chunks (overlap),
                        to choose from
  --tokens=<n>          prompt tokens, divided into --microbatches (prefill),
                        or tokens that each group decodes (decode; default: 8)
  --send=<t>            send time between two stages (decode; default: 0)
  --placement=<how>     linear, bidirectional, v, wave or free; balanced: stages
                        of a graph with the fastest slowest stage
  --memory=<n>          limit per device: activations of chunks, or bytes;
                        <n>..<m>: the Pareto frontier of time and memory
  --objective=<what>    makespan (default), own-span or memory
  --backend=<name>      portfolio (default) or one of its parts
  --time-limit=<s>      seconds; 0: no limit (default: 60, and 0 with --rounds)
  --rounds=<n>          search steps; without a time limit, the result is the
                        same on every machine (mip: a node takes one step per
                        200 terms of the model)
  --threads=<n>         threads (default: 1)
  --seed=<n>            random seed (default: 1)
  -o <file>             write the schedule as JSON ('-': standard output)
  --report=<file>       write the result and its statistics as JSON
  --gantt=<file>        draw the schedule as SVG, with reference schedules
  --front=<file>        write the Pareto frontier of --memory=<n>..<m> as JSON
  --trace=<file>        write the schedule for trace viewers (Chrome, Perfetto)
  --help, --version
)";

bool isModule(const Options &options) {
  std::string end = ".mlir";
  return options.graph.size() > end.size() &&
         options.graph.compare(options.graph.size() - end.size(), end.size(),
                               end) == 0;
}

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
  if (isModule(options) && !options.isTraining &&
      (options.microbatches || !options.placement.empty() || options.memory))
    return Error{"--microbatches, --placement and --memory are of graphs and "
                 "patterns, and of modules with --training"};
  bool hasChunks = options.chunks != std::vector<int64_t>{1};
  if (!isModule(options) &&
      (!options.machine.empty() || options.reorders || options.isJoint ||
       options.isTraining || options.simulator != "auto" || hasChunks))
    return Error{
        "--machine, --simulator, --chunks, --reorder, --joint and --training "
        "are of modules, files that end in .mlir"};
  if (options.isTraining && (options.reorders || options.isJoint || hasChunks))
    return Error{"--training orders whole passes, found --chunks, --reorder or "
                 "--joint"};
  if (options.isTraining && options.mostMemory)
    return Error{"--memory: expected one number with --training"};
  if (options.isTraining &&
      (options.placement == "free" || options.placement == "balanced"))
    return Error{"--placement: expected linear, bidirectional, v or wave with "
                 "--training, found '" +
                 options.placement + "'"};
  if (options.isJoint && options.reorders)
    return Error{"--joint keeps the order of programs, found --reorder"};
  const std::vector<int64_t> &ring = options.ring;
  if (ring.size() > 1 && std::count(ring.begin(), ring.end(), 0))
    return Error{"--ring: 0 is a step by itself, expected it alone"};
  if (!ring.empty() && !options.isJoint)
    return Error{"--ring is of --joint; a strategy is ordered for a ring by "
                 "--llm-schedule-stages"};
  if (!options.pattern.empty() && !options.stages)
    return Error{"--pattern: needs --stages, an integer of at least 1"};
  if (options.pattern.empty() && (options.stages || !options.times.empty()))
    return Error{"--stages and --times are of patterns, a graph has its own"};
  if (!options.front.empty() && !options.mostMemory)
    return Error{"--front: needs a range, --memory=<n>..<m>"};
  if (options.splitTimes.size() > 1 && options.pattern != "overlap")
    return Error{"--times: rows between '/' are of the pattern 'overlap'"};
  bool hasTokens = options.pattern == "prefill" || options.pattern == "decode";
  if (options.tokens && !hasTokens)
    return Error{"--tokens is of the patterns 'prefill' and 'decode'"};
  if (options.send && options.pattern != "decode")
    return Error{"--send is of the pattern 'decode'"};
  return std::nullopt;
}

/// Integers between commas, in rows between slashes.
static OptionTaker takeTimes(Options &options) {
  return [&options](const std::string &value) -> std::optional<Error> {
    constexpr size_t mostRows = 16;
    for (size_t begin = 0; begin <= value.size();) {
      size_t end = std::min(value.find('/', begin), value.size());
      OptionTaker take = takeIntegers(options.times, 1, 4096, 0);
      if (std::optional<Error> error = take(value.substr(begin, end - begin)))
        return error;
      options.splitTimes.push_back(options.times);
      begin = end + 1;
    }
    if (options.splitTimes.size() > mostRows)
      return expectedOption("at most " + std::to_string(mostRows) + " rows",
                            value);
    return std::nullopt;
  };
}

/// "9" or "6..12".
static OptionTaker takeMemory(Options &options) {
  return [&options](const std::string &value) -> std::optional<Error> {
    constexpr int64_t most = int64_t(1) << 62, mostPoints = 64;
    size_t dots = value.find("..");
    int64_t memory = 0;
    OptionTaker take = takeInteger(memory, 0, most);
    if (std::optional<Error> error = take(value.substr(0, dots)))
      return error;
    options.memory = memory;
    if (dots == std::string::npos)
      return std::nullopt;
    take = takeInteger(options.mostMemory, memory + 1,
                       std::min(most, memory + mostPoints - 1));
    return take(value.substr(dots + 2));
  };
}

ErrorOr<Options> parseOptions(int argc, char **argv) {
  Options options;
  CommandLine line;
  constexpr double forever = 1e9;
  constexpr int64_t most = int64_t(1) << 62;
  constexpr int64_t mostDevices = 4096;
  auto setLimit = [&options](double value) { options.timeLimit = value; };
  options.standard.addTo(line);
  line.add("--pattern",
           takeOneOf(options.pattern,
                     {"train", "experts", "overlap", "prefill", "decode"}));
  line.add("--machine", takePath(options.machine));
  line.add("--simulator",
           takeOneOf(options.simulator, {"auto", "roofline", "calibrated"}));
  line.add("--chunks", takeIntegers(options.chunks, 1, 16, 1));
  line.add("--ring", takeIntegers(options.ring, 1, 16, 0));
  line.addFlag("--reorder", options.reorders);
  line.addFlag("--joint", options.isJoint);
  line.addFlag("--training", options.isTraining);
  line.add("--stages", takeInteger(options.stages, 1, mostDevices));
  line.add("--microbatches",
           takeInteger(options.microbatches, 1, schedule::maxOps));
  line.add("--times", takeTimes(options));
  line.add("--tokens", takeInteger(options.tokens, 1, schedule::maxOps));
  line.add("--send", takeInteger(options.send, 0, schedule::maxTime));
  line.add("--placement",
           takeOneOf(options.placement, {"linear", "bidirectional", "v", "wave",
                                         "free", "balanced"}));
  line.add("--memory", takeMemory(options));
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
  line.add("--time-limit",
           takeNumber(setLimit, 0, forever,
                      "a number of seconds in [0, 1e9], 0 for no limit"));
  line.add("--rounds", takeInteger(options.rounds, 1, most));
  line.add("--threads", takeInteger(options.threads, 1, 256));
  line.add("--seed", takeInteger(options.seed, 0, most));
  line.add("-o", takePath(options.schedule));
  line.add("--report", takePath(options.report));
  line.add("--gantt", takePath(options.gantt));
  line.add("--trace", takePath(options.trace));
  line.add("--front", takePath(options.front));

  ErrorOr<std::vector<std::string>> positional = line.parse(argc, argv);
  if (!positional)
    return positional.error();
  if (options.standard.isAny())
    return options;
  if (!positional->empty())
    options.graph = positional->front();
  if (std::optional<Error> error = checkTogether(options, *positional))
    return *error;
  return options;
}
