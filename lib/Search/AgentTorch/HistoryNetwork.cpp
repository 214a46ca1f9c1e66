//===- HistoryNetwork.cpp - Actor-critic over the elites ------------------===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

//
// The network of "Learning to Shard" (arXiv 2509.00217), section 3, and the
// loss of PPO (Schulman et al., 2017) as Stable-Baselines3 writes it.
//
//===----------------------------------------------------------------------===//

#include "Networks.h"
#include "TorchNetwork.h"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace shardopt::agent {

using torch::Tensor;

namespace {

/// One Transformer encoder block: attention and a feed-forward net, each with a
/// residual and a norm after it. No dropout.
struct EncoderBlock {
  int64_t heads;
  Linear attentionIn; ///< queries, keys, values
  Linear attentionOut;
  Tensor norm1Scale, norm1Shift;
  Linear feedForward1, feedForward2;
  Tensor norm2Scale, norm2Shift;

  Tensor forward(const Tensor &x) const;

private:
  Tensor attend(const Tensor &x) const;
};

class TorchHistoryNetwork final : public TorchNetwork<HistoryNetwork> {
public:
  TorchHistoryNetwork(const HistoryShape &shape, Precision precision);

  Failure evaluate(Span<const double> observation, Span<double> logits,
                   double &value) override;
  Failure computeLoss(const HistoryRollout &rollout, const PpoWeights &weights,
                      PpoLoss &loss) override;

private:
  void initialize(Initializer &initializer) override;

  struct Output {
    Tensor logits; ///< [n, all values]
    Tensor values; ///< [n]
  };
  Output forward(const Tensor &observations) const;
  Tensor logProbabilities(const Tensor &logits) const;

  const int64_t records, recordSize, variables, allValues;
  Tensor paddedIndex; ///< [variables, most values] into logits and a pad

  Linear embedding;
  EncoderBlock encoder;
  Linear policyHidden, policyOut;
  Linear valueHidden, valueOut;
};

} // namespace

/// Scaled dot products over the records of each observation.
Tensor EncoderBlock::attend(const Tensor &x) const {
  int64_t n = x.size(0), records = x.size(1), width = x.size(2);
  auto split = [&](const Tensor &all) { // [n, heads, records, width / heads]
    return all.view({n, records, heads, width / heads}).transpose(1, 2);
  };
  std::vector<Tensor> parts = attentionIn(x).chunk(3, /*dim=*/2);
  Tensor scores =
      torch::matmul(split(parts[0]), split(parts[1]).transpose(2, 3)) /
      std::sqrt(double(width / heads));
  Tensor mixed =
      torch::matmul(torch::softmax(scores, /*dim=*/3), split(parts[2]));
  return attentionOut(mixed.transpose(1, 2).reshape({n, records, width}));
}

Tensor EncoderBlock::forward(const Tensor &x) const {
  int64_t width = x.size(2);
  Tensor y = torch::layer_norm(x + attend(x), {width}, norm1Scale, norm1Shift);
  Tensor z = feedForward2(torch::relu(feedForward1(y)));
  return torch::layer_norm(y + z, {width}, norm2Scale, norm2Shift);
}

static int64_t sum(Span<const uint32_t> numbers) {
  return std::accumulate(numbers.begin(), numbers.end(), int64_t(0));
}

/// Row v lists where the logits of variable v are, filled up with the position
/// behind all logits.
static Tensor makePaddedIndex(Span<const uint32_t> choices) {
  int64_t most = *std::max_element(choices.begin(), choices.end());
  int64_t all = sum(choices), first = 0;
  Tensor index =
      torch::full({int64_t(choices.size()), most}, all, torch::kLong);
  for (size_t v = 0; v < choices.size(); ++v) {
    index.index_put_({int64_t(v), torch::indexing::Slice(0, choices[v])},
                     torch::arange(first, first + choices[v]));
    first += choices[v];
  }
  return index;
}

