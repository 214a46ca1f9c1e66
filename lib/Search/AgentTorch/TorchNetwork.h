//===- TorchNetwork.h - Parameters, gradients and Adam ----------*- C++ -*-===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

//
// What all networks of the module have in common. Weights are drawn from a
// generator of our own: the global one of LibTorch belongs to the program.
//
//===----------------------------------------------------------------------===//

#ifndef SHARDOPT_LIB_SEARCH_AGENTTORCH_TORCHNETWORK_H
#define SHARDOPT_LIB_SEARCH_AGENTTORCH_TORCHNETWORK_H

#include "shardopt/Search/Agent/Network.h"

#include <torch/torch.h>

#include <exception>
#include <memory>
#include <string>
#include <vector>

namespace shardopt::agent {

/// Runs `body`; what it throws becomes a failure. Every virtual function of a
/// network is wrapped in it.
template <typename Body> Failure guarded(const Body &body) {
  thread_local std::string text;
  try {
    body();
    return nullptr;
  } catch (const std::exception &exception) {
    text = exception.what();
  } catch (...) {
    text = "unknown exception";
  }
  // LibTorch appends a backtrace after the first line.
  text = "LibTorch: " + text.substr(0, text.find('\n'));
  return text.c_str();
}

/// Numbers of this precision, on the CPU.
torch::TensorOptions optionsFor(Precision precision);

/// A layer y = x W^T + b.
struct Linear {
  torch::Tensor weight; ///< [out, in]
  torch::Tensor bias;   ///< [out]

  torch::Tensor operator()(const torch::Tensor &x) const {
    return torch::linear(x, weight, bias);
  }
};

/// Draws initial weights.
class Initializer {
public:
  explicit Initializer(uint64_t seed);

  void zeros(torch::Tensor &parameter);
  void ones(torch::Tensor &parameter);
  void normal(torch::Tensor &parameter, double deviation);
  /// Uniform within sqrt(6 / (rows + columns)).
  void xavierUniform(torch::Tensor &parameter);
  /// Orthonormal rows or columns, whichever are fewer, times `gain`.
  void orthogonal(torch::Tensor &parameter, double gain);
  /// An orthogonal weight and no bias.
  void orthogonal(Linear &linear, double gain);

private:
  torch::Tensor draw(const torch::Tensor &like);

  at::Generator generator;
};

/// Implements `Network` for `Base`, an interface derived from it. A class that
/// derives from this adds its parameters in its constructor, then joins them,
/// and draws them in `initialize`.
///
/// The parameters are views of one tensor, and so are their gradients: a step
/// of the optimiser is then a dozen operations, however many blocks there are.
template <typename Base> class TorchNetwork : public Base {
public:
  Failure reset(uint64_t seed) final {
    return guarded([&] {
      torch::NoGradGuard noGrad;
      Initializer initializer(seed);
      initialize(initializer);
      adam = std::make_unique<torch::optim::Adam>(
          std::vector<torch::Tensor>{joined},
          torch::optim::AdamOptions().eps(adamEpsilon));
    });
  }

  size_t numBlocks() const final { return parameters.size(); }

  ParameterBlock block(size_t index) const final {
    return {names[index], size_t(parameters[index].numel())};
  }

  Failure readParameters(size_t index, Span<double> values) const final {
    return guarded([&] { copy(parameters[index].detach(), values); });
  }

  Failure writeParameters(size_t index, Span<const double> values) final {
    return guarded([&] {
      torch::NoGradGuard noGrad;
      torch::Tensor &parameter = parameters[index];
      parameter.copy_(tensor(values, parameter.sizes()));
    });
  }

  Failure readGradients(size_t index, Span<double> values) const final {
    return guarded([&] { copy(parameters[index].grad(), values); });
  }

  Failure step(double learningRate, double maxGradNorm) final {
    return guarded([&] {
      torch::nn::utils::clip_grad_norm_(joined, maxGradNorm);
      for (torch::optim::OptimizerParamGroup &group : adam->param_groups())
        static_cast<torch::optim::AdamOptions &>(group.options())
            .lr(learningRate);
      adam->step();
    });
  }

protected:
  TorchNetwork(Precision precision, double adamEpsilon)
      : options(optionsFor(precision)), adamEpsilon(adamEpsilon) {}

  virtual void initialize(Initializer &initializer) = 0;

  /// A new block of parameters; `name` is a literal.
  torch::Tensor add(const char *name, at::IntArrayRef sizes) {
    names.push_back(name);
    parameters.push_back(torch::zeros(sizes, options).set_requires_grad(true));
    return parameters.back();
  }

  /// Moves all parameters, and their gradients, into one tensor.
  void join() {
    int64_t size = 0, first = 0;
    for (const torch::Tensor &parameter : parameters)
      size += parameter.numel();
    joined = torch::zeros({size}, options).set_requires_grad(true);
    joined.mutable_grad() = torch::zeros({size}, options);
    for (torch::Tensor &parameter : parameters) {
      auto part = [&](const torch::Tensor &whole) {
        return whole.narrow(0, first, parameter.numel())
            .view(parameter.sizes());
      };
      parameter.set_data(part(joined.detach()));
      parameter.mutable_grad() = part(joined.grad());
      first += parameter.numel();
    }
  }

  Linear addLinear(const char *weightName, const char *biasName, int64_t in,
                   int64_t out) {
    return {add(weightName, {out, in}), add(biasName, {out})};
  }

  /// `values` as a tensor of this network, row by row.
  torch::Tensor tensor(Span<const double> values, at::IntArrayRef sizes) const {
    return torch::from_blob(const_cast<double *>(values.data()), sizes,
                            torch::kDouble)
        .to(options);
  }

  /// `indices` as a tensor of indices.
  torch::Tensor indices(Span<const uint32_t> values,
                        at::IntArrayRef sizes) const {
    return torch::from_blob(const_cast<uint32_t *>(values.data()), sizes,
                            torch::kInt)
        .to(torch::kLong);
  }

  static void copy(const torch::Tensor &from, Span<double> to) {
    torch::Tensor doubles = from.to(torch::kDouble).contiguous().view(-1);
    TORCH_CHECK(size_t(doubles.numel()) == to.size(),
                "wrong number of elements");
    std::copy_n(doubles.data_ptr<double>(), to.size(), to.begin());
  }

  /// Forgets the gradients and computes those of `loss`.
  void differentiate(const torch::Tensor &loss) {
    joined.grad().zero_(); // in place: the blocks' gradients are views of it
    loss.backward();
  }

  const torch::TensorOptions options;

private:
  const double adamEpsilon;
  std::vector<const char *> names;
  std::vector<torch::Tensor> parameters;
  torch::Tensor joined;
  std::unique_ptr<torch::optim::Adam> adam;
};

} // namespace shardopt::agent

#endif // SHARDOPT_LIB_SEARCH_AGENTTORCH_TORCHNETWORK_H
