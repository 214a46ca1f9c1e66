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

#ifndef SHARDOPT_MODEL_KERNEL_H
#define SHARDOPT_MODEL_KERNEL_H

#include "shardopt/Model/StageGrid.h"
#include "shardopt/Support/Error.h"

#include <cstddef>
#include <cstdint>

namespace shardopt::cost {

/// Storage of a weight, which also picks the peak that its products run at:
/// 8 bits that of fp8, all others that of bf16.
enum class WeightType : uint8_t {
  F32,
  Bf16,     ///< or f16
  Fp8,      ///< one scale a matrix or column
  Fp8Block, ///< one scale a block; scales are not counted
  Mxfp4,    ///< 4 bits, and a scale byte for every 32 values
  Nvfp4,    ///< 4 bits, and a scale byte for every 16 values
  Int4,     ///< 4 bits, and a scale and an offset for every 128 values
  Int4Of64, ///< the same for every 64 values
  Int4Of32, ///< and for every 32
  Int8,     ///< one scale a column, multiplied with activations of 8 bits
};
inline constexpr size_t numWeightTypes = 10;

constexpr bool isInt4(WeightType type) {
  return type == WeightType::Int4 || type == WeightType::Int4Of64 ||
         type == WeightType::Int4Of32;
}

const char *spell(WeightType type);
/// `name` as the value of `option`, of the types that quantized weights are
/// stored in: fp8, fp8_block, mxfp4, nvfp4, int4, int4_64, int4_32 or int8.
ErrorOr<WeightType> parseWeightStorage(const std::string &option,
                                       const std::string &name);

/// Bytes of one weight, with the scales (and for int4 the offsets) of groups.
constexpr double bytesPerWeight(WeightType type) {
  switch (type) {
  case WeightType::F32:
    return 4;
  case WeightType::Bf16:
    return 2;
  case WeightType::Fp8:
  case WeightType::Fp8Block:
  case WeightType::Int8:
    return 1;
  case WeightType::Mxfp4:
    return 17.0 / 32;
  case WeightType::Int4: // a scale of two bytes, an offset of half a byte
    return 0.5 + 2.5 / 128;
  case WeightType::Int4Of64:
    return 0.5 + 2.5 / 64;
  case WeightType::Int4Of32: // published without offsets
    return 0.5 + 2.0 / 32;
  case WeightType::Nvfp4:
    return 9.0 / 16;
  }
  return 0;
}

enum class KernelKind : uint8_t {
  Gemm,        ///< [rows, k] x [k, n]
  GroupedGemm, ///< `count` experts, `rows` in all of them together
  BatchedGemm, ///< `count` heads, [rows, k] x [k, n] for each
  Attention,   ///< `rows` sequences, `count` query heads, k keys, head size n
  Ranking,     ///< an indexer's scores: `count` heads, [rows, k] x [k, n]
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
  double queries = 1;         ///< new tokens of a sequence that decodes
  bool latent = false;

  // Of GroupedGemm alone.
  double held = 0;    ///< experts of a device
  double groups = 1;  ///< of devices that share the experts
  double visited = 1; ///< experts that a token visits
  double gates = 0;   ///< matrices of a first product; 0: it is the second

  /// Measured kernels of experts do it: rows are moved to experts and back.
  bool inExperts = false;
  /// Engines multiply what reads the same rows at once.
  bool sharesRows = false;
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

/// A pass over rows that a compiler fuses into the kernels around it, and that
/// serving engines run as a kernel of its own.
struct Pass {
  enum class Kind : uint8_t { Norm, Activation, Gate, Rotation };
  Kind kind = Kind::Norm;
  double bytes = 0; ///< read and written
};

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

#endif // SHARDOPT_MODEL_KERNEL_H
