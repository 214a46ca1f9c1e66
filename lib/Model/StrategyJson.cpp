//===- StrategyJson.cpp - Strategies and metrics as JSON ------------------===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "shardopt/Model/StrategyJson.h"

#include "../Support/JsonSax.h"
#include "shardopt/Support/Suggest.h"

#include <algorithm>
#include <array>

using namespace shardopt;
using namespace shardopt::json;

namespace {

/// The keys of a strategy, in the order in which it is written, are the
/// degrees, the stages and then the dims.
constexpr size_t stagesKey = numDegrees;
constexpr size_t dimsKey = numDegrees + 1;

std::string keyName(size_t key) {
  if (key == stagesKey)
    return StageCut::key;
  return key == dimsKey ? "dims" : spell(allDegrees[key]);
}

/// Fills a strategy from the events of its text.
class StrategyHandler : public EventHandler {
public:
  explicit StrategyHandler(const std::vector<std::string> &opNames,
                           const DimReader *reader = nullptr)
      : opNames(opNames), reader(reader) {
    strategy.dims.assign(opNames.size(), unset);
  }

  Strategy strategy;

  bool onInteger(int64_t number) {
    switch (at) {
    case Place::Outside:
      break;
    case Place::Strategy:
      return degree(number);
    case Place::StagesArray:
      return stage(number);
    case Place::DimsArray:
      return dim(number, op++);
    case Place::DimsObject:
      return dim(number, op);
    }
    return refuseFound(std::to_string(number));
  }
  bool onReal(double, const std::string &spelling) {
    return refuseFound(abbreviate(spelling));
  }
  bool onNull() { return refuseFound("null"); }
  bool onBoolean(bool truth) { return refuseFound(truth ? "true" : "false"); }
  bool onString(const std::string &text) {
    if (at == Place::Strategy && isNamed(current))
      if (std::optional<int64_t> value =
              parseDegreeValue(allDegrees[current], text)) {
        given.entries[current] = *value;
        return true;
      }
    bool isDim = at == Place::DimsArray || at == Place::DimsObject;
    if (!isDim || !reader || !*reader || op >= opNames.size())
      return refuseFound(quotedText(abbreviate(text)));
    ErrorOr<Dim> read = (*reader)(op, text);
    if (!read)
      return refuseDim(read.error().message, quotedText(abbreviate(text)));
    return dim(int64_t(*read), at == Place::DimsArray ? op++ : op);
  }

  bool beginObject() {
    if (at == Place::Outside) {
      at = Place::Strategy;
      return true;
    }
    if (at != Place::Strategy || current != dimsKey)
      return refuseFound("an object");
    at = Place::DimsObject;
    return true;
  }
  bool beginArray() {
    if (at != Place::Strategy || isDegree(current))
      return refuseFound("an array");
    at = current == stagesKey ? Place::StagesArray : Place::DimsArray;
    return true;
  }
  bool onKey(const std::string &name) {
    return at == Place::DimsObject ? opKey(name) : strategyKey(name);
  }
  bool endObject() {
    if (at == Place::DimsObject)
      return endDimsObject();
    at = Place::Outside;
    if (std::optional<Degree> missing = given.firstMissing())
      return refuseMissing(size_t(*missing));
    if (!hasDims)
      return refuseMissing(dimsKey);
    if (std::optional<std::string> error = given.stagesError())
      return refuse("/" + keyName(stagesKey) + ": " + *error);
    strategy.degrees = given.filled();
    return true;
  }
  bool endArray() {
    bool wereStages = at == Place::StagesArray;
    at = Place::Strategy;
    if (wereStages)
      return !given.stages.isEmpty() || refuseFound("an empty one");
    if (op != opNames.size())
      return refuse("/dims: expected " + std::to_string(opNames.size()) +
                    " dims, one an op, found " + std::to_string(op));
    return true;
  }

  /// Refuses what stands at the current place, described by `found`.
  bool refuseFound(const std::string &found) {
    if (at == Place::Outside)
      return refuse("expected an object, found " + found);
    if (at == Place::Strategy)
      return refuse("/" + keyName(current) + ": expected " + wanted(current) +
                    ", found " + found);
    if (at == Place::StagesArray)
      return refuse("/" + keyName(stagesKey) + "/" +
                    std::to_string(given.stages.layers.size()) + ": expected " +
                    wantedOf(Degree::Pp) + ", found " + found);
    return refuseDim("0, 1 or 2 (none)", found);
  }

