//===- ServicePins.h - Values that a service has to have --------*- C++ -*-===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef SHARDOPT_PLANNING_SERVICEPINS_H
#define SHARDOPT_PLANNING_SERVICEPINS_H

#include "shardopt/Model/Degrees.h"
#include "shardopt/Support/Error.h"

#include <map>
#include <optional>
#include <string>
#include <vector>

namespace shardopt {

inline constexpr const char *overlapNames[] = {"off", "on"};

/// Values that a role may have; an empty list: all.
struct RolePins {
  DegreeMap<std::vector<int64_t>> degrees; ///< none of the batch
  std::vector<int64_t> workers;
  /// Whether steps work on two micro-batches, as indices of `overlapNames`;
  /// empty: they do not.
  std::vector<int64_t> overlap;

  bool isEmpty() const;
  bool allow(const Degrees &found, bool overlaps = false) const;
  bool allowOverlap(bool overlaps) const;
  bool allowWorkers(int64_t count) const;
  /// The largest count of at most `most` that is allowed; 0: none is.
  int64_t mostWorkers(int64_t most) const;
  /// The least count of at least `least` that is allowed; none: none is.
  std::optional<int64_t> leastWorkers(int64_t least) const;
};

/// Pins of the workers that do both, and of the two roles.
struct ServicePins {
  RolePins serve, prefill, decode;

  bool isEmpty() const {
    return serve.isEmpty() && prefill.isEmpty() && decode.isEmpty();
  }
  /// Whether a worker that decodes may have `found`, in one mode at least.
  bool allowDecode(const Degrees &found, bool overlaps = false) const {
    return serve.allow(found, overlaps) || decode.allow(found, overlaps);
  }
  /// Whether some worker may work on two micro-batches, and all that do have
  /// to.
  bool mayOverlap() const {
    return serve.allowOverlap(true) || prefill.allowOverlap(true) ||
           decode.allowOverlap(true);
  }
  bool mustOverlap() const {
    return mayOverlap() &&
           !(serve.allowOverlap(false) && prefill.allowOverlap(false) &&
             decode.allowOverlap(false));
  }

  /// "tp=4,8" or "exchange=gather" of all roles, "prefill.tp", "decode.ep" or
  /// "serve.workers" of one, which replaces that of all. Lists are those of
  /// parseDegreeList.
  static ErrorOr<ServicePins>
  parse(const std::map<std::string, std::string> &texts);
};

} // namespace shardopt

#endif // SHARDOPT_PLANNING_SERVICEPINS_H
