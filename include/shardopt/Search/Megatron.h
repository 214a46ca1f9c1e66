//===- Megatron.h - The dims of Megatron, for comparison --------*- C++ -*-===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef SHARDOPT_SEARCH_MEGATRON_H
#define SHARDOPT_SEARCH_MEGATRON_H

#include "shardopt/Model/Strategy.h"
#include "shardopt/Search/StrategySpace.h"

#include <string>
#include <vector>

namespace shardopt::search {

/// Three ways in which Megatron shards a layer; they agree on the weights.
enum class MegatronVariant : uint8_t {
  /// Tensor parallelism of 2019 (arXiv 1909.08053): norms and the exchange of
  /// tokens with the experts are replicated.
  Classic,
  /// The same, but every tensor-parallel rank exchanges its part of the tokens.
  Slice,
  /// Megatron-Core: sequence parallelism (arXiv 2205.05198) around the norms,
  /// and the all-to-all token dispatcher.
  SequenceParallel,
};

/// The dim that `variant` gives to an op, known by the last component of its
/// name ("moe.ffn_up" is an ffn_up). Ops that Megatron does not have get none.
Dim megatronDim(MegatronVariant variant, const std::string &opName);

/// The part of `space` in which every op has its Megatron dim. A pin is
/// stronger: an op whose domain lacks that dim keeps its domain's first.
StrategySpace megatronSpace(MegatronVariant variant,
                            const StrategySpace &space);

/// The dims of all ops in the layouts that systems are known to have, each of
/// attention with each of networks: Megatron's, and data-parallel attention, in
/// which every device has some of the tokens and all weights of what is around
/// attention and of shared experts. All are different.
std::vector<std::vector<Dim>> knownLayouts(const StrategySpace &space);

} // namespace shardopt::search

#endif // SHARDOPT_SEARCH_MEGATRON_H
