//===- Report.cpp - What was chosen for a function ------------------------===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Report.h"
#include "Baselines.h"
#include "Pins.h"
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

namespace {

class Reporter {
public:
  Reporter(FactorGraph &graph, const FactorMap &factors, const Mesh &mesh,
           json::Writer &json)
      : graph(graph), factors(factors), mesh(mesh), json(json) {}

  void remember(const GraphNode &node, const NodeStrategy &strategy) {
    for (auto [value, layout] : llvm::zip_equal(node.makes, strategy.results))
      made[value] = layout;
  }
  void write(const GraphNode &node, const NodeStrategy &strategy);

private:
  void writeLayout(Value value, const AxisDims &layout);
  void writeFactors(const GraphNode &node);
  void writeCollectives(const GraphNode &node, const NodeStrategy &strategy);

  FactorGraph &graph;
  const FactorMap &factors;
  const Mesh &mesh;
  json::Writer &json;
  llvm::DenseMap<Value, AxisDims> made;
  std::set<std::pair<void *, AxisDims>> copies; ///< those that were charged
};

} // namespace

/// The axes of each dim.
void Reporter::writeLayout(Value value, const AxisDims &layout) {
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
          .member("us",
                  strategy.reduceSeconds[i] * double(node.times) * microseconds)
          .endObject();
  json.endArray();
  json.key("reshards").beginArray();
  for (auto [operand, layout] :
       llvm::zip_equal(node.reads, strategy.operands)) {
    Value value = operand->get();
    AxisDims from = made.at(value);
    if (from == layout ||
        !copies.insert({value.getAsOpaquePointer(), layout}).second)
      continue;
    json.beginObject().member("operand", int64_t(operand->getOperandNumber()));
    json.key("from");
    writeLayout(value, from);
    json.key("to");
    writeLayout(value, layout);
    json.member("us", graph.reshardingOf(value).seconds(from, layout) *
                          double(graph.timesOf(value)) * microseconds);
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
  for (auto [value, layout] : llvm::zip_equal(node.makes, strategy.results))
    writeLayout(value, layout);
  json.endArray();
  if (node.op) {
    writeFactors(node);
    json.member("times", node.times);
    json.member("us", strategy.seconds * double(node.times) * microseconds);
    writeCollectives(node, strategy);
  }
  json.endObject();
}

/// What was chosen, and what people write by hand.
static void writePlans(FactorGraph &graph, const FactorMap &factors,
                       const Mesh &mesh, const solve::Problem &instance,
                       const solve::Solution &solution, json::Writer &json) {
  std::vector<Baseline> plans = {{"chosen", {}}};
  for (auto [node, choice] : llvm::zip(graph.nodes(), solution))
    plans[0].choices.push_back(size_t(choice));
  llvm::append_range(plans, baselinesOf(graph, factors, mesh));
  json.key("plans").beginArray(json::Style::Block);
  for (const Baseline &plan : plans) {
    // What copies exist of a value takes no memory.
    solve::Solution whole(plan.choices.begin(), plan.choices.end());
    whole.resize(instance.numNodes());
    PlanCost cost = costOf(graph, plan.choices);
    json.beginObject(json::Style::Line)
        .member("plan", plan.name)
        .member("us", cost.seconds * microseconds)
        .member("memory_bytes", double(solve::verify(instance, whole)->peak))
        .member("all_reduces", cost.reductions)
        .member("reshards", cost.reshards)
        .member("collective_bytes", cost.bytes)
        .endObject();
  }
  json.endArray();
}

std::string graphs::reportOf(FactorGraph &graph, const FactorMap &factors,
                             const Mesh &mesh, const solve::Problem &instance,
                             const solve::SolverResult &result,
                             const RunFacts &run) {
  std::string text;
  json::Writer json(text);
  json.beginObject(json::Style::Block);
  json.key("mesh").beginObject();
  for (const MeshAxis &axis : mesh.axes())
    json.member(axis.name, axis.size);
  json.endObject();
  json.member("us", double(result.cost) / microseconds);
  json.key("bound_us");
  if (result.bound)
    json.value(double(*result.bound) / microseconds);
  else
    json.null();
  json.member("proved", result.proved)
      .member("layers", run.layers)
      .member("wall_s", run.wallSeconds);
  writePlans(graph, factors, mesh, instance, *result.solution, json);
  json.key("nodes").beginArray(json::Style::Block);
  Reporter reporter(graph, factors, mesh, json);
  for (auto [node, choice] : llvm::zip(graph.nodes(), *result.solution))
    reporter.remember(node, node.strategies[size_t(choice)]);
  for (auto [node, choice] : llvm::zip(graph.nodes(), *result.solution))
    reporter.write(node, node.strategies[size_t(choice)]);
  json.endArray().endObject();
  return text + "\n";
}