  /// Whether a reader of documents skips the member `name` at this place.
  bool ignores(const std::string &name) const {
    return at == Place::Strategy && !parseKey(name);
  }

private:
  enum class Place : uint8_t {
    Outside,
    Strategy,
    StagesArray,
    DimsArray,
    DimsObject
  };
  static constexpr Dim unset = Dim(255);

  static bool isDegree(size_t key) { return key < numDegrees; }

  static std::optional<size_t> parseKey(const std::string &name) {
    if (std::optional<Degree> degree = parseDegree(name))
      return size_t(*degree);
    for (size_t key : {stagesKey, dimsKey})
      if (name == keyName(key))
        return key;
    return std::nullopt;
  }

  static std::string wanted(size_t key) {
    if (key == stagesKey)
      return StageCut::wanted;
    if (key == dimsKey)
      return "an array of dims or an object of dims by op name";
    return wantedOf(allDegrees[key]);
  }

  /// Whether the values of `key` are names.
  static bool isNamed(size_t key) {
    return isDegree(key) && degreeTable[key].names;
  }

  bool refuseDim(const std::string &wanted, const std::string &found) {
    return refuse("/" + keyName(current) + "/" +
                  (at == Place::DimsArray ? std::to_string(op) : opNames[op]) +
                  ": expected " + wanted + ", found " + found);
  }

  bool refuseMissing(size_t key) {
    return refuse("/" + keyName(key) + ": missing, expected " + wanted(key));
  }

  bool degree(int64_t number) {
    if (!isDegree(current) || isNamed(current) || number < 1 ||
        number > degreeTable[current].most)
      return refuseFound(std::to_string(number));
    given.entries[current] = number;
    return true;
  }

  bool stage(int64_t layers) {
    if (layers < 1 || layers > maxDegree)
      return refuseFound(std::to_string(layers));
    given.stages.layers.push_back(layers);
    return true;
  }

  /// Whether all ops have the dim `number`, or op `index` has it by the reader.
  /// A document was written by who knows the ops.
  bool isDim(int64_t number, size_t index) const {
    if (number >= 0 && number <= int64_t(Dim::None))
      return true;
    if (!reader)
      return number == int64_t(dimBoth);
    return *reader && index < opNames.size() &&
           (*reader)(index, std::to_string(number));
  }

  /// Sets the dim of `index`. The dims of an array beyond the last op are
  /// counted for the message at its end.
  bool dim(int64_t number, size_t index) {
    if (!isDim(number, index)) {
      op = index;
      return refuseFound(std::to_string(number));
    }
    if (index < opNames.size())
      strategy.dims[index] = Dim(number);
    return true;
  }

  bool strategyKey(const std::string &name) {
    std::optional<size_t> key = parseKey(name);
    if (!key) {
      std::vector<std::string> known = degreeNames();
      known.push_back(keyName(stagesKey));
      known.push_back(keyName(dimsKey));
      return refuse("/" + abbreviate(name) + ": unknown key; " +
                    listKnown(name, known));
    }
    current = *key;
    bool isRepeated = current == stagesKey ? !given.stages.isEmpty()
                      : current == dimsKey ? hasDims
                                           : given.entries[current].has_value();
    if (isRepeated)
      return refuse("/" + name + ": given twice");
    hasDims |= current == dimsKey;
    return true;
  }

  bool opKey(const std::string &name) {
    // Objects mostly list the ops in order: look after the last one first.
    size_t next = anyOp ? op + 1 : 0;
    anyOp = true;
    for (size_t i = 0; i < opNames.size(); ++i) {
      op = (next + i) % opNames.size();
      if (opNames[op] != name)
        continue;
      if (strategy.dims[op] != unset)
        return refuse("/dims/" + name + ": given twice");
      return true;
    }
    return refuse("/dims/" + abbreviate(name) + ": unknown op; " +
                  listKnown(name, opNames));
  }

