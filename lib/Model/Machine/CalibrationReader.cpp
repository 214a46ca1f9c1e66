//===- CalibrationReader.cpp - Fitted constants from JSON -----------------===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "CalibrationReader.h"

#include "shardopt/Support/Engine.h"

using namespace shardopt;

static void readHeldOut(const json::Value &error, CalibratedGroup &group) {
  error.refuseOtherKeys(
      {"rows", "median_percent", "mean_percent", "low", "high"});
  group.rows = error["rows"].positiveInteger();
  for (const char *part : {"median_percent", "mean_percent"})
    error[part].nonNegativeNumber();
  group.low = error["low"].positiveNumber();
  group.high = error["high"].positiveNumber();
}

static CalibratedGroup readGroup(const json::Value &value) {
  value.refuseOtherKeys({"kernel", "key", "constants", "held_out", "range"});
  CalibratedGroup group;
  group.kernel = value["kernel"].string();
  for (const auto &[name, member] : value["key"].members()) {
    if (member.isString())
      group.names[name] = member.string();
    else
      group.numbers[name] = member.nonNegativeNumber();
  }
  // Far from these, times are neither 0 nor infinite.
  for (const auto &[name, number] : value["constants"].members()) {
    group.constants[name] = number.positiveNumber();
    if (group.constants[name] < 1e-15 || group.constants[name] > 1e15)
      number.failExpected("a number from 1e-15 to 1e15");
  }
  if (json::Value error = value["held_out"])
    readHeldOut(error, group);
  for (const auto &[size, bounds] : value["range"].members()) {
    std::vector<json::Value> ends = bounds.elements();
    if (ends.size() == 2)
      group.range[size] = {ends[0].nonNegativeNumber(),
                           ends[1].nonNegativeNumber()};
    else
      bounds.failExpected("the least and the greatest size");
  }
  return group;
}

static std::map<std::string, double> readEngine(const std::string &name,
                                                const json::Value &value) {
  if (auto engine = parseEngine(name, "engine"); !engine)
    value.fail(engine.error().message);
  std::map<std::string, double> options;
  for (const auto &[option, number] : value.members())
    options[option] = number.nonNegativeNumber();
  return options;
}

Calibration shardopt::readCalibration(const json::Value &value) {
  value.refuseOtherKeys({"date", "data", "kernels", "engines"});
  Calibration calibration;
  calibration.date = value["date"].string();
  calibration.data = value["data"].string();
  for (const json::Value &group : value["kernels"].elements())
    calibration.groups.push_back(readGroup(group));
  if (json::Value engines = value["engines"])
    for (const auto &[name, options] : engines.members())
      calibration.engines[name] = readEngine(name, options);
  return calibration;
}
