//===- Trellis.h - All walks of layouts through one layer -------*- C++ -*-===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef SHARDOPT_COST_TABLES_TRELLIS_H
#define SHARDOPT_COST_TABLES_TRELLIS_H

#include "shardopt/Cost/CostModel.h"
#include "shardopt/Cost/Tables/SharedCosts.h"
#include "shardopt/Model/DimSet.h"

namespace shardopt::cost {

/// One op with one dim, from one state.
struct Edge {
  double seconds = 0; ///< kernels, collectives and the reshards of operands
  double bytes = 0;   ///< weights and cache of a device, per layer
  uint32_t next = 0;  ///< state after the op
  bool legal = false; ///< if not, nothing else is set
  bool fits = true;   ///< what is live while the op runs
};

/// What the layers of one kind cost more than those of the body's first kind.
struct Variation {
  double seconds = 0;
  double bytes = 0;
};

/// A *state* after some ops of a layer says, for every value that is still
/// needed, in which layout its op left it and in which others copies of it have
/// been made, and how the layer's cost varies with its window so far: all that
/// what follows can depend on. States are numbered anew after each op; before
/// the first op there is one, number 0. A choice of dims is a walk along edges,
/// and its cost the sum of theirs.
///
/// Example: a layer in decode whose norm anchors the residual in T.
///
///     op         dim  from           pays            to
///     attn_norm  0    number 0       nothing         residual T, normed T
///     qkv_proj   0    normed in T    all-to-all      residual T, qkv P
///     qkv_proj   1    normed in T    all-gather      residual T, qkv H
///     attention  0    qkv in P       reduce-scatter  residual T, heads H
///     attention  0    qkv in H       nothing         residual T, heads H
///
/// The last two edges end in one state, under one number: what follows is the
/// same, whatever it cost to get there. That is why millions of choices of dims
/// share a few dozen states. In the key of a state (StateNumbers.h) a value has
/// its layout and, where several ops read it, the set of its copies.
struct Trellis {
  struct Step {
    unsigned variable = 0;  ///< of the op, in Strategy::dims
    unsigned firstEdge = 0; ///< of state 0 and dim 0
    unsigned numStates = 0; ///< before the op
    unsigned numDims = 0;   ///< of the op; a dim that it lacks is illegal

    size_t edge(unsigned state, Dim dim) const {
      return firstEdge + size_t(state) * numDims + size_t(dim);
    }
  };

  /// The state after the last op, as what follows the layer sees it.
  struct Exit {
    /// Seconds to leave the layer, by the layout wanted next.
    double leaveSeconds[numLayouts] = {};
    /// Seconds to leave the last layer, and of the head, by the head's dim.
    double headSeconds[maxDims] = {};
    /// What other kinds of layers cost more, by LayerIndex::kinds. Empty: no
    /// more. Those of other bodies stay 0.
    std::vector<Variation> variations;
  };

  std::vector<Step> steps;
  std::vector<Edge> edges;
  /// What a device holds while the op of an edge runs (LiveValues.h), by edge;
  /// empty where that is not limited.
  std::vector<double> liveBytes;
  std::vector<Exit> exits; ///< by the state after the last op
  Layout anchors[maxDims] =
      {}; ///< layout of the residual, by dim of the first op

  const Edge &edge(const Step &step, unsigned state, Dim dim) const {
    return edges[step.edge(state, dim)];
  }
};

/// What tables are made of, in addition to the model.
struct TableRequest {
  Degrees degrees;                 ///< which fit
  std::optional<BatchRange> range; ///< from their batch on
  /// Dims that are not in these, one set a variable, are illegal; empty: all
  /// are in.
  Span<const DimSet> domains;
  /// What other requests of the same cost model have found out; may be null.
  SharedCosts *shared = nullptr;
};

/// The trellis of `body`.
Trellis buildTrellis(const CostModel &costs, unsigned body,
                     const TableRequest &request);

/// The least seconds of a walk through the first `numNodes` ops of layers of
/// kind `kind` that fits at each moment; infinite if there is none.
double leastSecondsOfFirst(const CostModel &costs, unsigned kind,
                           size_t numNodes, const TableRequest &request);

} // namespace shardopt::cost

#endif // SHARDOPT_COST_TABLES_TRELLIS_H
