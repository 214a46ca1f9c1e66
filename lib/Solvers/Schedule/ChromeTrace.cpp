//===- ChromeTrace.cpp - Schedules for trace viewers ----------------------===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "shardopt/Solvers/Schedule/ScheduleText.h"
#include "shardopt/Support/Json.h"

using namespace shardopt;
using namespace shardopt::schedule;

std::string schedule::toChromeTrace(const Instance &instance,
                                    const Schedule &schedule) {
  std::string text;
  json::Writer writer(text);
  writer.beginObject(json::Style::Block);
  writer.key("traceEvents").beginArray(json::Style::Block);
  for (int32_t d = 0; d < instance.numDevices(); ++d) {
    writer.beginObject();
    writer.member("name", "process_name").member("ph", "M").member("pid", d);
    writer.key("args").beginObject();
    writer.member("name", "device " + std::to_string(d));
    writer.endObject();
    writer.endObject();
  }
  for (int32_t op = 0; op < instance.numOps(); ++op) {
    const PlanOp &planOp = instance.at(op);
    bool isCompute = planOp.machine == MachineKind::Compute;
    writer.beginObject();
    writer.member("name", planOp.id).member("cat", planOp.type);
    writer.member("ph", "X").member("ts", schedule.starts[op]);
    writer.member("dur", schedule.end(instance, op) - schedule.starts[op]);
    writer.member("pid", schedule.deviceOf(instance, op));
    writer.member("tid", isCompute ? "compute" : "comm");
    writer.key("args").beginObject();
    writer.member("microbatch", instance.microbatchOf(op));
    writer.endObject();
    writer.endObject();
  }
  writer.endArray();
  writer.endObject();
  return text + "\n";
}
