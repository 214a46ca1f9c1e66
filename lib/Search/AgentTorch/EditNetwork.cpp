//===- EditNetwork.cpp - Chooses an elite and its edit --------------------===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

//
// Every decision of a batch is a row. The embeddings of elites are computed
// once each, and then picked for the rows whose history holds them.
//
//===----------------------------------------------------------------------===//

#include "Networks.h"
#include "TorchNetwork.h"

#include <cmath>
#include <numeric>

namespace shardopt::agent {

using torch::Tensor;

namespace {

class TorchEditNetwork final : public TorchNetwork<EditNetwork> {
public:
  TorchEditNetwork(const EditShape &shape, Precision precision);

  Failure evaluate(const EditBatch &batch, Span<double> logProbs) override;
  Failure computeLoss(const EditBatch &batch, const EditWeights &weights,
                      EditLoss &loss) override;

private:
  void initialize(Initializer &initializer) override;

  /// What the rows of a batch attend to.
  struct Attended {
    Tensor context; ///< [n, H], sum_i a_i u_i
    Tensor copied;  ///< [n, N], sum_i a_i [x_ij = v]
  };
  Attended attend(const EditBatch &batch, const Tensor &query) const;
  Tensor stepLogits(const Tensor &positions, const Tensor &out) const;
  Tensor logProbabilities(const EditBatch &batch) const;
  /// The sums over the decisions of each trajectory.
  Tensor sumTrajectories(const EditBatch &batch, const Tensor &rows) const;
  Tensor actionLogProbs(const EditBatch &batch, const Tensor &logProbs) const;

  const int64_t variables, values, hidden, places; ///< V, N, H, K
  int64_t orderedValues = 0; ///< positions of the ordered variables, the first
  int64_t steps = 0;         ///< of all ordered variables
  Tensor variableOf;         ///< [N]
  /// Column of `out` where the step to each ordered position starts, from
  /// which the present position is subtracted, and the variable of each.
  Tensor stepBase, stepVariable;

