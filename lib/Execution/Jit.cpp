//===- Jit.cpp - Machine code of lowered programs -------------------------===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "shardopt/Execution/Jit.h"

#include "mlir/ExecutionEngine/CRunnerUtils.h"
#include "mlir/ExecutionEngine/OptUtils.h"
#include "mlir/Target/LLVMIR/Dialect/Builtin/BuiltinToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Dialect/LLVMIR/LLVMToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Export.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/ExecutionEngine/Orc/AbsoluteSymbols.h"
#include "llvm/ExecutionEngine/Orc/ExecutionUtils.h"
#include "llvm/ExecutionEngine/Orc/JITTargetMachineBuilder.h"
#include "llvm/ExecutionEngine/Orc/LLJIT.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/LegacyPassManager.h"
#include "llvm/IR/Module.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/TargetSelect.h"
#include "llvm/Target/TargetMachine.h"

#include <algorithm>

using namespace shardopt;
using namespace shardopt::execution;

static constexpr const char *interfacePrefix = "_mlir_ciface_";
static constexpr const char *callPrefix = "shardopt_call_";

static Error toError(llvm::Error error, const std::string &what) {
  return Error{what + ": " + llvm::toString(std::move(error))};
}

static void initializeTarget() {
  static const bool done = [] {
    llvm::InitializeNativeTarget();
    llvm::InitializeNativeTargetAsmPrinter();
    return true;
  }();
  (void)done;
}

static ErrorOr<std::unique_ptr<llvm::TargetMachine>>
createMachine(unsigned optimization) {
  initializeTarget();
  auto builder = llvm::orc::JITTargetMachineBuilder::detectHost();
  if (!builder)
    return toError(builder.takeError(), "no target for this machine");
  builder->setCodeGenOptLevel(
      llvm::CodeGenOptLevel(std::min(optimization, 3u)));
  auto machine = builder->createTargetMachine();
  if (!machine)
    return toError(machine.takeError(), "no target for this machine");
  return std::move(*machine);
}

/// Adds `void shardopt_call_<entry>(ptr arguments)`, which unpacks its argument
/// for the C interface of `entry`, all of whose parameters are pointers.
static bool addCall(llvm::Module &module, const std::string &entry) {
  llvm::Function *callee = module.getFunction(interfacePrefix + entry);
  if (!callee)
    return false;
  llvm::IRBuilder<> builder(module.getContext());
  auto *type =
      llvm::FunctionType::get(builder.getVoidTy(), {builder.getPtrTy()}, false);
  auto *function = llvm::Function::Create(
      type, llvm::GlobalValue::ExternalLinkage, callPrefix + entry, module);
  builder.SetInsertPoint(
      llvm::BasicBlock::Create(module.getContext(), "", function));
  llvm::SmallVector<llvm::Value *> arguments;
  for (unsigned i = 0; i < callee->arg_size(); ++i) {
    if (!callee->getArg(i)->getType()->isPointerTy())
      return false;
    llvm::Value *place =
        builder.CreateConstGEP1_64(builder.getPtrTy(), function->getArg(0), i);
    arguments.push_back(builder.CreateLoad(builder.getPtrTy(), place));
  }
  builder.CreateCall(callee, arguments);
  builder.CreateRetVoid();
  return true;
}

ErrorOr<ObjectCode> execution::compile(mlir::ModuleOp module,
                                       const std::vector<std::string> &entries,
                                       unsigned optimization) {
  mlir::registerBuiltinDialectTranslation(*module.getContext());
  mlir::registerLLVMDialectTranslation(*module.getContext());
  llvm::LLVMContext context;
  std::unique_ptr<llvm::Module> translated =
      mlir::translateModuleToLLVMIR(module, context);
  if (!translated)
    return Error{"the module cannot be translated to LLVM IR"};
  for (const std::string &entry : entries)
    if (!addCall(*translated, entry))
      return Error{"'" + entry +
                   "' cannot be called: expected a function of the module "
                   "whose arguments are tensors"};

  auto machine = createMachine(optimization);
  if (!machine)
    return machine.error();
  translated->setDataLayout((*machine)->createDataLayout());
  translated->setTargetTriple((*machine)->getTargetTriple());
  if (optimization > 0) {
    auto transform = mlir::makeOptimizingTransformer(
        optimization, /*sizeLevel=*/0, machine->get());
    if (llvm::Error error = transform(translated.get()))
      return toError(std::move(error), "the optimizer failed");
  }
  llvm::SmallString<0> object;
  llvm::raw_svector_ostream stream(object);
  llvm::legacy::PassManager passes;
  if ((*machine)->addPassesToEmitFile(passes, stream, nullptr,
                                      llvm::CodeGenFileType::ObjectFile))
    return Error{"this machine's target cannot emit object files"};
  passes.run(*translated);
  return ObjectCode(object.str());
}

//===----------------------------------------------------------------------===//
// LoadedProgram
//===----------------------------------------------------------------------===//

LoadedProgram::LoadedProgram(std::unique_ptr<llvm::orc::LLJIT> jit)
    : jit(std::move(jit)) {}
LoadedProgram::LoadedProgram(LoadedProgram &&) noexcept = default;
LoadedProgram &LoadedProgram::operator=(LoadedProgram &&) noexcept = default;
LoadedProgram::~LoadedProgram() = default;

ErrorOr<LoadedProgram> LoadedProgram::load(const ObjectCode &object,
                                           const SymbolTable &symbols) {
  initializeTarget();
  auto jit = llvm::orc::LLJITBuilder().create();
  if (!jit)
    return toError(jit.takeError(), "no compiled code can be loaded");
  llvm::orc::JITDylib &library = (*jit)->getMainJITDylib();

  // The C library and libm, which the process is searched for.
  auto process = llvm::orc::DynamicLibrarySearchGenerator::GetForCurrentProcess(
      (*jit)->getDataLayout().getGlobalPrefix());
  if (!process)
    return toError(process.takeError(), "no symbols of this process");
  library.addGenerator(std::move(*process));

  llvm::orc::MangleAndInterner mangle((*jit)->getExecutionSession(),
                                      (*jit)->getDataLayout());
  llvm::orc::SymbolMap map;
  auto add = [&](const std::string &name, void *address) {
    map[mangle(name)] = {llvm::orc::ExecutorAddr::fromPtr(address),
                         llvm::JITSymbolFlags::Exported};
  };
  for (const auto &[name, address] : symbols)
    add(name, address);
  add("memrefCopy", reinterpret_cast<void *>(&memrefCopy));
  if (llvm::Error error = library.define(llvm::orc::absoluteSymbols(map)))
    return toError(std::move(error), "the runtime's symbols");
  if (llvm::Error error = (*jit)->addObjectFile(
          llvm::MemoryBuffer::getMemBufferCopy(object, "program")))
    return toError(std::move(error), "compiled code");
  return LoadedProgram(std::move(*jit));
}

ErrorOr<EntryPoint> LoadedProgram::find(const std::string &entry) const {
  auto address = jit->lookup(callPrefix + entry);
  if (!address)
    return toError(address.takeError(), "'" + entry + "'");
  return address->toPtr<EntryPoint>();
}
