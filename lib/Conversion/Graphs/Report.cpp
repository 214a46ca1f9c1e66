//===- Report.cpp - What was chosen for a function ------------------------===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Report.h"
#include "shardopt/Support/Json.h"

#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Location.h"
#include "llvm/Support/raw_ostream.h"

#include <set>

using namespace mlir;
using namespace shardopt;
using namespace shardopt::graphs;

static constexpr double microseconds = 1e6;

template <typename T> static std::string printed(T value) {
  std::string text;
  llvm::raw_string_ostream(text) << value;
  return text;
}

/// The name that a location has, as JAX gives it to arguments; else none.
static std::string nameOf(Location location) {
  if (auto name = dyn_cast<NameLoc>(location))
    return name.getName().str();
  return {};
}

namespace {

class Reporter {
public:
  Reporter(FactorGraph &graph, const FactorMap &factors, const Mesh &mesh,
           json::Writer &json)
      : graph(graph), factors(factors), mesh(mesh), json(json) {}

  void write(const GraphNode &node, const NodeStrategy &strategy);

private:
  void writeLayout(Value value, const Layout &layout);
  void writeFactors(const GraphNode &node);
  void writeCollectives(const GraphNode &node, const NodeStrategy &strategy);

  FactorGraph &graph;
  const FactorMap &factors;
  const Mesh &mesh;
  json::Writer &json;
  llvm::DenseMap<Value, Layout> made;
  std::set<std::pair<void *, Layout>> copies; ///< those that were charged
};

} // namespace

/// The axes of each dim.
void Reporter::writeLayout(Value value, const Layout &layout) {
  json.beginArray();
  for (int64_t dim :
       llvm::seq(cast<RankedTensorType>(value.getType()).getRank())) {
    json.beginArray();
    for (auto [i, axis] : llvm::enumerate(mesh.axes()))
      if (layout[i] == dim)
        json.value(axis.name);
    json.endArray();
  }
  json.endArray();
}

void Reporter::writeFactors(const GraphNode &node) {
  auto found = factors.find(node.op);
  json.key("factors").beginArray();
  if (found != factors.end())
    for (const Factor &factor : found->second.factors)
      json.beginObject()
          .member("size", factor.size)
          .member("reduced", factor.isReduced)
          .endObject();
  json.endArray();
  json.key("replicated");
  if (found != factors.end() && !found->second.replicated.empty())
    json.value(found->second.replicated);
  else
    json.null();
  json.member("kernel",
              found == factors.end() || found->second.work == Work::Kernel);
}

void Reporter::writeCollectives(const GraphNode &node,
                                const NodeStrategy &strategy) {
  json.key("reductions").beginArray();
  for (auto [i, axis] : llvm::enumerate(mesh.axes()))
    if (strategy.reduceSeconds[i] > 0)
      json.beginObject()
          .member("axis", axis.name)
          .member("us", strategy.reduceSeconds[i] * microseconds)
          .endObject();
  json.endArray();
  json.key("reshards").beginArray();
  for (auto [operand, layout] :
       llvm::zip_equal(node.reads, strategy.operands)) {
    Value value = operand->get();
    Layout from = made.at(value);
    if (from == layout ||
        !copies.insert({value.getAsOpaquePointer(), layout}).second)
      continue;
    json.beginObject().member("operand", int64_t(operand->getOperandNumber()));
    json.key("from");
    writeLayout(value, from);
    json.key("to");
    writeLayout(value, layout);
    json.member("us",
                graph.reshardingOf(value).seconds(from, layout) * microseconds);
    json.endObject();
  }
  json.endArray();
}

void Reporter::write(const GraphNode &node, const NodeStrategy &strategy) {
  Location location = node.op ? node.op->getLoc() : node.makes[0].getLoc();
  json.beginObject()
      .member("op", node.op ? node.op->getName().getStringRef().str()
                            : std::string("argument"))
      .member("name", nameOf(location))
      .member("place", printed(location));
  json.key("types").beginArray();
  for (Value value : node.makes)
    json.value(printed(value.getType()));
  json.endArray();
  json.key("shardings").beginArray();
  for (auto [value, layout] : llvm::zip_equal(node.makes, strategy.results)) {
    made[value] = layout;
    writeLayout(value, layout);
  }
  json.endArray();
  if (node.op) {
    writeFactors(node);
    json.member("us", strategy.seconds * microseconds);
    writeCollectives(node, strategy);
  }
  json.endObject();
}

std::string graphs::reportOf(FactorGraph &graph, const FactorMap &factors,
                             const Mesh &mesh, const solve::Problem &instance,
                             const solve::SolverResult &result,
                             int64_t layers) {
  std::string text;
  json::Writer json(text);
  json.beginObject(json::Style::Block);
  json.key("mesh").beginObject();
  for (const MeshAxis &axis : mesh.axes())
    json.member(axis.name, axis.size);
  json.endObject();
  // The first strategy of every node shards nothing.
  auto alone = solve::verify(instance, solve::Solution(instance.numNodes(), 0));
  auto verdict = solve::verify(instance, *result.solution);
  json.member("us", double(result.cost) / microseconds);
  json.key("bound_us");
  if (result.bound)
    json.value(double(*result.bound) / microseconds);
  else
    json.null();
  json.member("proved", result.proved)
      .member("layers", layers)
      .member("replicated_us", double(alone->cost) / microseconds)
      .member("memory_bytes", double(verdict->peak));
  json.key("nodes").beginArray(json::Style::Block);
  Reporter reporter(graph, factors, mesh, json);
  for (auto [node, choice] : llvm::zip(graph.nodes(), *result.solution))
    reporter.write(node, node.strategies[size_t(choice)]);
  json.endArray().endObject();
  return text + "\n";
}
