//===- EditNetworkTest.cpp - Against a reference in float64 ---------------===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "NetworkTesting.h"
#include "shardopt/Search/Agent/EditModel.h"
#include "shardopt/Search/Agent/EditRows.h"
#include "shardopt/Search/Agent/ModuleLoader.h"

#include <algorithm>

using namespace shardopt;
using namespace shardopt::agent;
using search::Edit;
using search::EditSequence;
using search::EditStart;

namespace {

constexpr size_t hidden = 5;
constexpr size_t places = 3; ///< of a history
constexpr size_t ordered = 2;

/// The formulas of `EditNetwork`, written once more, with loops over doubles.
class Reference {
public:
  Reference(const ActionLayout &layout, const Blocks &parameters)
      : layout(layout), parameters(parameters) {}

  /// The logarithm of the probability of every action.
  Numbers logProbs(const EditState &state, const EliteView &elites) const {
    Numbers h = parameters.at("state.bias");
    for (uint32_t position : layout.positions(state.point))
      addRow(h, "state.values", position, 1);
    for (size_t j = 0; j < layout.numVariables(); ++j)
      addRow(h, "state.edited", j, state.isEdited[j]);
    addRow(h, "state.slack", 0, state.slack.memory);
    addRow(h, "state.slack", 1, state.slack.latency);

    Numbers copied(layout.numPositions());
    Numbers z = h;
    if (parameters.count("elite.copy")) {
      Numbers weights = attention(h, elites);
      for (size_t i = 0; i < weights.size(); ++i) {
        Numbers context = embed(elites, i, "elite.context");
        for (size_t k = 0; k < hidden; ++k)
          z[k] += std::exp(weights[i]) * context[k];
        for (uint32_t position : elites.positions[i])
          copied[position] += std::exp(weights[i]);
      }
    }
    for (double &value : z)
      value = std::max(0.0, value);

    Numbers result;
    std::vector<uint32_t> allowed;
    for (uint32_t action = 0; action < layout.numActions(); ++action) {
      double logit = out(z, action);
      if (action != layout.end()) {
        Edit edit = layout.edit(action);
        if (edit.variable < ordered)
          logit += out(z, stepColumn(state, edit));
        if (parameters.count("elite.copy"))
          logit += parameters.at("elite.copy")[edit.variable] * copied[action];
      }
      if (state.allows(action, layout)) {
        allowed.push_back(action);
        result.push_back(logit);
      }
    }
    result = logSoftmax(result);
    Numbers all(layout.numActions(), -1e9);
    for (size_t i = 0; i < allowed.size(); ++i)
      all[allowed[i]] = result[i];
    return all;
  }

private:
  void addRow(Numbers &sum, const std::string &table, size_t row,
              double factor) const {
    for (size_t k = 0; k < sum.size(); ++k)
      sum[k] += factor * parameters.at(table)[row * sum.size() + k];
  }

  Numbers embed(const EliteView &elites, size_t i,
                const std::string &name) const {
    Numbers sum(hidden);
    for (uint32_t position : elites.positions[i])
      addRow(sum, name + ".values", position, 1);
    for (size_t f = 0; f < EditShape::features; ++f)
      addRow(sum, name + ".features", f, elites.features[i][f]);
    return sum;
  }

  /// The logarithms of the weights.
  Numbers attention(const Numbers &h, const EliteView &elites) const {
    Numbers scores;
    for (size_t i = 0; i < elites.positions.size(); ++i) {
      Numbers key = embed(elites, i, "elite.key");
      double dot = 0;
      for (size_t k = 0; k < hidden; ++k)
        dot += h[k] * key[k];
      scores.push_back(dot / std::sqrt(double(hidden)));
    }
    return logSoftmax(scores);
  }

  /// Behind the actions, 2 n - 1 columns for each ordered variable, the middle
  /// one for no step.
  size_t stepColumn(const EditState &state, const Edit &edit) const {
    size_t column = layout.numActions();
    for (uint32_t j = 0; j < edit.variable; ++j)
      column += 2 * layout.choices()[j] - 1;
    return column + layout.choices()[edit.variable] - 1 + edit.value -
           state.point[edit.variable];
  }

  double out(const Numbers &z, size_t column) const {
    const Numbers &weight = parameters.at("out.weight");
    double sum = parameters.at("out.bias")[column];
    size_t columns = weight.size() / hidden;
    for (size_t k = 0; k < hidden; ++k)
      sum += z[k] * weight[k * columns + column];
    return sum;
  }

