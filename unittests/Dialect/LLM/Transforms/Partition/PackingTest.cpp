//===- PackingTest.cpp - Which features each rank holds -------------------===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Every packing is compared with a list written out here from its definition,
// and put to use: what pack scatters, unpack gathers.
//
//===----------------------------------------------------------------------===//

#include "shardopt/Dialect/LLM/Transforms/Partition/Packing.h"

#include "gtest/gtest.h"

#include <algorithm>
#include <set>

using namespace shardopt;
using namespace shardopt::llm;

using Entries = std::vector<int64_t>;
using Ranks = std::vector<Entries>;

/// The entries that `runs` write out, as the comment of Run defines them.
static Entries expand(const std::vector<Run> &runs) {
  Entries entries;
  for (const Run &run : runs)
    for (int64_t c = 0; c < run.count; ++c)
      for (int64_t i = 0; i < run.size; ++i)
        entries.push_back(
            run.start < 0 ? -1 : run.start + c * run.step + i * run.stride);
  return entries;
}

/// The entries of rank `rank`, -1 for zeros.
static Entries entriesOf(const Packing &packing, int64_t rank) {
  return expand(packing.getRuns(rank));
}

/// Chooses from `values`; zeros where an entry is -1.
static Entries select(const Entries &values, const std::vector<Run> &runs) {
  Entries chosen;
  for (int64_t entry : expand(runs))
    chosen.push_back(entry < 0 ? 0 : values.at(entry));
  return chosen;
}

static Ranks ranksOf(const Packing &packing) {
  Ranks ranks;
  for (int64_t rank = 0; rank < packing.getNumRanks(); ++rank)
    ranks.push_back(entriesOf(packing, rank));
  return ranks;
}

static std::set<int64_t> held(const Packing &packing) {
  std::set<int64_t> entries;
  for (const Entries &rank : ranksOf(packing))
    entries.insert(rank.begin(), rank.end());
  entries.erase(-1);
  return entries;
}

/// What holds of every packing that has all entries.
static void expectConsistent(const Packing &packing) {
  Entries all;
  size_t present = 0;
  for (int64_t rank = 0; rank < packing.getNumRanks(); ++rank) {
    Entries entries = entriesOf(packing, rank);
    EXPECT_EQ(int64_t(entries.size()), packing.getLocalSize());
    all.insert(all.end(), entries.begin(), entries.end());
    for (int64_t entry : entries)
      present += entry >= 0;
  }
  EXPECT_EQ(expand(packing.getPack()), all);
  EXPECT_EQ(int64_t(held(packing).size()), packing.getGlobalSize());
  EXPECT_EQ(packing.isReplicated(), present > held(packing).size());

  // Values that are not zero, so that padding shows.
  Entries values;
  for (int64_t i = 0; i < packing.getGlobalSize(); ++i)
    values.push_back(100 + i);
  Entries packed = select(values, packing.getPack());
  EXPECT_EQ(select(packed, packing.getUnpack()), values);
}

/// The block of `rank`, of ceil(size / ranks) entries.
static Entries blockOf(int64_t size, int64_t ranks, int64_t rank) {
  int64_t local = (size + ranks - 1) / ranks;
  Entries block;
  for (int64_t i = rank * local; i < (rank + 1) * local; ++i)
    block.push_back(i < size ? i : -1);
  return block;
}

static void append(Entries &entries, const Entries &more) {
  entries.insert(entries.end(), more.begin(), more.end());
}

/// The entries of whole heads, -1 for each entry of a head that is -1.
static Entries entriesOfHeads(const Entries &heads, int64_t headSize,
                              int64_t begin = 0) {
  Entries entries;
  for (int64_t head : heads)
    for (int64_t i = 0; i < headSize; ++i)
      entries.push_back(head < 0 ? -1 : begin + head * headSize + i);
  return entries;
}

/// The kv heads that the query heads of `rank` read, in order, and then the
/// next ones, until there are as many as any rank reads. A rank without query
/// heads has none.
static Entries kvHeadsOf(int64_t heads, int64_t kvHeads, int64_t ranks,
                         int64_t rank) {
  auto read = [&](int64_t of) {
    std::set<int64_t> touched;
    for (int64_t head : blockOf(heads, ranks, of))
      if (head >= 0)
        touched.insert(head / (heads / kvHeads));
    return Entries(touched.begin(), touched.end());
  };
  size_t most = 0;
  for (int64_t of = 0; of < ranks; ++of)
    most = std::max(most, read(of).size());
  Entries mine = read(rank);
  while (!mine.empty() && mine.size() < most && mine.back() + 1 < kvHeads)
    mine.push_back(mine.back() + 1);
  mine.resize(most, -1);
  return mine;
}

