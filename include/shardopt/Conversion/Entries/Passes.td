//===- Passes.td - Entries that update caches in place -----*- tablegen -*-===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef SHARDOPT_CONVERSION_ENTRIES_PASSES_TD
#define SHARDOPT_CONVERSION_ENTRIES_PASSES_TD

include "mlir/Pass/PassBase.td"

def OutlineEntriesPass : Pass<"llm-outline-entries", "::mlir::ModuleOp"> {
  let summary = "Give functions with caches entries that update them in place";
  let description = [{
    On tensors. Every public function `f` with a body becomes private, and a new public
    function `shardopt_entry_f` calls it. The entry has a C interface, takes the same
    arguments and returns the results that are no caches. Arguments that are no caches
    are marked as not writable, since the caller goes on to use them: bufferization then
    writes into the caches alone.

    Input:

    ```mlir
    func.func @f(%x: tensor<4xf32>, %keys: tensor<8xf32> {llm.role = "cache"}) -> (tensor<4xf32>, tensor<8xf32> {llm.role = "cache"}) {
      return %x, %keys : tensor<4xf32>, tensor<8xf32>
    }
    ```

    Output:

    ```mlir
    func.func @shardopt_entry_f(%x: tensor<4xf32> {bufferization.writable = false}, %keys: tensor<8xf32>) -> tensor<4xf32> attributes {llvm.emit_c_interface} {
      %0:2 = call @f(%x, %keys) : (tensor<4xf32>, tensor<8xf32>) -> (tensor<4xf32>, tensor<8xf32>)
      return %0#0 : tensor<4xf32>
    }
    func.func private @f(%x: tensor<4xf32> {bufferization.writable = false}, %keys: tensor<8xf32> {llm.role = "cache"}) -> (tensor<4xf32>, tensor<8xf32> {llm.role = "cache"}) {
      return %x, %keys : tensor<4xf32>, tensor<8xf32>
    }
    ```
  }];
  let dependentDialects = [
    "::mlir::bufferization::BufferizationDialect", "::mlir::func::FuncDialect",
    "::mlir::LLVM::LLVMDialect"];
}

def FinishEntriesPass : Pass<"llm-finish-entries", "::mlir::ModuleOp"> {
  let summary = "Refuse copied caches, and drop what only shardopt reads";
  let description = [{
    On buffers, after results that are equal to arguments have gone. A function that still
    returns a cache has copied it, and its entry would lose what was written: that is an
    error. Attributes of arguments and results are removed.

    Input:

    ```mlir
    func.func @f(%x: memref<4xf32>, %keys: memref<8xf32> {llm.role = "cache"}) -> memref<4xf32> {
      return %x : memref<4xf32>
    }
    ```

    Output:

    ```mlir
    func.func @f(%x: memref<4xf32>, %keys: memref<8xf32>) -> memref<4xf32> {
      return %x : memref<4xf32>
    }
    ```
  }];
}

#endif // SHARDOPT_CONVERSION_ENTRIES_PASSES_TD
