//===- Descriptors.h - Tensors as compiled code sees them -------*- C++ -*-===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef SHARDOPT_LIB_EXECUTION_DESCRIPTORS_H
#define SHARDOPT_LIB_EXECUTION_DESCRIPTORS_H

#include "shardopt/Execution/ProgramInterface.h"

#include "mlir/ExecutionEngine/CRunnerUtils.h"

#include <variant>

namespace shardopt::execution {

/// A descriptor of a dense tensor; elements are 32 bits wide.
class Descriptor {
public:
  /// Of a tensor that stays where it is.
  explicit Descriptor(tensors::Tensor &tensor);

  /// What compiled code is given.
  void *address();

private:
  template <int rank> void describe(tensors::Tensor &tensor);

  std::variant<StridedMemRefType<uint32_t, 0>, StridedMemRefType<uint32_t, 1>,
               StridedMemRefType<uint32_t, 2>, StridedMemRefType<uint32_t, 3>,
               StridedMemRefType<uint32_t, 4>, StridedMemRefType<uint32_t, 5>,
               StridedMemRefType<uint32_t, 6>>
      memref;
};

/// The place where compiled code leaves its results: a descriptor each, one
/// after the other.
class ResultSpace {
public:
  explicit ResultSpace(const std::vector<Operand> &results);

  /// Null where there are no results.
  void *address() { return words.empty() ? nullptr : words.data(); }

  /// Copies of the results, whose memory is freed, each once: two may be the
  /// same tensor.
  std::vector<tensors::Tensor> take();

private:
  const std::vector<Operand> &results;
  std::vector<int64_t> words; ///< what a descriptor consists of
};

} // namespace shardopt::execution

#endif // SHARDOPT_LIB_EXECUTION_DESCRIPTORS_H
