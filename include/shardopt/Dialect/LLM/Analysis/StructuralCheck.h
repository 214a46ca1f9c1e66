//===- StructuralCheck.h - Why a strategy cannot be built -------*- C++ -*-===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef SHARDOPT_DIALECT_LLM_ANALYSIS_STRUCTURALCHECK_H
#define SHARDOPT_DIALECT_LLM_ANALYSIS_STRUCTURALCHECK_H

#include "shardopt/Dialect/LLM/Analysis/ModuleModel.h"

namespace shardopt {

/// Diagnoses the first structural limit that `strategy` breaks, degrees before
/// dims: at the op whose dim is illegal, or at `module`, whose model is
/// `program`. Succeeds if it breaks none. It takes no machine: `maxDevices` is
/// 0 where there is no limit.
mlir::LogicalResult checkStructure(mlir::ModuleOp module,
                                   const ModuleModel &program,
                                   const Strategy &strategy,
                                   int64_t maxDevices = 0);

/// The same for the degrees alone.
mlir::LogicalResult checkDegrees(mlir::ModuleOp module,
                                 const ModuleModel &program,
                                 const Degrees &degrees,
                                 int64_t maxDevices = 0);

} // namespace shardopt

#endif // SHARDOPT_DIALECT_LLM_ANALYSIS_STRUCTURALCHECK_H
