//===- Kernel.h - Kernels and collectives of one device ---------*- C++ -*-===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What an op makes a device do, in sizes and not in seconds. A time model turns
// it into seconds: a roofline from flops and bytes, a calibrated one from the
// kind and the shape.
//
//===----------------------------------------------------------------------===//

#ifndef SHARDOPT_COST_KERNEL_H
#define SHARDOPT_COST_KERNEL_H

#include "shardopt/Support/StageGrid.h"

#include <cstdint>

namespace shardopt::cost {

/// Storage of a weight, which also picks the peak that its products run at:
/// fp8 that of fp8, all others that of bf16.
enum class WeightType : uint8_t {
  F32,
  Bf16, ///< or f16
  Fp8,  ///< scales of blocks are not counted
  Mxfp4 ///< 4 bits, and a scale byte for every 32 values
};

/// Bytes of one weight, scales of mxfp4 included.
constexpr double bytesPerWeight(WeightType type) {
  switch (type) {
  case WeightType::F32:
    return 4;
  case WeightType::Bf16:
    return 2;
  case WeightType::Fp8:
    return 1;
  case WeightType::Mxfp4:
    return 17.0 / 32;
  }
  return 0;
}

enum class KernelKind : uint8_t {
  Gemm,        ///< [rows, k] x [k, n]
  GroupedGemm, ///< `count` experts, `rows` in all of them together
  BatchedGemm, ///< `count` heads, [rows, k] x [k, n] for each
  Attention,   ///< `rows` sequences, `count` query heads, k keys, head size n
  Memory,      ///< elementwise; `bytes` says all
};

/// One kernel on one device. Sizes are real numbers: most quotients of the cost
/// model are exact.
struct Kernel {
  KernelKind kind = KernelKind::Memory;
  double rows = 0;
  double k = 0;
  double n = 0;
  double count = 1;
  WeightType weights = WeightType::Bf16;
  double flops = 0;
  double bytes = 0;   ///< read and written
  bool launch = true; ///< false: part of another kernel, no launch of its own

  // Of Attention alone; measured kernels are told apart by them.
  double kvHeads = 1;         ///< caches of a sequence; 1 where they are latent
  double cacheBytes = 2;      ///< an element of the cache
  double activationBytes = 2; ///< an element of what is multiplied
  double prompt = 0;          ///< tokens of a prompt; 0: one new token
  double window = 0;          ///< tokens that a layer reaches; 0: all
  bool latent = false;
};

/// A kernel that only moves `bytes`.
inline Kernel memoryKernel(double bytes, bool launch = true) {
  Kernel kernel;
  kernel.bytes = bytes;
  kernel.launch = launch;
  return kernel;
}

/// [rows, k] x [k, n] with `weightBytes` of weights; activations of
/// `activationBytes` an element are read and written once.
inline Kernel gemm(double rows, double k, double n, double weightBytes,
                   WeightType weights, double activationBytes) {
  return {KernelKind::Gemm,
          rows,
          k,
          n,
          1,
          weights,
          2 * rows * k * n,
          weightBytes + rows * (k + n) * activationBytes,
          true};
}

enum class CollectiveKind : uint8_t {
  AllReduce,
  AllGather,
  ReduceScatter,
  AllToAll,
  Send, ///< point to point, to the next stage
};

/// One collective. `bytes` is the full tensor for AllReduce, AllGather and
/// ReduceScatter, and what one rank holds (its own share included) for
/// AllToAll and Send.
struct Collective {
  CollectiveKind kind = CollectiveKind::AllReduce;
  Axis axis = Axis::Tp; ///< that it runs along
  double bytes = 0;
  const char *name = ""; ///< within the op that has it; reshards have none
};

/// The name of `kind` in reports: "all_reduce", "all_gather",
/// "reduce_scatter", "all_to_all", "send".
const char *spell(CollectiveKind kind);

} // namespace shardopt::cost

#endif // SHARDOPT_COST_KERNEL_H
