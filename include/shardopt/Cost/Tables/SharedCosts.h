//===- SharedCosts.h - Costs of ops that degrees share ----------*- C++ -*-===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef SHARDOPT_COST_TABLES_SHAREDCOSTS_H
#define SHARDOPT_COST_TABLES_SHAREDCOSTS_H

#include "shardopt/Model/DimSet.h"
#include "shardopt/Model/Model.h"

#include <array>
#include <memory>
#include <optional>

namespace shardopt::cost {

struct OpEntries; // OpEntries.h
struct OpEntry;

/// The least seconds and the least bytes of several choices; infinite if there
/// is none. They may be those of two different ones.
struct LeastCost {
  double seconds = 0;
  double bytes = 0;
};

/// The same of single dims of an op, by dim.
struct LeastCosts {
  std::array<LeastCost, maxDims> dims;
  DimSet known = 0; ///< which of them are
};

/// Of consecutive ops of a layer. Negative: not known.
struct LeastSum {
  LeastCost sum{-1, -1};
  double walked = -1; ///< seconds of a walk through them

  bool isKnown() const { return sum.seconds >= 0; }
};

/// An op, or several, and all that their rules and costs read (`Reads`).
class OpKey {
public:
  /// Of `node` in a layer of `window`; none if it reads everything.
  static std::optional<OpKey> of(const Node &node, const Context &context);

  /// Of the ops that `SharedCosts::numberOf` calls `number`, which read
  /// `reads`.
  static OpKey ofRun(uint32_t number, Reads reads, const Context &context);

  uint64_t hash() const;
  friend bool operator==(const OpKey &a, const OpKey &b) {
    return a.words == b.words;
  }

private:
  static OpKey make(uint64_t what, int64_t window, Reads reads,
                    const Context &context);

  std::array<uint64_t, 11> words = {};
};

/// What is known of single ops, for whoever bounds or tabulates many degrees of
/// one cost model one after the other: an op outside of the experts costs the
/// same for every ep and exchange, one inside of them for every cp and pp. Not
/// safe to use from several threads.
class SharedCosts {
public:
  SharedCosts();
  ~SharedCosts();

  /// Forgets all if that is much. Nothing that was got from here is valid then.
  void makeRoom();

  /// A number for the ops of layers of kind `kind` from `first` on whose dims
  /// are in `domains`, in order.
  uint32_t numberOf(unsigned kind, unsigned first, Span<const DimSet> domains);

  // What is known of a key, for the caller to add to.

  LeastCosts &leasts(const OpKey &key);
  LeastSum &sums(const OpKey &key);
  OpEntries &entries(const OpKey &key);
  /// Room for another one of `entries`.
  OpEntry &newEntry();

private:
  struct Known;
  std::unique_ptr<Known> known;
};

} // namespace shardopt::cost

#endif // SHARDOPT_COST_TABLES_SHAREDCOSTS_H
