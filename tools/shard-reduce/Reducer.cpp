//===- Reducer.cpp - Smaller programs that are interesting ----------------===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Reducer.h"

#include "mlir/IR/Verifier.h"

using namespace mlir;
using namespace shardopt;

static std::vector<Operation *> listOps(ModuleOp module) {
  std::vector<Operation *> ops;
  module->walk<WalkOrder::PreOrder>([&](Operation *op) { ops.push_back(op); });
  return ops;
}

std::vector<Reducer::Site>
Reducer::findSites(const Simplification &simplification) {
  std::vector<Site> sites;
  std::vector<Operation *> ops = listOps(*module);
  for (unsigned i = 0; i < ops.size(); ++i)
    for (unsigned way = 0; way < simplification.count(ops[i]); ++way)
      sites.push_back({i, way});
  return sites;
}

bool Reducer::accept(OwningOpRef<ModuleOp> copy) {
  // A program that is not valid is none; nobody needs to hear why.
  ScopedDiagnosticHandler silent(copy->getContext(),
                                 [](Diagnostic &) { return success(); });
  if (failed(verify(*copy)))
    return false;
  ++numTests;
  if (!isInteresting(*copy))
    return false;
  module = std::move(copy);
  return true;
}

bool Reducer::accept(const Simplification &simplification,
                     ArrayRef<Site> sites) {
  OwningOpRef<ModuleOp> copy(module->clone());
  std::vector<Operation *> ops = listOps(*copy);
  bool changed = false;
  // Backwards, so that a way that removes something leaves the others' numbers.
  for (const Site &site : llvm::reverse(sites))
    changed |= simplification.apply(ops[site.op], site.way);
  if (!changed)
    return false;
  removeUnused(*copy);
  return accept(std::move(copy));
}

bool Reducer::runOnce(const Simplification &simplification) {
  bool helped = false;
  std::vector<Site> sites = findSites(simplification);
  for (size_t size = sites.size(); size > 0; size /= 2) {
    for (size_t begin = 0; begin < sites.size();) {
      size_t end = std::min(begin + size, sites.size());
      ArrayRef<Site> range = ArrayRef(sites).slice(begin, end - begin);
      if (!accept(simplification, range)) {
        begin = end;
        continue;
      }
      helped = true;
      // Ops have other numbers now; what was before the range stays tried.
      sites = findSites(simplification);
    }
  }
  return helped;
}

ModuleOp Reducer::run() {
  OwningOpRef<ModuleOp> tidy(module->clone());
  removeUnused(*tidy);
  accept(std::move(tidy));
  bool helped = true;
  while (helped) {
    helped = false;
    for (const Simplification &simplification : simplifications())
      helped |= runOnce(simplification);
  }
  return *module;
}
