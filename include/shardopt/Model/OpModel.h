//===- OpModel.h - What the cost model asks of an op ------------*- C++ -*-===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// An op is asked two questions, for a dim and the placements in which its
// activation operands arrive: which placements does it want and leave (its
// rule), and what does it make a device do (its cost). Nothing else in the cost
// model knows one op from another.
//
//===----------------------------------------------------------------------===//

#ifndef SHARDOPT_MODEL_OPMODEL_H
#define SHARDOPT_MODEL_OPMODEL_H

#include "shardopt/Model/Context.h"
#include "shardopt/Model/DimChoice.h"
#include "shardopt/Model/Kernel.h"
#include "shardopt/Model/Placement.h"
#include "shardopt/Support/InlineVector.h"
#include "shardopt/Support/Span.h"

#include <memory>
#include <optional>

namespace shardopt::cost {

/// Most activation operands of an op: those of latent attention with an
/// indexer.
inline constexpr unsigned maxOperands = 3;

/// What an op wants of one of its activation operands.
struct OperandRule {
  /// What the op leaves of its operand for later consumers of it.
  enum class Copy : uint8_t {
    Required, ///< a copy as it requires it
    Whole,    ///< a copy in R, which a collective of its own has made
    None,
  };

  Placement required; ///< it is resharded to this first
  double rows = 0;    ///< rows (global) that this reshard moves
  Copy copy = Copy::Required;
};

/// What an op leaves in one of its results.
struct ResultRule {
  Placement placement;
  /// The operand that this result merely passes on, in the placement given; -1
  /// if the op computes it. Copies made of the one are copies of the other.
  int passes = -1;
};

struct Rule {
  /// Why this dim is illegal here (a phrase without a subject), or null.
  const char *illegal = nullptr;
  InlineVector<OperandRule, maxOperands>
      operands; ///< as many as activation operands
  InlineVector<ResultRule, 3> results;

  bool isLegal() const { return !illegal; }
};

struct OpCost {
  InlineVector<Kernel, 4> kernels; ///< in order
  InlineVector<Pass, 5> passes; ///< in addition to the kernels, in some engines
  InlineVector<Collective, 3>
      collectives;        ///< inside the op, each of a name; no reshards
  double weightBytes = 0; ///< held by a device, per layer
  double cacheBytes = 0;  ///< held by a device, per layer, all micro-batches
};

/// What rule and cost of an op read of degrees and batch, apart from tp, tp2,
/// the rows of a micro-batch, and q and c where operands may be sharded on q.
/// Degrees that differ in nothing that an op reads share what is known of it.
enum class Reads : uint8_t {
  Rows,      ///< nothing else
  Sequences, ///< cp, and the sequences of a replica
  Experts,   ///< dp, ep, the exchange and the routing
  Everything,
};

/// Types in place of those of a program; none: those of the program.
struct OpTypes {
  std::optional<WeightType> attention; ///< of all projections around attention
  std::optional<WeightType> dense;     ///< of networks, and of shared experts
  std::optional<WeightType> experts;   ///< of routed experts
  std::optional<double> cacheBytes;    ///< of an element of a kv cache
};

/// Rule and cost of one op. Implementations are immutable and safe to ask from
/// several threads; both functions are called some hundred times for every
/// degree tuple and must not allocate.
class OpModel {
public:
  virtual ~OpModel() = default;

  /// The dims that the op has, ascending, at least one. Whether one of them is
  /// legal in its place is the rule's to say.
  virtual Span<const DimChoice> choices() const = 0;

  /// `incoming` has one placement for each activation operand, in order:
  /// tokens, positions, weights, caches and indices are not among them.
  virtual Rule rule(Dim dim, Span<const Placement> incoming,
                    const Context &context) const = 0;

  /// What one device does, once its operands are as the rule requires, for one
  /// micro-batch. Only asked where the rule is legal.
  virtual OpCost cost(Dim dim, Span<const Placement> incoming,
                      const Context &context) const = 0;

  virtual Reads reads() const { return Reads::Everything; }

  /// The types that it has.
  virtual OpTypes types() const { return {}; }
  /// The op with weights and caches of `types`; null where that changes
  /// nothing.
  virtual std::shared_ptr<const OpModel> retyped(const OpTypes &) const {
    return nullptr;
  }

  /// Whether the cost reads `Context::window`. Rules never do.
  virtual bool dependsOnWindow() const { return false; }

  /// Whether `dimBoth` is one of the dims, legal where tp2 is above 1.
  virtual bool canShardBothDims() const { return false; }

  /// Whether cp cuts what the op caches. Where cp is above 1 its dim is then 0,
  /// or in prefill with cp = tp none.
  virtual bool cutsContext() const { return false; }
};

} // namespace shardopt::cost

#endif // SHARDOPT_MODEL_OPMODEL_H
