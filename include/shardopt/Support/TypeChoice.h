//===- TypeChoice.h - Types that a user asks for ----------------*- C++ -*-===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef SHARDOPT_SUPPORT_TYPECHOICE_H
#define SHARDOPT_SUPPORT_TYPECHOICE_H

#include <string>

namespace shardopt {

/// Types in the place of those that a program has, as options spell them;
/// empty: its own.
struct TypeChoice {
  /// "bf16", "f16", "f32", "fp8", "fp8_block", "int8", "int4", "nvfp4",
  /// "mxfp4".
  std::string weights;
  std::string caches; ///< "bf16", "f16", "f32", "fp8"

  bool isEmpty() const { return weights.empty() && caches.empty(); }
};

} // namespace shardopt

#endif // SHARDOPT_SUPPORT_TYPECHOICE_H
