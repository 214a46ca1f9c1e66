//===- Packing.h - Which features each rank holds ---------------*- C++ -*-===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A packing says which of the `globalSize` entries of a dim every rank of a
// group holds, and in which order. All ranks hold `localSize` entries: short
// ones are padded with zeros, and entries that several ranks need stand in each
// of them. One packing describes alike the columns of an activation in layout
// H, the slice of a weight, and what must be done to gather or to scatter. It
// is kept as runs, so that its size does not depend on the number of entries.
//
// Example: 3 entries over 2 ranks in blocks are [0, 1] and [2, zero].
//
//===----------------------------------------------------------------------===//

#ifndef SHARDOPT_DIALECT_LLM_TRANSFORMS_PARTITION_PACKING_H
#define SHARDOPT_DIALECT_LLM_TRANSFORMS_PARTITION_PACKING_H

#include "shardopt/Dialect/LLM/IR/Run.h"
#include "shardopt/Model/StageGrid.h"

#include <map>
#include <memory>
#include <vector>

namespace shardopt::llm {

/// The shortest runs that this library finds for a list of entries (-1: zero).
std::vector<Run> compress(const std::vector<int64_t> &entries);

class Packing {
public:
  /// `ranks[j]` are the entries of rank j; all ranks have as many. `order` is a
  /// word for reports.
  Packing(const char *order, int64_t globalSize,
          std::vector<std::vector<Run>> ranks,
          std::vector<const Packing *> parts = {});

  /// How entries are ordered: "blocks", "heads", "pairs", ...
  const char *getOrder() const { return order; }

  int64_t getGlobalSize() const { return globalSize; }
  int64_t getLocalSize() const { return localSize; }
  int64_t getNumRanks() const { return int64_t(runs.size()); }
  /// The entries of rank `rank`.
  const std::vector<Run> &getRuns(int64_t rank) const { return runs[rank]; }

  /// From the global order to all ranks' entries, rank by rank.
  const std::vector<Run> &getPack() const { return pack; }
  /// From all ranks' entries, rank by rank, back to the global order. Empty for
  /// a packing that does not hold every entry.
  const std::vector<Run> &getUnpack() const { return unpack; }
  /// Whether an entry stands in more than one rank.
  bool isReplicated() const { return replicated; }
  /// The packings that this one concatenates, in the global order and
  /// in every rank's alike; none for a plain one.
  const std::vector<const Packing *> &getParts() const { return parts; }

private:
  const char *order;
  int64_t globalSize;
  int64_t localSize = 0;
  bool replicated = false;
  std::vector<std::vector<Run>> runs;
  std::vector<const Packing *> parts;
  std::vector<Run> pack, unpack;
};

/// Makes packings, each once: pointers to equal packings are equal. A "head" is
/// a group of `headSize` adjacent entries.
class Packings {
public:
  explicit Packings(const Degrees &degrees) : grid(degrees) {}

  /// `size` features over `over`, which is tp or etp, so that an exchange needs
  /// no other order: blocks over the larger of them. Where that is tp, an
  /// expert group's device j has the blocks of all the devices that it is
  /// outside; where it is etp, blocks over tp are cut again.
  const Packing *hidden(int64_t size, Axis over);
  /// The same features over c alone, in layout T.H.
  const Packing *hiddenOverC(int64_t size);
  /// Contiguous blocks of ceil(size / ranks).
  const Packing *blocks(int64_t size, int64_t ranks);
  /// Two concatenated dims of `size` entries (gate, up), each in blocks.
  const Packing *pairedBlocks(int64_t size, int64_t ranks);
  /// What a device along `over`, which is tp1 or tp2, has of `whole`, which is
  /// over tp, once that is gathered along the other of them.
  const Packing *gathered(const Packing *whole, Axis over);
  /// Over tp, what `part`, which is over tp1 or tp2, has on the devices that
  /// stand first along the other of them, and zeros elsewhere (a bias of a
  /// partial sum).
  const Packing *onFirstOf(const Packing *part, Axis over);
  /// All entries on rank 0, zeros on the others (a bias of a partial sum).
  const Packing *onFirst(int64_t size, int64_t ranks);
  /// Whole heads: ceil(heads / ranks) each.
  const Packing *heads(int64_t heads, int64_t headSize, int64_t ranks);
  /// The kv heads that the query heads of a rank touch, and the next ones where
  /// another rank touches more. Where cp ranks that share positions all touch
  /// the same, one without query heads has those as well.
  const Packing *kvHeads(int64_t heads, int64_t kvHeads, int64_t headSize,
                         int64_t ranks);
  /// Keys and values side by side, each by the kv heads above.
  const Packing *kvPair(int64_t heads, int64_t kvHeads, int64_t headSize,
                        int64_t ranks);
  /// The fused queries, keys and values: `heads`, each with a gate behind it
  /// where they are `gated`, then twice `kvHeads`.
  const Packing *qkvHeads(int64_t heads, int64_t kvHeads, int64_t headSize,
                          int64_t ranks, bool gated = false);
  /// Of all cp ranks that share the positions of a sequence: the query heads,
  /// the kv heads that these touch, and both as `qkvHeads` has them.
  const Packing *contextHeads(int64_t heads, int64_t headSize, int64_t ranks,
                              int64_t cp);
  const Packing *contextKvHeads(int64_t heads, int64_t kvHeads,
                                int64_t headSize, int64_t ranks, int64_t cp);
  const Packing *contextQkvHeads(int64_t heads, int64_t kvHeads,
                                 int64_t headSize, int64_t ranks, int64_t cp);
  /// Of each of `heads` heads, the rotary pairs (i, i + headSize / 2) with i in
  /// the rank's block: first the first halves, then the second ones.
  const Packing *pairs(int64_t heads, int64_t headSize, int64_t ranks);
  /// Several dims side by side, each by its own packing.
  const Packing *beside(const std::vector<const Packing *> &parts);

private:
  enum class Kind : uint8_t {
    CutBlocks,
    WholeBlocks,
    Heads,
    PairedBlocks,
    Gathered,
    OnFirstOf,
    OnFirst,
    KvHeads,
    ContextHeads,
    ContextKvHeads,
    Pairs,
    Twice,
    BesideQueries,
    Beside
  };
  /// What a packing is made from. One is made once, so that equal packings of
  /// the same kind are the same one.
  struct Key {
    Kind kind;
    std::vector<int64_t> sizes; ///< with which `kind` is called
    std::vector<const Packing *> parts = {};

    bool operator<(const Key &other) const;
  };

  /// Queries, then keys and values.
  const Packing *besideQueries(const Packing *queries, const Packing *pair);
  /// Keys, then values, each as `half`.
  const Packing *twice(const Packing *half);
  template <typename Make> const Packing *get(Key key, Make make);

  StageGrid grid;
  std::map<Key, std::unique_ptr<Packing>> made;
};

} // namespace shardopt::llm

#endif // SHARDOPT_DIALECT_LLM_TRANSFORMS_PARTITION_PACKING_H
