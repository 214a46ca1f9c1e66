//===- RuntimeTest.h - Tensors of small integers ----------------*- C++ -*-===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef SHARDOPT_UNITTESTS_EXECUTION_RUNTIME_RUNTIMETEST_H
#define SHARDOPT_UNITTESTS_EXECUTION_RUNTIME_RUNTIMETEST_H

#include "shardopt/Execution/Runtime/Views.h"

#include <algorithm>
#include <initializer_list>

namespace shardopt::runtime {

inline Tensor floats(std::vector<int64_t> shape,
                     std::initializer_list<float> values) {
  Tensor tensor(Element::F32, std::move(shape));
  std::copy(values.begin(), values.end(), tensor.floats().data());
  return tensor;
}

inline Tensor counts(std::vector<int64_t> shape, std::vector<int32_t> values) {
  Tensor tensor(Element::I32, std::move(shape));
  std::copy(values.begin(), values.end(), tensor.ints().data());
  return tensor;
}

/// first, first + 1, … in row-major order.
inline Tensor rising(std::vector<int64_t> shape, float first) {
  Tensor tensor(Element::F32, std::move(shape));
  for (int64_t i = 0; i < tensor.size(); ++i)
    tensor.floats().data()[i] = first + float(i);
  return tensor;
}

inline std::vector<float> values(const Tensor &tensor) {
  return {tensor.floats().data(), tensor.floats().data() + tensor.size()};
}

} // namespace shardopt::runtime

#endif // SHARDOPT_UNITTESTS_EXECUTION_RUNTIME_RUNTIMETEST_H
