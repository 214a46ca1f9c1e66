//===- SharedCosts.cpp - Costs of ops that degrees share ------------------===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "shardopt/Cost/SharedCosts.h"

#include "OpEntries.h"
#include "shardopt/Support/Hash.h"

#include <algorithm>
#include <cstring>

using namespace shardopt;
using namespace shardopt::cost;

/// What is kept at most.
static constexpr size_t maxLeasts = size_t(1) << 20;
static constexpr size_t maxTables = size_t(1) << 13;

static uint64_t bitsOf(double value) {
  uint64_t bits;
  std::memcpy(&bits, &value, sizeof(bits));
  return bits;
}

OpKey OpKey::make(uint64_t what, int64_t window, Reads reads,
                  const Context &context) {
  const Degrees &degrees = context.degrees;
  const StageGrid &grid = context.grid;
  const bool isCutOverQ = grid.q() > 1 && grid.c() > 1;
  OpKey key;
  auto word = key.words.begin();
  auto add = [&](auto value) { *word++ = static_cast<uint64_t>(value); };
  add(what << 32 | uint64_t(context.wholeSequences) << 16);
  add(window);
  add(degrees.tp);
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
  const Reads reads = node.op->reads();
  if (reads == Reads::Everything)
    return std::nullopt;
  return make(node.variable, node.op->dependsOnWindow() ? context.window : 0,
              reads, context);
}

OpKey OpKey::ofFirst(unsigned kind, std::array<uint64_t, 2> domains,
                     const Context &context) {
  // Seconds are those of a micro-batch: how many there are is for bytes alone.
  Context one = context;
  one.groupBatch = one.microBatches = 1;
  // Beside the numbers of variables.
  OpKey key =
      make(uint64_t(1) << 31 | kind, context.window, Reads::Sequences, one);
  std::copy(domains.begin(), domains.end(), key.words.end() - domains.size());
  return key;
}

size_t OpKey::Hash::operator()(const OpKey &key) const {
  WordHash hash;
  for (uint64_t word : key.words)
    hash.add(word);
  return hash.value();
}

SharedCosts::SharedCosts() = default;
SharedCosts::~SharedCosts() = default;

void SharedCosts::makeRoom() {
  if (ofDims.size() > maxLeasts)
    ofDims.clear();
  if (ofFirst.size() > maxLeasts)
    ofFirst.clear();
  if (tables.size() > maxTables)
    tables.clear();
}

LeastCosts &SharedCosts::leasts(const OpKey &key) { return ofDims[key]; }

double &SharedCosts::secondsOfFirst(const OpKey &key) {
  return ofFirst.try_emplace(key, -1.0).first->second;
}

OpEntries &SharedCosts::entries(const OpKey &key) {
  std::unique_ptr<OpEntries> &found = tables[key];
  if (!found)
    found = std::make_unique<OpEntries>();
  return *found;
}
