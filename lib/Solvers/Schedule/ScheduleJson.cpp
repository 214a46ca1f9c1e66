//===- ScheduleJson.cpp - Schedules in files ------------------------------===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "shardopt/Solvers/Schedule/ScheduleText.h"

#include "shardopt/Support/Json.h"

#include <algorithm>
#include <numeric>
#include <tuple>

using namespace shardopt;
using namespace shardopt::schedule;

std::string schedule::toJson(const Instance &instance,
                             const Schedule &schedule) {
  std::vector<int32_t> order(instance.numOps());
  std::iota(order.begin(), order.end(), 0);
  std::sort(order.begin(), order.end(), [&](int32_t a, int32_t b) {
    auto rank = [&](int32_t op) {
      return std::make_tuple(schedule.starts[op],
                             schedule.deviceOf(instance, op),
                             instance.at(op).machine, op);
    };
    return rank(a) < rank(b);
  });
  std::string text;
  json::Writer writer(text);
  writer.beginArray(json::Style::Block);
  for (int32_t op : order) {
    const PlanOp &planOp = instance.at(op);
    writer.beginObject();
    writer.member("id", planOp.id);
    writer.member("microbatch", int64_t(instance.microbatchOf(op)));
    writer.member("device", int64_t(schedule.deviceOf(instance, op)));
    writer.member("machine",
                  planOp.machine == MachineKind::Compute ? "compute" : "comm");
    writer.member("start", schedule.starts[op]);
    writer.member("end", schedule.end(instance, op));
    writer.endObject();
  }
  writer.endArray();
  return text + "\n";
}

std::string schedule::toJson(const std::vector<FrontPoint> &points) {
  std::string text;
  json::Writer writer(text);
  writer.beginArray(json::Style::Block);
  for (const FrontPoint &point : points) {
    writer.beginObject();
    writer.member("memory", point.memory);
    writer.member("makespan", point.makespan);
    writer.member("bound", point.bound);
    writer.member("proved", point.proved);
    writer.endObject();
  }
  writer.endArray();
  return text + "\n";
}