  const ActionLayout &layout;
  const Blocks &parameters;
};

class EditNetworkTest : public testing::TestWithParam<bool> {
protected:
  EditNetworkTest() {
    shape.choices = layout.choices();
    shape.ordered = ordered;
    shape.hidden = hidden;
    shape.elites = GetParam() ? places : 0;
  }

  std::unique_ptr<EditNetwork> make(Precision precision) {
    auto network = createEditNetwork("test", shape, precision);
    EXPECT_TRUE(network) << network.error().message;
    EXPECT_EQ((*network)->reset(1), nullptr);
    return std::move(*network);
  }

  std::shared_ptr<EliteView> view(std::vector<search::Point> points) {
    auto result = std::make_shared<EliteView>();
    for (const search::Point &point : points) {
      result->positions.push_back(layout.positions(point));
      result->features.push_back({randomNumber(rng), randomNumber(rng),
                                  randomNumber(rng), randomNumber(rng)});
    }
    return result;
  }

  /// Two played trajectories, of one and of two sequences, and one imitated.
  void addTrajectories() {
    EditStart first{{0, 2, 1, 0}, {0.3, -0.2}};
    EditStart second{{2, 0, 0, 0}, {-1, 0.1}};
    trajectories = {{{first, {{0, 1}, {2, 0}}}},
                    {{second, {{1, 3}}}, {first, {{2, 2}, {0, 2}, {1, 0}}}},
                    {{second, {{2, 1}}}}};
    views = {view({{0, 1, 2, 0}}),
             view({{2, 2, 2, 0}, {0, 1, 2, 0}, {1, 1, 1, 0}}), nullptr};
    views[2] = views[0];
    for (size_t i = 0; i < trajectories.size(); ++i)
      rows.add(trajectories[i], views[i]);
  }

  EditBatch batch() {
    EditBatch result = rows.batch();
    result.advantages = advantages;
    result.logProbs = oldLogProbs;
    result.imitated = 1;
    return result;
  }

  /// Sum over the decisions of a trajectory, and of their entropies.
  std::pair<double, double> expected(const Blocks &parameters, size_t index) {
    double logProb = 0, entropy = 0;
    auto decide = [&](const EditState &state, uint32_t action) {
      Numbers logProbs =
          Reference(layout, parameters).logProbs(state, *views[index]);
      logProb += logProbs[action];
      for (double value : logProbs)
        entropy -= std::exp(value) * value;
    };
    for (const EditSequence &sequence : trajectories[index]) {
      EditState state(sequence.start);
      for (const Edit &edit : sequence.edits) {
        decide(state, layout.position(edit));
        state.apply(edit);
      }
      if (sequence.edits.size() < 3)
        decide(state, layout.end());
    }
    return {logProb, entropy};
  }

  EditLoss expectedLoss(const Blocks &parameters, double clip) {
    EditLoss loss;
    for (size_t i = 0; i < 2; ++i) {
      auto [logProb, entropy] = expected(parameters, i);
      double ratio = std::exp(logProb - oldLogProbs[i]);
      double clipped = std::min(std::max(ratio, 1 - clip), 1 + clip);
      loss.policy -=
          std::min(ratio * advantages[i], clipped * advantages[i]) / 2;
      loss.entropy += entropy / 2;
    }
    loss.imitation = -expected(parameters, 2).first;
    return loss;
  }

  Rng rng{4};
  ActionLayout layout{{3, 4, 3, 1}};
  EditShape shape;
  EditRows rows{layout, places};
  std::vector<std::vector<EditSequence>> trajectories;
  std::vector<std::shared_ptr<EliteView>> views;
  Numbers advantages = {0.8, -0.6};
  Numbers oldLogProbs = {-5, -9};
};

} // namespace

INSTANTIATE_TEST_SUITE_P(, EditNetworkTest, testing::Bool(),
                         [](const testing::TestParamInfo<bool> &info) {
                           return info.param ? "WithAttention" : "Without";
                         });

TEST_P(EditNetworkTest, HasTheProbabilitiesOfTheReference) {
  addTrajectories();
  for (Precision precision : {Precision::Double, Precision::Single}) {
    auto network = make(precision);
    scramble(*network, 3);
    Blocks parameters = readParameters(*network);
    Numbers logProbs(2);
    ASSERT_EQ(network->evaluate(batch(), logProbs), nullptr);
    double tolerance = precision == Precision::Double ? 1e-12 : 1e-5;
    for (size_t i = 0; i < 2; ++i)
      EXPECT_NEAR(logProbs[i], expected(parameters, i).first, tolerance);
  }
}

