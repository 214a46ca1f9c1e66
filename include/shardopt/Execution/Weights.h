//===- Weights.h - Values of params -----------------------------*- C++ -*-===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Where the values of params come from: a checkpoint, or random numbers that
// depend on nothing but the seed and the place in the global tensor, so that
// every device can make its part alone.
//
//===----------------------------------------------------------------------===//

#ifndef SHARDOPT_EXECUTION_WEIGHTS_H
#define SHARDOPT_EXECUTION_WEIGHTS_H

#include "shardopt/Execution/ProgramInterface.h"
#include "shardopt/Execution/Tensors/SafeTensors.h"

namespace shardopt::execution {

class Weights {
public:
  virtual ~Weights() = default;

  /// What a device at `place` holds of `param`, an argument of its stage.
  /// Errors name the tensor, what was found and what was wanted.
  ErrorOr<tensors::Tensor> load(const Operand &param,
                                const tensors::Place &place) const;

  /// Names, in alphabetical order, of what the params of all stages of a
  /// program do not read, though it is there.
  virtual std::vector<std::string>
  findUnread(const ProgramInterface &program) const {
    (void)program;
    return {};
  }

protected:
  /// The elements that `entries` select of a global param of static `shape`, of
  /// layer `layer` of a checkpoint (none outside a stack).
  virtual std::optional<Error>
  loadLayer(const Operand &param, std::optional<int64_t> layer,
            const tensors::Shape &shape,
            const std::vector<tensors::Entries> &entries, float *to) const = 0;
};

/// Vectors (norms, biases) around one, matrices with columns of unit size.
class RandomWeights : public Weights {
public:
  explicit RandomWeights(uint64_t seed) : seed(seed) {}

protected:
  std::optional<Error> loadLayer(const Operand &param,
                                 std::optional<int64_t> layer,
                                 const tensors::Shape &shape,
                                 const std::vector<tensors::Entries> &entries,
                                 float *to) const override;

private:
  uint64_t seed;
};

/// By the `source` of params. Weights with scales are multiplied out: of eight
/// bits, for blocks of a matrix or all of it, and of mxfp4, whose 32 numbers of
/// a block lie in 16 bytes, the first in the low half.
class CheckpointWeights : public Weights {
public:
  explicit CheckpointWeights(tensors::SafeTensors checkpoint)
      : checkpoint(std::move(checkpoint)) {}

  std::vector<std::string>
  findUnread(const ProgramInterface &program) const override;

protected:
  std::optional<Error> loadLayer(const Operand &param,
                                 std::optional<int64_t> layer,
                                 const tensors::Shape &shape,
                                 const std::vector<tensors::Entries> &entries,
                                 float *to) const override;

private:
  tensors::SafeTensors checkpoint;
};

/// A number in [-1, 1) that depends on `seed`, `name` and `index` only.
class RandomStream {
public:
  RandomStream(uint64_t seed, const std::string &name);
  double operator[](int64_t index) const;

private:
  uint64_t state;
};

} // namespace shardopt::execution

#endif // SHARDOPT_EXECUTION_WEIGHTS_H
