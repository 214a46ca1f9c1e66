//===- Jit.h - Machine code of lowered programs -----------------*- C++ -*-===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef SHARDOPT_EXECUTION_JIT_H
#define SHARDOPT_EXECUTION_JIT_H

#include "shardopt/Support/Error.h"

#include "mlir/IR/BuiltinOps.h"

#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace llvm::orc {
class LLJIT;
} // namespace llvm::orc

namespace shardopt::execution {

/// An object file: what one rank compiles and all ranks load.
using ObjectCode = std::string;

/// Compiles a module in the LLVM dialect for this machine. `optimization` is a
/// level from 0, which compiles fastest, to 3. The functions `entries` (which
/// have C interfaces) are callable through `LoadedProgram::find`.
ErrorOr<ObjectCode> compile(mlir::ModuleOp module,
                            const std::vector<std::string> &entries,
                            unsigned optimization);

/// Calls a function with pointers to its arguments: first the place of its
/// results, if it has any, then a memref descriptor a tensor.
using EntryPoint = void (*)(void **arguments);

/// Names and addresses of what compiled code calls.
using SymbolTable = std::vector<std::pair<std::string, void *>>;

/// Compiled code in memory. Any number of threads may call it.
class LoadedProgram {
public:
  static ErrorOr<LoadedProgram> load(const ObjectCode &object,
                                     const SymbolTable &symbols);
  LoadedProgram(LoadedProgram &&) noexcept;
  LoadedProgram &operator=(LoadedProgram &&) noexcept;
  ~LoadedProgram();

  /// The function `entry` of the module.
  ErrorOr<EntryPoint> find(const std::string &entry) const;

private:
  explicit LoadedProgram(std::unique_ptr<llvm::orc::LLJIT> jit);
  std::unique_ptr<llvm::orc::LLJIT> jit;
};

} // namespace shardopt::execution

#endif // SHARDOPT_EXECUTION_JIT_H
