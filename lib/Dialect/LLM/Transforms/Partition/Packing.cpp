//===- Packing.cpp - Which features each rank holds -----------------------===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "shardopt/Dialect/LLM/Transforms/Partition/Packing.h"

#include "shardopt/Model/Context.h"
#include "shardopt/Model/Heads.h"
#include "shardopt/Model/ProgramGrid.h"

#include <algorithm>
#include <cassert>
#include <cstddef>
#include <set>
#include <tuple>

using namespace shardopt;
using namespace shardopt::llm;

using Runs = std::vector<Run>;

//===----------------------------------------------------------------------===//
// Pieces
//===----------------------------------------------------------------------===//

namespace {

/// Entries `start`, `start + 1`, ...; zeros where start is negative.
struct Piece {
  int64_t start = 0;
  int64_t size = 0;

  bool isZeros() const { return start < 0; }
  int64_t end() const { return start + size; }
};

} // namespace

using Pieces = std::vector<Piece>;

/// Appends `piece`, to the last one where they are adjacent.
static void append(Pieces &pieces, Piece piece) {
  if (piece.size == 0)
    return;
  if (!pieces.empty()) {
    Piece &last = pieces.back();
    bool adjoins = piece.isZeros()
                       ? last.isZeros()
                       : !last.isZeros() && piece.start == last.end();
    if (adjoins) {
      last.size += piece.size;
      return;
    }
  }
  pieces.push_back(piece);
}

//===----------------------------------------------------------------------===//
// Runs
//===----------------------------------------------------------------------===//

/// Takes the longest arithmetic progression off the front of `pieces`, whose
/// first `next` are taken. Pieces that are not adjacent continue one only
/// entry by entry.
static Run takeRun(Pieces &pieces, size_t &next) {
  Piece &first = pieces[next];
  Run run{first.isZeros() ? -1 : first.start, first.size, 1, 1, 0};
  if (first.isZeros() || first.size > 1) {
    ++next;
    return run;
  }
  ++next;
  if (next == pieces.size() || pieces[next].start <= run.start)
    return run;
  run.stride = pieces[next].start - run.start;
  while (next < pieces.size()) {
    Piece &piece = pieces[next];
    if (piece.isZeros() || piece.start != run.start + run.size * run.stride)
      break;
    ++run.size;
    if (piece.size > 1) { // its second entry is at a stride of 1
      ++piece.start;
      --piece.size;
      break;
    }
    ++next;
  }
  return run;
}

/// Whether `next` continues the regular repetition that `run` began.
static bool repeats(const Run &run, const Run &next) {
  if (run.start < 0 || next.start < 0 || next.size != run.size ||
      next.stride != run.stride)
    return false;
  return run.count == 1 || next.start == run.start + run.count * run.step;
}

static Runs compress(Pieces pieces) {
  Runs runs;
  for (size_t next = 0; next < pieces.size();) {
    Run run = takeRun(pieces, next);
    if (!runs.empty() && repeats(runs.back(), run)) {
      Run &last = runs.back();
      if (last.count == 1)
        last.step = run.start - last.start;
      ++last.count;
      continue;
    }
    runs.push_back(run);
  }
  return runs;
}

/// The pieces that `runs` write out.
static Pieces expand(const Runs &runs) {
  Pieces pieces;
  for (const Run &run : runs)
    for (int64_t c = 0; c < run.count; ++c) {
      int64_t start = run.start < 0 ? -1 : run.start + c * run.step;
      if (run.stride == 1 || start < 0) {
        append(pieces, {start, run.size});
        continue;
      }
      for (int64_t i = 0; i < run.size; ++i)
        append(pieces, {start + i * run.stride, 1});
    }
  return pieces;
}

Runs llm::compress(const std::vector<int64_t> &entries) {
  Pieces pieces;
  for (int64_t entry : entries)
    append(pieces, {entry < 0 ? -1 : entry, 1});
  return ::compress(std::move(pieces));
}

//===----------------------------------------------------------------------===//
// Packing
//===----------------------------------------------------------------------===//

namespace {

/// Where in `all` the entries 0 .. size - 1 stand: at their first place, if
/// they have several.
struct Inverse {
  Pieces places;
  bool isComplete = true;  ///< each has a place
  bool isRepeated = false; ///< one has several
};

} // namespace

