//===- BodyIndex.h - Which values of a layer are needed when ----*- C++ -*-===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef SHARDOPT_MODEL_BODYINDEX_H
#define SHARDOPT_MODEL_BODYINDEX_H

#include "shardopt/Model/Model.h"

namespace shardopt::cost {

/// Uses of the values of one body, which do not depend on degrees or dims.
struct BodyIndex {
  struct Value {
    /// The value that this one passes on (the tokens that a router hands to
    /// dispatch), or itself.
    ValueId root = 0;
    /// Copies made for one consumer may serve another.
    bool fansOut = false;
  };

  explicit BodyIndex(const Body &body);

  std::vector<Value> values; ///< by id
  /// After each op, the values that a later op or the layer's exit reads.
  std::vector<std::vector<ValueId>> liveAfter;
};

} // namespace shardopt::cost

#endif // SHARDOPT_MODEL_BODYINDEX_H
