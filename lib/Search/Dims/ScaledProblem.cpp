//===- ScaledProblem.cpp - A graph of strategies in integers --------------===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "shardopt/Search/Dims/ScaledProblem.h"

#include "shardopt/Search/Dims/Activations.h"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <map>

using namespace shardopt;
using namespace shardopt::selection;

/// All of a resource, in units. Sums of that many stay exact in doubles.
static constexpr int64_t wholeResource = int64_t(1) << 50;
/// What the largest costs of all nodes sum to, at most.
static constexpr double mostUnits = double(int64_t(1) << 52);

/// The sum over stages of `values`, which start at a strategy.
static double weigh(const std::vector<double> &weights, const double *values) {
  double sum = 0;
  for (size_t stage = 0; stage < weights.size(); ++stage)
    sum += weights[stage] * values[stage];
  return sum;
}

/// Whether no choice uses more of `b` than of `a`, which has the same limit.
static bool covers(const StrategyGraph &graph, const Resource &a,
                   const Resource &b) {
  size_t numStages = graph.stages().size();
  for (const GraphNode &node : graph.nodes()) {
    const std::vector<double> &values =
        a.kind == Resource::Kind::Bytes ? node.bytes : node.seconds;
    for (size_t i = 0; i < values.size(); i += numStages)
      if (weigh(b.weights, values.data() + i) >
          weigh(a.weights, values.data() + i))
        return false;
  }
  return true;
}

std::vector<Resource>
selection::withoutCovered(const StrategyGraph &graph,
                          const std::vector<Resource> &resources) {
  std::vector<Resource> kept;
  for (size_t i = 0; i < resources.size(); ++i) {
    bool isCovered = false;
    for (size_t j = 0; j < resources.size() && !isCovered; ++j)
      isCovered = i != j && covers(graph, resources[j], resources[i]) &&
                  (j < i || !covers(graph, resources[i], resources[j]));
    if (!isCovered)
      kept.push_back(resources[i]);
  }
  return kept;
}

std::vector<Resource> selection::memoryResources(const StrategyGraph &graph) {
  std::vector<Resource> resources;
  for (size_t stage = 0; stage < graph.stages().size(); ++stage) {
    Resource resource;
    resource.name = "memory of stage " + std::to_string(stage);
    resource.kind = Resource::Kind::Bytes;
    resource.weights.assign(graph.stages().size(), 0);
    resource.weights[stage] = 1;
    resource.most = graph.costs().limits().memoryBytes;
    resources.push_back(std::move(resource));
  }
  return withoutCovered(graph, resources);
}

std::optional<double> selection::activationLimit(const StrategyGraph &graph) {
  const cost::Limits &limits = graph.costs().limits();
  return limits.limitsActivations() ? std::optional(limits.activationBytes)
                                    : std::nullopt;
}

Aim selection::aimAtSum(const StrategyGraph &graph) {
  Aim aim;
  aim.activationBytes = activationLimit(graph);
  for (const cost::Stage &stage : graph.stages())
    aim.weights.push_back(double(stage.repeats));
  aim.resources = memoryResources(graph);
  // In decode a token waits for the micro-batches before it, in each stage.
  double slo = graph.costs().limits().latencySeconds;
  const cost::Context &context = graph.context();
  if (context.isPrefill() || context.microBatches == 1 ||
      !(slo < std::numeric_limits<double>::infinity()))
    return aim;
  std::vector<Resource> waits;
  for (size_t stage = 0; stage < graph.stages().size(); ++stage) {
    Resource resource{"micro-batches in stage " + std::to_string(stage),
                      Resource::Kind::Seconds,
                      std::vector<double>(graph.stages().size()), slo};
    resource.weights[stage] = double(context.microBatches);
    waits.push_back(std::move(resource));
  }
  for (Resource &resource : withoutCovered(graph, waits))
    aim.resources.push_back(std::move(resource));
  return aim;
}

