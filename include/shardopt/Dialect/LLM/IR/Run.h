//===- Run.h - Entries of a dim in arithmetic progression -------*- C++ -*-===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef SHARDOPT_DIALECT_LLM_IR_RUN_H
#define SHARDOPT_DIALECT_LLM_IR_RUN_H

#include <cstdint>

namespace shardopt::llm {

/// Entries `start + c * step + i * stride` for c in 0..count, for i in 0..size;
/// zeros where start is negative.
struct Run {
  int64_t start = 0;
  int64_t size = 0;
  int64_t stride = 1;
  int64_t count = 1;
  int64_t step = 0;
};

} // namespace shardopt::llm

#endif // SHARDOPT_DIALECT_LLM_IR_RUN_H