static Inverse invert(const Pieces &all, int64_t size) {
  // A sweep over the entries: at each place where a piece begins or ends, the
  // earliest of the open ones is the one that counts.
  std::vector<int64_t> places; // of each piece in `all`
  std::vector<std::tuple<int64_t, bool, size_t>> events;
  int64_t place = 0;
  for (size_t i = 0; i < all.size(); ++i) {
    places.push_back(place);
    place += all[i].size;
    if (all[i].isZeros())
      continue;
    events.emplace_back(all[i].start, true, i);
    events.emplace_back(all[i].end(), false, i);
  }
  std::sort(events.begin(), events.end());

  Inverse inverse;
  std::set<size_t> open;
  int64_t entry = 0;
  for (const auto &[at, begins, piece] : events) {
    if (at > entry) {
      if (open.empty()) {
        inverse.isComplete = false;
      } else {
        size_t first = *open.begin();
        append(inverse.places,
               {places[first] + entry - all[first].start, at - entry});
        inverse.isRepeated |= open.size() > 1;
      }
      entry = at;
    }
    if (begins)
      open.insert(piece);
    else
      open.erase(piece);
  }
  inverse.isComplete &= entry == size;
  return inverse;
}

Packing::Packing(const char *order, int64_t globalSize, std::vector<Runs> ranks,
                 std::vector<const Packing *> parts)
    : order(order), globalSize(globalSize), runs(std::move(ranks)),
      parts(std::move(parts)) {
  Pieces all;
  for (const Runs &held : runs) {
    int64_t size = 0;
    for (const Run &run : held)
      size += run.size * run.count;
    assert((&held == &runs.front() || size == localSize) && "uneven ranks");
    localSize = size;
    for (const Piece &piece : expand(held))
      append(all, piece);
  }
  Inverse inverse = invert(all, globalSize);
  replicated = inverse.isRepeated;
  pack = ::compress(std::move(all));
  if (inverse.isComplete)
    unpack = ::compress(std::move(inverse.places));
}

//===----------------------------------------------------------------------===//
// Packings
//===----------------------------------------------------------------------===//

/// Appends `count` heads from `first` on, and zeros for those beyond the last.
static void appendHeads(Pieces &pieces, int64_t first, int64_t count,
                        int64_t numHeads, int64_t headSize,
                        int64_t offset = 0) {
  int64_t held = std::clamp<int64_t>(numHeads - first, 0, count);
  append(pieces, {offset + first * headSize, held * headSize});
  append(pieces, {-1, (count - held) * headSize});
}

/// The kv head that a query head reads; without such a head, the end.
static int64_t kvHeadOf(int64_t query, int64_t heads, int64_t kvHeads) {
  return query < heads ? query / (heads / kvHeads) : kvHeads;
}

/// Appends the kv heads of rank `rank`: as many for each rank as any needs.
static void appendKvHeads(Pieces &pieces, int64_t heads, int64_t kvHeads,
                          int64_t headSize, int64_t ranks, int64_t rank) {
  int64_t first =
      kvHeadOf(rank * cost::localHeads(heads, ranks), heads, kvHeads);
  appendHeads(pieces, first, cost::localKvHeads(heads, kvHeads, ranks), kvHeads,
              headSize);
}

/// Appends the kv heads that the cp group of rank `rank` has between its first
/// and its last device with heads: fewer than `count`, where others read more.
static void appendContextKvHeads(Pieces &pieces, int64_t heads, int64_t kvHeads,
                                 int64_t headSize, int64_t ranks, int64_t cp,
                                 int64_t rank, int64_t count) {
  int64_t own = cost::localHeads(heads, ranks);
  int64_t begin = rank / cp * cp * own;
  int64_t last = (std::min(begin + cp * own, heads) - 1) / own * own;
  int64_t end = kvHeadOf(last, heads, kvHeads) +
                cost::localKvHeads(heads, kvHeads, ranks);
  appendHeads(pieces, kvHeadOf(begin, heads, kvHeads), count,
              std::min(end, kvHeads), headSize);
}

/// Appends what `rank` holds of a part that begins at global entry `begin`.
static void appendPart(Pieces &pieces, const Packing &part, int64_t rank,
                       int64_t begin) {
  for (const Piece &piece : expand(part.getRuns(rank)))
    append(pieces, {piece.isZeros() ? -1 : begin + piece.start, piece.size});
}

/// The runs of all ranks, each filled by `fill(pieces, rank)`.
template <typename Fill>
static std::vector<Runs> perRank(int64_t ranks, Fill fill) {
  std::vector<Runs> result;
  for (int64_t rank = 0; rank < ranks; ++rank) {
    Pieces pieces;
    fill(pieces, rank);
    result.push_back(compress(std::move(pieces)));
  }
  return result;
}

bool Packings::Key::operator<(const Key &other) const {
  return std::tie(kind, sizes, parts) <
         std::tie(other.kind, other.sizes, other.parts);
}

template <typename Make> const Packing *Packings::get(Key key, Make make) {
  std::unique_ptr<Packing> &packing = made[key];
  if (!packing)
    packing = std::make_unique<Packing>(make());
  return packing.get();
}

