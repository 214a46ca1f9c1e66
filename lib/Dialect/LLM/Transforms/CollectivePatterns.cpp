//===- CollectivePatterns.cpp - What patterns over collectives share ------===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "CollectivePatterns.h"

#include <cmath>

using namespace mlir;
using namespace shardopt;
using namespace shardopt::llm;
using cost::CollectiveKind;

double CollectivePrices::fullBytes(Axis axis,
                                   const lowered::Collective &of) const {
  double most = 0;
  for (const lowered::Collective::Charge &charge : of.charges)
    most = std::max(most, fullBytes(axis, charge));
  return most;
}

double
CollectivePrices::fullBytes(Axis axis,
                            const lowered::Collective::Charge &charge) const {
  bool isHeld = charge.kind == CollectiveKind::AllToAll;
  return double(charge.bytes) * (isHeld ? double(size(axis)) : 1);
}

double CollectivePrices::bytesOf(CollectiveKind kind, Axis axis,
                                 double full) const {
  return kind == CollectiveKind::AllToAll ? full / double(size(axis)) : full;
}

double CollectivePrices::seconds(CollectiveKind kind, Axis axis,
                                 double full) const {
  cost::Collective collective;
  collective.kind = kind;
  collective.axis = axis;
  collective.bytes = bytesOf(kind, axis, full);
  return time.seconds(collective, degrees);
}

double CollectivePrices::seconds(CollectiveKind kind, Axis axis,
                                 const lowered::Collective &of) const {
  return seconds(kind, axis, fullBytes(axis, of));
}

void CollectivePrices::annotate(Operation *op, CollectiveKind kind, Axis axis,
                                const lowered::Collective &of) const {
  lowered::Collective collective = of;
  collective.kind = kind;
  for (lowered::Collective::Charge &charge : collective.charges) {
    double full = fullBytes(axis, charge);
    charge.kind = kind;
    charge.bytes = std::llround(bytesOf(kind, axis, full));
    charge.microseconds = seconds(kind, axis, full) * 1e6;
  }
  lowered::writeTo(op, collective);
}

std::optional<lowered::Collective> llm::readCollective(Operation *op) {
  auto collective = lowered::readFrom<lowered::Collective>(op);
  return succeeded(collective) ? std::move(*collective) : std::nullopt;
}

LogicalResult llm::checkCollectives(ModuleOp module) {
  WalkResult result = module.walk([](Operation *op) {
    return WalkResult(lowered::readFrom<lowered::Collective>(op));
  });
  return failure(result.wasInterrupted());
}
