//===- shard-cost.cpp - Our simulators for other programs -----------------===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

//
// The worker's side of the protocol of external simulators (docs/BlackBox.md),
// and predictions for rows of measured kernels (docs/Calibration.md) and of
// serving runs (docs/ServingRuns.md), on the standard input and output.
//
//===----------------------------------------------------------------------===//

#include "../Main/ToolMain.h"

#include "shardopt/Cost/Calibrated/CalibratedRows.h"
#include "shardopt/Dialect/LLM/Analysis/ModuleScenario.h"
#include "shardopt/Dialect/LLM/Transforms/Passes.h"
#include "shardopt/Planning/ScenarioService.h"
#include "shardopt/Planning/ServingRows.h"
#include "shardopt/Target/ModelFile.h"

#include "mlir/IR/MLIRContext.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/SourceMgr.h"
#include "llvm/Support/raw_ostream.h"

#include <cerrno>
#include <cstring>
#include <unistd.h>

using namespace shardopt;

namespace cl = llvm::cl;

static cl::OptionCategory category("Options of shard-cost");

static cl::opt<std::string> input(cl::Positional, cl::cat(category),
                                  cl::desc("module.mlir, or config.json"));
static cl::opt<bool> isServing(
    "serve", cl::cat(category),
    cl::desc("Evaluate JSON lines, one strategy each, from standard input to "
             "standard output"));

static cl::opt<std::string>
    kernel("kernel", cl::cat(category),
           cl::desc("Predict the rows of a table of this kernel, as "
                    "CSV on standard input"));

static cl::opt<bool> isEndToEnd(
    "e2e", cl::cat(category),
    cl::desc("Predict the rows of a table of serving runs, as CSV on "
             "standard input"));
static cl::opt<std::string>
    configs("configs", cl::cat(category),
            cl::desc("Folder of the models that --e2e finds by name"));

static cl::opt<std::string> engineOptions(
    "engine-options", cl::cat(category), cl::value_desc("name=value,..."),
    cl::desc("Constants and switches of engines, instead of those of their "
             "versions (with --e2e)"));

static ScenarioOptions options;

static cl::opt<std::string, true>
    machine("machine", cl::cat(category), cl::location(options.timing.machine),
            cl::desc("Name of a machine, or path of a JSON file"));
static cl::opt<int64_t, true>
    maxDevices("max-devices", cl::cat(category),
               cl::location(options.maxDevices),
               cl::desc("Maximum devices of a plan, tp * dp * pp (0: no "
                        "limit)"));
static cl::opt<double, true>
    sloTpotMs("slo-tpot-ms", cl::cat(category), cl::location(options.sloTpotMs),
              cl::desc("TPOT limit in decode, milliseconds "
                       "(0: 50; inf: none)"));
static cl::opt<double, true>
    sloTtftMs("slo-ttft-ms", cl::cat(category), cl::location(options.sloTtftMs),
              cl::desc("TTFT limit in prefill, milliseconds "
                       "(0: 2000; inf: none)"));
static cl::opt<std::string, true>
    simulator("simulator", cl::cat(category), cl::location(options.simulator),
              cl::init("auto"),
              cl::desc("Simulator (default: auto, "
                       "calibrated where the machine has constants, else "
                       "roofline)"));
static cl::opt<std::string, true>
    commModel("comm-model", cl::cat(category),
              cl::location(options.timing.commModel),
              cl::desc("Collective algorithms: fast (default), "
                       "direct or ring"));
static cl::opt<std::string, true>
    imbalance("imbalance", cl::cat(category),
              cl::location(options.timing.imbalance),
              cl::desc("Load of the experts: model (default, uneven), or none "
                       "(even)"));

/// Writes what `answer` makes of the table on the standard input.
static int
answerTable(llvm::function_ref<ErrorOr<std::string>(std::string_view)> answer) {
  llvm::ErrorOr<std::unique_ptr<llvm::MemoryBuffer>> text =
      llvm::MemoryBuffer::getSTDIN();
  if (std::error_code error = text.getError())
    return tool::fail("cannot read the standard input: " + error.message());
  llvm::StringRef rows = (*text)->getBuffer();
  ErrorOr<std::string> predicted = answer({rows.data(), rows.size()});
  if (!predicted)
    return tool::fail(predicted.error().message);
  llvm::outs() << *predicted;
  return 0;
}

static int predictKernels() {
  ErrorOr<Machine> machine = loadMachine(
      options.timing.machine.empty() ? "h100_sxm" : options.timing.machine);
  if (!machine)
    return tool::fail(machine.error().message);
  return answerTable([&](std::string_view rows) {
    return cost::predictRows(*machine, kernel, rows, "<stdin>");
  });
}

static int predictServing() {
  if (configs.empty())
    return tool::fail("'--e2e' needs the folder of the models, "
                      "'--configs=<folder>'");
  if (!options.timing.machine.empty())
    return tool::fail("'--e2e' takes the machine of each row, from its column "
                      "'system', and no '--machine'");
  auto changes = cost::parseServingOptions(engineOptions);
  if (!changes)
    return tool::fail(changes.error().message);
  return answerTable([&](std::string_view rows) {
    auto load = [](const std::string &name) -> ErrorOr<cost::Model> {
      std::string file = name;
      for (size_t at; (at = file.find('/')) != std::string::npos;)
        file.replace(at, 1, "--");
      ErrorOr<LoadedModel> model =
          importConfigSizes(configs + "/" + file + "_config.json",
                            {cost::Phase::Decode, /*context=*/1});
      if (!model)
        return model.error();
      return std::move(model->costs);
    };
    return shardopt::predictServing(rows, "<stdin>", load, *changes);
  });
}

static int predict() {
  if (isServing || !input.empty() || (isEndToEnd && !kernel.empty()))
    return tool::fail(std::string("'") + (isEndToEnd ? "--e2e" : "--kernel") +
                      "' reads rows, and neither a module nor requests "
                      "('--serve') nor other rows");
  return isEndToEnd ? predictServing() : predictKernels();
}

static int serve() {
  if (!isServing)
    return tool::fail("expected --serve, --kernel=<name> or --e2e");
  if (input.empty() || input == "-")
    return tool::fail("expected a module file; requests come from "
                      "standard input");

  mlir::DialectRegistry registry;
  llm::registerPassDialects(registry);
  mlir::MLIRContext context(registry);
  context.printOpOnDiagnostic(false); // the op may be the whole module
  llvm::SourceMgr sources;
  mlir::SourceMgrDiagnosticHandler handler(sources, &context);
  auto module = tool::readModule(input, sources, context);
  if (!module)
    return 1;
  mlir::FailureOr<ModuleScenario> planned = createScenario(*module, options);
  if (mlir::failed(planned))
    return 1;
  ScenarioService service(*planned->scenario);
  if (!blackbox::serve(service, STDIN_FILENO, STDOUT_FILENO))
    return tool::fail(std::string("cannot read requests or write replies: ") +
                      std::strerror(errno));
  return 0;
}

int main(int argc, char **argv) {
  return tool::toolMain(argc, argv, [&] {
    tool::parseOptions(
        argc, argv, category,
        "Simulators for other programs\n\nMost used:\n"
        "  --serve               evaluate strategies from standard input\n"
        "  --e2e                 predict measured serving runs\n"
        "  --machine             machine name or JSON file\n");
    return kernel.empty() && !isEndToEnd ? serve() : predict();
  });
}
