//===- Context.h - What an op may ask when it is costed ---------*- C++ -*-===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef SHARDOPT_MODEL_CONTEXT_H
#define SHARDOPT_MODEL_CONTEXT_H

#include "shardopt/Model/BatchSplit.h"
#include "shardopt/Model/Placement.h"
#include "shardopt/Model/Strategy.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <optional>

namespace shardopt::cost {

/// The phase of inference that a workload describes.
enum class Phase : uint8_t { Decode, Prefill };

/// "decode" or "prefill".
inline const char *spell(Phase phase) {
  return phase == Phase::Decode ? "decode" : "prefill";
}

/// Phase and length: context tokens a sequence has (decode), or tokens of a
/// prompt (prefill).
struct Workload {
  Phase phase = Phase::Decode;
  int64_t context = 0;
};

/// How tokens spread over the experts of a stack, per micro-batch and on the
/// busiest expert-parallel group. A dense stack has one expert that every row
/// visits.
struct Routing {
  int64_t experts = 1;
  int64_t topK = 1;
  int64_t localExperts = 1; ///< ceil(E / ep), and replicas
  double meanCopies =
      0; ///< mu = r * k * dp / ep, copies a group gets on average
  double imbalance = 1;      ///< phi = copies / meanCopies
  double copies = 0;         ///< m, token copies on the busiest group
  double activeFraction = 1; ///< act, chance that an expert gets a token
  double activeExperts = 1;  ///< eact, local experts whose weights are read
};

/// Degrees and workload as one op sees them. All sizes are global and exact:
/// an op rounds only what the model says is rounded (heads, rows, experts).
struct Context : BatchSplit {
  Degrees degrees;
  StageGrid grid;
  Workload workload;
  int64_t window = 0;   ///< sliding window of the layer; 0: full attention
  double rows = 1;      ///< r: b in decode, b * S in prefill
  double sequences = 1; ///< b of a micro-batch; whole but in a mixed step
  double queries = 1;   ///< of a sequence in decode: its new token and drafts
  double cached = 0;    ///< share of a prompt that a cache has already
  /// Whether sequences can stay cut where tokens are.
  bool wholeSequences = true;
  Routing routing;

  bool isPrefill() const { return workload.phase == Phase::Prefill; }
  double tp() const { return double(degrees.tp); }
  /// Ranks of a group along `axis`.
  double ranks(Axis axis) const { return double(grid.size(axis)); }

  /// Context that a layer attends to and caches: min(context, window).
  int64_t attendedLength() const {
    return window ? std::min(workload.context, window) : workload.context;
  }

  /// Rows of `total` that a rank holds in `layout` over n ranks: ceil(total /
  /// n) in T, all of them otherwise. The margin keeps a real `total` that is a
  /// multiple of n but for rounding from costing one row more.
  double localRows(Layout layout, double total, Axis over = Axis::Tp) const {
    return layout == Layout::T ? std::ceil(total / ranks(over) - 1e-12) : total;
  }

  /// Bytes that a rank holds of `rows` rows so placed.
  double heldBytes(const Placement &at, double rows) const {
    if (isTwoAxis(at.layout))
      rows = std::ceil(rows / ranks(Axis::Q) - 1e-12);
    double parts = at.layout == Layout::H    ? ranks(at.over)
                   : at.layout == Layout::TH ? ranks(Axis::C)
                                             : 1;
    return localRows(at.layout, rows, at.over) * (at.rowBytes / parts);
  }
};

using shardopt::ceilDiv;

/// Batches from that of some degrees to `most`. What a context says of them is
/// the least that it says of any: no op, reshard or stage takes less for one of
/// them, and none holds less. Throughput counts the most.
struct BatchRange {
  int64_t most = 0;
  /// Whether sequences can stay cut where tokens are. Where that is so for some
  /// of the batches only, both have to be asked.
  bool wholeSequences = true;
};

/// Makes `context`, that of the least batch, one of all of `range`; `top` is
/// that of the most.
void relax(Context &context, const Context &top, const BatchRange &range);

/// Experts that a rank of ep holds, replicas among them.
inline int64_t expertSlots(int64_t experts, const Degrees &degrees) {
  return ceilDiv(experts, degrees.ep) + degrees.redundantExperts();
}

/// What an op's layer adds to its context.
struct LayerFacts {
  int64_t window = 0;  ///< sliding window; 0: full attention
  int64_t experts = 0; ///< routed experts; 0: a dense layer
  int64_t topK = 0;    ///< experts that a token visits
};

/// The context of a dense layer without a window. The batch is divided over
/// the dp replicas and then into M = min(PP, bg) micro-batches.
Context makeContext(const Workload &workload, const Degrees &degrees);

/// The context of an op of a layer. `skew` is as in `makeRouting`.
Context makeContext(const Workload &workload, const Degrees &degrees,
                    const LayerFacts &layer, std::optional<double> skew);

/// Spread of the rows of all replicas, `rows` of each, over `experts` experts
/// in groups of `degrees`; each row visits `topK` of them. `skew` is the
/// machine's systematic imbalance; none means that the load is taken as even
/// (phi = 1). Each row but the first reaches `reach` as many new experts as a
/// row that is independent of the others would. In addition to the skew, the
/// fullest group has `deviations` standard deviations more than the mean, where
/// tokens choose independently; 0: those of the highest of `ep` groups, if
/// there is a skew.
Routing makeRouting(int64_t experts, int64_t topK, double rows,
                    const Degrees &degrees, std::optional<double> skew,
                    double reach = 1, double deviations = 0);

/// By how many standard deviations the largest of `groups` independent normal
/// numbers is above their mean, in the mean.
double deviationsOfLargest(double groups);

} // namespace shardopt::cost

#endif // SHARDOPT_MODEL_CONTEXT_H
