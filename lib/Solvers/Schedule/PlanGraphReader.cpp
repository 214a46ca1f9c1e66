//===- PlanGraphReader.cpp - Graphs in files ------------------------------===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "shardopt/Solvers/Schedule/PlanGraphReader.h"

#include "shardopt/Support/Json.h"
#include "shardopt/Support/Suggest.h"

#include <algorithm>
#include <set>
#include <unordered_map>

using namespace shardopt;
using namespace shardopt::schedule;

namespace {

class GraphReader {
public:
  explicit GraphReader(Placement placement) { pipeline.placement = placement; }

  void read(const json::Value &root);

  PlanGraph graph;

private:
  void readDevices(const json::Value &devices);
  void readLink(const json::Value &link);
  void readOp(const json::Value &value);
  std::vector<int64_t> readTimes(const json::Value &time);
  void readFrees(const json::Value &value, int32_t op);
  void readEdge(const json::Value &value);
  /// The group that `value` names, or one of the operator's own.
  int32_t groupOf(const json::Value &colocate, const std::string &id);
  void place(const json::Value &value, const PlanOp &op);
  /// The operator that a string names; -1 and an error if there is none.
  int32_t lookUp(const json::Value &value);

  Pipeline pipeline;
  std::unordered_map<std::string, int32_t> indexOf, groupIndexOf;
};

} // namespace

void GraphReader::readDevices(const json::Value &devices) {
  for (const json::Value &value : devices.elements()) {
    value.refuseOtherKeys({"kind", "memory"});
    PlanDevice device;
    std::string kind = value["kind"].string("device");
    auto known =
        std::find(graph.deviceKinds.begin(), graph.deviceKinds.end(), kind);
    device.kind = int32_t(known - graph.deviceKinds.begin());
    if (known == graph.deviceKinds.end())
      graph.deviceKinds.push_back(kind);
    if (json::Value memory = value["memory"].nullAsAbsent())
      device.memory = memory.integer(std::nullopt, 0);
    graph.devices.push_back(device);
  }
  if (graph.devices.empty())
    devices.failExpected("at least one device");
  pipeline.devices = int32_t(graph.devices.size());
}

void GraphReader::readLink(const json::Value &link) {
  if (!link)
    return;
  link.refuseOtherKeys({"latency", "bandwidth"});
  graph.link.latency = link["latency"].integer(0, 0, maxTime);
  graph.link.bandwidth = link["bandwidth"].positiveInteger(1);
}

std::vector<int64_t> GraphReader::readTimes(const json::Value &time) {
  if (!time.isObject())
    return std::vector<int64_t>(graph.deviceKinds.size(),
                                time.integer(std::nullopt, 0, maxTime));
  std::vector<int64_t> times(graph.deviceKinds.size(), -1);
  for (const auto &[kind, value] : time.members()) {
    auto known =
        std::find(graph.deviceKinds.begin(), graph.deviceKinds.end(), kind);
    if (known == graph.deviceKinds.end()) {
      value.fail("no device is of the kind '" + abbreviate(kind) + "', " +
                 listKnown(kind, graph.deviceKinds));
      continue;
    }
    times[known - graph.deviceKinds.begin()] =
        value.integer(std::nullopt, 0, maxTime);
  }
  return times;
}

int32_t GraphReader::groupOf(const json::Value &colocate,
                             const std::string &id) {
  json::Value named = colocate.nullAsAbsent();
  std::string name = named ? named.string() : "op " + id;
  auto [it, isNew] =
      groupIndexOf.try_emplace(name, int32_t(graph.groups.size()));
  if (isNew)
    graph.groups.push_back({named ? name : id, -1});
  return it->second;
}

void GraphReader::place(const json::Value &value, const PlanOp &op) {
  int32_t device = -1;
  int32_t count = int32_t(graph.devices.size());
  json::Value given = value["device"].nullAsAbsent();
  if (given) {
    device = int32_t(given.integer(std::nullopt, 0, count - 1));
  } else if (pipeline.placement != Placement::Free && op.stage >= 0) {
    if (op.stage >= pipeline.chunks()) {
      value["stage"].fail(
          "stage " + std::to_string(op.stage) +
          " has no device: " + std::to_string(count) +
          " devices hold stages 0 to " + std::to_string(pipeline.chunks() - 1) +
          " in this placement; 'v', 'wave' and 'free' hold more");
      return;
    }
    device = pipeline.deviceOf(0, op.stage);
  }
  int32_t &placed = graph.groups[op.group].device;
  if (device >= 0 && placed >= 0 && placed != device)
    value.fail("group '" + graph.groups[op.group].name + "' is on device " +
               std::to_string(placed) + " already, found device " +
               std::to_string(device));
  if (device >= 0)
    placed = device;
}

