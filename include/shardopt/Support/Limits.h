//===- Limits.h - The largest sizes that anything may have ------*- C++ -*-===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Beyond anything that is built, and small enough that what a pass lists of a
// dim fits into memory and that the product of a few sizes fits an int64.
// Whatever brings a size in checks it: verifiers, the importer, options of
// tools.
//
//===----------------------------------------------------------------------===//

#ifndef SHARDOPT_SUPPORT_LIMITS_H
#define SHARDOPT_SUPPORT_LIMITS_H

#include <cstdint>

namespace shardopt {

/// A dim of a weight or of an activation: features, heads, experts, tokens of a
/// vocabulary.
constexpr int64_t maxDimSize = int64_t(1) << 24;

/// Elements of a tensor.
constexpr int64_t maxElements = int64_t(1) << 48;

/// Layers of a model.
constexpr int64_t maxLayers = int64_t(1) << 20;

/// Tokens of a context or of a prompt: positions are 32-bit integers.
constexpr int64_t maxContext = (int64_t(1) << 31) - 1;

} // namespace shardopt

#endif // SHARDOPT_SUPPORT_LIMITS_H
