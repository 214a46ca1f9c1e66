//===- shard-run.cpp - Executes programs and verifies strategies ----------===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "../Main/ToolMain.h"
#include "Options.h"

#include "shardopt/Dialect/LLM/IR/PlannedOnly.h"
#include "shardopt/Dialect/LLM/Transforms/Passes.h"
#include "shardopt/Support/FileRoles.h"

#include "mlir/IR/Diagnostics.h"
#include "llvm/Support/SourceMgr.h"
#include "llvm/Support/raw_ostream.h"

using namespace shardopt;
using namespace shardopt::run;

namespace cl = llvm::cl;

static cl::OptionCategory category("Options of shard-run");
static Options options;

#define SHARDOPT_OPTION(type, variable, name, target, text)                    \
  static cl::opt<type, true> variable(name, cl::cat(category),                 \
                                      cl::location(target), cl::desc(text))

static cl::opt<std::string, true> input(cl::Positional, cl::cat(category),
                                        cl::location(options.input),
                                        cl::desc("module.mlir"), cl::init("-"));
SHARDOPT_OPTION(bool, verifies, "verify", options.verifies,
                "Run the program sharded and unsharded and compare");
SHARDOPT_OPTION(std::string, then, "then", options.then,
                "With --verify or --expect: a program that goes on with the "
                "caches");
SHARDOPT_OPTION(
    std::string, strategies, "strategies", options.strategies,
    "With --verify: verify each strategy of this list, one JSON "
    "object a line (numbered from 0), on a plain module; with --expect against "
    "the file");
SHARDOPT_OPTION(std::string, weights, "weights", options.weights,
                "Checkpoint: a .safetensors file, an index of several, or a "
                "folder (default: random weights)");
SHARDOPT_OPTION(std::string, tokens, "tokens", options.tokens,
                "A .safetensors file with 'tokens' [prompts, length] to feed "
                "(default: random tokens)");
SHARDOPT_OPTION(std::string, expect, "expect", options.expect,
                "A .safetensors file with the 'logits' [prompts, length, "
                "vocabulary] that should come out");
static cl::opt<std::string, true>
    output("o", cl::cat(category), cl::location(options.output),
           cl::desc("Write logits and token ids to this .safetensors file"));
SHARDOPT_OPTION(std::string, inputs, "inputs", options.inputs,
                "Folder with arguments as <name>.npy (arg0, arg1, …, or the "
                "names of params)");
SHARDOPT_OPTION(std::string, dump, "dump", options.dump,
                "Write results, caches and kept values to this folder as .npy");
SHARDOPT_OPTION(bool, keepsValues, "keep-values", options.keepsValues,
                "With --dump: the results of all named ops too");
SHARDOPT_OPTION(std::string, schedule, "schedule", options.schedule,
                "Let micro-batches take turns as this schedule of "
                "--llm-schedule-stages plans, in one chunk; ranks are threads");
SHARDOPT_OPTION(bool, statistics, "statistics", options.countsCollectives,
                "Print calls and bytes of the collectives that ran, rank by "
                "rank");
SHARDOPT_OPTION(std::string, entry, "entry", options.verify.build.entry,
                "The function to run (default: the only public one)");
SHARDOPT_OPTION(uint64_t, seed, "seed", options.verify.seed,
                "Of random weights and inputs (1)");
SHARDOPT_OPTION(int64_t, steps, "steps", options.verify.steps,
                "Steps of decode (3)");
SHARDOPT_OPTION(int64_t, batch, "batch", options.verify.prompts,
                "Prompts (default: as the strategy says, else 4)");
SHARDOPT_OPTION(int64_t, contextLength, "context", options.verify.context,
                "Positions of decode before the first step's (default: as the "
                "workload says, else 8)");
SHARDOPT_OPTION(double, tolerance, "tolerance", options.verify.tolerance,
                "Largest error, as a fraction of the largest magnitude of a "
                "result (2e-5)");
SHARDOPT_OPTION(bool, optimizes, "optimize-collectives",
                options.verify.partition.optimizesCollectives,
                "Run --llm-optimize-collectives on the sharded program");
