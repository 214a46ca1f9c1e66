//===- ServicePins.cpp - Values that a service has to have ----------------===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "shardopt/Planning/ServicePins.h"
#include "shardopt/Planning/ServiceSides.h"

#include "shardopt/Model/DegreeList.h"
#include "shardopt/Support/Suggest.h"

#include <algorithm>
#include <set>

using namespace shardopt;
using namespace shardopt::service;

static bool isAllowed(const std::vector<int64_t> &list, int64_t value) {
  return list.empty() ||
         std::find(list.begin(), list.end(), value) != list.end();
}

bool RolePins::isEmpty() const {
  return workers.empty() && overlap.empty() &&
         std::all_of(degrees.entries.begin(), degrees.entries.end(),
                     [](const auto &list) { return list.empty(); });
}

bool RolePins::allow(const Degrees &found, bool overlaps) const {
  return allowOverlap(overlaps) &&
         std::all_of(std::begin(allDegrees), std::end(allDegrees),
                     [&](Degree degree) {
                       return isAllowed(degrees[degree], found[degree]);
                     });
}

bool RolePins::allowOverlap(bool overlaps) const {
  return overlap.empty() ? !overlaps : isAllowed(overlap, overlaps ? 1 : 0);
}

bool RolePins::allowWorkers(int64_t count) const {
  return isAllowed(workers, count);
}

int64_t RolePins::mostWorkers(int64_t most) const {
  if (workers.empty())
    return most;
  int64_t best = 0;
  for (int64_t count : workers)
    if (count <= most)
      best = std::max(best, count);
  return best;
}

std::optional<int64_t> RolePins::leastWorkers(int64_t least) const {
  if (workers.empty())
    return least;
  std::optional<int64_t> best;
  for (int64_t count : workers)
    if (count >= least && (!best || count < *best))
      best = count;
  return best;
}

//===----------------------------------------------------------------------===//
// Reading
//===----------------------------------------------------------------------===//

static constexpr std::string_view overlapPin = "overlap";

/// What a role may pin: the degrees but for the batch, which follows from the
/// load, the workers, and the overlap.
static std::vector<std::string> pinNames() {
  std::vector<std::string> names = degreeNames();
  names.back() = "workers";
  names.emplace_back(overlapPin);
  return names;
}

static ErrorOr<std::vector<int64_t>> parseOverlap(const std::string &place,
                                                  const std::string &text) {
  std::vector<int64_t> values;
  for (std::string_view one : splitAtCommas(text)) {
    const auto *found =
        std::find(std::begin(overlapNames), std::end(overlapNames), one);
    if (found == std::end(overlapNames))
      return Error{"'" + place + "' is '" + abbreviate(one) +
                   "', expected on, off, or both"};
    values.push_back(found - std::begin(overlapNames));
  }
  return values;
}

/// The values of `text`, which stands at the pin `place`.
static ErrorOr<std::vector<int64_t>> parsePin(std::string_view name,
                                              const std::string &place,
                                              const std::string &text) {
  if (name == overlapPin)
    return parseOverlap(place, text);
  std::optional<Degree> degree = parseDegree(name);
  if (degree == Degree::Batch)
    degree = std::nullopt;
  if (!degree && name != "workers")
    return Error{"unknown pin '" + abbreviate(place) + "'; " +
                 listKnown(std::string(name), pinNames())};
  // Numbers of workers are read as those of stages are.
  auto values = parseDegreeList(degree.value_or(Degree::Pp), text);
  if (values && *values)
    return **values;
  std::string what = values ? "' is '', expected values joined by commas"
                            : values.error().message;
  return Error{"'" + place + what.substr(what.find("' is"))};
}

ErrorOr<ServicePins>
ServicePins::parse(const std::map<std::string, std::string> &texts) {
  ServicePins pins;
  const std::pair<std::string_view, RolePins *> roles[] = {
      {"serve", &pins.serve},
      {"prefill", &pins.prefill},
      {"decode", &pins.decode}};
  auto set = [](RolePins &role, std::string_view name,
                const std::vector<int64_t> &values) {
    if (std::optional<Degree> degree = parseDegree(name))
      role.degrees[*degree] = values;
    else if (name == overlapPin)
      role.overlap = values;
    else
      role.workers = values;
  };
  // Those of all roles first, so that those of one replace them.
  for (bool isOfRole : {false, true})
    for (const auto &[place, text] : texts) {
      size_t point = place.find('.');
      if ((point != std::string::npos) != isOfRole)
        continue;
      std::string name = isOfRole ? place.substr(point + 1) : place;
      auto values = parsePin(name, place, text);
      if (!values)
        return values.error();
      bool isKnown = !isOfRole;
      for (const auto &[role, its] : roles)
        if (!isOfRole || place.substr(0, point) == role) {
          set(*its, name, *values);
          isKnown = true;
        }
      if (!isKnown)
        return Error{
            "unknown role in the pin '" + abbreviate(place) + "'; " +
            listKnown(place.substr(0, point), {"serve", "prefill", "decode"})};
    }
  return pins;
}

//===----------------------------------------------------------------------===//
// Pins that nothing has
//===----------------------------------------------------------------------===//

