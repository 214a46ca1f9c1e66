//===- Degrees.cpp - Degrees of parallelism, and the table of them --------===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "shardopt/Model/Degrees.h"

#include <charconv>

using namespace shardopt;

//===----------------------------------------------------------------------===//
// The table
//===----------------------------------------------------------------------===//

std::optional<Degree> shardopt::parseDegree(std::string_view name) {
  for (Degree degree : allDegrees)
    if (name == spell(degree))
      return degree;
  return std::nullopt;
}

std::vector<std::string> shardopt::degreeNames() {
  std::vector<std::string> names;
  for (Degree degree : allDegrees)
    names.push_back(spell(degree));
  return names;
}

const char *shardopt::devicesFormula(bool isDpWritten) {
  return isDpWritten ? "tp * dp * pp" : "tp * ep * pp";
}

std::string shardopt::spell(Degree degree, int64_t value) {
  const DegreeInfo &info = infoOf(degree);
  bool isNamed = info.names && value >= 1 && value <= info.most;
  return isNamed ? info.names[value - 1] : std::to_string(value);
}

std::optional<int64_t> shardopt::parseDegreeValue(Degree degree,
                                                  std::string_view text) {
  const DegreeInfo &info = infoOf(degree);
  if (info.names) {
    for (int64_t value = 1; value <= info.most; ++value)
      if (text == info.names[value - 1])
        return value;
    return std::nullopt;
  }
  int64_t value = 0;
  auto [end, error] =
      std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || value < 1 ||
      value > info.most)
    return std::nullopt;
  return value;
}

std::string shardopt::wantedOf(Degree degree) {
  const DegreeInfo &info = infoOf(degree);
  if (!info.names)
    return "an integer from 1 to " + std::to_string(info.most);
  std::string text;
  for (int64_t value = 1; value <= info.most; ++value)
    text += (value > 1 ? " or " : "") + std::string(info.names[value - 1]);
  return text;
}

//===----------------------------------------------------------------------===//
// Degrees
//===----------------------------------------------------------------------===//

Degrees::Degrees(int64_t tp, int64_t ep, int64_t pp, int64_t batch)
    : tp(tp), ep(ep), pp(pp), batch(batch) {
  for (const DegreeInfo &info : degreeTable)
    if (info.fallback)
      this->*info.field = info.fallback(*this);
}

int64_t Degrees::devices() const { return tp * dp * pp; }

bool Degrees::isUniform() const {
  return dp == ep && cp == 1 && tp2 == 1 && exchange == exchangeAllToAll &&
         !hasEplb();
}

bool shardopt::operator==(const Degrees &a, const Degrees &b) {
  for (Degree degree : allDegrees)
    if (a[degree] != b[degree])
      return false;
  return a.stages == b.stages;
}

bool shardopt::operator<(const Degrees &a, const Degrees &b) {
  for (Degree degree : allDegrees)
    if (a[degree] != b[degree])
      return a[degree] < b[degree];
  return a.stages.layers < b.stages.layers;
}

std::string shardopt::spell(const Degrees &degrees) {
  std::string text;
  visitWritten(degrees, [&](Degree degree, int64_t value) {
    text += (text.empty() ? "" : ", ") + std::string(spell(degree)) + " " +
            spell(degree, value);
  });
  if (!degrees.stages.isEmpty())
    text += std::string(", ") + StageCut::key + " " + spell(degrees.stages);
  return text;
}

//===----------------------------------------------------------------------===//
// Partial degrees
//===----------------------------------------------------------------------===//

PartialDegrees::PartialDegrees(const Degrees &degrees)
    : stages(degrees.stages) {
  for (Degree degree : allDegrees) {
    const DegreeInfo &info = infoOf(degree);
    if (info.isRequired() || degrees[degree] != info.fallback(degrees))
      (*this)[degree] = degrees[degree];
  }
}

std::optional<Degree> PartialDegrees::firstMissing() const {
  for (Degree degree : allDegrees)
    if (infoOf(degree).isRequired() && !(*this)[degree])
      return degree;
  return std::nullopt;
}

Degrees PartialDegrees::filled() const {
  // What is said first: fallbacks are functions of what is required.
  Degrees degrees;
  for (Degree degree : allDegrees)
    if ((*this)[degree])
      degrees[degree] = *(*this)[degree];
  for (Degree degree : allDegrees)
    if (!(*this)[degree] && !infoOf(degree).isRequired())
      degrees[degree] = infoOf(degree).fallback(degrees);
  degrees.stages = stages;
  return degrees;
}
