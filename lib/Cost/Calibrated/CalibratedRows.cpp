//===- CalibratedRows.cpp - Predictions for rows of a table ---------------===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "shardopt/Cost/Calibrated/CalibratedRows.h"

#include "shardopt/Cost/Calibrated/CalibratedRow.h"
#include "shardopt/Cost/Calibrated/CsvLines.h"

#include "shardopt/Support/Choice.h"
#include "shardopt/Support/Suggest.h"

#include <cmath>
#include <cstdlib>

using namespace shardopt;
using namespace shardopt::cost;
using namespace shardopt::cost::calibrated;

//===----------------------------------------------------------------------===//
// A row
//===----------------------------------------------------------------------===//

void Row::fail(std::string why) {
  if (reason.empty())
    reason = std::move(why);
}

std::string Row::text(const std::string &name) const {
  auto at = columns.find(name);
  return at == columns.end() ? "" : std::string(fields[at->second]);
}

double Row::number(const std::string &name, double least) {
  std::string field = text(name);
  char *end = nullptr;
  double value = std::strtod(field.c_str(), &end);
  if (!field.empty() && *end == '\0' && std::isfinite(value) && value >= least)
    return value;
  fail(name + " is '" + abbreviate(field) + "' and not a number of at least " +
       std::to_string(int(least)));
  return 1;
}

double Row::size(const std::string &name, double least) {
  return sizes[name] = number(name, least);
}

std::string Row::outside(const CalibratedGroup &group) const {
  std::string names;
  for (const auto &[name, value] : sizes) {
    auto at = group.range.find(name);
    if (at != group.range.end() &&
        (value < at->second.first || value > at->second.second))
      names += (names.empty() ? "" : " ") + name;
  }
  return names;
}

//===----------------------------------------------------------------------===//
// Trust
//===----------------------------------------------------------------------===//

/// "fitted", or why the number is less sure than those of the fit.
static std::string trustIn(const Prediction &prediction, const Row &row,
                           const Calibration &calibration) {
  std::string why;
  if (!prediction.differs.empty())
    why += " " + prediction.differs;
  if (std::string outside = row.outside(*prediction.group); !outside.empty())
    why += " " + outside;
  if (prediction.group->isInherited)
    why += " like " + calibration.like;
  return why.empty() ? "fitted" : "extrapolated:" + why;
}

/// Whether `reason` is that of a number from within the measured range.
static bool isFitted(const std::string &reason) { return reason == "fitted"; }

static std::string shown(const std::vector<Prediction> &predictions,
                         const Row &row, const Calibration &calibration) {
  std::string out;
  std::string reason = trustIn(predictions[0], row, calibration);
  for (const Prediction &prediction : predictions)
    out += "," + threeDigits(prediction.us);
  // Twice as wide where nobody measured.
  double widen = isFitted(reason) ? 1 : 2;
  for (const Prediction &prediction : predictions)
    for (double end : {prediction.group->low, prediction.group->high})
      out += "," + threeDigits(prediction.us * std::pow(end, widen));
  return out + "," + inField(reason);
}

//===----------------------------------------------------------------------===//
// Tables
//===----------------------------------------------------------------------===//

std::vector<std::string> cost::predictableKernels() {
  std::vector<std::string> names;
  for (const RowKernel &kernel : rowKernels())
    names.emplace_back(kernel.name);
  return names;
}

ErrorOr<std::string> cost::predictRows(const Machine &machine,
                                       const std::string &kernel,
                                       std::string_view text,
                                       const std::string &fileName) {
  const RowKernel *chosen = nullptr;
  for (const RowKernel &known : rowKernels())
    if (kernel == known.name)
      chosen = &known;
  if (!chosen)
    return unknownChoice("kernel", kernel, predictableKernels());
  ErrorOr<CalibratedKernels> kernels = CalibratedKernels::create(machine);
  if (!kernels)
    return kernels.error();

  bool isPair = kernel.rfind("deepep", 0) == 0;
  return answerRows(
      text, fileName, chosen->columns, "kernel '" + kernel + "'",
      isPair ? ",predicted_dispatch_us,predicted_combine_us,dispatch_low_us,"
               "dispatch_high_us,combine_low_us,combine_high_us,reason"
             : ",predicted_us,low_us,high_us,reason",
      [&](const CsvColumns &columns, const CsvFields &fields) {
        Row row(columns, fields);
        std::vector<Prediction> predictions = chosen->predict(*kernels, row);
        return row.failure().empty()
                   ? shown(predictions, row, kernels->calibration())
                   : (isPair ? ",,,,,,," : ",,,,") + inField(row.failure());
      });
}