const Packing *Packings::hidden(int64_t size, Axis over) {
  int64_t q = grid.q(), c = grid.c(), ranks = grid.size(over);
  if (over == Axis::Tp || q == 1 || ranks == 1)
    return blocks(size, ranks);
  if (grid.isQOutside())
    return hiddenOverC(size);
  return get({Kind::CutBlocks, {size, q, c}}, [&] {
    int64_t block = cost::ceilDiv(size, c), part = cost::ceilDiv(block, q);
    return Packing("blocks", size,
                   perRank(ranks, [&](Pieces &pieces, int64_t rank) {
                     int64_t begin = rank % c * block;
                     int64_t own = std::clamp<int64_t>(size - begin, 0, block);
                     int64_t first = rank / c * part;
                     int64_t held = std::clamp<int64_t>(own - first, 0, part);
                     append(pieces, {begin + first, held});
                     append(pieces, {-1, part - held});
                   }));
  });
}

const Packing *Packings::hiddenOverC(int64_t size) {
  int64_t q = grid.q(), c = grid.c();
  if (q == 1)
    return blocks(size, c);
  return get({Kind::WholeBlocks, {size, q, c}}, [&] {
    return Packing(
        "blocks", size, perRank(c, [&](Pieces &pieces, int64_t rank) {
          if (grid.isQOutside()) {
            int64_t block = cost::ceilDiv(size, q * c);
            for (int64_t i = 0; i < q; ++i)
              appendHeads(pieces, (i * c + rank) * block, block, size, 1);
            return;
          }
          int64_t block = cost::ceilDiv(size, c);
          appendHeads(pieces, rank * block, block, size, 1);
          append(pieces, {-1, q * cost::ceilDiv(block, q) - block});
        }));
  });
}

const Packing *Packings::blocks(int64_t size, int64_t ranks) {
  return heads(size, 1, ranks);
}

const Packing *Packings::heads(int64_t heads, int64_t headSize, int64_t ranks) {
  return get({Kind::Heads, {heads, headSize, ranks}}, [&] {
    int64_t local = cost::ceilDiv(heads, ranks);
    return Packing(headSize == 1 ? "blocks" : "heads", heads * headSize,
                   perRank(ranks, [&](Pieces &pieces, int64_t rank) {
                     appendHeads(pieces, rank * local, local, heads, headSize);
                   }));
  });
}

const Packing *Packings::pairedBlocks(int64_t size, int64_t ranks) {
  return get({Kind::PairedBlocks, {size, ranks}}, [&] {
    int64_t local = cost::ceilDiv(size, ranks);
    return Packing("paired_blocks", 2 * size,
                   perRank(ranks, [&](Pieces &pieces, int64_t rank) {
                     for (int64_t half = 0; half < 2; ++half)
                       appendHeads(pieces, rank * local, local, size, 1,
                                   half * size);
                   }));
  });
}

const Packing *Packings::gathered(const Packing *whole, Axis over) {
  int64_t size = grid.size(over);
  return get({Kind::Gathered, {size, int64_t(over)}, {whole}}, [&] {
    auto fill = [&](Pieces &pieces, int64_t coordinate) {
      for (int64_t rank = 0; rank < whole->getNumRanks(); ++rank)
        if (coordinateOf(rank, grid, over) == coordinate)
          appendPart(pieces, *whole, rank, 0);
    };
    return Packing(whole->getOrder(), whole->getGlobalSize(),
                   perRank(size, fill));
  });
}

const Packing *Packings::onFirstOf(const Packing *part, Axis over) {
  Axis other = over == Axis::Tp1 ? Axis::Tp2 : Axis::Tp1;
  return get({Kind::OnFirstOf, {int64_t(over)}, {part}}, [&] {
    auto fill = [&](Pieces &pieces, int64_t rank) {
      if (coordinateOf(rank, grid, other) == 0)
        appendPart(pieces, *part, coordinateOf(rank, grid, over), 0);
      else
        append(pieces, {-1, part->getLocalSize()});
    };
    return Packing("first", part->getGlobalSize(),
                   perRank(grid.size(Axis::Tp), fill));
  });
}

const Packing *Packings::onFirst(int64_t size, int64_t ranks) {
  return get({Kind::OnFirst, {size, ranks}}, [&] {
    return Packing("first", size,
                   perRank(ranks, [&](Pieces &pieces, int64_t rank) {
                     append(pieces, {rank == 0 ? 0 : -1, size});
                   }));
  });
}

