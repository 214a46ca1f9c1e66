//===- OutcomeBytes.h - Outcomes on their way between processes -*- C++ -*-===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef SHARDOPT_EXECUTION_OUTCOMEBYTES_H
#define SHARDOPT_EXECUTION_OUTCOMEBYTES_H

#include "shardopt/Execution/Run.h"

#include <string>
#include <string_view>

namespace shardopt::execution {

/// For the way from one rank to another, on machines that are alike. Errors:
/// bytes that are not all of what was written.
std::string serialize(const RankOutcome &outcome);
std::string serialize(const NamedTensors &tensors);
ErrorOr<NamedTensors> deserializeTensors(std::string_view bytes);
ErrorOr<RankOutcome> deserialize(std::string_view bytes);

} // namespace shardopt::execution

#endif // SHARDOPT_EXECUTION_OUTCOMEBYTES_H
