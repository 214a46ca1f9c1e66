//===- StructuralCheck.h - Why a strategy cannot be built -------*- C++ -*-===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef SHARDOPT_ANALYSIS_STRUCTURALCHECK_H
#define SHARDOPT_ANALYSIS_STRUCTURALCHECK_H

#include "shardopt/Analysis/Scenario.h"

namespace shardopt {

/// Diagnoses the first structural limit that `strategy` breaks, degrees before
/// dims: at the op whose dim is illegal, or at `module`. Succeeds if it breaks
/// none.
mlir::LogicalResult checkStructure(mlir::ModuleOp module,
                                   const Scenario &scenario,
                                   const Strategy &strategy);

} // namespace shardopt

#endif // SHARDOPT_ANALYSIS_STRUCTURALCHECK_H
