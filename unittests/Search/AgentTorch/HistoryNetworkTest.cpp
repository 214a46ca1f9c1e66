//===- HistoryNetworkTest.cpp - Against a reference in float64 ------------===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "NetworkTesting.h"
#include "shardopt/Research/Ppo.h"
#include "shardopt/Search/Agent/ModuleLoader.h"
#include "shardopt/Support/Json.h"

#include <numeric>

using namespace shardopt;
using namespace shardopt::agent;

namespace {

const std::vector<uint32_t> choices = {3, 1, 4, 2};

HistoryShape smallShape() {
  HistoryShape shape;
  shape.records = 3;
  shape.recordSize = choices.size();
  shape.width = 6;
  shape.attentionHeads = 2;
  shape.feedForward = 5;
  shape.hidden = 7;
  shape.choices = choices;
  return shape;
}

/// The network as section 3 of the paper describes it, written once more, with
/// loops over doubles.
class Reference {
public:
  Reference(const HistoryShape &shape, const Blocks &parameters)
      : shape(shape), parameters(parameters) {}

  struct Output {
    Numbers logits;
    double value;
  };

  Output forward(const Numbers &observation) const {
    std::vector<Numbers> records;
    for (size_t t = 0; t < shape.records; ++t)
      records.push_back(apply("embedding", {&observation[t * shape.recordSize],
                                            &observation[t * shape.recordSize] +
                                                shape.recordSize}));
    records = encode(records);
    Numbers pooled(shape.width);
    for (const Numbers &record : records)
      for (size_t i = 0; i < shape.width; ++i)
        pooled[i] += record[i] / shape.records;
    return {apply("policy_out", tanh(apply("policy_hidden", pooled))),
            apply("value_out", tanh(apply("value_hidden", pooled)))[0]};
  }

  struct Terms {
    double policy = 0, value = 0, entropy = 0;
  };

  /// Over a rollout of n steps.
  Terms loss(const HistoryRollout &rollout, double clip) const {
    Terms terms;
    size_t n = rollout.logProbs.size();
    size_t size = shape.records * shape.recordSize;
    for (size_t i = 0; i < n; ++i) {
      const double *first = rollout.observations.begin() + i * size;
      Output output = forward({first, first + size});
      double logProb = 0;
      auto next = output.logits.begin();
      for (size_t v = 0; v < choices.size(); ++v) {
        Numbers head = logSoftmax({next, next + choices[v]});
        next += choices[v];
        logProb += head[rollout.actions[i * choices.size() + v]];
        for (double value : head)
          terms.entropy -= std::exp(value) * value / n;
      }
      double ratio = std::exp(logProb - rollout.logProbs[i]);
      double clipped = std::min(std::max(ratio, 1 - clip), 1 + clip);
      double advantage = rollout.advantages[i];
      terms.policy -= std::min(ratio * advantage, clipped * advantage) / n;
      double error = output.value - rollout.returns[i];
      terms.value += error * error / n;
    }
    return terms;
  }

private:
  Numbers apply(const std::string &name, const Numbers &x) const {
    return linear(parameters.at(name + ".weight"),
                  parameters.at(name + ".bias"), x);
  }

  static Numbers tanh(Numbers x) {
    for (double &value : x)
      value = std::tanh(value);
    return x;
  }

  Numbers norm(const std::string &name, Numbers x) const {
    double mean = std::accumulate(x.begin(), x.end(), 0.0) / x.size();
    double variance = 0;
    for (double value : x)
      variance += (value - mean) * (value - mean) / x.size();
    for (size_t i = 0; i < x.size(); ++i)
      x[i] = (x[i] - mean) / std::sqrt(variance + 1e-5) *
                 parameters.at(name + ".weight")[i] +
             parameters.at(name + ".bias")[i];
    return x;
  }

