//===- ServingRows.cpp - Tables of serving runs ---------------------------===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "shardopt/Planning/ServingRows.h"

#include "shardopt/Cost/Calibrated/CalibratedRow.h"
#include "shardopt/Cost/Calibrated/CsvLines.h"
#include "shardopt/Cost/Serving/EngineClock.h"
#include "shardopt/Cost/Serving/ServiceLoop.h"
#include "shardopt/Planning/Engines.h"
#include "shardopt/Support/Choice.h"

#include <algorithm>
#include <map>
#include <memory>

using namespace shardopt;
using namespace shardopt::cost;
using cost::calibrated::Row;

namespace {
/// Machines and models of the rows, each read once.
class Inputs {
public:
  explicit Inputs(const ProgramLoader &loadProgram)
      : loadProgram(loadProgram) {}

  const ErrorOr<Machine> &machineOf(const std::string &system) {
    auto &entry = machines[system];
    if (!entry)
      entry = std::make_unique<ErrorOr<Machine>>(loadMachine(system));
    return *entry;
  }
  const ErrorOr<Model> &programOf(const std::string &name) {
    auto &entry = programs[name];
    if (!entry)
      entry = std::make_unique<ErrorOr<Model>>(loadProgram(name));
    return *entry;
  }

private:
  const ProgramLoader &loadProgram;
  std::map<std::string, std::unique_ptr<ErrorOr<Machine>>> machines;
  std::map<std::string, std::unique_ptr<ErrorOr<Model>>> programs;
};

/// What a row is about.
struct Run {
  const Machine &machine;
  const Model &program;
  std::shared_ptr<const EngineClock> clock;
  ServingEngine engine;
};

/// A role of a run; steps refer to the costs.
struct Role {
  std::unique_ptr<CostModel> costs;
  std::unique_ptr<StepTimes> steps;
  double count = 1;
};
} // namespace

//===----------------------------------------------------------------------===//
// Types
//===----------------------------------------------------------------------===//

/// As rows spell the types of weights.
static ErrorOr<WeightType> weightType(const std::string &option,
                                      const std::string &name) {
  return parseChoice<WeightType>(option, name,
                                 {{"bf16", WeightType::Bf16},
                                  {"bfloat16", WeightType::Bf16},
                                  {"float16", WeightType::Bf16},
                                  {"fp16", WeightType::Bf16},
                                  {"fp8", WeightType::Fp8},
                                  {"fp8_static", WeightType::Fp8},
                                  {"fp8_block", WeightType::Fp8Block},
                                  {"fp4", WeightType::Nvfp4},
                                  {"nvfp4", WeightType::Nvfp4},
                                  {"mxfp4", WeightType::Mxfp4},
                                  {"w4a16_mxfp4", WeightType::Mxfp4},
                                  {"w4a8_mxfp4_mxfp8", WeightType::Mxfp4},
                                  {"int4", WeightType::Int4},
                                  {"int4_wo", WeightType::Int4},
                                  {"awq", WeightType::Int4},
                                  {"gptq", WeightType::Int4}});
}

/// Whether checkpoints of the family have a scale a block in fp8.
static bool hasFp8Blocks(const Model &program, const OpTypes &own) {
  for (const std::optional<WeightType> &type :
       {own.attention, own.dense, own.experts})
    if (type == WeightType::Fp8Block)
      return true;
  std::vector<std::string> families = {"Qwen3", "Deepseek", "Glm", "MiniMax"};
  return std::any_of(families.begin(), families.end(),
                     [&](const std::string &family) {
                       return program.architecture.rfind(family, 0) == 0;
                     });
}

static bool isQuantized(const std::optional<WeightType> &type) {
  return type && bytesPerWeight(*type) < 2;
}

static bool isWithFp8Cache(WeightType type) {
  return type == WeightType::Fp8 || type == WeightType::Fp8Block ||
         type == WeightType::Nvfp4;
}

/// The type that `column` names; else the checkpoint's, and where that is not
/// quantized the one that the precision or the name of the model says.
static std::optional<WeightType>
readType(Row &row, const std::string &column, const Model &program,
         const OpTypes &own, const std::optional<WeightType> &checkpoint) {
  std::string from = column, name = row.text(column);
  if (name.empty()) {
    if (isQuantized(own.attention) || isQuantized(own.dense) ||
        isQuantized(own.experts))
      return checkpoint;
    from = "precision";
    name = row.text(from);
    std::string model = row.text("model");
    if (model.find("FP4") != std::string::npos)
      name = "nvfp4";
    else if (model.find("FP8") != std::string::npos)
      name = "fp8";
  }
  if (name.empty())
    return checkpoint;
  ErrorOr<WeightType> type = weightType(from, name);
  if (!type) {
    row.fail(type.error().message);
    return checkpoint;
  }
  if (*type == WeightType::Fp8 && hasFp8Blocks(program, own))
    return WeightType::Fp8Block;
  // Of 4 bits are the experts of such a checkpoint, and not as nvfp4 is.
  if (*type == WeightType::Nvfp4 && own.experts == WeightType::Mxfp4)
    return checkpoint;
  return *type;
}

