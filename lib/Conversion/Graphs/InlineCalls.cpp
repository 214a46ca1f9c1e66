//===- InlineCalls.cpp - Functions without calls --------------------------===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Upstream's inliner asks dialects, which are not loaded here.
//
//===----------------------------------------------------------------------===//

#include "InlineCalls.h"
#include "ForeignOp.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/SymbolTable.h"

using namespace mlir;
using namespace shardopt;
using namespace shardopt::graphs;

/// Ops that a function may have once its calls are inlined.
static constexpr size_t mostOps = 1000000;

/// The body that a call runs, or what is wrong with it.
static FailureOr<Block *> bodyOf(func::CallOp call, SymbolTable &symbols) {
  auto callee = symbols.lookup<func::FuncOp>(call.getCallee());
  if (!callee || !llvm::hasSingleElement(callee.getBody()))
    return call.emitOpError("runs '")
           << call.getCallee()
           << "', expected a function of this module with one block";
  return &callee.getBody().front();
}

/// Inlines the calls of a block, and of the bodies of its loops; `count` is how
/// many ops were inlined so far.
static LogicalResult inlineInto(Block &block, SymbolTable &symbols,
                                size_t &count) {
  // What was inlined is visited again: it may have calls.
  for (auto at = block.begin(); at != block.end();) {
    auto call = dyn_cast<func::CallOp>(*at);
    if (!call) {
      if (isLoop(&*at))
        for (Region &region : at->getRegions())
          for (Block &body : region)
            if (failed(inlineInto(body, symbols, count)))
              return failure();
      ++at;
      continue;
    }
    FailureOr<Block *> body = bodyOf(call, symbols);
    if (failed(body))
      return failure();
    bool isAround = (*body)->findAncestorOpInBlock(*call);
    if (isAround || (count += (*body)->getOperations().size()) > mostOps)
      return call.emitOpError("runs '")
             << call.getCallee() << "' more than " << mostOps
             << " times in all, expected calls that end";
    IRMapping mapping;
    mapping.map((*body)->getArguments(), call.getOperands());
    OpBuilder builder(call);
    auto before = call->getIterator();
    bool isFirst = before == block.begin();
    if (!isFirst)
      --before;
    for (Operation &op : (*body)->without_terminator())
      builder.clone(op, mapping);
    for (auto [result, value] : llvm::zip_equal(
             call.getResults(), (*body)->getTerminator()->getOperands()))
      result.replaceAllUsesWith(mapping.lookupOrDefault(value));
    call.erase();
    at = isFirst ? block.begin() : std::next(before);
  }
  return success();
}

LogicalResult graphs::inlineCalls(ModuleOp module) {
  SymbolTable symbols(module);
  SetVector<Operation *> called;
  module.walk([&](func::CallOp call) {
    if (Operation *callee = symbols.lookup(call.getCallee()))
      called.insert(callee);
  });
  for (auto func : module.getOps<func::FuncOp>()) {
    size_t count = 0;
    if (!func.isPrivate() && llvm::hasSingleElement(func.getBody()) &&
        failed(inlineInto(func.getBody().front(), symbols, count)))
      return failure();
  }
  for (Operation *callee : called)
    if (cast<func::FuncOp>(callee).isPrivate())
      symbols.erase(callee);
  return success();
}
