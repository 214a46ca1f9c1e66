//===- TaskMaker.cpp - Tasks of kernels and collectives -------------------===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "TaskMaker.h"

#include <algorithm>

using namespace shardopt;
using namespace shardopt::simulation;

Task TaskMaker::task(const cost::Kernel &kernel) const {
  return {Stream::Compute, Link::None, 0, time.seconds(kernel)};
}

Link TaskMaker::linkOf(Axis axis) const {
  AxisGroup group = groupOf(axis, degrees);
  return group.size * group.stride <= domainSize ? Link::Domain : Link::Network;
}

Task TaskMaker::task(const cost::Collective &collective) const {
  cost::Collective empty = collective;
  empty.bytes = 0;
  double seconds = time.seconds(collective, degrees);
  double latency = std::min(seconds, time.seconds(empty, degrees));
  return {streamOf(collective.axis), linkOf(collective.axis), latency,
          seconds - latency};
}

Task TaskMaker::sequence(Span<const cost::Collective> collectives) const {
  Task whole = task(collectives[0]);
  for (size_t i = 1; i < collectives.size(); ++i) {
    Task next = task(collectives[i]);
    whole.latency += next.latency;
    whole.work += next.work;
  }
  return whole;
}
