//===- StructuralCheck.cpp - Why a strategy cannot be built ---------------===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "shardopt/Analysis/StructuralCheck.h"

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
                                       const Scenario &scenario,
                                       const Strategy &strategy) {
  const cost::CostModel &costs = scenario.costs();
  const Degrees &degrees = strategy.degrees;
  if (auto error = costs.structuralError(degrees))
    return emitError(module.getLoc(), "the strategy is invalid: ") << *error;

  const cost::Context context = costs.context(degrees);
  for (const cost::Body &body : costs.model().bodies)
    for (const cost::Node &node : body.nodes) {
      const char *reason = whyIllegal(node, strategy, context);
      if (!reason)
        continue;
      llm::ShardableOpInterface op =
          scenario.program().ops[node.variable].front();
      InFlightDiagnostic diagnostic = op.emitOpError(reason);
      diagnostic.attachNote(module.getLoc())
          << "with tp " << degrees.tp << ", ep " << degrees.ep << ", pp "
          << degrees.pp << ", batch " << degrees.batch;
      return diagnostic;
    }
  return success();
}
