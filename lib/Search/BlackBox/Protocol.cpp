//===- Protocol.cpp - Messages with a simulator process -------------------===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "shardopt/Search/BlackBox/Protocol.h"
#include "shardopt/Model/Machine/MachineWriter.h"
#include "shardopt/Support/Json.h"
#include "shardopt/Support/NonNumbers.h"

#include <limits>

using namespace shardopt;
using namespace shardopt::blackbox;

//===----------------------------------------------------------------------===//
// Of the client
//===----------------------------------------------------------------------===//

std::string blackbox::helloLine(const SimulatedProblem &problem) {
  std::string text;
  json::Writer writer(text);
  writer.beginObject()
      .member("protocol", protocolVersion)
      .member("model", problem.model)
      .key("workload")
      .beginObject()
      .member("phase",
              problem.latency == LatencyKey::Tpot ? "decode" : "prefill")
      .member("context", problem.context)
      .endObject()
      .key("machine");
  writeMachine(writer, problem.machine);
  writer.member("slo_ms", problem.sloMs).key("ops").beginArray();
  for (const std::string &op : problem.ops)
    writer.value(op);
  writer.endArray().endObject();
  return text;
}

std::string blackbox::requestLine(int64_t id, const Strategy &strategy,
                                  const std::vector<std::string> &opNames) {
  std::string text;
  json::Writer writer(text);
  writer.beginObject().member("id", id).key("strategy");
  writeStrategy(writer, strategy, opNames);
  writer.endObject();
  return text;
}

ErrorOr<Greeting> blackbox::parseGreeting(std::string_view line) {
  ErrorOr<json::Document> document = json::Document::parse(line, "greeting");
  if (!document)
    return document.error();
  json::Value root = document->root();
  if (root.isObject() && root["error"].isString())
    return Error{root["error"].string()};
  int64_t version = root["protocol"].integer();
  if (document->failed())
    return document->error();
  if (version != protocolVersion)
    return Error{"the simulator speaks version " + std::to_string(version) +
                 " of the protocol, this is version " +
                 std::to_string(protocolVersion)};
  Greeting greeting;
  greeting.name = root["name"].string("");
  // Names that this version does not have are those of a later one.
  if (json::Value degrees = root["degrees"])
    for (const json::Value &name : degrees.elements()) {
      std::string spelling = name.string();
      greeting.readsStages |= spelling == StageCut::key;
      if (std::optional<Degree> degree = parseDegree(spelling))
        greeting.degrees.push_back(*degree);
    }
  if (document->failed())
    return document->error();
  return greeting;
}

std::optional<std::string> blackbox::findUnread(const Degrees &degrees,
                                                const std::vector<Degree> &read,
                                                bool readsStages) {
  auto describe = [](const std::string &name, const std::string &value) {
    return "'" + name + "', which is " + value;
  };
  PartialDegrees written(degrees);
  for (Degree degree : allDegrees)
    if (written[degree] && !infoOf(degree).isRequired() &&
        std::find(read.begin(), read.end(), degree) == read.end())
      return describe(spell(degree), spell(degree, degrees[degree]));
  if (!degrees.stages.isEmpty() && !readsStages)
    return describe(StageCut::key, spell(degrees.stages));
  return std::nullopt;
}

namespace {

/// Reads the parts of one answer.
class AnswerReader {
public:
  AnswerReader(const json::Document &document, int64_t id, LatencyKey latency,
               const Limits &limits)
      : document(document), root(document.root()), id(id), latency(latency),
        limits(limits) {}

  std::variant<Evaluation, BadAnswer> read();

private:
  std::variant<Evaluation, BadAnswer> readInvalid();
  Reason reasonOf(const std::string &spelling,
                  const Evaluation &evaluation) const;
  /// The metric `key`; notes one that is no number.
  double metric(const char *key);
  BadAnswer bad(Failure kind, std::string message) const {
    return {kind, std::move(message), /*isInStep=*/true};
  }
  const char *latencyName() const {
    return latency == LatencyKey::Tpot ? "tpot_ms" : "ttft_ms";
  }

  const json::Document &document;
  const json::Value root;
  const int64_t id;
  const LatencyKey latency;
  const Limits &limits;
  const char *nonNumber = nullptr; ///< the first metric that is null
};

} // namespace

double AnswerReader::metric(const char *key) {
  json::Value value = root[key];
  if (!value.isNull())
    return value.nonNegativeNumber();
  if (!nonNumber)
    nonNumber = key;
  return 0;
}

Reason AnswerReader::reasonOf(const std::string &spelling,
                              const Evaluation &evaluation) const {
  for (Reason reason : {Reason::Structural, Reason::Memory, Reason::Slo})
    if (spelling == spell(reason))
      return reason;
  if (limits.memoryCapacityGb > 0 &&
      evaluation.memoryGb > limits.memoryCapacityGb)
    return Reason::Memory;
  if (limits.sloMs > 0 && evaluation.latencyMs > limits.sloMs)
    return Reason::Slo;
  return Reason::Structural;
}

