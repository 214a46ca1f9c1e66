//===- Protocol.cpp - Messages with a simulator process -------------------===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "shardopt/BlackBox/Protocol.h"
#include "shardopt/Machine/MachineWriter.h"
#include "shardopt/Support/Json.h"
#include "shardopt/Support/Suggest.h"

#include <algorithm>
#include <limits>

using namespace shardopt;
using namespace shardopt::blackbox;

//===----------------------------------------------------------------------===//
// Of the client
//===----------------------------------------------------------------------===//

std::string blackbox::helloLine(const Problem &problem) {
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

static Dim readDim(const json::Value &value) {
  return static_cast<Dim>(value.integer(std::nullopt, 0, 2));
}

static std::vector<Dim> readDims(const json::Value &dims,
                                 const std::vector<std::string> &opNames) {
  std::vector<Dim> read;
  if (dims.isArray()) {
    for (const json::Value &element : dims.elements())
      read.push_back(readDim(element));
    if (read.size() != opNames.size())
      dims.fail("expected " + std::to_string(opNames.size()) +
                " dims, one an op, found " + std::to_string(read.size()));
    return read;
  }
  // Members mostly come in the order of the ops, so look at the next op first.
  constexpr Dim unset = Dim(255);
  read.assign(opNames.size(), unset);
  size_t next = 0;
  for (const auto &[name, value] : dims.members()) {
    size_t op = next;
    if (op == opNames.size() || opNames[op] != name)
      op = std::find(opNames.begin(), opNames.end(), name) - opNames.begin();
    if (op == opNames.size()) {
      dims.fail("unknown op '" + abbreviate(name) + "'; " +
                listKnown(name, opNames));
      return read;
    }
    read[op] = readDim(value);
    next = op + 1;
  }
  for (size_t op = 0; op < read.size(); ++op)
    if (read[op] == unset)
      dims[opNames[op]].failExpected("0, 1 or 2 (none)");
  return read;
}

static Strategy readStrategy(const json::Value &value,
                             const std::vector<std::string> &opNames) {
  Strategy strategy;
  strategy.degrees.tp = value["tp"].integer(std::nullopt, 1, maxDegree);
  strategy.degrees.ep = value["ep"].integer(std::nullopt, 1, maxDegree);
  strategy.degrees.pp = value["pp"].integer(std::nullopt, 1, maxDegree);
  strategy.degrees.batch = value["batch"].integer(std::nullopt, 1, maxBatch);
  strategy.dims = readDims(value["dims"], opNames);
  return strategy;
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
