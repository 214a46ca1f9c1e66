//===- ServingRows.cpp - Predictions for measured serving runs ------------===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "shardopt/Cost/ServingRows.h"

#include "CalibratedRow.h"
#include "CsvLines.h"
#include "shardopt/Cost/Serving.h"
#include "shardopt/Support/Choice.h"

#include <algorithm>
#include <map>
#include <memory>

using namespace shardopt;
using namespace shardopt::cost;
using namespace shardopt::cost::calibrated;

namespace {
/// What rows have in common, read once.
class Inputs {
public:
  explicit Inputs(const ModelLoader &loadModel) : loadModel(loadModel) {}

  const ErrorOr<CalibratedKernels> &kernelsOf(const std::string &system) {
    auto &entry = kernels[system];
    if (!entry) {
      ErrorOr<Machine> machine = loadMachine(system);
      entry = std::make_unique<ErrorOr<CalibratedKernels>>(
          machine ? CalibratedKernels::create(*machine) : machine.error());
    }
    return *entry;
  }
  const ErrorOr<ServedModel> &modelOf(const std::string &name) {
    auto &entry = models[name];
    if (!entry)
      entry = std::make_unique<ErrorOr<ServedModel>>(loadModel(name));
    return *entry;
  }

private:
  const ModelLoader &loadModel;
  std::map<std::string, std::unique_ptr<ErrorOr<CalibratedKernels>>> kernels;
  std::map<std::string, std::unique_ptr<ErrorOr<ServedModel>>> models;
};
} // namespace

/// The type of `column`; where it is empty, that of the checkpoint, or of the
/// run's precision if the checkpoint names none.
static ServedType readType(Row &row, const std::string &column,
                           const ServedModel &model, ServedType checkpoint) {
  std::string from = column;
  if (row.text(column).empty()) {
    if (model.attentionType != ServedType::Bf16 ||
        model.denseType != ServedType::Bf16 ||
        model.expertType != ServedType::Bf16)
      return checkpoint;
    from = "precision";
  }
  if (row.text(from).empty())
    return checkpoint;
  ErrorOr<ServedType> type = servedType(from, row.text(from));
  if (!type) {
    row.fail(type.error().message);
    return checkpoint;
  }
  return asServed(model, *type, checkpoint);
}

/// A degree; none: 1.
static double readDegree(Row &row, const std::string &column) {
  const std::string text = row.text(column);
  return text.empty() || text == "0" ? 1 : row.number(column, 1);
}

/// Runs of one's own, with the defaults of the engine, as against recipes.
static bool hasDefaults(const Row &row) {
  return row.text("source_kind") == "gap_analysis";
}

static ServingSetup readSetup(Row &row, const ServedModel &model,
                              const ServingEngine &engine,
                              const std::string &prefix) {
  ServingSetup setup;
  setup.model = model;
  setup.attentionType = readType(row, "gemm_quant", model, model.attentionType);
  setup.denseType = readType(row, "gemm_quant", model, model.denseType);
  setup.expertType = readType(row, "moe_quant", model, model.expertType);
  // Models of experts have those in 4 bits, and the rest in bf16.
  if (setup.denseType == ServedType::Int4 && model.experts > 0)
    setup.attentionType = setup.denseType = ServedType::Bf16;
  setup.tp = readDegree(row, prefix + "tp");
  setup.attentionDp = readDegree(row, prefix + "attn_dp");
  setup.expertTp = readDegree(row, prefix + "moe_tp");
  setup.expertEp = readDegree(row, prefix + "moe_ep");
  const std::string precision = row.text("precision");
  const bool isQuantized =
      precision == "fp8" || precision == "fp4" ||
      (precision.empty() && isWithFp8Cache(setup.denseType));
  const bool isDenseTrtLlm =
      model.experts == 0 && engine.kind == EngineKind::TrtLlm;
  setup.isCacheFp8 = engine.cacheBytes > 0
                         ? engine.cacheBytes < 2
                         : isQuantized && (!hasDefaults(row) || isDenseTrtLlm);
  return setup;
}

/// How many workers of a kind; none where the column is empty.
static double readWorkers(Row &row, const std::string &column) {
  if (row.text(column).empty()) {
    row.fail(column + " is empty, which a disaggregated run needs");
    return 1;
  }
  return row.number(column, 1);
}

