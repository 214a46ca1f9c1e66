//===- Settings.cpp - What Python asks, as values of our own --------------===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Settings.h"

#include "shardopt/Support/Suggest.h"

namespace py = pybind11;
using namespace shardopt;

RequestLoad shardopt::readLoad(const std::map<std::string, double> &numbers) {
  RequestLoad load;
  for (const auto &[name, value] : numbers) {
    std::optional<RequestField> field = parseRequestField(name);
    if (!field)
      throw py::value_error("unknown number of requests '" + abbreviate(name) +
                            "'; " + listKnown(name, requestFieldNames()));
    load[*field] = value;
  }
  if (std::optional<std::string> why = load.error())
    throw py::value_error(*why);
  return load;
}

std::vector<cost::LengthShare>
shardopt::readLengths(const std::vector<std::array<double, 3>> &rows) {
  std::vector<cost::LengthShare> lengths;
  for (const auto &[input, output, share] : rows)
    lengths.push_back({input, output, share});
  return lengths;
}

/// "zipf:0.8", or rows of shares.
static std::shared_ptr<const cost::ExpertShares>
readShares(const py::object &said) {
  if (py::isinstance<py::str>(said))
    return std::make_shared<cost::ExpertShares>(
        orRaise(cost::ExpertShares::parse(said.cast<std::string>())));
  return std::make_shared<cost::ExpertShares>(
      orRaise(cost::ExpertShares::measured(
          said.cast<std::vector<std::vector<double>>>())));
}

ServiceRequest shardopt::readService(const py::dict &settings) {
  ServiceRequest asked;
  std::map<std::string, double> numbers;
  take(settings, "requests", numbers);
  asked.load = readLoad(numbers);
  std::vector<std::array<double, 3>> lengths;
  take(settings, "lengths", lengths);
  asked.lengths = readLengths(lengths);
  take(settings, "devices", asked.devices);
  take(settings, "prefill_machine", asked.prefillMachine);
  take(settings, "prefill_devices", asked.prefillDevices);
  take(settings, "chunk", asked.chunkTokens);
  take(settings, "price", asked.price);
  take(settings, "prefill_price", asked.prefillPrice);
  take(settings, "pins", asked.pins);
  take(settings, "candidates", asked.candidates);
  if (settings.contains("expert_load"))
    asked.expertLoad = readShares(settings["expert_load"]);
  take(settings, "goodput", asked.isGoodput);
  take(settings, "engine", asked.engine);
  std::string mode = "best";
  take(settings, "mode", mode);
  asked.mode = orRaise(parseServiceMode(mode));
  return asked;
}

/// A dim for each op, which the model is asked about later.
static std::vector<Dim> readDims(const std::string &role,
                                 const py::object &said) {
  std::vector<Dim> dims;
  try {
    for (int number : said.cast<std::vector<int>>()) {
      dims.push_back(Dim(number));
      if (int(dims.back()) != number)
        throw py::value_error("'" + role + ".dims' has " +
                              std::to_string(number) + ", which is no dim");
    }
  } catch (const py::cast_error &) {
    throw py::value_error("'" + role + ".dims' is " +
                          abbreviate(std::string(py::str(said))) +
                          ", expected a list of the dim of each op");
  }
  return dims;
}

GivenRole shardopt::readRole(const std::string &role, const RoleNumbers &said) {
  GivenRole given;
  PartialDegrees degrees;
  for (const auto &[name, value] : said) {
    if (name == "dims") {
      given.dims = readDims(role, value);
      continue;
    }
    std::string text = py::str(value);
    if (name == "overlap") {
      given.overlaps = text == overlapNames[1];
      if (!given.overlaps && text != overlapNames[0])
        throw py::value_error("'" + role + ".overlap' is " + abbreviate(text) +
                              ", expected on or off");
      continue;
    }
    std::string place = "'" + role + "." + abbreviate(name) + "'";
    std::optional<Degree> degree = parseDegree(name);
    if (name == "workers") {
      // Whole numbers as those of a degree.
      auto count = parseDegreeValue(Degree::Batch, text);
      if (!count)
        throw py::value_error(place + " is " + abbreviate(text) +
                              ", expected a whole number from 1 to 100000");
      given.workers = *count;
      continue;
    }
    if (!degree || *degree == Degree::Batch) {
      std::vector<std::string> known = degreeNames();
      known.back() = "workers"; // in place of the batch
      throw py::value_error("unknown " + place + "; " + listKnown(name, known));
    }
    degrees[*degree] = parseDegreeValue(*degree, text);
    if (!degrees[*degree])
      throw py::value_error(place + " is " + abbreviate(text) + ", expected " +
                            wantedOf(*degree));
  }
  degrees[Degree::Batch] = 1;
  given.degrees = degrees.filled();
  return given;
}

GivenService shardopt::readGiven(const py::dict &settings) {
  std::map<std::string, RoleNumbers> roles;
  take(settings, "roles", roles);
  GivenService given;
  take(settings, "concurrency", given.concurrency);
  take(settings, "prefill_elsewhere", given.isElsewhere);
  bool isOne = roles.size() == 1 && roles.count("serve");
  if (!isOne &&
      !(roles.size() == 2 && roles.count("prefill") && roles.count("decode"))) {
    std::string found;
    for (const auto &[name, said] : roles)
      found += (found.empty() ? "" : ", ") + abbreviate(name);
    throw py::value_error("the roles are '" + found +
                          "', expected serve, or prefill and decode");
  }
  if (isOne) {
    given.decode = readRole("serve", roles["serve"]);
    return given;
  }
  given.prefill = readRole("prefill", roles["prefill"]);
  given.decode = readRole("decode", roles["decode"]);
  return given;
}
