//===- Pipelines.cpp - From the llm dialect to machine code ---------------===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "shardopt/Conversion/Pipelines.h"

#include "shardopt/Conversion/Entries/Passes.h"
#include "shardopt/Conversion/Graphs/Passes.h"
#include "shardopt/Conversion/LLMToLinalg/Passes.h"
#include "shardopt/Conversion/ShardToRuntime/Passes.h"
#include "shardopt/Dialect/LLM/Transforms/ExecutionPasses.h"

#include "mlir/Conversion/ArithToLLVM/ArithToLLVM.h"
#include "mlir/Conversion/ControlFlowToLLVM/ControlFlowToLLVM.h"
#include "mlir/Conversion/FuncToLLVM/ConvertFuncToLLVM.h"
#include "mlir/Conversion/MathToLLVM/MathToLLVM.h"
#include "mlir/Conversion/MemRefToLLVM/MemRefToLLVM.h"
#include "mlir/Conversion/Passes.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Arith/Transforms/BufferDeallocationOpInterfaceImpl.h"
#include "mlir/Dialect/Arith/Transforms/BufferizableOpInterfaceImpl.h"
#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/Bufferization/Pipelines/Passes.h"
#include "mlir/Dialect/Bufferization/Transforms/FuncBufferizableOpInterfaceImpl.h"
#include "mlir/Dialect/Bufferization/Transforms/Passes.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlow.h"
#include "mlir/Dialect/ControlFlow/Transforms/BufferDeallocationOpInterfaceImpl.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Linalg/Passes.h"
#include "mlir/Dialect/Linalg/Transforms/BufferizableOpInterfaceImpl.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/MemRef/Transforms/AllocationOpInterfaceImpl.h"
#include "mlir/Dialect/MemRef/Transforms/Passes.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/SCF/Transforms/BufferDeallocationOpInterfaceImpl.h"
#include "mlir/Dialect/SCF/Transforms/BufferizableOpInterfaceImpl.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Tensor/Transforms/BufferizableOpInterfaceImpl.h"
#include "mlir/Pass/PassRegistry.h"
#include "mlir/Transforms/Passes.h"

using namespace mlir;
using namespace shardopt;

void shardopt::addTensorPasses(OpPassManager &manager,
                               const ExecutableOptions &options) {
  manager.addPass(llm::createSplitStagesPass());
  manager.addPass(llm::createParamsToArgumentsPass());
  llm::ConvertLLMToLinalgPassOptions linalg;
  linalg.keepValues = options.keepValues;
  linalg.routing =
      options.isRoutingBalanced ? llm::Routing::Balanced : llm::Routing::Model;
  manager.addPass(llm::createConvertLLMToLinalgPass(linalg));
  manager.addPass(llm::createConvertShardToRuntimePass());
}

/// From tensors to buffers that are freed.
static void addBufferPasses(OpPassManager &manager) {
  bufferization::OneShotBufferizePassOptions bufferize;
  bufferize.bufferizeFunctionBoundaries = true;
  bufferize.functionBoundaryTypeConversion =
      bufferization::LayoutMapOption::IdentityLayoutMap;
  bufferize.allowReturnAllocsFromLoops = true;
  manager.addPass(bufferization::createOneShotBufferizePass(bufferize));
  // What a loop updates in place is then copied to where it lies, by another
  // name of the same place: one name makes that no copy.
  manager.addPass(createCSEPass());
  manager.addPass(createCanonicalizerPass());
  manager.addPass(bufferization::createDropEquivalentBufferResultsPass());
  manager.addPass(llm::createFinishEntriesPass());
  bufferization::buildBufferDeallocationPipeline(
      manager, bufferization::BufferDeallocationPipelineOptions());
  manager.addPass(createConvertBufferizationToMemRefPass());
}

void shardopt::addLLVMPasses(OpPassManager &manager) {
  manager.addPass(llm::createOutlineEntriesPass());
  manager.addPass(createCanonicalizerPass());
  manager.addPass(createCSEPass());
  addBufferPasses(manager);
  manager.addNestedPass<func::FuncOp>(createConvertLinalgToLoopsPass());
  manager.addPass(memref::createExpandStridedMetadataPass());
  manager.addPass(createLowerAffinePass());
  manager.addPass(createSCFToControlFlowPass());
  manager.addPass(createConvertMathToLibmPass());
  ConvertToLLVMPassOptions toLLVM;
  toLLVM.useDynamic = true;
  manager.addPass(createConvertToLLVMPass(toLLVM));
  manager.addPass(createReconcileUnrealizedCastsPass());
}

void shardopt::registerExecutionPasses() {
  graphs::registerGraphsPasses();
  llm::registerEntriesPasses();
  llm::registerLLMToLinalgPasses();
  llm::registerShardToRuntimePasses();
  PassPipelineRegistration<>(
      "llm-to-llvm",
      "Lower a program, plain or of one device, to the LLVM dialect and calls "
      "of the runtime",
      [](OpPassManager &manager) {
        addTensorPasses(manager);
        addLLVMPasses(manager);
      });
}

void shardopt::registerExecutionDialects(DialectRegistry &registry) {
  registry
      .insert<arith::ArithDialect, bufferization::BufferizationDialect,
              cf::ControlFlowDialect, func::FuncDialect, linalg::LinalgDialect,
              LLVM::LLVMDialect, math::MathDialect, memref::MemRefDialect,
              scf::SCFDialect, tensor::TensorDialect>();
  arith::registerBufferizableOpInterfaceExternalModels(registry);
  bufferization::func_ext::registerBufferizableOpInterfaceExternalModels(
      registry);
  linalg::registerBufferizableOpInterfaceExternalModels(registry);
  scf::registerBufferizableOpInterfaceExternalModels(registry);
  tensor::registerBufferizableOpInterfaceExternalModels(registry);
  arith::registerBufferDeallocationOpInterfaceExternalModels(registry);
  cf::registerBufferDeallocationOpInterfaceExternalModels(registry);
  scf::registerBufferDeallocationOpInterfaceExternalModels(registry);
  memref::registerAllocationOpInterfaceExternalModels(registry);
  arith::registerConvertArithToLLVMInterface(registry);
  cf::registerConvertControlFlowToLLVMInterface(registry);
  registerConvertFuncToLLVMInterface(registry);
  registerConvertMathToLLVMInterface(registry);
  registerConvertMemRefToLLVMInterface(registry);
}
