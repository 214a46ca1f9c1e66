//===- ServiceSpace.h - Layouts that a search takes -------------*- C++ -*-===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef SHARDOPT_LIB_PLANNING_SERVICESPACE_H
#define SHARDOPT_LIB_PLANNING_SERVICESPACE_H

#include "ServiceBounds.h"

#include <map>
#include <tuple>

namespace shardopt::service {

/// A layout of decode workers, or of workers that do both.
struct Decode {
  AnswerCurve curve;
  int64_t most; ///< workers that have a place

  const Degrees &degrees() const { return curve.layout().degrees; }
  bool overlaps() const { return curve.layout().overlaps; }
  int64_t devices() const { return curve.layout().devices(); }
};

/// Layouts, and where there are none what that is due to.
struct DecodeSpace {
  DecodeSpace(const Side &side, Runner runner,
              const cost::ServingEngine &engine, const ServiceGoal &goal);

  ServiceShortage shortage;
  /// The one of the workers of `role`; null: it is none of them.
  const Decode *find(const ServiceRole &role) const;

  std::vector<WorkerLayout> layouts;
  std::vector<Decode> decodes;
};

/// A layout of prefill workers.
struct Prefill {
  const WorkerLayout *layout;
  PrefillPower one;
  int64_t most; ///< workers that have a place

  int64_t devices() const { return layout->devices(); }
  /// What as many of them do together as are on `all` devices.
  PrefillPower on(int64_t all) const {
    return {double(std::min(most, all / devices())) * one.rate, one.first};
  }
};

/// Prefill workers on one of the machines.
class PrefillSpace {
public:
  /// `isApart` where they have devices of their own.
  PrefillSpace(const Side &side, bool isApart, Runner runner,
               const cost::ServingEngine &engine, const ServiceGoal &goal);

  /// Those that can send to some decode workers, and what they do together.
  struct Senders {
    std::vector<const Prefill *> all;
    PrefillReach reach;
  };
  /// Null: none can.
  const Senders *to(const Degrees &decode) const;
  /// The one of the workers of `role`; null: it is none of them.
  const Prefill *find(const ServiceRole &role) const;

  const Side *side;
  bool isApart;
  int64_t devices; ///< that they may have
  ServiceShortage shortage;
  std::vector<WorkerLayout> layouts;

private:
  /// What decides whether caches can be sent between two roles.
  using TransferClass = std::tuple<int64_t, int64_t, int64_t>;
  static TransferClass classOf(const Degrees &degrees) {
    return {degrees.tp, degrees.pp, degrees.cp};
  }

  Runner runner;
  EngineFacts facts;
  std::vector<Prefill> prefills;
  mutable std::map<TransferClass, const Senders *> sendersTo;
  mutable std::map<std::vector<bool>, Senders> known; ///< by who sends
};

} // namespace shardopt::service

#endif // SHARDOPT_LIB_PLANNING_SERVICESPACE_H