static ErrorOr<ServingTimes> serve(Row &row, const CalibratedKernels &kernels,
                                   const ServedModel &model,
                                   const ServingEngine &engine) {
  ServingLoad load;
  load.inputTokens = engine.lengthShare * row.number("isl", 1);
  load.outputTokens = engine.lengthShare * row.number("osl", 1);
  load.concurrency = row.number("concurrency", 1);
  if (row.text("mode") == "disagg") {
    ServingWorkers readers, decoders;
    readers.setup = readSetup(row, model, engine, "p_");
    decoders.setup = readSetup(row, model, engine, "d_");
    readers.count = readWorkers(row, "p_workers");
    decoders.count = readWorkers(row, "d_workers");
    if (row.failure().empty())
      return serveDisaggregated(kernels, readers, decoders, engine, load);
  } else {
    const ServingSetup setup = readSetup(row, model, engine, "");
    if (row.failure().empty())
      return serveAggregated(kernels, setup, engine, load);
  }
  return Error{row.failure()};
}

/// "fitted", or why a prediction is less sure than those that were compared.
static std::string trustIn(const Row &row, const ServedModel &model,
                           const CalibratedKernels &kernels) {
  std::string why;
  if (!model.isMeasured)
    why += " model";
  if (row.text("mode") == "disagg")
    why += " mode";
  if (!kernels.calibration().like.empty())
    why += " like " + kernels.calibration().like;
  return why.empty() ? "fitted" : "extrapolated:" + why;
}

static constexpr std::string_view addedColumns =
    ",predicted_tpot_ms,predicted_ttft_ms,tpot_low_ms,tpot_high_ms,"
    "ttft_low_ms,ttft_high_ms,tpot_p50_ms,tpot_p90_ms,ttft_p50_ms,ttft_p90_ms,"
    "dominating_term,dominating_share";

/// What stands behind a row, without its failure.
static std::string answer(Row &row, Inputs &inputs,
                          const std::vector<ServingOption> &options) {
  const std::string mode = row.text("mode");
  if (!mode.empty() && mode != "agg" && mode != "disagg")
    row.fail(unknownChoice("mode", mode, {"agg", "disagg"}).message);
  const ErrorOr<CalibratedKernels> &kernels =
      inputs.kernelsOf(row.text("system"));
  const ErrorOr<ServedModel> &model = inputs.modelOf(row.text("model"));
  ErrorOr<ServingEngine> engine = findEngine(
      row.text("backend"), row.text("backend_version"), !hasDefaults(row));
  if (!kernels)
    row.fail(kernels.error().message);
  if (!model)
    row.fail(model.error().message);
  if (!engine)
    row.fail(engine.error().message);
  if (!row.failure().empty())
    return "";
  apply(options, *engine);
  ErrorOr<ServingTimes> times = serve(row, *kernels, *model, *engine);
  if (!times) {
    row.fail(times.error().message);
    return "";
  }
  std::string text;
  for (const ServingTime &time : {times->tpot, times->ttft})
    text += "," + threeDigits(time.ms);
  for (const ServingTime &time : {times->tpot, times->ttft})
    text += "," + threeDigits(time.low) + "," + threeDigits(time.high);
  for (const ServingTime &time : {times->tpot, times->ttft})
    text += "," + threeDigits(time.p50) + "," + threeDigits(time.p90);
  const auto [term, us] = times->step.dominating();
  text += "," + std::string(term) + "," + threeDigits(us / times->step.sum());
  return text + "," + trustIn(row, *model, *kernels);
}

ErrorOr<std::string>
cost::predictServing(std::string_view text, const std::string &fileName,
                     const ModelLoader &loadModel,
                     const std::vector<ServingOption> &options) {
  Inputs inputs(loadModel);
  return answerRows(text, fileName,
                    {"system", "backend", "model", "isl", "osl", "concurrency"},
                    "a serving run", std::string(addedColumns) + ",reason",
                    [&](const CsvColumns &columns, const CsvFields &fields) {
                      Row row(columns, fields);
                      const std::string numbers = answer(row, inputs, options);
                      return row.failure().empty()
                                 ? numbers
                                 : std::string(std::count(addedColumns.begin(),
                                                          addedColumns.end(),
                                                          ','),
                                               ',') +
                                       "," + inField(row.failure());
                    });
}
