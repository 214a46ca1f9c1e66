//===- Context.cpp - What an op may ask when it is costed -----------------===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "shardopt/Model/Context.h"

using namespace shardopt;
using namespace shardopt::cost;

Context cost::makeContext(const Workload &workload, const Degrees &degrees) {
  Context context;
  context.degrees = degrees;
  context.grid = StageGrid(degrees);
  context.workload = workload;
  static_cast<BatchSplit &>(context) =
      splitBatch(degrees.batch, degrees.dp, degrees.pp);
  context.sequences = double(context.microBatch);
  context.rows = context.sequences;
  if (context.isPrefill())
    context.rows *= double(workload.context);
  context.wholeSequences =
      !context.isPrefill() || context.microBatch % degrees.tp == 0;
  context.routing.meanCopies = context.routing.copies = context.rows;
  return context;
}

Context cost::makeContext(const Workload &workload, const Degrees &degrees,
                          const LayerFacts &layer, std::optional<double> skew) {
  Context context = makeContext(workload, degrees);
  context.window = layer.window;
  if (layer.experts)
    context.routing =
        makeRouting(layer.experts, layer.topK, context.rows, degrees, skew);
  return context;
}

/// Rows, copies and sequences grow with the batch, and so do the experts that
/// are read; the imbalance shrinks.
void cost::relax(Context &context, const Context &top,
                 const BatchRange &range) {
  context.degrees.batch = range.most;
  context.wholeSequences = range.wholeSequences;
  context.routing.imbalance =
      std::min(context.routing.imbalance, top.routing.imbalance);
  context.routing.activeExperts =
      std::min(context.routing.activeExperts, top.routing.activeExperts);
}

Routing cost::makeRouting(int64_t experts, int64_t topK, double rows,
                          const Degrees &degrees, std::optional<double> skew,
                          double reach, double deviations) {
  int64_t dp = degrees.dp, ep = degrees.ep;
  double groups = double(ep);
  double allRows = rows * double(dp);

  Routing routing;
  routing.experts = experts;
  routing.topK = topK;
  routing.localExperts = expertSlots(experts, degrees);
  routing.meanCopies = rows * double(topK);
  if (dp != ep)
    routing.meanCopies *= double(dp) / groups;
  routing.copies = routing.meanCopies;
  double most = allRows * double(std::min(topK, routing.localExperts));
  if (deviations > 0 && ep > 1) {
    routing.copies = std::min(routing.meanCopies * (1 + skew.value_or(0)) +
                                  deviations * std::sqrt(routing.meanCopies),
                              most);
    routing.imbalance = routing.copies / routing.meanCopies;
  } else if (skew) {
    // The maximum of `ep` loads with a Poisson spread, on top of the skew; no
    // group can get more than every row for each of its experts.
    double phi =
        ep == 1
            ? 1
            : 1 + *skew + std::sqrt(2 * std::log(groups) / routing.meanCopies);
    routing.copies = std::min(routing.meanCopies * phi, most);
    routing.imbalance = routing.copies / routing.meanCopies;
  }

  double local = double(routing.localExperts);
  routing.activeFraction = 1 - std::pow(1 - double(topK) / double(experts),
                                        1 + reach * (allRows - 1));
  double active = local * routing.activeFraction;
  routing.activeExperts =
      deviations > 0 && ep > 1
          ? active * (1 + skew.value_or(0)) +
                deviations * std::sqrt(active * (1 - routing.activeFraction))
          : active * routing.imbalance;
  routing.activeExperts = std::min(local, std::max(1.0, routing.activeExperts));
  return routing;
}

double cost::deviationsOfLargest(double groups) {
  if (groups <= 1)
    return 0;
  // Hastings' quantile of the normal distribution at the median of the largest,
  // shifted to its mean (Blom).
  double tail = std::sqrt(-2 * std::log(1 - std::pow(0.5264, 1 / groups)));
  return tail - (2.30753 + 0.27061 * tail) /
                    (1 + 0.99229 * tail + 0.04481 * tail * tail);
}