  bool endDimsObject() {
    at = Place::Strategy;
    for (size_t i = 0; i < opNames.size(); ++i)
      if (strategy.dims[i] == unset)
        return refuse("/dims/" + opNames[i] +
                      ": missing, expected 0, 1 or 2 (none)");
    return true;
  }

  const std::vector<std::string> &opNames;
  const DimReader *reader; ///< of dims that are strings; null: there are none
  Place at = Place::Outside;
  size_t current = 0;   ///< the last key of the strategy
  PartialDegrees given; ///< the degrees so far
  bool hasDims = false; ///< whether there was a key for dims
  size_t op = 0;        ///< array: the next op; object: the last key
  bool anyOp = false;   ///< whether the object of dims had a key
};

} // namespace

ErrorOr<Strategy>
shardopt::parseStrategyLine(std::string_view text,
                            const std::vector<std::string> &opNames,
                            const DimReader &reader) {
  StrategyHandler handler(opNames, &reader);
  std::optional<Refusal> refusal = parseEvents(text, handler);
  if (!refusal)
    return std::move(handler.strategy);
  if (!refusal->syntax)
    return Error{std::move(refusal->message)};
  return Error{"column " + std::to_string(refusal->offset + 1) + ": " +
               refusal->message};
}

/// Sends what stands at `value` to `handler`; false where that refuses it.
static bool replay(const json::Value &value, StrategyHandler &handler) {
  if (value.isObject()) {
    if (!handler.beginObject())
      return false;
    for (const auto &[name, member] : value.members())
      if (!handler.ignores(name) &&
          (!handler.onKey(name) || !replay(member, handler)))
        return false;
    return handler.endObject();
  }
  if (value.isArray()) {
    if (!handler.beginArray())
      return false;
    for (const json::Value &element : value.elements())
      if (!replay(element, handler))
        return false;
    return handler.endArray();
  }
  if (value.isInteger())
    return handler.onInteger(value.integer());
  if (value.isString())
    return handler.onString(value.string());
  return handler.refuseFound(value.found());
}

Strategy shardopt::readStrategy(const json::Value &value,
                                const std::vector<std::string> &opNames) {
  StrategyHandler handler(opNames);
  if (!value.present())
    value.failExpected("an object");
  else if (!replay(value, handler))
    value.failBelow(handler.refusal);
  return std::move(handler.strategy);
}

void shardopt::writeStages(json::Writer &writer, const StageCut &cut) {
  if (cut.isEmpty())
    return;
  writer.key(StageCut::key).beginArray();
  for (int64_t layers : cut.layers)
    writer.value(layers);
  writer.endArray();
}

void shardopt::writeStrategy(json::Writer &writer, const Strategy &strategy,
                             const std::vector<std::string> &opNames) {
  assert(strategy.dims.size() == opNames.size() && "one dim an op");
  writer.beginObject();
  visitWritten(strategy.degrees, [&](Degree degree, int64_t value) {
    writer.key(spell(degree));
    if (infoOf(degree).names)
      writer.value(spell(degree, value));
    else
      writer.value(value);
  });
  writeStages(writer, strategy.degrees.stages);
  writer.key("dims").beginObject();
  for (size_t i = 0; i < opNames.size(); ++i)
    writer.member(opNames[i], int(strategy.dims[i]));
  writer.endObject().endObject();
}

std::string shardopt::strategyToJson(const Strategy &strategy,
                                     const std::vector<std::string> &opNames) {
  std::string text;
  json::Writer writer(text);
  writeStrategy(writer, strategy, opNames);
  return text;
}

void shardopt::writeMetrics(json::Writer &writer, const Evaluation &evaluation,
                            LatencyKey latency) {
  writer.member("throughput", evaluation.throughput)
      .member(latency == LatencyKey::Tpot ? "tpot_ms" : "ttft_ms",
              evaluation.latencyMs)
      .member("memory_gb", evaluation.memoryGb);
  if (evaluation.activationsGb > 0)
    writer.member("activations_gb", evaluation.activationsGb);
  writer.member("valid", evaluation.valid)
      .member("reason", spell(evaluation.reason));
}
