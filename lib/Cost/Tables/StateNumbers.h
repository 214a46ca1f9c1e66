//===- StateNumbers.h - States of a layer, numbered -------------*- C++ -*-===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef SHARDOPT_COST_TABLES_STATENUMBERS_H
#define SHARDOPT_COST_TABLES_STATENUMBERS_H

#include "shardopt/Model/LayerState.h"
#include "shardopt/Support/Hash.h"

#include <algorithm>
#include <array>
#include <cassert>
#include <cstdint>
#include <vector>

namespace shardopt::cost {

/// What follows an op can depend on: a variation, and the layout and copies of
/// each live value, in a lane of 16 bits each. Equal states are equal numbers:
/// lanes that are not used are 0. There are as many words as the lanes of a
/// body need, so more live values only make keys longer.
///
/// Example: variation 2, then a value in T with copies in T and R (bits 1 and
/// 0): 0x0002, 0x0301.
class StateKey {
public:
  uint16_t variation() const { return lane(0); }
  void setVariation(uint16_t number) { setLane(0, number); }

  Layout layout(size_t value) const { return Layout(lane(1 + value) & 0xff); }
  LayoutSet copies(size_t value) const { return lane(1 + value) >> 8; }
  void setValue(size_t value, Layout layout, LayoutSet copies) {
    setLane(1 + value, uint16_t(uint16_t(layout) | copies << 8));
  }

  uint64_t hash() const {
    WordHash hash;
    for (uint64_t word : words)
      hash.add(word);
    return hash.value();
  }
  friend bool operator==(const StateKey &a, const StateKey &b) {
    return a.words == b.words;
  }

private:
  static constexpr size_t lanesAWord = 4;
  static constexpr size_t numWords =
      (1 + Body::maxLiveValues + lanesAWord - 1) / lanesAWord;
  static_assert(numLayouts <= 8 * sizeof(LayoutSet) && sizeof(LayoutSet) == 1,
                "the copies of a value fit their half of a lane");

  uint16_t lane(size_t i) const {
    return uint16_t(words[i / lanesAWord] >> 16 * (i % lanesAWord));
  }
  /// Of a lane that is 0.
  void setLane(size_t i, uint16_t value) {
    words[i / lanesAWord] |= uint64_t(value) << 16 * (i % lanesAWord);
  }

  std::array<uint64_t, numWords> words = {};
};

/// The states after an op, numbered in the order in which they are found.
class StateNumbers {
public:
  size_t size() const { return states.size(); }
  const StateKey &operator[](size_t number) const { return states[number]; }

  void clear() {
    states.clear();
    std::fill(slots.begin(), slots.end(), 0);
  }

  /// The number of `state`, a new one if it was not there.
  uint32_t number(const StateKey &state) {
    size_t slot = find(state);
    if (slots[slot])
      return slots[slot] - 1;
    states.push_back(state);
    slots[slot] = uint32_t(states.size());
    if (2 * states.size() > slots.size())
      grow();
    return uint32_t(states.size() - 1);
  }

private:
  /// The slot of `state`, or the free one where it belongs.
  size_t find(const StateKey &state) const {
    size_t mask = slots.size() - 1, slot = state.hash() & mask;
    while (slots[slot] && !(states[slots[slot] - 1] == state))
      slot = (slot + 1) & mask;
    return slot;
  }
  void grow() {
    slots.assign(2 * slots.size(), 0);
    for (size_t i = 0; i < states.size(); ++i)
      slots[find(states[i])] = uint32_t(i + 1);
  }

  std::vector<StateKey> states;
  /// An open hash table, a power of two of slots: 1 + a number, or 0 if free.
  std::vector<uint32_t> slots = std::vector<uint32_t>(64, 0);
};

} // namespace shardopt::cost

#endif // SHARDOPT_COST_TABLES_STATENUMBERS_H
