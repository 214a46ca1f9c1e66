//===- StateModel.h - What ops with a state have in common ------*- C++ -*-===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef SHARDOPT_MODEL_OPS_STATEMODEL_H
#define SHARDOPT_MODEL_OPS_STATEMODEL_H

#include "shardopt/Model/OpModel.h"

namespace shardopt::cost {

/// A short convolution, whose last rows are kept, and a state that does
/// not grow with the context. Dim 0 cuts heads, and there is no dim 1; none
/// leaves heads whole and cuts sequences where tokens are cut.
struct StateModel : OpModel {
  int64_t taps = 0; ///< of the convolution
  double activationBytes = 2;
  double convBytes = 2;  ///< an element of the rows that it keeps
  double stateBytes = 4; ///< an element of the state

  Span<const DimChoice> choices() const override {
    static constexpr DimChoice list[] = {{Dim::Zero, "heads"},
                                         {Dim::None, "none"}};
    return {list, 2};
  }
  Reads reads() const override { return Reads::Sequences; }
};

} // namespace shardopt::cost

#endif // SHARDOPT_MODEL_OPS_STATEMODEL_H