/// Runs of benchmarks use the defaults of an engine, and not a recipe.
static bool hasDefaults(const Row &row) {
  return row.text("source_kind") == "gap_analysis";
}

static OpTypes readTypes(Row &row, const Run &run) {
  const Model &model = run.program;
  OpTypes own = typesOf(model);
  OpTypes types;
  types.attention =
      readType(row, "gemm_quant", run.program, own, own.attention);
  types.dense = readType(row, "gemm_quant", run.program, own,
                         own.dense ? own.dense : own.attention);
  types.experts = readType(row, "moe_quant", run.program, own, own.experts);
  // Models of experts have those in 4 bits, and the rest in bf16.
  if (types.dense == WeightType::Int4 && model.hasExperts())
    types.attention = types.dense = WeightType::Bf16;
  std::string precision = row.text("precision");
  bool isSmall =
      precision == "fp8" || precision == "fp4" ||
      (precision.empty() && types.dense && isWithFp8Cache(*types.dense));
  bool isDenseTrtLlm = !model.hasExperts() && run.engine.kind == Engine::Trtllm;
  bool isCacheFp8 = run.engine.cacheBytes > 0
                        ? run.engine.cacheBytes < 2
                        : isSmall && (!hasDefaults(row) || isDenseTrtLlm);
  types.cacheBytes = isCacheFp8 ? 1 : 2;
  // Checkpoints of latent attention in fp4 keep fp8 there.
  if (run.engine.keepsLatentFp8 && types.attention == WeightType::Nvfp4 &&
      hasLatentAttention(model))
    types.attention = WeightType::Fp8;
  return types;
}

//===----------------------------------------------------------------------===//
// Layouts
//===----------------------------------------------------------------------===//

static int64_t readDegree(Row &row, const std::string &column) {
  std::string text = row.text(column);
  return text.empty() || text == "0" ? 1 : int64_t(row.number(column, 1));
}

/// A number of at least 0; 0 where the column is empty.
static double readCount(Row &row, const std::string &column) {
  return row.text(column).empty() ? 0 : row.number(column, 0);
}

/// The role whose columns begin with `prefix`, with the dims that its engine
/// gives to the ops.
static Role readRole(Row &row, const Run &run, const std::string &prefix) {
  Degrees degrees(readDegree(row, prefix + "tp"),
                  readDegree(row, prefix + "moe_ep"), 1, 1);
  degrees.dp = readDegree(row, prefix + "attn_dp");
  if (!run.program.hasExperts())
    degrees.ep = 1; // some rows speak of it all the same
  else
    degrees.exchange = exchangeGather;
  Role role;
  role.costs =
      std::make_unique<CostModel>(retyped(run.program, readTypes(row, run)),
                                  run.clock, std::nullopt, Limits());
  if (std::optional<std::string> why = run.clock->whyNot(role.costs->model()))
    row.fail(*why);
  EngineFacts facts(role.costs->model());
  role.steps = std::make_unique<StepTimes>(
      *role.costs,
      Strategy{degrees, engineDims(run.engine.kind, degrees, facts)},
      std::nullopt, run.engine.expertReach, run.engine.expertSpread,
      DraftHead{readCount(row, "draft_layers"),
                1e9 * readCount(row, "draft_parameters")});
  if (!role.steps->isLegal())
    row.fail("the layout " + spell(degrees) + " is impossible");
  return role;
}

static ServingWorker workerOf(const Run &run, const Role &role) {
  const DataSheet &sheet = run.machine.calibration->sheet;
  return {role.steps.get(), usableBytes(sheet.memoryBytes),
          sheet.networkBandwidth};
}

static double readWorkers(Row &row, const std::string &column) {
  if (row.text(column).empty()) {
    row.fail(column + " is empty, which a disaggregated run needs");
    return 1;
  }
  return row.number(column, 1);
}

/// What a deployment says of its flags.
static void applyFlags(Row &row, ServingEngine &engine) {
  engine.heldSteps += readCount(row, "wait_steps");
  engine.balanceSteps += readCount(row, "balance_steps");
  if (readCount(row, "cutlass_experts") > 0)
    engine.hasFewTokenExperts = false;
}

