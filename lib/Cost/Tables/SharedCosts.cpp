//===- SharedCosts.cpp - Costs of ops that degrees share ------------------===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "shardopt/Cost/Tables/SharedCosts.h"

#include "KeyedValues.h"
#include "OpEntries.h"
#include "shardopt/Support/Hash.h"

#include <algorithm>
#include <cstring>

using namespace shardopt;
using namespace shardopt::cost;

/// What is kept at most.
static constexpr size_t maxLeasts = size_t(1) << 20;
static constexpr size_t maxTables = size_t(1) << 13;
static constexpr size_t maxRuns = 256; // which are looked through

static uint64_t bitsOf(double value) {
  uint64_t bits;
  std::memcpy(&bits, &value, sizeof(bits));
  return bits;
}

OpKey OpKey::make(uint64_t what, int64_t window, Reads reads,
                  const Context &context) {
  const Degrees &degrees = context.degrees;
  const StageGrid &grid = context.grid;
  bool isCutOverQ = grid.q() > 1 && grid.c() > 1;
  OpKey key;
  auto word = key.words.begin();
  auto add = [&](auto value) { *word++ = uint64_t(value); };
  add(what << 32 | uint64_t(context.wholeSequences) << 16);
  add(window);
  add(degrees.tp);
  add(degrees.tp2);
  add(context.microBatch);
  add(isCutOverQ ? grid.etp() : 0);
  if (reads == Reads::Sequences) {
    add(degrees.cp);
    add(context.groupBatch);
    add(context.microBatches);
  } else if (reads == Reads::Experts) {
    add(degrees.dp);
    add(degrees.ep);
    add(degrees.exchange);
    add(bitsOf(context.routing.imbalance));
    add(bitsOf(context.routing.activeExperts));
  }
  return key;
}

std::optional<OpKey> OpKey::of(const Node &node, const Context &context) {
  Reads reads = node.op->reads();
  if (reads == Reads::Everything)
    return std::nullopt;
  return make(node.variable, node.op->dependsOnWindow() ? context.window : 0,
              reads, context);
}

OpKey OpKey::ofRun(uint32_t number, Reads reads, const Context &context) {
  // Apart from the numbers of variables.
  return make(uint64_t(1) << 31 | number, context.window, reads, context);
}

uint64_t OpKey::hash() const {
  WordHash hash;
  for (uint64_t word : words)
    hash.add(word);
  return hash.value();
}

struct SharedCosts::Known {
  /// Dims of ops of one kind of layers, from one on.
  struct Run {
    unsigned kind, first;
    std::vector<DimSet> domains;
  };

  KeyedValues<LeastCosts> leasts;
  KeyedValues<LeastSum> sums;
  KeyedValues<OpEntries> tables;
  Pool<OpEntry> entries;
  std::vector<Run> runs; ///< by number: a few
};

SharedCosts::SharedCosts() : known(std::make_unique<Known>()) {}
SharedCosts::~SharedCosts() = default;

void SharedCosts::makeRoom() {
  if (known->leasts.size() > maxLeasts)
    known->leasts.clear();
  if (known->sums.size() > maxLeasts || known->runs.size() > maxRuns) {
    known->sums.clear();
    known->runs.clear();
  }
  if (known->tables.size() > maxTables) {
    known->tables.clear();
    known->entries.clear();
  }
}

uint32_t SharedCosts::numberOf(unsigned kind, unsigned first,
                               Span<const DimSet> domains) {
  std::vector<Known::Run> &runs = known->runs;
  for (size_t i = 0; i < runs.size(); ++i)
    if (runs[i].kind == kind && runs[i].first == first &&
        std::equal(domains.begin(), domains.end(), runs[i].domains.begin(),
                   runs[i].domains.end()))
      return uint32_t(i);
  runs.push_back({kind, first, {domains.begin(), domains.end()}});
  return uint32_t(runs.size() - 1);
}

LeastCosts &SharedCosts::leasts(const OpKey &key) { return known->leasts[key]; }
LeastSum &SharedCosts::sums(const OpKey &key) { return known->sums[key]; }
OpEntries &SharedCosts::entries(const OpKey &key) { return known->tables[key]; }
OpEntry &SharedCosts::newEntry() { return known->entries.add(); }