/// What each strategy uses of a resource of `most`, of `amounts`; empty if none
/// uses any.
static std::vector<int64_t> unitsOf(const std::vector<double> &amounts,
                                    double most) {
  std::vector<int64_t> units;
  for (double amount : amounts)
    units.push_back(amount / most > 1
                        ? wholeResource + 1
                        : int64_t(std::floor(amount / most * wholeResource)));
  if (std::all_of(units.begin(), units.end(), [](int64_t n) { return n == 0; }))
    units.clear();
  return units;
}

static std::vector<int64_t> usesOf(const GraphNode &node,
                                   const Resource &resource) {
  const std::vector<double> &values =
      resource.kind == Resource::Kind::Bytes ? node.bytes : node.seconds;
  std::vector<double> amounts;
  for (size_t i = 0; i < values.size(); i += resource.weights.size())
    amounts.push_back(weigh(resource.weights, values.data() + i));
  return unitsOf(amounts, resource.most);
}

/// Seconds of each strategy of `node`; infinite where it is of no use.
static std::vector<double> secondsOf(const GraphNode &node, const Aim &aim) {
  std::vector<double> seconds;
  for (size_t i = 0; i < node.seconds.size(); i += aim.weights.size()) {
    double sum = weigh(aim.weights, node.seconds.data() + i);
    seconds.push_back(
        sum <= aim.worthwhile ? sum : std::numeric_limits<double>::infinity());
  }
  return seconds;
}

/// A power of two, by which the largest costs of all nodes sum to as many units
/// as can be.
static double chooseUnit(const std::vector<std::vector<double>> &seconds) {
  double most = 0;
  for (const std::vector<double> &node : seconds) {
    double largest = 0;
    for (double value : node)
      if (value < std::numeric_limits<double>::infinity())
        largest = std::max(largest, value);
    most += largest;
  }
  return most > 0 ? std::exp2(std::ceil(std::log2(most / mostUnits))) : 1;
}

/// A table that forbids what `isAllowed` does not.
template <typename IsAllowed>
static std::vector<int64_t> tableOf(size_t rows, size_t columns,
                                    IsAllowed isAllowed) {
  std::vector<int64_t> table;
  table.reserve(rows * columns);
  for (size_t row = 0; row < rows; ++row)
    for (size_t column = 0; column < columns; ++column)
      table.push_back(isAllowed(row, column) ? 0 : solve::infiniteCost);
  return table;
}

namespace {

/// Writes nodes and edges of a problem.
class ProblemWriter {
public:
  explicit ProblemWriter(ScaledProblem &scaled) : scaled(scaled) {}

  size_t addNode(size_t original, const std::vector<int64_t> &costs) {
    scaled.problem.costs.values.insert(scaled.problem.costs.values.end(),
                                       costs.begin(), costs.end());
    scaled.problem.costs.endRow();
    scaled.twinOf.push_back(original);
    uses.push_back({});
    scaled.problem.intervals.push_back({0, 0});
    return uses.size() - 1;
  }
  /// `node` of the graph uses so much at the times from `begin` to before
  /// `end`: itself, or if it uses something already, a twin.
  void use(size_t node, size_t begin, size_t end, std::vector<int64_t> of) {
    size_t user = node;
    if (!uses[node].empty()) {
      size_t count = of.size();
      user = addNode(node, std::vector<int64_t>(count));
      addEdge(node, user, tableOf(count, count, std::equal_to<>()));
    }
    uses[user] = std::move(of);
    scaled.problem.intervals[user] = {int64_t(begin), int64_t(end)};
  }
  void addEdge(size_t a, size_t b, const std::vector<int64_t> &table) {
    scaled.problem.edgeNodes.add({int32_t(a), int32_t(b)});
    scaled.problem.edgeCosts.values.insert(
        scaled.problem.edgeCosts.values.end(), table.begin(), table.end());
    scaled.problem.edgeCosts.endRow();
  }
  void finish() {
    for (size_t node = 0; node < uses.size(); ++node) {
      uses[node].resize(scaled.problem.numStrategies(node));
      scaled.problem.usages.values.insert(scaled.problem.usages.values.end(),
                                          uses[node].begin(), uses[node].end());
      scaled.problem.usages.endRow();
    }
    scaled.problem.usageLimit = wholeResource;
  }

private:
  ScaledProblem &scaled;
  std::vector<std::vector<int64_t>> uses;
};

} // namespace

