//===- Megatron.cpp - The dims of Megatron, for comparison ----------------===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "shardopt/Search/Megatron.h"
#include "Searchers.h"

#include <algorithm>

namespace shardopt::search {

namespace {
struct MegatronDims {
  const char *op;
  Dim classic, slice, sequenceParallel;
  Dim dataParallel; ///< as `knownLayouts` has it
};
} // namespace

/// Column-parallel into a block, row-parallel out of it (arXiv 1909.08053,
/// section 3); state spaces by heads (its Mamba mixer) and delta nets alike;
/// the low-rank projections of MLA and of experts are replicated. Activations
/// around it are replicated or sharded on tokens. The layer begins with what is
/// around its attention, up to `firstOfNetwork`.
static constexpr const char *firstOfNetwork = "ffn_norm";
static constexpr MegatronDims megatronDims[] = {
    // clang-format off
    // op          classic    slice      sequence   data parallel
    {"embed",       Dim::Zero, Dim::Zero, Dim::Zero, Dim::Zero},
    {"attn_norm",   Dim::None, Dim::None, Dim::Zero, Dim::Zero},
    {"q_down",      Dim::None, Dim::None, Dim::None, Dim::None},
    {"q_up",        Dim::One,  Dim::One,  Dim::One, Dim::None},
    {"q_proj",      Dim::One,  Dim::One,  Dim::One, Dim::None},
    {"kv_down",     Dim::None, Dim::None, Dim::None, Dim::None},
    {"index_q",     Dim::None, Dim::None, Dim::None, Dim::None},
    {"qkv_proj",    Dim::One,  Dim::One,  Dim::One, Dim::None},
    {"attention",   Dim::Zero, Dim::Zero, Dim::Zero, Dim::None},
    {"in_proj",     Dim::One,  Dim::One,  Dim::One, Dim::None},
    {"mamba2",      Dim::Zero, Dim::Zero, Dim::Zero, Dim::None},
    {"gated_delta_net", Dim::Zero, Dim::Zero, Dim::Zero, Dim::None},
    {"latent_down", Dim::None, Dim::None, Dim::None, Dim::None},
    {"latent_up",   Dim::None, Dim::None, Dim::None, Dim::None},
    {"out_proj",    Dim::Zero, Dim::Zero, Dim::Zero, Dim::None},
    {"ffn_norm",    Dim::None, Dim::None, Dim::Zero, Dim::Zero},
    {"router",      Dim::None, Dim::None, Dim::None, Dim::None},
    {"dispatch",    Dim::None, Dim::Zero, Dim::Zero, Dim::Zero},
    {"ffn_up",      Dim::One,  Dim::One,  Dim::One, Dim::One},
    {"ffn_down",    Dim::Zero, Dim::Zero, Dim::Zero, Dim::Zero},
    {"combine",     Dim::None, Dim::Zero, Dim::Zero, Dim::Zero},
    {"shared_up",   Dim::One,  Dim::One,  Dim::One, Dim::None},
    {"shared_down", Dim::Zero, Dim::Zero, Dim::Zero, Dim::None},
    {"lm_head",     Dim::One,  Dim::One,  Dim::One, Dim::One},
    // clang-format on
};

/// The row of an op, by the last component of its name; null if there is none.
static const MegatronDims *findRow(const std::string &opName) {
  std::string op = opName.substr(opName.rfind('.') + 1);
  for (const MegatronDims &row : megatronDims)
    if (op == row.op)
      return &row;
  return nullptr;
}

/// `dim` where the domain has it, else its first.
static Dim dimWithin(const DimDomain &domain, Dim dim) {
  bool allowed = std::find(domain.begin(), domain.end(), dim) != domain.end();
  return allowed ? dim : domain.front();
}

Dim megatronDim(MegatronVariant variant, const std::string &opName) {
  const MegatronDims *row = findRow(opName);
  if (!row)
    return Dim::None;
  switch (variant) {
  case MegatronVariant::Classic:
    return row->classic;
  case MegatronVariant::Slice:
    return row->slice;
  case MegatronVariant::SequenceParallel:
    return row->sequenceParallel;
  }
  return Dim::None;
}

StrategySpace megatronSpace(MegatronVariant variant,
                            const StrategySpace &space) {
  DimDomains domains = space.dimDomains();
  for (size_t op = 0; op < domains.size(); ++op) {
    DimDomain &domain = domains[op];
    domain = {dimWithin(domain, megatronDim(variant, space.ops()[op]))};
  }
  return space.withDims(std::move(domains));
}

std::vector<std::vector<Dim>> knownLayouts(const StrategySpace &space) {
  using Column = Dim MegatronDims::*;
  constexpr Column columns[] = {&MegatronDims::classic, &MegatronDims::slice,
                                &MegatronDims::sequenceParallel,
                                &MegatronDims::dataParallel};
  const MegatronDims *networkRow = findRow(firstOfNetwork);
  std::vector<std::vector<Dim>> layouts;
  for (Column attention : columns)
    for (Column network : columns) {
      std::vector<Dim> dims;
      for (size_t op = 0; op < space.ops().size(); ++op) {
        const MegatronDims *row = findRow(space.ops()[op]);
        Dim dim = Dim::None;
        if (row)
          dim = row->*(row < networkRow ? attention : network);
        dims.push_back(dimWithin(space.dimDomains()[op], dim));
      }
      if (std::find(layouts.begin(), layouts.end(), dims) == layouts.end())
        layouts.push_back(std::move(dims));
    }
  return layouts;
}

namespace {

class MegatronSearcher : public Searcher {
public:
  MegatronSearcher(MegatronVariant variant, const SearcherContext &context) {
    StrategySpace space = megatronSpace(variant, *context.space);
    tuples = space.degreeTuples();
    for (const DimDomain &domain : space.dimDomains())
      dims.push_back(domain.front());
  }

  std::vector<Strategy> ask(size_t n) override {
    size_t end = std::min(tuples.size(), next + n);
    std::vector<Strategy> strategies;
    for (; next < end; ++next)
      strategies.push_back({tuples[next], dims});
    return strategies;
  }

  void tell(const std::vector<Strategy> &strategies,
            const std::vector<Evaluation> &evaluations) override {}

  bool done() const override { return next == tuples.size(); }

private:
  std::vector<Degrees> tuples;
  std::vector<Dim> dims;
  size_t next = 0;
};

} // namespace

SearcherPtr makeMegatron(MegatronVariant variant,
                         const SearcherContext &context) {
  return std::make_unique<MegatronSearcher>(variant, context);
}

} // namespace shardopt::search
