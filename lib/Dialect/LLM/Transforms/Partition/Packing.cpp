//===- Packing.cpp - Which features each rank holds -----------------------===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "shardopt/Dialect/LLM/Transforms/Partition/Packing.h"

#include "shardopt/Cost/Context.h"
#include "shardopt/Cost/Heads.h"

#include <algorithm>
#include <cassert>
#include <cstddef>

using namespace shardopt;
using namespace shardopt::llm;

using Entries = std::vector<int64_t>;
using Ranks = std::vector<Entries>;

//===----------------------------------------------------------------------===//
// Runs
//===----------------------------------------------------------------------===//

/// The longest arithmetic progression from `begin` on; zeros make runs of
/// zeros.
static Run longestRun(const Entries &entries, size_t begin) {
  Run run{entries[begin], 1, 1, 1, 0};
  bool zeros = run.start < 0;
  if (begin + 1 < entries.size() && !zeros && entries[begin + 1] > run.start)
    run.stride = entries[begin + 1] - run.start;
  for (size_t i = begin + 1; i < entries.size(); ++i, ++run.size) {
    int64_t expected = zeros ? -1 : run.start + run.size * run.stride;
    if (entries[i] != expected)
      break;
  }
  if (run.size == 1)
    run.stride = 1;
  return run;
}

/// Whether `next` continues the regular repetition that `run` began.
static bool repeats(const Run &run, const Run &next) {
  if (run.start < 0 || next.start < 0 || next.size != run.size ||
      next.stride != run.stride)
    return false;
  return run.count == 1 || next.start == run.start + run.count * run.step;
}

std::vector<Run> llm::compress(const Entries &entries) {
  std::vector<Run> runs;
  for (size_t begin = 0; begin < entries.size();) {
    Run next = longestRun(entries, begin);
    begin += next.size;
    if (!runs.empty() && repeats(runs.back(), next)) {
      Run &run = runs.back();
      if (run.count == 1)
        run.step = next.start - run.start;
      ++run.count;
      continue;
    }
    runs.push_back(next);
  }
  return runs;
}

//===----------------------------------------------------------------------===//
// Packing
//===----------------------------------------------------------------------===//

Packing::Packing(const char *order, int64_t globalSize, Ranks entries,
                 std::vector<const Packing *> parts)
    : order(order), globalSize(globalSize), localSize(entries.front().size()),
      ranks(std::move(entries)), parts(std::move(parts)) {
  Entries all, inverse(globalSize, -1);
  for (const Entries &held : ranks) {
    assert(static_cast<int64_t>(held.size()) == localSize && "uneven ranks");
    runs.push_back(compress(held));
    for (int64_t entry : held) {
      if (entry >= 0 && inverse[entry] >= 0)
        replicated = true;
      else if (entry >= 0)
        inverse[entry] = all.size();
      all.push_back(entry);
    }
  }
  pack = compress(all);
  if (std::find(inverse.begin(), inverse.end(), -1) == inverse.end())
    unpack = compress(inverse);
}

/// Whether `runs` are the entries 0 .. size - 1.
static bool isIdentity(const std::vector<Run> &runs, int64_t size) {
  return runs.size() == 1 && runs[0].start == 0 && runs[0].stride == 1 &&
         runs[0].count == 1 && runs[0].size == size;
}

bool Packing::packsTrivially() const {
  return isIdentity(pack, globalSize) &&
         localSize * getNumRanks() == globalSize;
}

bool Packing::unpacksTrivially() const {
  return isIdentity(unpack, globalSize) &&
         localSize * getNumRanks() == globalSize;
}

//===----------------------------------------------------------------------===//
// Packings
//===----------------------------------------------------------------------===//

/// Appends the entries of head `head`, or zeros where there is no such head.
static void appendHead(Entries &entries, int64_t head, int64_t numHeads,
                       int64_t headSize, int64_t offset = 0) {
  for (int64_t i = 0; i < headSize; ++i)
    entries.push_back(head < numHeads ? offset + head * headSize + i : -1);
}

/// The first kv head that rank `rank` touches.
static int64_t firstKvHead(int64_t heads, int64_t kvHeads, int64_t ranks,
                           int64_t rank) {
  int64_t group = heads / kvHeads;
  return rank * cost::localHeads(heads, ranks) / group;
}

/// Appends the kv heads of rank `rank`: as many for each rank as any needs.
static void appendKvHeads(Entries &entries, int64_t heads, int64_t kvHeads,
                          int64_t headSize, int64_t ranks, int64_t rank) {
  bool idle = rank * cost::localHeads(heads, ranks) >= heads;
  int64_t first = firstKvHead(heads, kvHeads, ranks, rank);
  int64_t local = cost::localKvHeads(heads, kvHeads, ranks);
  for (int64_t i = 0; i < local; ++i)
    appendHead(entries, idle ? kvHeads : first + i, kvHeads, headSize);
}