namespace {
/// The layouts of a role, which pins are taken of one after the other.
class PinnedRole {
public:
  PinnedRole(const char *role, const RolePins &pins,
             const std::map<std::string, std::string> &texts)
      : role(role), pins(pins), texts(texts) {}

  /// Why none of `layouts` has all pins.
  std::optional<std::string> whyNot(std::vector<Degrees> layouts,
                                    int64_t devices);

private:
  /// The name and the text of a pin as the user gave it.
  std::pair<std::string, std::string> given(const std::string &name) const {
    std::string own = role + "." + name;
    auto at = texts.count(own) ? texts.find(own) : texts.find(name);
    return at == texts.end()
               ? std::pair(own, std::string())
               : std::pair<std::string, std::string>(at->first, at->second);
  }
  std::string text(const std::string &name, const std::string &valid) const;

  std::string role;
  const RolePins &pins;
  const std::map<std::string, std::string> &texts;
  std::string before; ///< " with tp 4"
};
} // namespace

std::string PinnedRole::text(const std::string &name,
                             const std::string &valid) const {
  auto [pin, value] = given(name);
  return "'" + pin + "' is pinned to " + value + ", which no " +
         (role == "serve" ? "" : role + " ") + "worker has" + before +
         ": expected " + valid;
}

/// "1, 2 or 4", of at most eight values.
static std::string alternatives(Degree degree,
                                const std::set<int64_t> &values) {
  constexpr size_t most = 8;
  std::string text;
  size_t count = 0;
  for (int64_t value : values) {
    if (++count > most)
      return text + " …";
    text += (count == 1               ? ""
             : count == values.size() ? " or "
                                      : ", ") +
            spell(degree, value);
  }
  return text;
}

std::optional<std::string> PinnedRole::whyNot(std::vector<Degrees> layouts,
                                              int64_t devices) {
  if (layouts.empty()) // else no pin is to blame
    return pins.allowOverlap(false)
               ? std::nullopt
               : std::optional(text(std::string(overlapPin), "off"));
  for (Degree degree : allDegrees) {
    const std::vector<int64_t> &wanted = pins.degrees[degree];
    if (wanted.empty())
      continue;
    std::set<int64_t> values;
    std::vector<Degrees> kept;
    for (const Degrees &layout : layouts) {
      values.insert(layout[degree]);
      if (isAllowed(wanted, layout[degree]))
        kept.push_back(layout);
    }
    if (kept.empty())
      return text(spell(degree), alternatives(degree, values));
    layouts = std::move(kept);
    before += (before.empty() ? " with " : ", ") + std::string(spell(degree)) +
              " " + given(spell(degree)).second;
  }
  int64_t most = 0;
  for (const Degrees &layout : layouts)
    most = std::max(most, devices / layout.devices());
  if (pins.mostWorkers(most) > 0 || pins.workers.empty())
    return std::nullopt;
  auto [pin, value] = given("workers");
  return "'" + pin + "' is pinned to " + value + ", expected at most " +
         std::to_string(most) + before + " on " + std::to_string(devices) +
         " GPUs";
}

std::optional<std::string>
service::whyPinsFail(const ServiceSummary &summary, const Sides &sides,
                     std::optional<ServiceMode> mode,
                     const std::map<std::string, std::string> &texts) {
  const ServiceGoal &goal = summary.goal;
  if (goal.pins.isEmpty())
    return std::nullopt;
  auto degreesOf = [&](const Side &side, cost::Phase phase, int64_t devices,
                       const RolePins &pins) {
    ServiceShortage ignored;
    double context = phase == cost::Phase::Prefill ? goal.load.longestInput()
                                                   : goal.load.longestContext();
    std::vector<Degrees> all;
    for (const WorkerLayout &layout :
         side.layouts(summary.engine, devices, context, phase, ignored,
                      pins.allowOverlap(true)))
      if (pins.allowOverlap(layout.overlaps))
        all.push_back(layout.degrees);
    return all;
  };
  auto whyNotDecode = [&](const char *role, const RolePins &pins) {
    return PinnedRole(role, pins, texts)
        .whyNot(
            degreesOf(*sides.decode, cost::Phase::Decode, goal.devices, pins),
            goal.devices);
  };
  std::optional<std::string> together, apart;
  if (mode != ServiceMode::Disaggregated)
    together = whyNotDecode("serve", goal.pins.serve);
  if (mode == ServiceMode::Aggregated)
    return together;
  bool isElsewhere = sides.prefill && goal.prefillDevices > 0;
  int64_t devices = isElsewhere ? goal.prefillDevices : goal.devices;
  std::vector<Degrees> prefills = degreesOf(*sides.decode, cost::Phase::Prefill,
                                            goal.devices, goal.pins.prefill);
  if (sides.prefill)
    for (Degrees &more : degreesOf(*sides.prefill, cost::Phase::Prefill,
                                   devices, goal.pins.prefill))
      prefills.push_back(more);
  apart =
      PinnedRole("prefill", goal.pins.prefill, texts).whyNot(prefills, devices);
  if (!apart)
    apart = whyNotDecode("decode", goal.pins.decode);
  if (mode || !apart)
    return apart;
  return together;
}
