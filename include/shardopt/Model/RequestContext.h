//===- RequestContext.h - Contexts that requests reach ----------*- C++ -*-===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef SHARDOPT_MODEL_REQUESTCONTEXT_H
#define SHARDOPT_MODEL_REQUESTCONTEXT_H

#include "shardopt/Model/Context.h"
#include "shardopt/Model/RequestLoad.h"

#include <optional>
#include <string>

namespace shardopt::cost {

/// The most tokens that a sequence of `load`, which has lengths, holds in
/// `phase`.
int64_t longestContext(const RequestLoad &load, Phase phase);

/// Why `workload` is none of requests of `load`; none: it is, or there are no
/// lengths.
std::optional<std::string> contextError(const Workload &workload,
                                        const RequestLoad &load);

} // namespace shardopt::cost

#endif // SHARDOPT_MODEL_REQUESTCONTEXT_H
