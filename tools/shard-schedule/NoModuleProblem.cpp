//===- NoModuleProblem.cpp - A build that reads no modules ----------------===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Options.h"
#include "ScheduleTask.h"

using namespace shardopt;

static Error readsNone(const Options &options) {
  return Error{options.graph +
               ": this build reads no modules (SHARDOPT_ENABLE_COMPILER=OFF)"};
}

ErrorOr<std::vector<ScheduleTask>> makeModuleTasks(const Options &options) {
  return readsNone(options);
}

ErrorOr<JointText> planJoint(const Options &options, const StopToken *) {
  return readsNone(options);
}
