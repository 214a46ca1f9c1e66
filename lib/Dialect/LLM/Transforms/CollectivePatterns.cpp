//===- CollectivePatterns.cpp - What patterns over collectives share ------===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "CollectivePatterns.h"

using namespace mlir;
using namespace shardopt;
using namespace shardopt::llm;
using cost::CollectiveKind;

double CollectivePrices::fullBytes(GridAxis axis,
                                   const CollectiveNote &of) const {
  double most = 0;
  for (const CollectiveNote::Entry &entry : of.entries)
    most = std::max(most, fullBytes(axis, entry));
  return most;
}

double CollectivePrices::fullBytes(GridAxis axis,
                                   const CollectiveNote::Entry &entry) const {
  bool isHeld = entry.kind == CollectiveKind::AllToAll;
  return isHeld ? entry.bytes * double(size(axis)) : entry.bytes;
}

double CollectivePrices::bytesOf(CollectiveKind kind, GridAxis axis,
                                 double full) const {
  return kind == CollectiveKind::AllToAll ? full / double(size(axis)) : full;
}

double CollectivePrices::seconds(CollectiveKind kind, GridAxis axis,
                                 double full) const {
  cost::Collective collective;
  collective.kind = kind;
  collective.axis = axis;
  collective.bytes = bytesOf(kind, axis, full);
  return time.seconds(collective, degrees);
}

double CollectivePrices::seconds(CollectiveKind kind, GridAxis axis,
                                 const CollectiveNote &of) const {
  return seconds(kind, axis, fullBytes(axis, of));
}

void CollectivePrices::note(Operation *op, CollectiveKind kind, GridAxis axis,
                            const CollectiveNote &of) const {
  CollectiveNote note = of;
  for (CollectiveNote::Entry &entry : note.entries) {
    double full = fullBytes(axis, entry);
    entry.kind = kind;
    entry.bytes = bytesOf(kind, axis, full);
    entry.seconds = seconds(kind, axis, full);
  }
  note.write(op);
}