TorchHistoryNetwork::TorchHistoryNetwork(const HistoryShape &shape,
                                         Precision precision)
    : TorchNetwork(precision, shape.adamEpsilon), records(shape.records),
      recordSize(shape.recordSize), variables(shape.choices.size()),
      allValues(sum(shape.choices)),
      paddedIndex(makePaddedIndex(shape.choices)) {
  int64_t width = shape.width;
  TORCH_CHECK(shape.width % shape.attentionHeads == 0, "width ", shape.width,
              " is no multiple of attention-heads ", shape.attentionHeads);
  embedding =
      addLinear("embedding.weight", "embedding.bias", recordSize, width);
  encoder.heads = shape.attentionHeads;
  encoder.attentionIn =
      addLinear("attention_in.weight", "attention_in.bias", width, 3 * width);
  encoder.attentionOut =
      addLinear("attention_out.weight", "attention_out.bias", width, width);
  encoder.norm1Scale = add("norm1.weight", {width});
  encoder.norm1Shift = add("norm1.bias", {width});
  encoder.feedForward1 = addLinear("feed_forward1.weight", "feed_forward1.bias",
                                   width, shape.feedForward);
  encoder.feedForward2 = addLinear("feed_forward2.weight", "feed_forward2.bias",
                                   shape.feedForward, width);
  encoder.norm2Scale = add("norm2.weight", {width});
  encoder.norm2Shift = add("norm2.bias", {width});
  policyHidden = addLinear("policy_hidden.weight", "policy_hidden.bias", width,
                           shape.hidden);
  policyOut = addLinear("policy_out.weight", "policy_out.bias", shape.hidden,
                        allValues);
  valueHidden = addLinear("value_hidden.weight", "value_hidden.bias", width,
                          shape.hidden);
  valueOut = addLinear("value_out.weight", "value_out.bias", shape.hidden, 1);
  join();
}

/// The gains of Stable-Baselines3: sqrt(2) for features and hidden layers, so
/// small a one for the policy that it starts out uniform, 1 for the value.
void TorchHistoryNetwork::initialize(Initializer &initializer) {
  double hiddenGain = std::sqrt(2.0);
  initializer.orthogonal(embedding, hiddenGain);
  initializer.xavierUniform(encoder.attentionIn.weight);
  initializer.zeros(encoder.attentionIn.bias);
  initializer.orthogonal(encoder.attentionOut, hiddenGain);
  initializer.ones(encoder.norm1Scale);
  initializer.zeros(encoder.norm1Shift);
  initializer.orthogonal(encoder.feedForward1, hiddenGain);
  initializer.orthogonal(encoder.feedForward2, hiddenGain);
  initializer.ones(encoder.norm2Scale);
  initializer.zeros(encoder.norm2Shift);
  initializer.orthogonal(policyHidden, hiddenGain);
  initializer.orthogonal(policyOut, 0.01);
  initializer.orthogonal(valueHidden, hiddenGain);
  initializer.orthogonal(valueOut, 1);
}

TorchHistoryNetwork::Output
TorchHistoryNetwork::forward(const Tensor &observations) const {
  Tensor pooled = encoder.forward(embedding(observations)).mean(/*dim=*/1);
  return {policyOut(torch::tanh(policyHidden(pooled))),
          valueOut(torch::tanh(valueHidden(pooled))).squeeze(1)};
}

/// [n, variables, most values]; those that a variable lacks have probability 0.
Tensor TorchHistoryNetwork::logProbabilities(const Tensor &logits) const {
  constexpr double impossible = -1e9;
  Tensor padded = torch::constant_pad_nd(logits, {0, 1}, impossible);
  return torch::log_softmax(
      padded.index_select(1, paddedIndex.view(-1))
          .view({logits.size(0), paddedIndex.size(0), paddedIndex.size(1)}),
      /*dim=*/2);
}

Failure TorchHistoryNetwork::evaluate(Span<const double> observation,
                                      Span<double> logits, double &value) {
  return guarded([&] {
    torch::NoGradGuard noGrad;
    Output output = forward(tensor(observation, {1, records, recordSize}));
    copy(output.logits, logits);
    value = output.values.item<double>();
  });
}

Failure TorchHistoryNetwork::computeLoss(const HistoryRollout &rollout,
                                         const PpoWeights &weights,
                                         PpoLoss &loss) {
  return guarded([&] {
    int64_t n = rollout.logProbs.size();
    Tensor advantages = tensor(rollout.advantages, {n});
    Output output =
        forward(tensor(rollout.observations, {n, records, recordSize}));

    Tensor logProbs = logProbabilities(output.logits);
    Tensor actions = indices(rollout.actions, {n, variables, 1});
    Tensor actionLogProbs = logProbs.gather(2, actions).squeeze(2).sum(1);
    Tensor ratio = torch::exp(actionLogProbs - tensor(rollout.logProbs, {n}));
    Tensor clipped = torch::clamp(ratio, 1 - weights.clip, 1 + weights.clip);

    Tensor policyLoss =
        -torch::min(ratio * advantages, clipped * advantages).mean();
    Tensor valueLoss =
        torch::mse_loss(output.values, tensor(rollout.returns, {n}));
    Tensor entropy = -(logProbs.exp() * logProbs).sum({1, 2}).mean();

    differentiate(policyLoss + weights.value * valueLoss -
                  weights.entropy * entropy);
    loss.policy = policyLoss.item<double>();
    loss.value = valueLoss.item<double>();
    loss.entropy = entropy.item<double>();
  });
}

Failure makeHistoryNetwork(const HistoryShape &shape, Precision precision,
                           HistoryNetwork *&network) {
  return guarded([&] { network = new TorchHistoryNetwork(shape, precision); });
}

} // namespace shardopt::agent
