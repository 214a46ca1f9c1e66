//===- Reduce.cpp - Sums and largest elements of tensors ------------------===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Reduce.h"

#include <cmath>
#include <cstring>

using namespace shardopt;
using namespace shardopt::runtime;

namespace {

/// How elements in memory, of type Stored, are read into a wider type, reduced
/// and written back.
template <typename T> struct Plain {
  using Stored = T;
  using Wide = T;
  static Wide widen(Stored value) { return value; }
  static Stored narrow(Wide value) { return value; }
};

/// bf16 is the upper half of an f32.
struct BFloat16 {
  using Stored = uint16_t;
  using Wide = float;
  static Wide widen(Stored value) {
    uint32_t bits = static_cast<uint32_t>(value) << 16;
    float wide;
    std::memcpy(&wide, &bits, sizeof(wide));
    return wide;
  }
  /// To the nearest, ties to even; NaN stays NaN.
  static Stored narrow(Wide value) {
    uint32_t bits;
    std::memcpy(&bits, &value, sizeof(bits));
    if (std::isnan(value))
      return static_cast<Stored>((bits >> 16) | 0x40);
    return static_cast<Stored>((bits + 0x7fff + ((bits >> 16) & 1)) >> 16);
  }
};

} // namespace

/// Wraps around, as the addition of compiled code does.
static int32_t add(int32_t a, int32_t b) {
  return static_cast<int32_t>(static_cast<uint32_t>(a) +
                              static_cast<uint32_t>(b));
}
template <typename T> static T add(T a, T b) { return a + b; }

/// NaN where either is.
template <typename T> static T larger(T a, T b) {
  return a > b || a != a ? a : b;
}

template <typename Format>
static void
reduceInto(const std::vector<std::shared_ptr<const Tensor>> &tensors,
           Reduction reduction, Tensor &result) {
  using Stored = typename Format::Stored;
  using Wide = typename Format::Wide;
  int64_t elements = result.elements();
  std::vector<Wide> total(elements);
  const Stored *first = tensors.front()->as<Stored>();
  for (int64_t i = 0; i < elements; ++i)
    total[i] = Format::widen(first[i]);
  for (size_t member = 1; member < tensors.size(); ++member) {
    const Stored *values = tensors[member]->as<Stored>();
    for (int64_t i = 0; i < elements; ++i) {
      Wide value = Format::widen(values[i]);
      total[i] = reduction == Reduction::Sum ? add(total[i], value)
                                             : larger(total[i], value);
    }
  }
  Stored *out = result.as<Stored>();
  for (int64_t i = 0; i < elements; ++i)
    out[i] = Format::narrow(total[i]);
}

Tensor
runtime::reduce(const std::vector<std::shared_ptr<const Tensor>> &tensors,
                Reduction reduction) {
  Tensor result(tensors.front()->type(), tensors.front()->shape());
  switch (result.type()) {
  case ElementType::F32:
    reduceInto<Plain<float>>(tensors, reduction, result);
    break;
  case ElementType::F64:
    reduceInto<Plain<double>>(tensors, reduction, result);
    break;
  case ElementType::BF16:
    reduceInto<BFloat16>(tensors, reduction, result);
    break;
  case ElementType::I32:
    reduceInto<Plain<int32_t>>(tensors, reduction, result);
    break;
  case ElementType::Byte:
    break;
  }
  return result;
}