//===----------------------------------------------------------------------===//
// Runs
//===----------------------------------------------------------------------===//

TEST(CompressTest, WritesProgressionsAsRuns) {
  auto runs = compress({0, 2, 4, 1, 3, 5, -1, -1});
  ASSERT_EQ(runs.size(), 2u);
  EXPECT_EQ(runs[0].start, 0);
  EXPECT_EQ(runs[0].size, 3);
  EXPECT_EQ(runs[0].stride, 2);
  EXPECT_EQ(runs[0].count, 2);
  EXPECT_EQ(runs[0].step, 1);
  EXPECT_EQ(runs[1].start, -1);
  EXPECT_EQ(runs[1].size, 2);
}

TEST(CompressTest, RoundTripsEveryShortList) {
  // All lists of up to five entries out of {-1, 0, 1, 2, 3}.
  EXPECT_TRUE(compress({}).empty());
  for (size_t size = 1, lists = 5; size <= 5; ++size, lists *= 5)
    for (size_t list = 0; list < lists; ++list) {
      Entries entries;
      for (size_t i = 0, rest = list; i < size; ++i, rest /= 5)
        entries.push_back(int64_t(rest % 5) - 1);
      ASSERT_EQ(expand(compress(entries)), entries) << "list " << list;
    }
}

TEST(CompressTest, KeepsTheSliceOfManyHeadsShort) {
  // One rotary pair of each of 128 heads: two entries, 128 apart.
  Packings packings{Degrees()};
  const Packing *pairs = packings.pairs(128, 128, 64);
  EXPECT_EQ(pairs->getLocalSize(), 256);
  for (int64_t rank = 0; rank < 64; ++rank)
    EXPECT_LE(pairs->getRuns(rank).size(), 1u) << "rank " << rank;
}

TEST(CompressTest, DoesNotCountEntries) {
  // Runs of 2^50 entries and more, as quickly as of two.
  Packings packings{Degrees()};
  int64_t size = int64_t(1) << 53;
  const Packing *paired = packings.pairedBlocks(size - 3, 8);
  EXPECT_EQ(paired->getLocalSize(), size / 4);
  EXPECT_EQ(paired->getRuns(0).size(), 1u); // twice a block, `size` - 3 apart
  EXPECT_EQ(paired->getRuns(7).size(), 4u); // the last block is padded
  EXPECT_FALSE(paired->isReplicated());
  EXPECT_FALSE(paired->getUnpack().empty());
  const Packing *heads = packings.qkvHeads(8, 2, size / 64, 4);
  EXPECT_TRUE(heads->isReplicated());
  EXPECT_LE(heads->getRuns(3).size(), 3u);
}

//===----------------------------------------------------------------------===//
// Packings
//===----------------------------------------------------------------------===//

TEST(PackingTest, BlocksArePaddedAtTheirEnd) {
  Packings packings{Degrees()};
  for (int64_t size = 1; size <= 17; ++size)
    for (int64_t ranks = 1; ranks <= 8; ++ranks) {
      SCOPED_TRACE(testing::Message() << size << " over " << ranks);
      const Packing *blocks = packings.blocks(size, ranks);
      for (int64_t rank = 0; rank < ranks; ++rank)
        EXPECT_EQ(entriesOf(*blocks, rank), blockOf(size, ranks, rank));
      expectConsistent(*blocks);
      EXPECT_FALSE(blocks->isReplicated());
    }
}

TEST(PackingTest, PairedBlocksHaveGateAndUpOfTheSameFeatures) {
  Packings packings{Degrees()};
  for (int64_t size = 1; size <= 11; ++size)
    for (int64_t ranks = 1; ranks <= 6; ++ranks) {
      SCOPED_TRACE(testing::Message() << size << " over " << ranks);
      const Packing *paired = packings.pairedBlocks(size, ranks);
      EXPECT_EQ(paired->getGlobalSize(), 2 * size);
      for (int64_t rank = 0; rank < ranks; ++rank) {
        Entries wanted = blockOf(size, ranks, rank);
        append(wanted, entriesOfHeads(blockOf(size, ranks, rank), 1, size));
        EXPECT_EQ(entriesOf(*paired, rank), wanted);
      }
      expectConsistent(*paired);
    }
}

