//===- Degrees.h - Degrees of parallelism, and the table of them *- C++ -*-===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Formulas name the degrees that they are about, `degrees.tp`. All that is done
// alike with every degree (reading, writing, listing, comparing) goes through
// the table, which Degrees.def fills.
//
//===----------------------------------------------------------------------===//

#ifndef SHARDOPT_MODEL_DEGREES_H
#define SHARDOPT_MODEL_DEGREES_H

#include "shardopt/Model/GridAxis.h"
#include "shardopt/Model/StageCut.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace shardopt {

/// The largest degree and batch that anything may ask for: far beyond any
/// cluster, and small enough that their products fit an int64.
constexpr int64_t maxDegree = int64_t(1) << 20;
constexpr int64_t maxBatch = int64_t(1) << 31;

/// The values of the exchange, as numbers: how rows reach the experts that they
/// visit, and come back.
constexpr int64_t exchangeAllToAll = 1; ///< copies go to their experts' groups
constexpr int64_t exchangeGather = 2;   ///< all rows go to all expert groups
inline constexpr const char *exchangeNames[] = {"all_to_all", "gather"};

/// The values of EPLB, as numbers: experts lie in order, or the engine places
/// them by their load, with so many replicas more on each rank.
constexpr int64_t eplbOff = 1;
inline constexpr const char *eplbNames[] = {
    "off", "0", "1",  "2",  "3",  "4",  "5",  "6",  "7",
    "8",   "9", "10", "11", "12", "13", "14", "15", "16"};
/// The value with `redundant` experts a rank.
constexpr int64_t eplbWith(int64_t redundant) { return redundant + 2; }

/// A degree by name.
enum class Degree : uint8_t {
#define SHARDOPT_DEGREE(name, Name, ...) Name,
#include "shardopt/Model/Degrees.def"
};

inline constexpr Degree allDegrees[] = {
#define SHARDOPT_DEGREE(name, Name, ...) Degree::Name,
#include "shardopt/Model/Degrees.def"
};
inline constexpr size_t numDegrees = std::size(allDegrees);

/// Degrees of parallelism and the number of concurrent sequences. The tp * dp
/// devices of a stage are dp groups of tp outside of the experts, which share
/// the sequences, and ep groups inside of them (`StageGrid`).
struct Degrees {
  Degrees() = default;
  /// The others have their fallback.
  Degrees(int64_t tp, int64_t ep, int64_t pp, int64_t batch);

#define SHARDOPT_DEGREE(name, ...) int64_t name = 1;
#include "shardopt/Model/Degrees.def"

  /// The layers of each of the pp stages.
  StageCut stages;

  int64_t &operator[](Degree degree);
  int64_t operator[](Degree degree) const;

  /// tp * dp * pp.
  int64_t devices() const;
  /// Whether ep is dp, so that experts are cut as all else is, cp and tp2 are
  /// 1, the exchange an all-to-all, and no expert has replicas.
  bool isUniform() const;
  bool gathers() const { return exchange == exchangeGather; }
  /// Whether experts are placed by their load.
  bool hasEplb() const { return eplb != eplbOff; }
  /// Experts of a rank of ep in addition to its part of them.
  int64_t redundantExperts() const {
    return hasEplb() ? eplb - eplbWith(0) : 0;
  }
};

bool operator==(const Degrees &a, const Degrees &b);
inline bool operator!=(const Degrees &a, const Degrees &b) { return !(a == b); }
/// Lexicographic, in the order of the table, the stages last.
bool operator<(const Degrees &a, const Degrees &b);

/// What a degree divides, and so cannot exceed.
enum class Divides : uint8_t { Nothing, Layers, Experts };

/// An entry of the table; Degrees.def says what the fields mean.
struct DegreeInfo {
  const char *name;
  int64_t Degrees::*field;
  int64_t most;
  std::optional<GridAxis> axis;
  Divides divides;
  int64_t (*fallback)(const Degrees &);
  const char *const *names; ///< of the values from 1; null: they are numbers

  bool isRequired() const { return !fallback; }
};

inline constexpr DegreeInfo degreeTable[] = {
#define SHARDOPT_DEGREE(name, Name, Summary, Values, most, axis, divides,      \
                        fallback, names, domain)                               \
  {#name, &Degrees::name, most, axis, divides, fallback, names},
#include "shardopt/Model/Degrees.def"
};
static_assert(allDegrees[numDegrees - 1] == Degree::Batch &&
                  !degreeTable[numDegrees - 1].axis,
              "the batch is last, and no axis of the grid");

constexpr const DegreeInfo &infoOf(Degree degree) {
  return degreeTable[size_t(degree)];
}
constexpr const char *spell(Degree degree) { return infoOf(degree).name; }
/// The degree called `name`.
std::optional<Degree> parseDegree(std::string_view name);
/// All names, in the order of the table.
std::vector<std::string> degreeNames();
/// What the number of devices is: "tp * dp * pp", or "tp * ep * pp" where dp is
/// not written.
const char *devicesFormula(bool isDpWritten);

/// How `value` is written: a number, or its name.
std::string spell(Degree degree, int64_t value);
/// The value that `text` spells; none if it is none of the degree's.
std::optional<int64_t> parseDegreeValue(Degree degree, std::string_view text);
/// "an integer from 1 to 1048576", or "all_to_all or gather".
std::string wantedOf(Degree degree);

inline int64_t &Degrees::operator[](Degree degree) {
  return this->*infoOf(degree).field;
}
inline int64_t Degrees::operator[](Degree degree) const {
  return this->*infoOf(degree).field;
}

/// One T for each degree.
template <typename T> struct DegreeMap {
  std::array<T, numDegrees> entries = {};

  T &operator[](Degree degree) { return entries[size_t(degree)]; }
  const T &operator[](Degree degree) const { return entries[size_t(degree)]; }

  friend bool operator==(const DegreeMap &a, const DegreeMap &b) {
    return a.entries == b.entries;
  }
};

/// Degrees; some may not be given.
struct PartialDegrees : DegreeMap<std::optional<int64_t>> {
  StageCut stages; ///< empty: not given

  PartialDegrees() = default;
  /// What is written of `degrees`: all but those that have their fallback.
  explicit PartialDegrees(const Degrees &degrees);

  bool isEmpty() const { return *this == PartialDegrees(); }
  /// The first that a strategy must say and that is not given.
  std::optional<Degree> firstMissing() const;
  /// All of them: what is not given has its fallback, or is 1.
  Degrees filled() const;
  /// Why the stages are none of the pp that is given.
  std::optional<std::string> stagesError() const {
    return stageCutError(stages, (*this)[Degree::Pp]);
  }

  friend bool operator==(const PartialDegrees &a, const PartialDegrees &b) {
    return a.entries == b.entries && a.stages == b.stages;
  }
};

/// Calls `visit(degree, value)` for what is written of `degrees` but for the
/// stages.
template <typename Visit>
void visitWritten(const Degrees &degrees, Visit visit) {
  PartialDegrees written(degrees);
  for (Degree degree : allDegrees)
    if (written[degree])
      visit(degree, *written[degree]);
}

/// "tp 8, ep 4, pp 2, batch 64", and "stages 3, 5" where these are not even.
std::string spell(const Degrees &degrees);

} // namespace shardopt

#endif // SHARDOPT_MODEL_DEGREES_H
