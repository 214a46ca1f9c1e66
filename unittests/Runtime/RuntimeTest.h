//===- RuntimeTest.h - Tensors of small integers ----------------*- C++ -*-===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef SHARDOPT_UNITTESTS_RUNTIME_RUNTIMETEST_H
#define SHARDOPT_UNITTESTS_RUNTIME_RUNTIMETEST_H

#include "shardopt/Runtime/Tensor.h"

#include <algorithm>
#include <initializer_list>

namespace shardopt::runtime {

inline Tensor floats(std::vector<int64_t> shape,
                     std::initializer_list<float> values) {
  Tensor tensor(ElementType::F32, std::move(shape));
  std::copy(values.begin(), values.end(), tensor.as<float>());
  return tensor;
}

inline Tensor counts(std::vector<int64_t> shape, std::vector<int32_t> values) {
  Tensor tensor(ElementType::I32, std::move(shape));
  std::copy(values.begin(), values.end(), tensor.as<int32_t>());
  return tensor;
}

/// first, first + 1, … in row-major order.
inline Tensor rising(std::vector<int64_t> shape, float first) {
  Tensor tensor(ElementType::F32, std::move(shape));
  for (int64_t i = 0; i < tensor.elements(); ++i)
    tensor.as<float>()[i] = first + static_cast<float>(i);
  return tensor;
}

inline std::vector<float> values(const Tensor &tensor) {
  return {tensor.as<float>(), tensor.as<float>() + tensor.elements()};
}

} // namespace shardopt::runtime

#endif // SHARDOPT_UNITTESTS_RUNTIME_RUNTIMETEST_H