TEST(PackingTest, OnlyTheFirstRankHasWhatCountsOnce) {
  Packings packings{Degrees()};
  for (int64_t size = 1; size <= 5; ++size)
    for (int64_t ranks = 1; ranks <= 4; ++ranks) {
      const Packing *first = packings.onFirst(size, ranks);
      for (int64_t rank = 1; rank < ranks; ++rank)
        EXPECT_EQ(entriesOf(*first, rank), Entries(size, -1));
      EXPECT_EQ(entriesOf(*first, 0), blockOf(size, 1, 0));
      expectConsistent(*first);
    }
}

TEST(PackingTest, HeadsStayWhole) {
  Packings packings{Degrees()};
  for (int64_t heads = 1; heads <= 9; ++heads)
    for (int64_t ranks = 1; ranks <= 6; ++ranks) {
      SCOPED_TRACE(testing::Message() << heads << " over " << ranks);
      const Packing *packing = packings.heads(heads, 3, ranks);
      for (int64_t rank = 0; rank < ranks; ++rank)
        EXPECT_EQ(entriesOf(*packing, rank),
                  entriesOfHeads(blockOf(heads, ranks, rank), 3));
      expectConsistent(*packing);
    }
}

TEST(PackingTest, KvHeadsAreThoseThatQueryHeadsRead) {
  Packings packings{Degrees()};
  for (int64_t kvHeads = 1; kvHeads <= 5; ++kvHeads)
    for (int64_t group = 1; group <= 5; ++group)
      for (int64_t ranks = 1; ranks <= 8; ++ranks) {
        int64_t heads = kvHeads * group;
        SCOPED_TRACE(testing::Message()
                     << heads << " and " << kvHeads << " over " << ranks);
        const Packing *packing = packings.kvHeads(heads, kvHeads, 2, ranks);
        for (int64_t rank = 0; rank < ranks; ++rank)
          EXPECT_EQ(entriesOf(*packing, rank),
                    entriesOfHeads(kvHeadsOf(heads, kvHeads, ranks, rank), 2));
        expectConsistent(*packing);
      }
}

TEST(PackingTest, KvHeadsOfSixHeadsOverFourRanks) {
  // Heads 0-1, 2-3, 4-5 and none; heads 0-2 read kv head 0, the others 1. The
  // first rank has kv head 1 as well, since there is room for it.
  Packings packings{Degrees()};
  const Packing *packing = packings.kvHeads(6, 2, 1, 4);
  EXPECT_EQ(ranksOf(*packing), (Ranks{{0, 1}, {0, 1}, {1, -1}, {-1, -1}}));
  EXPECT_TRUE(packing->isReplicated());
}

TEST(PackingTest, FusedHeadsAreQueriesThenKeysThenValues) {
  Packings packings{Degrees()};
  for (int64_t kvHeads = 1; kvHeads <= 4; ++kvHeads)
    for (int64_t group = 1; group <= 4; ++group)
      for (int64_t ranks = 1; ranks <= 8; ++ranks) {
        int64_t heads = kvHeads * group;
        SCOPED_TRACE(testing::Message()
                     << heads << " and " << kvHeads << " over " << ranks);
        const Packing *packing = packings.qkvHeads(heads, kvHeads, 2, ranks);
        int64_t keys = heads * 2, values = keys + kvHeads * 2;
        EXPECT_EQ(packing->getGlobalSize(), values + kvHeads * 2);
        for (int64_t rank = 0; rank < ranks; ++rank) {
          Entries wanted = entriesOfHeads(blockOf(heads, ranks, rank), 2);
          Entries read = kvHeadsOf(heads, kvHeads, ranks, rank);
          append(wanted, entriesOfHeads(read, 2, keys));
          append(wanted, entriesOfHeads(read, 2, values));
          EXPECT_EQ(entriesOf(*packing, rank), wanted);
        }
        expectConsistent(*packing);
      }
}

