//===- StructuralCheck.cpp - Why a strategy cannot be built ---------------===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "shardopt/Dialect/LLM/Analysis/StructuralCheck.h"

using namespace mlir;
using namespace shardopt;

/// Why `node` cannot have its dim in `strategy`, or null. That does not depend
/// on where its operands come from.
static const char *whyIllegal(const cost::Node &node, const Strategy &strategy,
                              const cost::Context &context) {
  std::vector<cost::Placement> incoming(node.operands.size());
  return node.op
      ->rule(strategy.dims[node.variable], {incoming.data(), incoming.size()},
             context)
      .illegal;
}

LogicalResult shardopt::checkStructure(ModuleOp module,
                                       const ModuleModel &program,
                                       const Strategy &strategy,
                                       int64_t maxDevices) {
  const Degrees &degrees = strategy.degrees;
  if (failed(checkDegrees(module, program, degrees, maxDevices)))
    return failure();
  cost::Context context = cost::makeContext(program.model.workload, degrees);
  for (const cost::Body &body : program.model.bodies)
    for (const cost::Node &node : body.nodes) {
      const char *reason = whyIllegal(node, strategy, context);
      if (!reason)
        continue;
      llm::ShardableOpInterface op = program.ops[node.variable].front();
      InFlightDiagnostic diagnostic = op.emitOpError(reason);
      diagnostic.attachNote(module.getLoc()) << "with " << spell(degrees);
      return diagnostic;
    }
  return success();
}

LogicalResult shardopt::checkDegrees(ModuleOp module,
                                     const ModuleModel &program,
                                     const Degrees &degrees,
                                     int64_t maxDevices) {
  if (auto error = program.model.structuralError(degrees, maxDevices))
    return emitError(module.getLoc(), "the strategy is invalid: ") << *error;
  return success();
}