  Tensor bias, stateTable, editedTable, slackTable;
  Tensor keyTable, keyFeatures, contextTable, contextFeatures, copyGain;
  Tensor outWeight, outBias; ///< N values, the end, the steps
};

} // namespace

/// a b. The gradient of `a` takes a copy of the transpose of b: a reference
/// BLAS multiplies by the transpose itself at a fifth of the speed.
struct Product : torch::autograd::Function<Product> {
  static Tensor forward(torch::autograd::AutogradContext *context,
                        const Tensor &a, const Tensor &b) {
    context->save_for_backward({a, b});
    return torch::mm(a, b.contiguous());
  }
  static torch::autograd::variable_list
  backward(torch::autograd::AutogradContext *context,
           const torch::autograd::variable_list &gradients) {
    torch::autograd::variable_list saved = context->get_saved_variables();
    const Tensor &gradient = gradients[0];
    Tensor ofA, ofB;
    if (saved[0].requires_grad())
      ofA = torch::mm(gradient, saved[1].t().contiguous());
    if (saved[1].requires_grad())
      ofB = torch::mm(saved[0].t(), gradient);
    return {ofA, ofB};
  }
};

static Tensor product(const Tensor &a, const Tensor &b) {
  return Product::apply(a, b);
}

TorchEditNetwork::TorchEditNetwork(const EditShape &shape, Precision precision)
    : TorchNetwork(precision, shape.adamEpsilon),
      variables(shape.choices.size()),
      values(std::accumulate(shape.choices.begin(), shape.choices.end(),
                             int64_t(0))),
      hidden(shape.hidden), places(shape.elites) {
  std::vector<int64_t> owner, base, stepOwner;
  for (int64_t j = 0; j < variables; ++j) {
    int64_t count = shape.choices[j], first = owner.size();
    owner.insert(owner.end(), count, j);
    if (j >= int64_t(shape.ordered))
      continue;
    // The step from position p to position q is column q - p + count - 1 of
    // the 2 count - 1 columns of the variable.
    for (int64_t v = 0; v < count; ++v) {
      base.push_back(values + 1 + steps + count - 1 + first + v);
      stepOwner.push_back(j);
    }
    orderedValues += count;
    steps += 2 * count - 1;
  }
  auto indexTensor = [&](const std::vector<int64_t> &numbers) {
    return torch::tensor(numbers, torch::kLong);
  };
  variableOf = indexTensor(owner);
  stepBase = indexTensor(base);
  stepVariable = indexTensor(stepOwner);

  bias = add("state.bias", {hidden});
  stateTable = add("state.values", {values, hidden});
  editedTable = add("state.edited", {variables, hidden});
  slackTable = add("state.slack", {EditShape::slacks, hidden});
  outWeight = add("out.weight", {hidden, values + 1 + steps});
  outBias = add("out.bias", {values + 1 + steps});
  if (places > 0) {
    keyTable = add("elite.key.values", {values, hidden});
    keyFeatures = add("elite.key.features", {EditShape::features, hidden});
    contextTable = add("elite.context.values", {values, hidden});
    contextFeatures =
        add("elite.context.features", {EditShape::features, hidden});
    copyGain = add("elite.copy", {variables});
  }
  join();
}

/// Small weights of the outputs: almost a uniform distribution over the edits.
void TorchEditNetwork::initialize(Initializer &initializer) {
  for (Tensor *table : {&bias, &stateTable, &editedTable, &slackTable})
    initializer.normal(*table, 0.4);
  initializer.normal(outWeight, 0.02 / std::sqrt(double(hidden)));
  initializer.zeros(outBias);
  if (places == 0)
    return;
  for (Tensor *table :
       {&keyTable, &keyFeatures, &contextTable, &contextFeatures})
    initializer.normal(*table, 0.1);
  initializer.zeros(copyGain);
}

/// For every row of `positions` the sum of the rows of `table` there.
static Tensor embed(const Tensor &table, const Tensor &positions) {
  return table.index_select(0, positions.reshape(-1))
      .view({positions.size(0), positions.size(1), table.size(1)})
      .sum(1);
}

TorchEditNetwork::Attended TorchEditNetwork::attend(const EditBatch &batch,
                                                    const Tensor &query) const {
  int64_t n = query.size(0), h = batch.members.size() / places,
          u = batch.elites.size() / variables;
  Tensor positions = indices(batch.elites, {u, variables});
  Tensor members = indices(batch.members, {h * places});
  Tensor features = tensor(batch.features, {h * places, EditShape::features});
  Tensor history = indices(batch.histories, {n});
  // [n, K, H]; each elite is embedded once, however many rows see it.
  auto ofRows = [&](const Tensor &table, const Tensor &featureTable) {
    Tensor all = embed(table, positions).index_select(0, members) +
                 product(features, featureTable);
    return all.view({h, places, hidden}).index_select(0, history);
  };
  Tensor scores = (ofRows(keyTable, keyFeatures) * query.unsqueeze(1)).sum(2) /
                  std::sqrt(double(hidden));
  Tensor present = tensor(batch.present, {h, places}).index_select(0, history);
  Tensor weights =
      torch::softmax(scores.masked_fill(present == 0, -1e9), 1) * present;

  Tensor seen = positions.index_select(0, members)
                    .view({h, places * variables})
                    .index_select(0, history);
  Tensor shares = weights.unsqueeze(2)
                      .expand({n, places, variables})
                      .reshape({n, places * variables});
  return {(weights.unsqueeze(2) * ofRows(contextTable, contextFeatures)).sum(1),
          torch::zeros({n, values}, options).scatter_add(1, seen, shares)};
}

/// [n, ordered positions] of the outputs [n, N + 1 + steps].
Tensor TorchEditNetwork::stepLogits(const Tensor &positions,
                                    const Tensor &out) const {
  Tensor from = positions.index_select(1, stepVariable);
  return out.gather(1, stepBase.unsqueeze(0) - from);
}

/// [n, N + 1].
Tensor TorchEditNetwork::logProbabilities(const EditBatch &batch) const {
  int64_t n = batch.actions.size();
  Tensor positions = indices(batch.positions, {n, variables});
  Tensor state =
      bias + embed(stateTable, positions) +
      product(tensor(batch.edited, {n, variables}), editedTable) +
      product(tensor(batch.slacks, {n, EditShape::slacks}), slackTable);
  Tensor copied;
  if (places > 0) {
    Attended attended = attend(batch, state);
    state = state + attended.context;
    copied = attended.copied * copyGain.index_select(0, variableOf);
  }
  Tensor out = outBias + product(torch::relu(state), outWeight);
  auto added = [&](const Tensor &logits, const Tensor &more) {
    return logits +
           torch::constant_pad_nd(more, {0, values + 1 - more.size(1)});
  };
  Tensor logits =
      added(out.narrow(1, 0, values + 1), stepLogits(positions, out));
  if (copied.defined())
    logits = added(logits, copied);
  Tensor allowed = tensor(batch.allowed, {n, values + 1});
  return torch::log_softmax(logits.masked_fill(allowed == 0, -1e9), 1);
}

Tensor TorchEditNetwork::sumTrajectories(const EditBatch &batch,
                                         const Tensor &rows) const {
  int64_t all = batch.advantages.size() + batch.imitated;
  Tensor trajectory = indices(batch.trajectory, {rows.size(0)});
  return torch::zeros({all}, options).index_add(0, trajectory, rows);
}

Tensor TorchEditNetwork::actionLogProbs(const EditBatch &batch,
                                        const Tensor &logProbs) const {
  Tensor actions = indices(batch.actions, {logProbs.size(0), 1});
  return sumTrajectories(batch, logProbs.gather(1, actions).squeeze(1));
}

Failure TorchEditNetwork::evaluate(const EditBatch &batch,
                                   Span<double> logProbs) {
  return guarded([&] {
    torch::NoGradGuard noGrad;
    copy(actionLogProbs(batch, logProbabilities(batch))
             .narrow(0, 0, batch.advantages.size()),
         logProbs);
  });
}

Failure TorchEditNetwork::computeLoss(const EditBatch &batch,
                                      const EditWeights &weights,
                                      EditLoss &loss) {
  return guarded([&] {
    int64_t group = batch.advantages.size(), imitated = batch.imitated;
    Tensor logProbs = logProbabilities(batch);
    Tensor trajectories = actionLogProbs(batch, logProbs);
    Tensor entropies =
        sumTrajectories(batch, -(logProbs.exp() * logProbs).sum(1));

    Tensor advantages = tensor(batch.advantages, {group});
    Tensor ratio = torch::exp(trajectories.narrow(0, 0, group) -
                              tensor(batch.logProbs, {group}));
    Tensor clipped = torch::clamp(ratio, 1 - weights.clip, 1 + weights.clip);
    Tensor policyLoss =
        -torch::min(ratio * advantages, clipped * advantages).mean();
    Tensor entropy = entropies.narrow(0, 0, group).mean();
    Tensor total = policyLoss - weights.entropy * entropy;
    Tensor imitation = torch::zeros({}, options);
    if (imitated > 0) {
      imitation = -trajectories.narrow(0, group, imitated).mean();
      total = total + weights.imitation * imitation;
    }
    differentiate(total);
    loss.policy = policyLoss.item<double>();
    loss.imitation = imitation.item<double>();
    loss.entropy = entropy.item<double>();
  });
}

Failure makeEditNetwork(const EditShape &shape, Precision precision,
                        EditNetwork *&network) {
  return guarded([&] { network = new TorchEditNetwork(shape, precision); });
}

} // namespace shardopt::agent