TEST(PackingTest, PartsOfFusedHeadsConcatenateToThem) {
  Packings packings{Degrees()};
  const Packing *fused = packings.qkvHeads(6, 2, 4, 4);
  ASSERT_EQ(fused->getParts().size(), 2u);
  for (int64_t rank = 0; rank < 4; ++rank) {
    Entries joined;
    int64_t begin = 0;
    for (const Packing *part : fused->getParts()) {
      append(joined, entriesOfHeads(entriesOf(*part, rank), 1, begin));
      begin += part->getGlobalSize();
    }
    EXPECT_EQ(entriesOf(*fused, rank), joined);
  }
  EXPECT_FALSE(fused->getParts()[0]->isReplicated());
  EXPECT_TRUE(fused->getParts()[1]->isReplicated());
}

TEST(PackingTest, PairsStayOnOneRank) {
  Packings packings{Degrees()};
  for (int64_t heads = 1; heads <= 5; ++heads)
    for (int64_t ranks = 1; ranks <= 4; ++ranks)
      for (int64_t local = 1; local <= 3; ++local) {
        int64_t half = ranks * local, size = 2 * half;
        SCOPED_TRACE(testing::Message()
                     << heads << " of " << size << " over " << ranks);
        const Packing *pairs = packings.pairs(heads, size, ranks);
        for (int64_t rank = 0; rank < ranks; ++rank) {
          Entries wanted;
          for (int64_t head = 0; head < heads; ++head)
            for (int64_t begin : {head * size, head * size + half})
              append(wanted,
                     entriesOfHeads(blockOf(half, ranks, rank), 1, begin));
          EXPECT_EQ(entriesOf(*pairs, rank), wanted);
        }
        expectConsistent(*pairs);
        EXPECT_FALSE(pairs->isReplicated());
      }
}

TEST(PackingTest, EqualPackingsAreOneObject) {
  Packings packings{Degrees()};
  EXPECT_EQ(packings.blocks(10, 4), packings.blocks(10, 4));
  EXPECT_EQ(packings.blocks(10, 4), packings.heads(10, 1, 4));
  EXPECT_NE(packings.blocks(10, 4), packings.blocks(10, 2));
  EXPECT_NE(packings.heads(4, 3, 2), packings.heads(3, 4, 2));
  EXPECT_NE(packings.blocks(8, 2), packings.onFirst(8, 2));
}

//===----------------------------------------------------------------------===//
// Hidden features of experts
//===----------------------------------------------------------------------===//

static Degrees stageOf(int64_t tp, int64_t dp, int64_t ep) {
  Degrees degrees(tp, ep, 1, 1);
  degrees.dp = dp;
  return degrees;
}

TEST(PackingTest, HiddenOfExpertsIsInTheOrderOfTheBlocksOutside) {
  // tp 4, etp 2: q 2. Device j has blocks j and 2 + j of the four.
  Packings packings{stageOf(4, 1, 2)};
  const Packing *inside = packings.hidden(10, Axis::Etp);
  EXPECT_EQ(inside, packings.hiddenOverC(10));
  EXPECT_EQ(packings.hidden(10, Axis::Tp), packings.blocks(10, 4));
  EXPECT_EQ(entriesOf(*inside, 0), (std::vector<int64_t>{0, 1, 2, 6, 7, 8}));
  EXPECT_EQ(entriesOf(*inside, 1), (std::vector<int64_t>{3, 4, 5, 9, -1, -1}));
}

TEST(PackingTest, HiddenOfExpertsIsCutOnceMoreWhereTheirGroupsAreLarger) {
  // tp 2, etp 4: q 2. Blocks of 5 and 4 of the 9, each in parts of 3.
  Packings packings{stageOf(2, 2, 1)};
  const Packing *inside = packings.hidden(9, Axis::Etp);
  EXPECT_EQ(entriesOf(*inside, 0), (std::vector<int64_t>{0, 1, 2}));
  EXPECT_EQ(entriesOf(*inside, 1), (std::vector<int64_t>{5, 6, 7}));
  EXPECT_EQ(entriesOf(*inside, 2), (std::vector<int64_t>{3, 4, -1}));
  EXPECT_EQ(entriesOf(*inside, 3), (std::vector<int64_t>{8, -1, -1}));
  const Packing *overC = packings.hiddenOverC(9);
  EXPECT_EQ(entriesOf(*overC, 0), (std::vector<int64_t>{0, 1, 2, 3, 4, -1}));
  EXPECT_EQ(entriesOf(*overC, 1), (std::vector<int64_t>{5, 6, 7, 8, -1, -1}));
}

