//===- Pipeline.cpp - Metrics of a pipeline -------------------------------===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "shardopt/Cost/Pipeline.h"

#include <algorithm>

using namespace shardopt;
using namespace shardopt::cost;

void Pipeline::addStages(int64_t repeats, double seconds, double bytes) {
  sumSeconds += double(repeats) * seconds;
  slowestSeconds = std::max(slowestSeconds, seconds);
  maxBytes = std::max(maxBytes, bytes);
}

double cost::latencySeconds(const Pipeline &pipeline, const Context &context) {
  if (context.isPrefill())
    return pipeline.sumSeconds;
  return std::max(pipeline.sumSeconds,
                  double(context.microBatches) * pipeline.slowestSeconds);
}

double cost::throughput(const Pipeline &pipeline, const Context &context,
                        const Limits &limits) {
  double batch = double(context.degrees.batch);
  auto devices = double(context.degrees.devices());
  if (limits.available) {
    batch *= double(replicasOn(limits.available, context.degrees.devices()));
    devices = double(limits.available);
  }
  if (!context.isPrefill())
    return batch / (latencySeconds(pipeline, context) * devices);
  return batch * double(context.workload.context) /
         (double(context.microBatches) * pipeline.slowestSeconds * devices);
}

Evaluation cost::judge(const Pipeline &pipeline, const Context &context,
                       const Limits &limits) {
  double latency = latencySeconds(pipeline, context);
  Evaluation evaluation;
  evaluation.throughput = throughput(pipeline, context, limits);
  evaluation.latencyMs = latency * 1e3;
  evaluation.memoryGb = pipeline.maxBytes / 1e9;
  evaluation.activationsGb = pipeline.activationBytes / 1e9;
  evaluation.reason = Reason::None;
  if (pipeline.maxBytes > limits.memoryBytes)
    evaluation.reason = Reason::Memory;
  else if (pipeline.activationBytes > limits.activationBytes)
    evaluation.reason = Reason::Activations;
  else if (latency > limits.latencySeconds)
    evaluation.reason = Reason::Slo;
  evaluation.valid = evaluation.reason == Reason::None;
  return evaluation;
}
