//===- EditModel.cpp - The edit policy, evaluated quickly -----------------===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "shardopt/Search/Agent/EditModel.h"

#include <algorithm>
#include <cmath>
#include <cstring>

namespace shardopt::agent {

/// Calls `visit` for every action that `state` allows, in ascending order.
template <typename Visitor>
static void forEachAllowed(const EditState &state, const ActionLayout &layout,
                           const Visitor &visit) {
  for (size_t j = 0; j < layout.numVariables(); ++j) {
    if (state.isEdited[j])
      continue;
    uint32_t first = layout.first(j), count = layout.choices()[j];
    for (uint32_t action = first; action < first + count; ++action)
      if (action != first + state.point[j])
        visit(action);
  }
  if (state.hasEdits())
    visit(layout.end());
}

EditModel::EditModel(const ActionLayout &layout, const EditShape &shape)
    : layout(layout), hidden(shape.hidden), ordered(shape.ordered),
      attends(shape.elites > 0) {
  uint32_t next = uint32_t(layout.numActions());
  for (size_t j = 0; j < ordered; ++j) {
    uint32_t count = layout.choices()[j];
    stepBase.push_back(next + count - 1);
    next += 2 * count - 1;
  }
}

Failure EditModel::load(const Network &network) {
  const std::pair<const char *, Table *> places[] = {
      {"state.bias", &bias},
      {"state.values", &values},
      {"state.edited", &edited},
      {"state.slack", &slack},
      {"out.weight", &outWeight},
      {"out.bias", &outBias},
      {"elite.key.values", &keyValues},
      {"elite.key.features", &keyFeatures},
      {"elite.context.values", &contextValues},
      {"elite.context.features", &contextFeatures},
      {"elite.copy", &copyGain}};
  std::vector<double> numbers;
  for (size_t i = 0; i < network.numBlocks(); ++i) {
    ParameterBlock block = network.block(i);
    numbers.resize(block.size);
    if (Failure failure = network.readParameters(i, numbers))
      return failure;
    for (const auto &[name, table] : places)
      if (std::strcmp(name, block.name) == 0)
        table->assign(numbers.begin(), numbers.end());
  }
  return nullptr;
}

/// Adds `factor` times a row of a table whose rows are as long as `sum`.
static void addRow(std::vector<float> &sum, const std::vector<float> &table,
                   size_t row, float factor = 1) {
  size_t size = sum.size();
  const float *from = table.data() + row * size;
  float *to = sum.data();
  for (size_t i = 0; i < size; ++i)
    to[i] += factor * from[i];
}

void EditModel::observe(const EliteView &elites) {
  view = elites;
  keys.clear();
  contexts.clear();
  if (!attends)
    return;
  auto embed = [&](size_t i, const Table &valueTable, const Table &featureTable,
                   Table &result) {
    std::vector<float> sum(hidden);
    for (uint32_t position : view.positions[i])
      addRow(sum, valueTable, position);
    for (size_t f = 0; f < EditShape::features; ++f)
      addRow(sum, featureTable, f, float(view.features[i][f]));
    result.insert(result.end(), sum.begin(), sum.end());
  };
  size_t count = view.positions.size();
  Table rows;
  for (size_t i = 0; i < count; ++i) {
    embed(i, keyValues, keyFeatures, rows);
    embed(i, contextValues, contextFeatures, contexts);
  }
  keys.resize(rows.size());
  for (size_t i = 0; i < count; ++i)
    for (size_t k = 0; k < hidden; ++k)
      keys[k * count + i] = rows[i * hidden + k];
}

EditModel::Position EditModel::start(const search::EditStart &start) const {
  Position position{EditState(start), bias};
  for (uint32_t value : layout.positions(start.point))
    addRow(position.embedding, values, value);
  addRow(position.embedding, slack, 0, float(start.slack.memory));
  addRow(position.embedding, slack, 1, float(start.slack.latency));
  return position;
}

void EditModel::apply(Position &position, const search::Edit &edit) const {
  uint32_t before = position.state.point[edit.variable];
  addRow(position.embedding, values, layout.position({edit.variable, before}),
         -1);
  addRow(position.embedding, values, layout.position(edit));
  addRow(position.embedding, edited, edit.variable);
  position.state.apply(edit);
}

void EditModel::attend(const std::vector<float> &embedding) {
  size_t count = view.positions.size();
  attention.assign(count, 0);
  float scale = 1 / std::sqrt(float(hidden));
  for (size_t k = 0; k < hidden; ++k)
    addRow(attention, keys, k, embedding[k] * scale);
  float largest = *std::max_element(attention.begin(), attention.end());
  float total = 0;
  for (float &weight : attention)
    total += weight = std::exp(weight - largest);
  for (size_t i = 0; i < count; ++i) {
    float weight = attention[i] / total;
    addRow(hiddenState, contexts, i, weight);
    for (size_t j = 0; j < layout.numVariables(); ++j)
      logits[view.positions[i][j]] += weight * copyGain[j];
  }
}

void EditModel::probabilities(const Position &position,
                              std::vector<float> &result) {
  const EditState &state = position.state;
  hiddenState = position.embedding;
  logits = outBias;
  if (attends && !view.positions.empty())
    attend(position.embedding);
  for (size_t i = 0; i < hidden; ++i)
    if (hiddenState[i] > 0)
      addRow(logits, outWeight, i, hiddenState[i]);
  for (size_t j = 0; j < ordered; ++j)
    for (uint32_t value = 0; value < layout.choices()[j]; ++value)
      logits[layout.first(j) + value] +=
          logits[stepBase[j] + value - state.point[j]];

  result.assign(layout.numActions(), 0);
  float total = 0;
  float largest = -INFINITY;
  forEachAllowed(state, layout, [&](uint32_t action) {
    largest = std::max(largest, logits[action]);
  });
  forEachAllowed(state, layout, [&](uint32_t action) {
    total += result[action] = std::exp(logits[action] - largest);
  });
  if (total > 0)
    for (float &probability : result)
      probability /= total;
}

} // namespace shardopt::agent