static cl::opt<unsigned, true> optimization(
    "O", cl::cat(category), cl::Prefix,
    cl::location(options.verify.build.optimization),
    cl::desc("Optimization level of machine code, 0 to 3 (default: 0, fastest "
             "to compile)"));
static cl::opt<std::string>
    routing("routing", cl::cat(category), cl::init("model"),
            cl::desc("Expert choice: model (the router) or balanced "
                     "(round robin)"));
static cl::opt<std::string>
    backend("backend", cl::cat(category), cl::init("auto"),
            cl::desc("Ranks: threads of this process, or mpi, processes that "
                     "mpirun started (default: mpi under mpirun)"));
static cl::opt<std::string>
    mpi("mpi", cl::cat(category), cl::init("auto"),
        cl::desc("MPI library: openmpi or mpich (default: that of mpirun)"));
static cl::opt<int64_t, true>
    droppedAllReduce("drop-all-reduce", cl::Hidden,
                     cl::location(options.verify.partition.droppedAllReduce),
                     cl::desc("Drop the all_reduce with this number, to "
                              "test the comparison"));

static cl::opt<double> timeLimit(
    "time-limit", cl::cat(category), cl::init(300),
    cl::desc("Under MPI: seconds that a rank waits for a message, 0 for "
             "no limit (default: 300)"));

/// The processes that would wait for this one, if it fails alone.
static execution::World *processes = nullptr;

int run::fail(const std::string &message) {
  if (!processes)
    return tool::fail(message);
  // The leader speaks for all: of errors, the first by rank. No other process
  // comes back.
  int status = tool::fail(processes->concede(message));
  llvm::outs().flush();
  processes->abandon(status);
  return status;
}

/// Larger ones are a slip: they would not fit into memory.
static constexpr int64_t mostPrompts = int64_t(1) << 16;
static constexpr int64_t mostPositions = int64_t(1) << 20;

/// What else is wrong with --then.
static std::optional<std::string> checkThen() {
  if (options.verifies)
    return std::nullopt;
  if (options.expect.empty())
    return "--then needs --verify or --expect";
  for (const std::string *path :
       {&options.output, &options.inputs, &options.dump, &options.schedule})
    if (!path->empty())
      return "--then compares the logits of two programs: '" + *path +
             "' has no use there";
  if (options.countsCollectives)
    return "--statistics has no use with --then";
  return std::nullopt;
}

/// What is wrong with the options, taken together.
static std::optional<std::string> checkOptions() {
  auto &verify = options.verify;
  if (backend != "auto" && backend != "threads" && backend != "mpi")
    return "--backend is '" + backend + "', expected threads or mpi";
  if (routing != "model" && routing != "balanced")
    return "--routing is '" + routing + "', expected model or balanced";
  if (verify.steps < 1)
    return "--steps is " + std::to_string(verify.steps) +
           ", expected at least 1";
  for (auto [name, value, most] :
       {std::tuple("--batch", verify.prompts, mostPrompts),
        std::tuple("--context", verify.context, mostPositions),
        std::tuple("--steps", verify.steps, mostPositions)})
    if (value < 0 || value > most)
      return std::string(name) + " is " + std::to_string(value) +
             ", expected 1 to " + std::to_string(most);
  if (!(timeLimit >= 0))
    return "--time-limit wants a number of at least 0";
  if (!(verify.tolerance >= 0))
    return "--tolerance wants a number of at least 0";
  if (verify.build.optimization > 3)
    return "-O is " + std::to_string(verify.build.optimization) +
           ", expected 0 to 3";
  if (!options.verifies && !options.strategies.empty())
    return "--strategies needs --verify";
  if (!options.then.empty())
    if (auto message = checkThen())
      return message;
  bool isExpected = !options.strategies.empty() && !options.expect.empty();
  if (options.keepsValues && options.dump.empty())
    return "--keep-values needs --dump";
  if (options.verifies && options.countsCollectives)
    return "--statistics has no use with --verify";
  if (!options.schedule.empty() && options.countsCollectives)
    return "--statistics tells the calls of a collective apart by their order "
           "in the program, from which --schedule departs";
  if (options.verifies)
    for (const std::string *path :
         {&options.tokens, &options.expect, &options.output, &options.inputs,
          &options.dump, &options.schedule})
      if (!path->empty() &&
          !(isExpected && (path == &options.tokens || path == &options.expect)))
        return "--verify compares a program with its unsharded form, on random "
               "tokens: '" +
               *path + "' has no use there";
  if (!options.expect.empty() && options.tokens.empty())
    return "--expect needs --tokens";
  return std::nullopt;
}

