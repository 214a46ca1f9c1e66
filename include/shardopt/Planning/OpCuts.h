//===- OpCuts.h - What a dim cuts of an op ----------------------*- C++ -*-===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef SHARDOPT_PLANNING_OPCUTS_H
#define SHARDOPT_PLANNING_OPCUTS_H

#include "shardopt/Model/Model.h"

#include <string>

namespace shardopt {

/// Whether devices have parts of `node`: of what reads experts, over etp.
bool isCut(const cost::Node &node, const Degrees &degrees);

/// What `dim` cuts of `node`; "-" where there is one device to have it.
std::string spellCut(const cost::Node &node, const Degrees &degrees, Dim dim);

} // namespace shardopt

#endif // SHARDOPT_PLANNING_OPCUTS_H