/// T.H is made of H by putting the parts of all devices over q beside each
/// other.
TEST(PackingTest, HiddenOverCIsThatOfAllDevicesOverQ) {
  for (const Degrees &degrees :
       {stageOf(4, 1, 2), stageOf(6, 2, 4), stageOf(6, 2, 6), stageOf(2, 2, 1),
        stageOf(2, 6, 2), stageOf(3, 4, 2)})
    for (int64_t size : {5, 12, 17, 26}) {
      StageGrid grid(degrees);
      Packings packings(degrees);
      Axis over = grid.isQOutside() ? Axis::Tp : Axis::Etp;
      const Packing *whole = packings.hidden(size, over);
      for (int64_t j = 0; j < grid.c(); ++j) {
        std::vector<int64_t> beside;
        for (int64_t i = 0; i < grid.q(); ++i)
          for (int64_t entry : entriesOf(*whole, i * grid.c() + j))
            beside.push_back(entry);
        EXPECT_EQ(entriesOf(*packings.hiddenOverC(size), j), beside);
      }
    }
}

//===----------------------------------------------------------------------===//
// Two axes of tp
//===----------------------------------------------------------------------===//

TEST(PackingTest, DevicesAlongAnAxisOfTpGatherTheBlocksOfTheOthers) {
  // Blocks of 2 of the 7 over tp 4: 0 1 | 2 3 | 4 5 | 6 -.
  Degrees degrees = stageOf(4, 1, 1);
  degrees.tp2 = 2;
  Packings packings(degrees);
  const Packing *blocks = packings.blocks(7, 4);
  const Packing *rows = packings.gathered(blocks, Axis::Tp1);
  EXPECT_EQ(entriesOf(*rows, 0), (std::vector<int64_t>{0, 1, 2, 3}));
  EXPECT_EQ(entriesOf(*rows, 1), (std::vector<int64_t>{4, 5, 6, -1}));
  const Packing *columns = packings.gathered(blocks, Axis::Tp2);
  EXPECT_EQ(entriesOf(*columns, 0), (std::vector<int64_t>{0, 1, 4, 5}));
  EXPECT_EQ(entriesOf(*columns, 1), (std::vector<int64_t>{2, 3, 6, -1}));
  const Packing *bias = packings.onFirstOf(columns, Axis::Tp2);
  EXPECT_EQ(entriesOf(*bias, 0), (std::vector<int64_t>{0, 1, 4, 5}));
  EXPECT_EQ(entriesOf(*bias, 1), (std::vector<int64_t>{2, 3, 6, -1}));
  for (int64_t rank : {2, 3})
    EXPECT_EQ(entriesOf(*bias, rank), (std::vector<int64_t>(4, -1)));
}

//===----------------------------------------------------------------------===//
// Shared positions
//===----------------------------------------------------------------------===//

TEST(PackingTest, DevicesThatSharePositionsHaveTheirHeadsTogether) {
  Degrees degrees = stageOf(4, 1, 1);
  degrees.cp = 2;
  Packings packings(degrees);
  // 6 heads over 4 devices: 2 each; 3 kv heads of 2.
  const Packing *queries = packings.contextHeads(6, 1, 4, 2);
  EXPECT_EQ(entriesOf(*queries, 1), (std::vector<int64_t>{0, 1, 2, 3}));
  EXPECT_EQ(entriesOf(*queries, 2), (std::vector<int64_t>{4, 5, -1, -1}));
  const Packing *kv = packings.contextKvHeads(6, 3, 1, 4, 2);
  EXPECT_EQ(entriesOf(*kv, 0), (std::vector<int64_t>{0, 1}));
  EXPECT_EQ(entriesOf(*kv, 3), (std::vector<int64_t>{2, -1}));
}

TEST(PackingTest, ADeviceWithoutQueriesHasTheKvHeadsThatAllOfItsGroupRead) {
  Degrees degrees = stageOf(4, 1, 1);
  degrees.cp = 4;
  Packings packings(degrees);
  // 3 heads over 4 devices, of one kv head.
  EXPECT_EQ(entriesOf(*packings.kvHeads(3, 1, 1, 4), 3),
            (std::vector<int64_t>{0}));
}