/// Appends what `rank` holds of a part that begins at global entry `begin`.
static void append(Entries &entries, const Packing &part, int64_t rank,
                   int64_t begin) {
  for (int64_t entry : part.getEntries(rank))
    entries.push_back(entry < 0 ? -1 : begin + entry);
}

/// The lists of all ranks, each filled by `fill(entries, rank)`.
template <typename Fill> static Ranks perRank(int64_t ranks, Fill fill) {
  Ranks result(ranks);
  for (int64_t rank = 0; rank < ranks; ++rank)
    fill(result[rank], rank);
  return result;
}

template <typename Make> const Packing *Packings::get(Key key, Make make) {
  std::unique_ptr<Packing> &packing = made[key];
  if (!packing)
    packing = std::make_unique<Packing>(make());
  return packing.get();
}

const Packing *Packings::blocks(int64_t size, int64_t ranks) {
  return heads(size, 1, ranks);
}

const Packing *Packings::heads(int64_t heads, int64_t headSize, int64_t ranks) {
  return get({0, heads, headSize, ranks, 0}, [&] {
    int64_t local = cost::ceilDiv(heads, ranks);
    return Packing(headSize == 1 ? "blocks" : "heads", heads * headSize,
                   perRank(ranks, [&](Entries &entries, int64_t rank) {
                     for (int64_t i = 0; i < local; ++i)
                       appendHead(entries, rank * local + i, heads, headSize);
                   }));
  });
}

const Packing *Packings::pairedBlocks(int64_t size, int64_t ranks) {
  return get({1, size, ranks, 0, 0}, [&] {
    int64_t local = cost::ceilDiv(size, ranks);
    return Packing("paired_blocks", 2 * size,
                   perRank(ranks, [&](Entries &entries, int64_t rank) {
                     for (int64_t half = 0; half < 2; ++half)
                       for (int64_t i = 0; i < local; ++i)
                         appendHead(entries, rank * local + i, size, 1,
                                    half * size);
                   }));
  });
}

const Packing *Packings::onFirst(int64_t size, int64_t ranks) {
  return get({2, size, ranks, 0, 0}, [&] {
    return Packing("first", size,
                   perRank(ranks, [&](Entries &entries, int64_t rank) {
                     for (int64_t i = 0; i < size; ++i)
                       entries.push_back(rank == 0 ? i : -1);
                   }));
  });
}

const Packing *Packings::kvHeads(int64_t heads, int64_t kvHeads,
                                 int64_t headSize, int64_t ranks) {
  return get({3, heads, kvHeads, headSize, ranks}, [&] {
    return Packing("kv_heads", kvHeads * headSize,
                   perRank(ranks, [&](Entries &entries, int64_t rank) {
                     appendKvHeads(entries, heads, kvHeads, headSize, ranks,
                                   rank);
                   }));
  });
}

const Packing *Packings::kvPair(int64_t numHeads, int64_t numKvHeads,
                                int64_t headSize, int64_t ranks) {
  const Packing *half = kvHeads(numHeads, numKvHeads, headSize, ranks);
  return get({6, numHeads, numKvHeads, headSize, ranks}, [&] {
    return Packing("kv_heads", 2 * half->getGlobalSize(),
                   perRank(ranks, [&](Entries &entries, int64_t rank) {
                     append(entries, *half, rank, 0);
                     append(entries, *half, rank, half->getGlobalSize());
                   }));
  });
}

const Packing *Packings::qkvHeads(int64_t numHeads, int64_t numKvHeads,
                                  int64_t headSize, int64_t ranks) {
  const Packing *queries = heads(numHeads, headSize, ranks);
  const Packing *pair = kvPair(numHeads, numKvHeads, headSize, ranks);
  return get({4, numHeads, numKvHeads, headSize, ranks}, [&] {
    int64_t begin = queries->getGlobalSize();
    return Packing("qkv_heads", begin + pair->getGlobalSize(),
                   perRank(ranks,
                           [&](Entries &entries, int64_t rank) {
                             append(entries, *queries, rank, 0);
                             append(entries, *pair, rank, begin);
                           }),
                   {queries, pair});
  });
}

const Packing *Packings::pairs(int64_t heads, int64_t headSize, int64_t ranks) {
  return get({5, heads, headSize, ranks, 0}, [&] {
    int64_t half = headSize / 2, local = half / ranks;
    return Packing("pairs", heads * headSize,
                   perRank(ranks, [&](Entries &entries, int64_t rank) {
                     for (int64_t head = 0; head < heads; ++head)
                       for (int64_t side = 0; side < 2; ++side)
                         for (int64_t i = 0; i < local; ++i)
                           entries.push_back(head * headSize + side * half +
                                             rank * local + i);
                   }));
  });
}