const Packing *Packings::kvHeads(int64_t heads, int64_t kvHeads,
                                 int64_t headSize, int64_t ranks) {
  int64_t cp = grid.size(Axis::Cp);
  if (cp > 1 && cost::contextHeads(heads, kvHeads, ranks, cp).isSame)
    return contextKvHeads(heads, kvHeads, headSize, ranks, cp);
  return get({Kind::KvHeads, {heads, kvHeads, headSize, ranks}}, [&] {
    return Packing("kv_heads", kvHeads * headSize,
                   perRank(ranks, [&](Pieces &pieces, int64_t rank) {
                     appendKvHeads(pieces, heads, kvHeads, headSize, ranks,
                                   rank);
                   }));
  });
}

const Packing *Packings::twice(const Packing *half) {
  return get({Kind::Twice, {}, {half}}, [&] {
    return Packing(
        "kv_heads", 2 * half->getGlobalSize(),
        perRank(half->getNumRanks(), [&](Pieces &pieces, int64_t rank) {
          appendPart(pieces, *half, rank, 0);
          appendPart(pieces, *half, rank, half->getGlobalSize());
        }));
  });
}

const Packing *Packings::besideQueries(const Packing *queries,
                                       const Packing *pair) {
  return get({Kind::BesideQueries, {}, {queries, pair}}, [&] {
    int64_t begin = queries->getGlobalSize();
    return Packing("qkv_heads", begin + pair->getGlobalSize(),
                   perRank(pair->getNumRanks(),
                           [&](Pieces &pieces, int64_t rank) {
                             appendPart(pieces, *queries, rank, 0);
                             appendPart(pieces, *pair, rank, begin);
                           }),
                   {queries, pair});
  });
}

const Packing *Packings::beside(const std::vector<const Packing *> &parts) {
  return get({Kind::Beside, {}, parts}, [&] {
    int64_t size = 0;
    for (const Packing *part : parts)
      size += part->getGlobalSize();
    auto fill = [&](Pieces &pieces, int64_t rank) {
      int64_t begin = 0;
      for (const Packing *part : parts) {
        appendPart(pieces, *part, rank, begin);
        begin += part->getGlobalSize();
      }
    };
    return Packing("beside", size, perRank(parts.front()->getNumRanks(), fill),
                   parts);
  });
}

const Packing *Packings::kvPair(int64_t numHeads, int64_t numKvHeads,
                                int64_t headSize, int64_t ranks) {
  return twice(kvHeads(numHeads, numKvHeads, headSize, ranks));
}

const Packing *Packings::qkvHeads(int64_t numHeads, int64_t numKvHeads,
                                  int64_t headSize, int64_t ranks, bool gated) {
  const Packing *queries =
      heads(numHeads, gated ? 2 * headSize : headSize, ranks);
  return besideQueries(queries, kvPair(numHeads, numKvHeads, headSize, ranks));
}

const Packing *Packings::contextHeads(int64_t heads, int64_t headSize,
                                      int64_t ranks, int64_t cp) {
  return get({Kind::ContextHeads, {heads, headSize, ranks, cp}}, [&] {
    int64_t held = cp * cost::ceilDiv(heads, ranks);
    return Packing("heads", heads * headSize,
                   perRank(ranks, [&](Pieces &pieces, int64_t rank) {
                     appendHeads(pieces, rank / cp * held, held, heads,
                                 headSize);
                   }));
  });
}

const Packing *Packings::contextKvHeads(int64_t heads, int64_t kvHeads,
                                        int64_t headSize, int64_t ranks,
                                        int64_t cp) {
  return get(
      {Kind::ContextKvHeads, {heads, kvHeads, headSize, ranks, cp}}, [&] {
        int64_t count = cost::contextHeads(heads, kvHeads, ranks, cp).kv;
        return Packing("kv_heads", kvHeads * headSize,
                       perRank(ranks, [&](Pieces &pieces, int64_t rank) {
                         appendContextKvHeads(pieces, heads, kvHeads, headSize,
                                              ranks, cp, rank, count);
                       }));
      });
}

const Packing *Packings::contextQkvHeads(int64_t numHeads, int64_t numKvHeads,
                                         int64_t headSize, int64_t ranks,
                                         int64_t cp) {
  return besideQueries(
      contextHeads(numHeads, headSize, ranks, cp),
      twice(contextKvHeads(numHeads, numKvHeads, headSize, ranks, cp)));
}

const Packing *Packings::pairs(int64_t heads, int64_t headSize, int64_t ranks) {
  return get({Kind::Pairs, {heads, headSize, ranks}}, [&] {
    int64_t half = headSize / 2, local = half / ranks;
    return Packing(
        "pairs", heads * headSize,
        perRank(ranks, [&](Pieces &pieces, int64_t rank) {
          for (int64_t head = 0; head < heads; ++head)
            for (int64_t side = 0; side < 2; ++side)
              append(pieces,
                     {head * headSize + side * half + rank * local, local});
        }));
  });
}
