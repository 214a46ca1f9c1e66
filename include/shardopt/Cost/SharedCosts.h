//===- SharedCosts.h - Costs of ops that degrees share ----------*- C++ -*-===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef SHARDOPT_COST_SHAREDCOSTS_H
#define SHARDOPT_COST_SHAREDCOSTS_H

#include "shardopt/Cost/DimSet.h"
#include "shardopt/Cost/Model.h"

#include <array>
#include <memory>
#include <optional>
#include <unordered_map>

namespace shardopt::cost {

struct OpEntries; // Trellis.cpp

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

/// An op and all that its rule and cost read (`Reads`).
class OpKey {
public:
  /// Of `node` in a layer of `window`; none if it reads everything.
  static std::optional<OpKey> of(const Node &node, const Context &context);

  /// Of the seconds of the first ops of layers of kind `kind`, none of which is
  /// of experts; `domains` are their dims, of each op a byte.
  static OpKey ofFirst(unsigned kind, std::array<uint64_t, 2> domains,
                       const Context &context);

  struct Hash {
    size_t operator()(const OpKey &key) const;
  };
  friend bool operator==(const OpKey &a, const OpKey &b) {
    return a.words == b.words;
  }

private:
  static OpKey make(uint64_t what, int64_t window, Reads reads,
                    const Context &context);

  std::array<uint64_t, 10> words = {};
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

  /// What is known of `key`, for the caller to add to.
  LeastCosts &leasts(const OpKey &key);
  /// The seconds of first ops; negative: not known, and for the caller to fill.
  double &secondsOfFirst(const OpKey &key);
  OpEntries &entries(const OpKey &key);

private:
  std::unordered_map<OpKey, LeastCosts, OpKey::Hash> ofDims;
  std::unordered_map<OpKey, double, OpKey::Hash> ofFirst;
  std::unordered_map<OpKey, std::unique_ptr<OpEntries>, OpKey::Hash> tables;
};

} // namespace shardopt::cost

#endif // SHARDOPT_COST_SHAREDCOSTS_H