  std::vector<Numbers> encode(const std::vector<Numbers> &x) const {
    size_t width = shape.width, size = width / shape.attentionHeads;
    std::vector<Numbers> all; // queries, keys, values of each record
    for (const Numbers &record : x)
      all.push_back(apply("attention_in", record));
    std::vector<Numbers> result;
    for (size_t t = 0; t < x.size(); ++t) {
      Numbers mixed(width);
      for (size_t head = 0; head < width; head += size) {
        Numbers scores;
        for (size_t s = 0; s < x.size(); ++s) {
          double dot = 0;
          for (size_t i = head; i < head + size; ++i)
            dot += all[t][i] * all[s][width + i];
          scores.push_back(dot / std::sqrt(double(size)));
        }
        Numbers weights = logSoftmax(scores);
        for (size_t s = 0; s < x.size(); ++s)
          for (size_t i = head; i < head + size; ++i)
            mixed[i] += std::exp(weights[s]) * all[s][2 * width + i];
      }
      Numbers y = norm("norm1", sum(x[t], apply("attention_out", mixed)));
      Numbers inner = apply("feed_forward1", y);
      for (double &value : inner)
        value = std::max(0.0, value);
      result.push_back(norm("norm2", sum(y, apply("feed_forward2", inner))));
    }
    return result;
  }

  static Numbers sum(Numbers a, const Numbers &b) {
    for (size_t i = 0; i < a.size(); ++i)
      a[i] += b[i];
    return a;
  }

  const HistoryShape &shape;
  const Blocks &parameters;
};

class HistoryNetworkTest : public testing::Test {
protected:
  std::unique_ptr<HistoryNetwork> make(Precision precision) {
    auto network = createHistoryNetwork("test", shape, precision);
    EXPECT_TRUE(network) << network.error().message;
    EXPECT_EQ((*network)->reset(1), nullptr);
    return std::move(*network);
  }

  /// Four steps, with old probabilities that put two of the ratios outside of
  /// the clip range.
  HistoryRollout rollout(HistoryNetwork &network) {
    Rng rng(7);
    observations = randomNumbers(4 * 12, rng);
    advantages = {0.7, -0.4, 0.9, -1.1};
    returns = {2, 1, 0.5, -1};
    for (size_t i = 0; i < 4; ++i) {
      Numbers logits(10);
      double value;
      EXPECT_EQ(network.evaluate(Span<const double>(&observations[i * 12], 12),
                                 logits, value),
                nullptr);
      FactoredPolicy policy(choices, logits);
      std::vector<uint32_t> drawn = policy.draw(rng);
      actions.insert(actions.end(), drawn.begin(), drawn.end());
      const double shift[] = {0.05, -0.1, -0.6, 0.5};
      logProbs.push_back(policy.logProb(drawn) + shift[i]);
    }
    return {observations, actions, logProbs, advantages, returns};
  }

  HistoryShape shape = smallShape();
  Numbers observations, logProbs, advantages, returns;
  std::vector<uint32_t> actions;
};

} // namespace

TEST_F(HistoryNetworkTest, ComputesWhatTheReferenceComputes) {
  for (Precision precision : {Precision::Double, Precision::Single}) {
    auto network = make(precision);
    scramble(*network, 3);
    Blocks parameters = readParameters(*network);
    Rng rng(5);
    Numbers observation = randomNumbers(12, rng), logits(10);
    double value;
    ASSERT_EQ(network->evaluate(observation, logits, value), nullptr);
    auto expected = Reference(shape, parameters).forward(observation);
    double tolerance = precision == Precision::Double ? 1e-12 : 1e-5;
    for (size_t i = 0; i < logits.size(); ++i)
      EXPECT_NEAR(logits[i], expected.logits[i], tolerance);
    EXPECT_NEAR(value, expected.value, tolerance);
  }
}

