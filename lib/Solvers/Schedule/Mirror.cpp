//===- Mirror.cpp - Graphs that are their own mirror image ----------------===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Mirror.h"

#include <algorithm>
#include <map>
#include <tuple>

using namespace shardopt;
using namespace shardopt::schedule;

/// The other of two alike: by type and stage.
static std::optional<std::vector<int32_t>> pairOps(const PlanGraph &graph) {
  std::map<std::pair<std::string, int32_t>, std::vector<int32_t>> alike;
  for (size_t i = 0; i < graph.ops.size(); ++i)
    alike[{graph.ops[i].type, graph.ops[i].stage}].push_back(int32_t(i));
  std::vector<int32_t> image(graph.ops.size());
  for (const auto &entry : alike) {
    const std::vector<int32_t> &pair = entry.second;
    if (pair.size() != 2)
      return std::nullopt;
    image[pair[0]] = pair[1];
    image[pair[1]] = pair[0];
  }
  return image;
}

/// Whether it keeps all that schedules depend on.
static bool isAutomorphism(const PlanGraph &graph,
                           const std::vector<int32_t> &image) {
  std::vector<int32_t> imageOfDevice(graph.devices.size(), -1);
  std::vector<int64_t> parameters(graph.devices.size(), 0);
  for (size_t i = 0; i < graph.ops.size(); ++i) {
    const PlanOp &op = graph.ops[i], &other = graph.ops[image[i]];
    int32_t device = graph.groups[op.group].device;
    int32_t to = graph.groups[other.group].device;
    if (device < 0 || to < 0)
      return false;
    if (imageOfDevice[device] < 0)
      imageOfDevice[device] = to;
    parameters[device] += op.parameterBytes;
    std::vector<int32_t> frees, otherFrees = other.frees;
    for (int32_t freed : op.frees)
      frees.push_back(image[freed]);
    std::sort(frees.begin(), frees.end());
    std::sort(otherFrees.begin(), otherFrees.end());
    if (imageOfDevice[device] != to || op.machine != other.machine ||
        graph.time(int32_t(i), device) != graph.time(image[i], to) ||
        op.birthBytes != other.birthBytes || frees != otherFrees)
      return false;
  }
  for (size_t d = 0; d < graph.devices.size(); ++d)
    if (imageOfDevice[d] >= 0 &&
        (graph.devices[d].memory != graph.devices[imageOfDevice[d]].memory ||
         parameters[d] != parameters[imageOfDevice[d]]))
      return false;
  using Edge = std::tuple<int32_t, int32_t, int64_t>;
  std::vector<Edge> edges, images;
  for (const PlanEdge &edge : graph.edges) {
    edges.push_back({edge.from, edge.to, edge.bytes});
    images.push_back({image[edge.from], image[edge.to], edge.bytes});
  }
  std::sort(edges.begin(), edges.end());
  std::sort(images.begin(), images.end());
  return edges == images;
}

std::optional<std::vector<int32_t>>
schedule::findMirror(const PlanGraph &graph) {
  std::optional<std::vector<int32_t>> image = pairOps(graph);
  return image && isAutomorphism(graph, *image) ? image : std::nullopt;
}