void GraphReader::readOp(const json::Value &value) {
  value.refuseOtherKeys({"id", "stage", "type", "machine", "time", "colocate",
                         "birth_bytes", "frees", "parameter_bytes", "device"});
  PlanOp op;
  op.id = value["id"].string();
  op.type = value["type"].string("op");
  op.phase = op.type == "F"    ? PlanOpPhase::Forward
             : op.type == "Bi" ? PlanOpPhase::InputGradient
             : op.type == "W"  ? PlanOpPhase::WeightGradient
                               : PlanOpPhase::Other;
  op.machine = value["machine"].choice<MachineKind>(
      {{"compute", MachineKind::Compute}, {"comm", MachineKind::Comm}},
      MachineKind::Compute);
  op.stage = int32_t(value["stage"].nullAsAbsent().integer(-1, -1, maxOps));
  op.times = readTimes(value["time"]);
  op.birthBytes = value["birth_bytes"].integer(0, 0, maxBytes);
  op.parameterBytes = value["parameter_bytes"].integer(0, 0, maxBytes);
  op.group = groupOf(value["colocate"], op.id);
  place(value, op);
  int32_t index = int32_t(graph.ops.size());
  if (op.birthBytes)
    op.claims = index;
  if (!indexOf.try_emplace(op.id, index).second)
    value["id"].fail("'" + abbreviate(op.id) + "' is the id of another op too");
  graph.ops.push_back(std::move(op));
}

int32_t GraphReader::lookUp(const json::Value &value) {
  std::string id = value.string();
  auto it = indexOf.find(id);
  if (it != indexOf.end())
    return it->second;
  std::vector<std::string> known;
  for (const PlanOp &op : graph.ops)
    known.push_back(op.id);
  // The closest of very many are not worth their distances.
  constexpr size_t most = 1000;
  known.resize(std::min(known.size(), most));
  value.fail("no op has the id '" + abbreviate(id) + "', " +
             listKnown(id, known));
  return -1;
}

/// What frees bytes comes after what they are of.
void GraphReader::readFrees(const json::Value &value, int32_t op) {
  for (const json::Value &element : value["frees"].elements()) {
    int32_t freed = lookUp(element);
    if (freed < 0)
      return;
    std::vector<int32_t> &frees = graph.ops[op].frees;
    if (std::count(frees.begin(), frees.end(), freed))
      continue;
    frees.push_back(freed);
    if (freed != op)
      graph.edges.push_back({freed, op, 0});
  }
}

void GraphReader::readEdge(const json::Value &value) {
  value.refuseOtherKeys({"from", "to", "bytes"});
  int32_t from = lookUp(value["from"]), to = lookUp(value["to"]);
  int64_t bytes = value["bytes"].integer(0, 0, maxBytes);
  if (from >= 0 && to >= 0)
    graph.edges.push_back({from, to, bytes});
}

void GraphReader::read(const json::Value &root) {
  root.refuseOtherKeys({"devices", "ops", "edges", "link"});
  readDevices(root["devices"]);
  readLink(root["link"]);
  std::vector<json::Value> ops = root["ops"].elements();
  if (graph.devices.empty())
    return;
  for (const json::Value &value : ops)
    readOp(value);
  for (size_t i = 0; i < ops.size(); ++i)
    if (ops[i]["frees"].nullAsAbsent())
      readFrees(ops[i], int32_t(i));
  if (root["edges"].nullAsAbsent())
    for (const json::Value &value : root["edges"].elements())
      readEdge(value);
}

ErrorOr<PlanGraph> schedule::readPlanGraph(const std::string &path,
                                           Placement placement) {
  if (placement == Placement::Bidirectional)
    return Error{"placement 'bidirectional' is of patterns, a graph has one "
                 "direction; known: free, linear, v, wave"};
  ErrorOr<json::Document> document = json::Document::parseFile(path);
  if (!document)
    return document.error();
  GraphReader reader(placement);
  reader.read(document->root());
  if (document->failed())
    return document->error();
  if (std::optional<Error> error = reader.graph.check())
    return Error{path + ": " + error->message};
  return std::move(reader.graph);
}