/// The function that draws is the one that learns.
TEST_P(EditNetworkTest, HasTheProbabilitiesOfTheModel) {
  addTrajectories();
  auto network = make(Precision::Single);
  scramble(*network, 3);
  Numbers logProbs(2);
  ASSERT_EQ(network->evaluate(batch(), logProbs), nullptr);
  EditModel model(layout, shape);
  ASSERT_EQ(model.load(*network), nullptr);
  for (size_t i = 0; i < 2; ++i) {
    model.observe(*views[i]);
    double sum = 0;
    std::vector<float> probabilities;
    for (const EditSequence &sequence : trajectories[i]) {
      EditModel::Position position = model.start(sequence.start);
      for (const Edit &edit : sequence.edits) {
        model.probabilities(position, probabilities);
        sum += std::log(probabilities[layout.position(edit)]);
        model.apply(position, edit);
      }
      model.probabilities(position, probabilities);
      if (sequence.edits.size() < 3)
        sum += std::log(probabilities[layout.end()]);
    }
    EXPECT_NEAR(sum, logProbs[i], 1e-4);
  }
}

TEST_P(EditNetworkTest, HasTheLossOfTheReference) {
  addTrajectories();
  auto network = make(Precision::Double);
  scramble(*network, 3);
  EditLoss loss;
  ASSERT_EQ(network->computeLoss(batch(), {}, loss), nullptr);
  EditLoss reference = expectedLoss(readParameters(*network), 0.2);
  EXPECT_NEAR(loss.policy, reference.policy, 1e-10);
  EXPECT_NEAR(loss.imitation, reference.imitation, 1e-10);
  EXPECT_NEAR(loss.entropy, reference.entropy, 1e-10);
}

/// At ratios within the clip range and outside of it.
TEST_P(EditNetworkTest, HasTheGradientsOfItsLoss) {
  addTrajectories();
  auto network = make(Precision::Double);
  scramble(*network, 3);
  Numbers now(2);
  ASSERT_EQ(network->evaluate(batch(), now), nullptr);
  for (double shift : {0.05, -0.7, 0.7}) {
    oldLogProbs = {now[0] + shift, now[1] + shift};
    EditWeights weights;
    EditLoss loss;
    ASSERT_EQ(network->computeLoss(batch(), weights, loss), nullptr);
    expectGradients(readGradients(*network), readParameters(*network),
                    [&](const Blocks &parameters) {
                      EditLoss terms = expectedLoss(parameters, weights.clip);
                      return terms.policy +
                             weights.imitation * terms.imitation -
                             weights.entropy * terms.entropy;
                    });
  }
}

TEST_P(EditNetworkTest, StartsAlmostUniform) {
  auto network = make(Precision::Single);
  EditModel model(layout, shape);
  ASSERT_EQ(model.load(*network), nullptr);
  model.observe(*view({{0, 1, 2, 0}}));
  std::vector<float> probabilities;
  model.probabilities(model.start({{0, 0, 0, 0}, {}}), probabilities);
  // Of the other values of variables with 3, 4 and 3: 2 + 3 + 2, and no end.
  for (uint32_t action = 0; action < layout.numActions(); ++action) {
    bool isOther = action != layout.end() && layout.edit(action).value != 0;
    EXPECT_NEAR(probabilities[action], isOther ? 1.0 / 7 : 0, 0.02) << action;
  }
}

TEST_P(EditNetworkTest, OverfitsOneTrajectory) {
  addTrajectories();
  auto network = make(Precision::Single);
  EditBatch played = batch();
  advantages = {1, 0};
  EditWeights weights;
  weights.entropy = weights.imitation = 0;
  EditLoss loss;
  for (int i = 0; i < 300; ++i) {
    ASSERT_EQ(network->evaluate(played, oldLogProbs), nullptr);
    ASSERT_EQ(network->computeLoss(played, weights, loss), nullptr);
    ASSERT_EQ(network->step(1e-2, 0.5), nullptr);
  }
  ASSERT_EQ(network->evaluate(played, oldLogProbs), nullptr);
  EXPECT_GT(oldLogProbs[0], std::log(0.9));
}