TEST_F(HistoryNetworkTest, HasTheLossOfPpo) {
  auto network = make(Precision::Double);
  scramble(*network, 3);
  HistoryRollout steps = rollout(*network);
  PpoLoss loss;
  ASSERT_EQ(network->computeLoss(steps, {}, loss), nullptr);
  Blocks parameters = readParameters(*network);
  auto expected = Reference(shape, parameters).loss(steps, 0.2);
  EXPECT_NEAR(loss.policy, expected.policy, 1e-10);
  EXPECT_NEAR(loss.value, expected.value, 1e-10);
  EXPECT_NEAR(loss.entropy, expected.entropy, 1e-10);
}

TEST_F(HistoryNetworkTest, HasTheGradientsOfItsLoss) {
  auto network = make(Precision::Double);
  scramble(*network, 3);
  HistoryRollout steps = rollout(*network);
  PpoWeights weights;
  weights.entropy = 0.3;
  PpoLoss loss;
  ASSERT_EQ(network->computeLoss(steps, weights, loss), nullptr);
  expectGradients(readGradients(*network), readParameters(*network),
                  [&](const Blocks &parameters) {
                    auto terms = Reference(shape, parameters).loss(steps, 0.2);
                    return terms.policy + weights.value * terms.value -
                           weights.entropy * terms.entropy;
                  });
}

/// Adam's first step moves every parameter against its gradient, by the
/// learning rate where the gradient is large beside epsilon.
TEST_F(HistoryNetworkTest, StepsAsAdamDoes) {
  auto network = make(Precision::Double);
  scramble(*network, 3);
  HistoryRollout steps = rollout(*network);
  Blocks before = readParameters(*network);
  PpoLoss loss;
  ASSERT_EQ(network->computeLoss(steps, {}, loss), nullptr);
  Blocks gradients = readGradients(*network);
  double squares = 0;
  for (const auto &[name, values] : gradients)
    for (double value : values)
      squares += value * value;
  double scale = 0.5 / std::sqrt(squares);
  ASSERT_LT(scale, 1) << "the gradient is too short to be clipped";
  ASSERT_EQ(network->step(0.01, 0.5), nullptr);
  for (const auto &[name, values] : readParameters(*network))
    for (size_t i = 0; i < values.size(); ++i) {
      double gradient = gradients[name][i] * scale;
      EXPECT_NEAR(values[i],
                  before[name][i] -
                      0.01 * gradient / (std::fabs(gradient) + 1e-5),
                  1e-7);
    }
}

static Numbers numbersOf(json::Value array) {
  Numbers numbers;
  for (json::Value element : array.elements())
    numbers.push_back(element.number());
  return numbers;
}

static void expectNear(const Blocks &found, json::Value expected,
                       double tolerance) {
  EXPECT_EQ(found.size(), expected.members().size());
  for (const auto &[name, values] : found) {
    Numbers wanted = numbersOf(expected[name]);
    ASSERT_EQ(values.size(), wanted.size()) << name;
    for (size_t i = 0; i < values.size(); ++i)
      EXPECT_NEAR(values[i], wanted[i], tolerance) << name << "[" << i << "]";
  }
}

/// Sb3Update.json is what make_sb3_update.py had Stable-Baselines3 compute:
/// two gradient steps of its PPO on one rollout of episodes of one step.
TEST_F(HistoryNetworkTest, UpdatesAsStableBaselines3Does) {
  auto fixture = json::Document::parseFile(SHARDOPT_SB3_UPDATE);
  ASSERT_TRUE(fixture) << fixture.error().message;
  json::Value root = fixture->root(), given = root["rollout"];
  auto network = make(Precision::Double);
  for (size_t i = 0; i < network->numBlocks(); ++i)
    ASSERT_EQ(network->writeParameters(
                  i, numbersOf(root["parameters"][network->block(i).name])),
              nullptr);

  observations = numbersOf(given["observations"]);
  logProbs = numbersOf(given["log_probs"]);
  returns = numbersOf(given["rewards"]);
  for (json::Value action : given["actions"].elements())
    actions.push_back(uint32_t(action.integer()));
  advantages = oneStepAdvantages(returns, numbersOf(given["values"]));
  normalise(advantages);
  HistoryRollout steps{observations, actions, logProbs, advantages, returns};

  constexpr double tolerance = 1e-6;
  for (json::Value step : root["steps"].elements()) {
    PpoLoss loss;
    ASSERT_EQ(network->computeLoss(steps, {}, loss), nullptr);
    EXPECT_NEAR(loss.policy, step["policy_loss"].number(), tolerance);
    EXPECT_NEAR(loss.value, step["value_loss"].number(), tolerance);
    EXPECT_NEAR(loss.entropy, step["entropy"].number(), tolerance);
    expectNear(readGradients(*network), step["gradients"], tolerance);
    ASSERT_EQ(network->step(1e-3, 0.5), nullptr);
  }
  expectNear(readParameters(*network), root["parameters_after"], tolerance);
  EXPECT_FALSE(fixture->failed());
}