/// An edge for each pair of nodes that are linked.
static void addLinks(const StrategyGraph &graph, ProblemWriter &writer) {
  std::map<std::pair<size_t, size_t>, std::vector<Link>> pairs;
  for (const Link &link : graph.links()) {
    bool isForward = link.a.node < link.b.node;
    Link ordered = isForward ? link : Link{link.b, link.a};
    pairs[{ordered.a.node, ordered.b.node}].push_back(ordered);
  }
  for (const auto &[pair, links] : pairs) {
    const GraphNode &a = graph.nodes()[pair.first];
    const GraphNode &b = graph.nodes()[pair.second];
    const std::vector<Link> &all = links;
    auto agree = [&](size_t i, size_t j) {
      return std::all_of(all.begin(), all.end(), [&](const Link &link) {
        return a.value(i, link.a.port) == b.value(j, link.b.port);
      });
    };
    writer.addEdge(pair.first, pair.second,
                   tableOf(a.numStrategies(), b.numStrategies(), agree));
  }
}

/// The moments of the graph as times behind the present ones.
static void addActivations(const StrategyGraph &graph, double most,
                           ScaledProblem &scaled, ProblemWriter &writer) {
  Activations activations = activationsOf(graph);
  size_t first = scaled.resources.size();
  for (const std::string &moment : activations.moments)
    scaled.resources.push_back(
        {"activations at " + moment, Resource::Kind::Bytes, {}, most});
  for (const Buffer &buffer : activations.buffers)
    if (std::vector<int64_t> uses = unitsOf(buffer.bytes, most); !uses.empty())
      writer.use(buffer.node, first + buffer.begin, first + buffer.end,
                 std::move(uses));
}

ScaledProblem selection::makeProblem(const StrategyGraph &graph,
                                     const Aim &aim) {
  ScaledProblem scaled;
  scaled.resources = aim.resources;
  std::vector<std::vector<double>> seconds;
  for (const GraphNode &node : graph.nodes())
    seconds.push_back(secondsOf(node, aim));
  scaled.secondsPerUnit = chooseUnit(seconds);
  ProblemWriter writer(scaled);
  for (size_t i = 0; i < seconds.size(); ++i) {
    std::vector<int64_t> costs;
    for (double value : seconds[i])
      costs.push_back(value < std::numeric_limits<double>::infinity()
                          ? int64_t(std::floor(value / scaled.secondsPerUnit))
                          : solve::infiniteCost);
    writer.addNode(i, costs);
  }
  addLinks(graph, writer);
  for (size_t time = 0; time < aim.resources.size(); ++time)
    for (size_t i = 0; i < seconds.size(); ++i)
      if (std::vector<int64_t> uses =
              usesOf(graph.nodes()[i], aim.resources[time]);
          !uses.empty())
        writer.use(i, time, time + 1, std::move(uses));
  if (aim.activationBytes)
    addActivations(graph, *aim.activationBytes, scaled, writer);
  writer.finish();
  return scaled;
}

Choice ScaledProblem::choiceOf(const StrategyGraph &graph,
                               const std::vector<int32_t> &solution) const {
  return {solution.begin(), solution.begin() + long(graph.nodes().size())};
}

std::vector<int32_t> ScaledProblem::solutionOf(const Choice &choice) const {
  std::vector<int32_t> solution;
  for (size_t node : twinOf)
    solution.push_back(choice[node]);
  return solution;
}
