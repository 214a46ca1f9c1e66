//===- RequestContext.cpp - Contexts that requests reach ------------------===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "shardopt/Model/RequestContext.h"

using namespace shardopt;
using namespace shardopt::cost;

int64_t cost::longestContext(const RequestLoad &load, Phase phase) {
  double answer = phase == Phase::Decode ? *load[RequestField::Osl] : 0;
  return int64_t(*load[RequestField::Isl] + answer);
}

std::optional<std::string> cost::contextError(const Workload &workload,
                                              const RequestLoad &load) {
  if (!load.hasRequests())
    return std::nullopt;
  int64_t longest = longestContext(load, workload.phase);
  if (workload.context <= longest)
    return std::nullopt;
  return "'context' is " + std::to_string(workload.context) +
         ", expected at most " + std::to_string(longest) +
         (workload.phase == Phase::Decode
              ? ", the tokens of a prompt and its answer"
              : ", the tokens of a prompt");
}