TEST_F(HistoryNetworkTest, StartsAlmostUniform) {
  auto network = make(Precision::Single);
  Numbers logits(10);
  double value;
  ASSERT_EQ(network->evaluate(Numbers(12, 0.5), logits, value), nullptr);
  for (double logit : logits)
    EXPECT_LT(std::fabs(logit), 0.1);
}

TEST_F(HistoryNetworkTest, StartsAnewFromASeed) {
  auto network = make(Precision::Single);
  Blocks first = readParameters(*network);
  HistoryRollout steps = rollout(*network);
  PpoLoss loss;
  ASSERT_EQ(network->computeLoss(steps, {}, loss), nullptr);
  ASSERT_EQ(network->step(0.01, 0.5), nullptr);
  Blocks stepped = readParameters(*network);
  EXPECT_NE(stepped, first);
  ASSERT_EQ(network->reset(2), nullptr);
  EXPECT_NE(readParameters(*network), first);
  ASSERT_EQ(network->reset(1), nullptr);
  EXPECT_EQ(readParameters(*network), first);
  // The optimiser has forgotten its moments: the same step again.
  ASSERT_EQ(network->computeLoss(steps, {}, loss), nullptr);
  ASSERT_EQ(network->step(0.01, 0.5), nullptr);
  EXPECT_EQ(readParameters(*network), stepped);
}

TEST_F(HistoryNetworkTest, OverfitsOneEpisode) {
  auto network = make(Precision::Single);
  Numbers observation(12, 0.5), logits(10);
  std::vector<uint32_t> action = {2, 0, 1, 1};
  double value;
  PpoLoss loss;
  for (int i = 0; i < 200; ++i) {
    ASSERT_EQ(network->evaluate(observation, logits, value), nullptr);
    Numbers logProb = {FactoredPolicy(choices, logits).logProb(action)};
    Numbers advantage = {1}, episodeReturn = {3};
    ASSERT_EQ(
        network->computeLoss(
            {observation, action, logProb, advantage, episodeReturn}, {}, loss),
        nullptr);
    ASSERT_EQ(network->step(1e-2, 0.5), nullptr);
  }
  ASSERT_EQ(network->evaluate(observation, logits, value), nullptr);
  EXPECT_GT(FactoredPolicy(choices, logits).logProb(action), std::log(0.95));
  EXPECT_NEAR(value, 3, 0.05);
}

TEST_F(HistoryNetworkTest, SaysWhatIsWrongWithItsShape) {
  shape.attentionHeads = 4;
  auto network = createHistoryNetwork("ppo-paper", shape);
  ASSERT_FALSE(network);
  EXPECT_EQ(network.error().message,
            "searcher 'ppo-paper': LibTorch: width 6 is no multiple of "
            "attention-heads 4");
}

TEST_F(HistoryNetworkTest, NamesItsParameters) {
  auto network = make(Precision::Single);
  EXPECT_EQ(network->numBlocks(), 22u);
  EXPECT_EQ(std::string(network->block(0).name), "embedding.weight");
  EXPECT_EQ(network->block(0).size, 24u);
  Numbers tooFew(3);
  EXPECT_NE(network->readParameters(0, tooFew), nullptr);
}