/// Whether nothing is written that is read.
static std::optional<Error> checkFiles() {
  FileRoles files;
  files.reads("the program", options.input);
  files.reads("--then", options.then);
  files.reads("--strategies", options.strategies);
  files.reads("--weights", options.weights);
  files.reads("--tokens", options.tokens);
  files.reads("--expect", options.expect);
  files.reads("--inputs", options.inputs);
  files.reads("--schedule", options.schedule);
  files.writes("-o", options.output);
  files.writes("--dump", options.dump);
  return files.check();
}

/// Whether ranks are processes.
static bool usesMpi() {
  return backend == "mpi" ||
         (backend == "auto" && (execution::isUnderMpi() || mpi != "auto"));
}

static ErrorOr<std::unique_ptr<execution::World>> createWorld() {
  if (!usesMpi())
    return execution::createThreadWorld();
  ErrorOr<runtime::MpiKind> kind = runtime::parseMpiKind(mpi);
  if (!kind)
    return kind.error();
  return execution::createMpiWorld(*kind, timeLimit);
}

static int executeIn(execution::World &world) {
  if (usesMpi() && !options.schedule.empty())
    return fail("--schedule needs ranks that are threads, found processes");
  if (usesMpi() && options.input == "-")
    return fail("the module is read by all processes, expected a file");

  mlir::DialectRegistry registry;
  llm::registerPassDialects(registry);
  registerExecutionDialects(registry);
  // Without threads, so that a list of strategies can fork.
  mlir::MLIRContext context(registry, mlir::MLIRContext::Threading::DISABLED);
  context.printOpOnDiagnostic(false); // the op may be the whole module
  llvm::SourceMgr sources;
  mlir::SourceMgrDiagnosticHandler handler(sources, &context);
  if (!world.isLeader())
    context.getDiagEngine().registerHandler([](mlir::Diagnostic &) {});
  std::vector<std::string> paths = {options.input};
  if (!options.then.empty())
    paths.push_back(options.then);
  std::vector<mlir::OwningOpRef<mlir::ModuleOp>> read;
  std::vector<mlir::ModuleOp> modules;
  for (const std::string &path : paths) {
    read.push_back(tool::readModule(path, sources, context));
    if (!read.back()) // others may wait for this process
      return processes ? fail("no module is in '" + path + "'") : 1;
    if (mlir::failed(llm::expectExecutable(*read.back())))
      return processes ? fail("'" + path + "' is cost-only") : 1;
    modules.push_back(*read.back());
  }
  if (!options.strategies.empty())
    return verifyList(options, modules, usesMpi() ? &world : nullptr);
  return options.verifies ? verifyProgram(options, modules, world)
                          : runProgram(options, modules, world);
}

static int execute() {
  if (auto message = checkOptions())
    return fail(*message);
  if (std::optional<Error> error = checkFiles())
    return fail(error->message);
  options.verify.build.lowering.isRoutingBalanced = routing == "balanced";

  ErrorOr<std::unique_ptr<execution::World>> world = createWorld();
  if (!world)
    return fail(world.error().message);
  if (usesMpi())
    processes = world->get();
  int status = executeIn(**world);
  if (std::optional<Error> error = (*world)->finish())
    return fail(error->message);
  return status;
}

int main(int argc, char **argv) {
  return tool::toolMain(argc, argv, [&] {
    tool::parseOptions(
        argc, argv, category,
        "Executes programs of the llm dialect\n\nMost used:\n"
        "  --verify           compare sharded and unsharded programs\n"
        "  --steps, --seed    decode steps; seed of weights and inputs\n");
    return execute();
  });
}
