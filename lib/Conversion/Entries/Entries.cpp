//===- Entries.cpp - Entries that update caches in place ------------------===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A function that returns the caches it was given, updated, would have to copy
// them if it were public: its caller might keep the old ones. So the function
// becomes private, and a public entry calls it and returns the other results
// only; after bufferization the caches of the private one are its arguments.
//
//===----------------------------------------------------------------------===//

#include "shardopt/Conversion/Entries/Passes.h"

#include "shardopt/Conversion/Pipelines.h"
#include "shardopt/Dialect/LLM/IR/ArgumentAttributes.h"

#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinOps.h"

namespace shardopt::llm {
#define GEN_PASS_DEF_OUTLINEENTRIESPASS
#define GEN_PASS_DEF_FINISHENTRIESPASS
#include "shardopt/Conversion/Entries/Passes.h.inc"
} // namespace shardopt::llm

using namespace mlir;
using namespace shardopt;

static bool isCache(DictionaryAttr attributes) {
  return llm::getRole(attributes) == llm::Role::Cache;
}

/// Makes `function` private and gives it a public entry.
static void outlineEntry(func::FuncOp function) {
  OpBuilder builder(function);
  SmallVector<unsigned> kept; // results that are no caches
  SmallVector<Type> types;
  for (unsigned i = 0; i < function.getNumResults(); ++i) {
    if (isCache(function.getResultAttrDict(i)))
      continue;
    kept.push_back(i);
    types.push_back(function.getResultTypes()[i]);
  }
  auto entry = func::FuncOp::create(
      builder, function.getLoc(), entryName(function.getName()),
      builder.getFunctionType(function.getArgumentTypes(), types));
  entry->setAttr(LLVM::LLVMDialect::getEmitCWrapperAttrName(),
                 builder.getUnitAttr());
  for (unsigned i = 0; i < function.getNumArguments(); ++i) {
    // The caller goes on to use what it passes: only caches may be written.
    if (isCache(function.getArgAttrDict(i)))
      continue;
    for (func::FuncOp each : {entry, function})
      each.setArgAttr(i, bufferization::BufferizationDialect::kWritableAttrName,
                      builder.getBoolAttr(false));
  }
  Block *block = entry.addEntryBlock();
  builder.setInsertionPointToEnd(block);
  auto call = func::CallOp::create(builder, function.getLoc(), function,
                                   block->getArguments());
  SmallVector<Value> results;
  for (unsigned i : kept)
    results.push_back(call.getResult(i));
  func::ReturnOp::create(builder, function.getLoc(), results);
  function.setPrivate();
}

namespace {

struct OutlineEntries : llm::impl::OutlineEntriesPassBase<OutlineEntries> {
  void runOnOperation() override {
    for (auto function :
         llvm::make_early_inc_range(getOperation().getOps<func::FuncOp>()))
      if (function.isPublic() && !function.isExternal())
        outlineEntry(function);
  }
};

struct FinishEntries : llm::impl::FinishEntriesPassBase<FinishEntries> {
  void runOnOperation() override {
    for (auto function : getOperation().getOps<func::FuncOp>()) {
      for (unsigned i = 0; i < function.getNumResults(); ++i)
        if (isCache(function.getResultAttrDict(i))) {
          emitError(function.getLoc())
              << "'" << function.getName() << "' copies the cache of result "
              << i << ", expected it to be updated in place";
          return signalPassFailure();
        }
      function.removeArgAttrsAttr();
      function.removeResAttrsAttr();
    }
  }
};

} // namespace

std::string shardopt::entryName(llvm::StringRef function) {
  return ("shardopt_entry_" + function).str();
}
