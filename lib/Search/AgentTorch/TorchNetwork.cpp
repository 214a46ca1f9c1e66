//===- TorchNetwork.cpp - Precision and initial weights -------------------===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "TorchNetwork.h"

#include <ATen/CPUGeneratorImpl.h>

#include <cmath>

namespace shardopt::agent {

torch::TensorOptions optionsFor(Precision precision) {
  return torch::TensorOptions().dtype(
      precision == Precision::Double ? torch::kDouble : torch::kFloat);
}

Initializer::Initializer(uint64_t seed)
    : generator(at::detail::createCPUGenerator(seed)) {}

void Initializer::zeros(torch::Tensor &parameter) { parameter.zero_(); }

void Initializer::ones(torch::Tensor &parameter) { parameter.fill_(1); }

/// Standard normal numbers in double precision, so that weights do not depend
/// on that of the network.
torch::Tensor Initializer::draw(const torch::Tensor &like) {
  return torch::empty(like.sizes(), torch::kDouble).normal_(0, 1, generator);
}

void Initializer::normal(torch::Tensor &parameter, double deviation) {
  parameter.copy_(draw(parameter) * deviation);
}

void Initializer::xavierUniform(torch::Tensor &parameter) {
  double limit = std::sqrt(6.0 / (parameter.size(0) + parameter.size(1)));
  parameter.copy_(torch::empty(parameter.sizes(), torch::kDouble)
                      .uniform_(-limit, limit, generator));
}

void Initializer::orthogonal(torch::Tensor &parameter, double gain) {
  torch::Tensor normal = draw(parameter);
  bool isWide = normal.size(0) < normal.size(1);
  auto [q, r] = torch::linalg_qr(isWide ? normal.t() : normal, "reduced");
  // Unique, hence uniform over the orthogonal matrices.
  torch::Tensor matrix = q * r.diagonal().sign();
  parameter.copy_((isWide ? matrix.t() : matrix) * gain);
}

void Initializer::orthogonal(Linear &linear, double gain) {
  orthogonal(linear.weight, gain);
  zeros(linear.bias);
}

} // namespace shardopt::agent