static ErrorOr<ServingTimes> serve(Row &row, const Run &run) {
  ServingLoad load;
  load.inputTokens = run.engine.lengthShare * row.number("isl", 1);
  load.outputTokens = run.engine.lengthShare * row.number("osl", 1);
  load.concurrency = row.number("concurrency", 1);
  load.traits.drafts = readCount(row, "draft_tokens");
  load.traits.accepted = readCount(row, "accepted_tokens");
  if (load.traits.accepted > load.traits.drafts)
    row.fail("accepted_tokens exceeds draft_tokens");
  if (row.text("mode") == "disagg") {
    Role prefill = readRole(row, run, "p_");
    Role decode = readRole(row, run, "d_");
    double prefills = readWorkers(row, "p_workers");
    double decodes = readWorkers(row, "d_workers");
    if (row.failure().empty())
      return serveDisaggregated({workerOf(run, prefill), prefills},
                                {workerOf(run, decode), decodes}, run.engine,
                                load);
  } else {
    Role role = readRole(row, run, "");
    if (row.failure().empty())
      return serveAggregated(workerOf(run, role), run.engine, load);
  }
  return Error{row.failure()};
}

//===----------------------------------------------------------------------===//
// Answers
//===----------------------------------------------------------------------===//

/// What nobody compared: the model, disaggregation, or the machine.
static std::string trustIn(const Row &row, const Run &run) {
  std::string why;
  if (!isMeasured(run.program.architecture, run.program.rowBytes))
    why += " model";
  if (row.text("mode") == "disagg")
    why += " mode";
  if (!run.machine.calibration->like.empty())
    why += " like " + run.machine.calibration->like;
  return why.empty() ? "fitted" : "extrapolated:" + why;
}

static constexpr std::string_view addedColumns =
    ",predicted_tpot_ms,predicted_ttft_ms,tpot_low_ms,tpot_high_ms,"
    "ttft_low_ms,ttft_high_ms,tpot_p50_ms,tpot_p90_ms,ttft_p50_ms,ttft_p90_ms,"
    "dominating_term,dominating_share";

static std::string numbersOf(const ServingTimes &times) {
  std::string text;
  for (const ServingTime &time : {times.tpot, times.ttft})
    text += "," + threeDigits(time.ms);
  for (const ServingTime &time : {times.tpot, times.ttft})
    text += "," + threeDigits(time.low) + "," + threeDigits(time.high);
  for (const ServingTime &time : {times.tpot, times.ttft})
    text += "," + threeDigits(time.p50) + "," + threeDigits(time.p90);
  auto terms = times.step.all();
  auto most = std::max_element(terms.begin(), terms.end());
  return text + "," + cost::stepParts[most - terms.begin()].key + "," +
         threeDigits(*most / times.step.sum());
}

static std::string answer(Row &row, Inputs &inputs,
                          const std::vector<ServingOption> &options) {
  std::string mode = row.text("mode");
  if (!mode.empty() && mode != "agg" && mode != "disagg")
    row.fail(unknownChoice("mode", mode, {"agg", "disagg"}).message);
  const ErrorOr<Machine> &machine = inputs.machineOf(row.text("system"));
  const ErrorOr<Model> &program = inputs.programOf(row.text("model"));
  ErrorOr<ServingEngine> engine = findEngine(
      row.text("backend"), row.text("backend_version"), !hasDefaults(row));
  if (!machine)
    row.fail(machine.error().message);
  if (!program)
    row.fail(program.error().message);
  if (!engine)
    row.fail(engine.error().message);
  if (!row.failure().empty())
    return "";
  if (auto wrong = applyCalibration(*machine, *program, *engine)) {
    row.fail(wrong->message);
    return "";
  }
  apply(options, *engine);
  applyFlags(row, *engine);
  auto clock = EngineClock::create(*machine, *engine);
  if (!clock) {
    row.fail(clock.error().message);
    return "";
  }
  Run run{*machine, *program, std::move(*clock), *engine};
  ErrorOr<ServingTimes> times = serve(row, run);
  if (!times) {
    row.fail(times.error().message);
    return "";
  }
  return numbersOf(*times) + "," + trustIn(row, run);
}

ErrorOr<std::string>
shardopt::predictServing(std::string_view text, const std::string &fileName,
                         const ProgramLoader &loadProgram,
                         const std::vector<ServingOption> &options) {
  Inputs inputs(loadProgram);
  return answerRows(text, fileName,
                    {"system", "backend", "model", "isl", "osl", "concurrency"},
                    "a serving run", std::string(addedColumns) + ",reason",
                    [&](const CsvColumns &columns, const CsvFields &fields) {
                      Row row(columns, fields);
                      std::string numbers = answer(row, inputs, options);
                      return row.failure().empty()
                                 ? numbers
                                 : std::string(std::count(addedColumns.begin(),
                                                          addedColumns.end(),
                                                          ','),
                                               ',') +
                                       "," + inField(row.failure());
                    });
}