std::variant<Evaluation, BadAnswer> AnswerReader::readInvalid() {
  std::string spelling = root["reason"].nullAsAbsent().string("");
  if (spelling == spell(Reason::Failed))
    return bad(Failure::Error, "the simulator failed on this strategy");
  Evaluation structural;
  if (spelling == spell(Reason::Structural))
    return structural;
  Evaluation evaluation;
  bool isComplete = true;
  for (auto [key, target] : {std::pair("throughput", &evaluation.throughput),
                             std::pair(latencyName(), &evaluation.latencyMs),
                             std::pair("memory_gb", &evaluation.memoryGb)}) {
    if (root[key])
      *target = metric(key);
    else
      isComplete = false;
  }
  isComplete &= evaluation.latencyMs > 0 && evaluation.memoryGb > 0;
  evaluation.reason = reasonOf(spelling, evaluation);
  return isComplete && evaluation.reason != Reason::Structural ? evaluation
                                                               : structural;
}

std::variant<Evaluation, BadAnswer> AnswerReader::read() {
  if (!root.isObject() || root["id"].integer() != id || document.failed())
    return BadAnswer{Failure::Nonsense,
                     "expected an object with \"id\": " + std::to_string(id)};
  if (json::Value error = root["error"])
    return bad(Failure::Error, error.string());
  Evaluation evaluation;
  std::variant<Evaluation, BadAnswer> result;
  if (root["valid"].boolean()) {
    evaluation.valid = true;
    evaluation.reason = Reason::None;
    evaluation.throughput = metric("throughput");
    evaluation.latencyMs = metric(latencyName());
    evaluation.memoryGb = metric("memory_gb");
    if (!document.failed() && !nonNumber &&
        (evaluation.throughput == 0 || evaluation.latencyMs == 0))
      return bad(Failure::Nonsense, "valid, but throughput or latency is 0");
    result = evaluation;
  } else {
    result = readInvalid();
  }
  if (document.failed())
    return bad(Failure::Nonsense, document.error().message);
  if (nonNumber)
    return bad(Failure::NotANumber,
               std::string("'") + nonNumber + "' is not a finite number");
  return result;
}

std::variant<Evaluation, BadAnswer>
blackbox::parseAnswer(std::string_view line, int64_t id, LatencyKey latency,
                      const Limits &limits) {
  ErrorOr<json::Document> document = json::Document::parse(line, "answer");
  if (!document)
    document = json::Document::parse(json::nullNonNumbers(line), "answer");
  if (!document)
    return BadAnswer{Failure::Nonsense, document.error().message};
  return AnswerReader(*document, id, latency, limits).read();
}

//===----------------------------------------------------------------------===//
// Of the worker
//===----------------------------------------------------------------------===//

static Hello readHello(const json::Value &root, std::string_view line) {
  Hello hello;
  hello.text = line;
  if (root["protocol"].integer() != protocolVersion)
    root["protocol"].failExpected(std::to_string(protocolVersion));
  hello.model = root["model"].string("");
  json::Value workload = root["workload"];
  if (json::Value phase = workload["phase"])
    hello.latency = phase.choice<LatencyKey>(
        {{"decode", LatencyKey::Tpot}, {"prefill", LatencyKey::Ttft}});
  if (json::Value context = workload["context"])
    hello.context = context.positiveInteger();
  json::Value machine = root["machine"];
  hello.machine = machine["name"].string("");
  json::Value memory = machine["memory"];
  if (memory)
    hello.memoryCapacityGb = memory["capacity_bytes"].positiveNumber() *
                             memory["usable_fraction"].fraction(1.0) / 1e9;
  json::Value slo = root["slo_ms"];
  if (slo.isNull())
    hello.sloMs = std::numeric_limits<double>::infinity();
  else if (slo)
    hello.sloMs = slo.positiveNumber();
  if (json::Value ops = root["ops"])
    for (const json::Value &op : ops.elements())
      hello.ops.push_back(op.string());
  return hello;
}

std::variant<Hello, Request, Refusal>
blackbox::parseMessage(std::string_view line,
                       const std::vector<std::string> &opNames) {
  ErrorOr<json::Document> document = json::Document::parse(line, "line");
  if (!document)
    return Refusal{std::nullopt, document.error()};
  json::Value root = document->root();
  if (root["protocol"]) {
    Hello hello = readHello(root, line);
    if (document->failed())
      return Refusal{std::nullopt, document->error()};
    return hello;
  }
  Request request;
  request.id = root["id"].integer();
  if (document->failed())
    return Refusal{std::nullopt, document->error()};
  request.strategy = readStrategy(root["strategy"], opNames);
  if (document->failed())
    return Refusal{request.id, document->error()};
  return request;
}

std::string blackbox::errorLine(const Refusal &refusal) {
  std::string text;
  json::Writer writer(text);
  writer.beginObject().key("id");
  if (refusal.id)
    writer.value(*refusal.id);
  else
    writer.null();
  writer.member("error", refusal.error.message).endObject();
  return text;
}
