//===- TimeModel.h - From kernels and collectives to seconds ----*- C++ -*-===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef SHARDOPT_COST_TIMEMODEL_H
#define SHARDOPT_COST_TIMEMODEL_H

#include "shardopt/Model/OpModel.h"
#include "shardopt/Model/Strategy.h"
#include "shardopt/Support/InlineVector.h"

#include <optional>

namespace shardopt::cost {

/// What stands behind a time: a fit within the sizes that were measured, one
/// outside of them or of another kernel or machine, or a data sheet alone.
enum class TimeOrigin : uint8_t { Measured, Extrapolated, DataSheet };
inline constexpr size_t numTimeOrigins = 3;
/// "measured", "extrapolated" or "data_sheet".
const char *spell(TimeOrigin origin);

/// How far a time can be trusted: 80 % of what was measured for such kernels
/// lies between `low` and `high` times the prediction; 1 and 1 where nothing is
/// known.
struct Trust {
  TimeOrigin origin = TimeOrigin::DataSheet;
  double low = 1, high = 1;
};

/// Turns what devices do into seconds. Immutable and safe to use from several
/// threads.
class TimeModel {
public:
  virtual ~TimeModel() = default;

  /// Seconds of one kernel.
  virtual double seconds(const Kernel &kernel) const = 0;

  /// Seconds of one collective on the grid that `degrees` describes
  /// (`StageGrid`, stages outermost). 0 where the axis has one device, except
  /// for Send.
  virtual double seconds(const Collective &collective,
                         const Degrees &degrees) const = 0;

  /// Seconds of a pass; 0 where it is fused into the kernels around it.
  virtual double seconds(const Pass &) const { return 0; }
  /// Whether GEMMs on the same rows run as one.
  virtual bool multipliesAtOnce() const { return false; }

  /// Seconds of the kernels and then the collectives of an op, one after the
  /// other; its reshards are not among them.
  double seconds(const OpCost &cost, const Degrees &degrees) const;

  /// Whether arithmetic, and not memory, bounds `kernel`. For reports.
  virtual bool isComputeBound(const Kernel &kernel) const = 0;

  /// For reports.
  virtual Trust trust(const Kernel &) const { return {}; }
  virtual Trust trust(const Collective &, const Degrees &) const { return {}; }

  /// Seconds of the reshard of `rows` rows of `rowBytes` bytes along `over`.
  double reshard(Layout from, Layout to, double rows, double rowBytes,
                 const Degrees &degrees, Axis over = Axis::Tp) const;

  /// How the next stage gets `bytes` of activations, the whole of them, that
  /// lie in `layout` (R, T or H): what is sent and, if that is quicker than
  /// sending everything from every rank, gathered there.
  InlineVector<Collective, 2> transfer(Layout layout, double bytes,
                                       const Degrees &degrees) const;
};

/// The collective of a reshard along `over` between layouts of the group as a
/// whole, if it needs one.
std::optional<Collective> reshardCollective(Layout from, Layout to, double rows,
                                            double rowBytes,
                                            const Degrees &degrees,
                                            Axis over = Axis::Tp);

/// The collectives of a reshard.
using Reshard = InlineVector<Collective, 2>;

/// The same between all layouts. What is sharded on q goes by way of T, but for
/// three pairs that need no more than q: what is whole, H to T.H and back, and
/// P to T.P.
Reshard reshardCollectives(Layout from, Layout to, double rows, double rowBytes,
                           const Degrees &degrees, Axis over = Axis::Tp);

} // namespace shardopt::cost

#endif // SHARDOPT_COST_TIMEMODEL_H
