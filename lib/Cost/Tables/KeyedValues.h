//===- KeyedValues.h - Many values by the ops they are of -------*- C++ -*-===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef SHARDOPT_COST_TABLES_KEYEDVALUES_H
#define SHARDOPT_COST_TABLES_KEYEDVALUES_H

#include "shardopt/Cost/Tables/SharedCosts.h"

#include <cstdint>
#include <memory>
#include <vector>

namespace shardopt::cost {

/// Objects that stay where they are, and go all at once. Their memory is kept
/// for those that come then, which are not made anew.
template <typename T> class Pool {
public:
  size_t size() const { return count; }
  T &operator[](size_t number) {
    return pieces[number / pieceSize][number % pieceSize];
  }

  T &add() {
    if (count == pieces.size() * pieceSize)
      pieces.emplace_back(new T[pieceSize]);
    return (*this)[count++];
  }
  void clear() { count = 0; }

private:
  static constexpr size_t pieceSize = 16;
  std::vector<std::unique_ptr<T[]>> pieces;
  size_t count = 0;
};

/// Values by key, made when they are first asked for.
template <typename Value> class KeyedValues {
public:
  size_t size() const { return entries.size(); }

  Value &operator[](const OpKey &key) {
    uint64_t hash = key.hash();
    auto tag = uint32_t(hash >> 32);
    size_t slot = hash & (slots.size() - 1);
    for (; slots[slot].number; slot = (slot + 1) & (slots.size() - 1))
      if (slots[slot].tag == tag) {
        Entry &found = entries[slots[slot].number - 1];
        if (found.key == key)
          return found.value;
      }
    Entry &made = entries.add();
    made.key = key;
    made.value = Value();
    slots[slot] = {tag, uint32_t(entries.size())};
    if (2 * entries.size() > slots.size())
      grow();
    return made.value;
  }

  void clear() {
    entries.clear();
    slots.assign(leastSlots, {});
  }

private:
  struct Entry {
    OpKey key;
    Value value;
  };
  struct Slot {
    uint32_t tag = 0;    ///< the upper half of the hash
    uint32_t number = 0; ///< 1 + that of the entry, or 0 if free
  };

  void grow() {
    slots.assign(2 * slots.size(), {});
    for (size_t i = 0; i < entries.size(); ++i) {
      uint64_t hash = entries[i].key.hash();
      size_t slot = hash & (slots.size() - 1);
      while (slots[slot].number)
        slot = (slot + 1) & (slots.size() - 1);
      slots[slot] = {uint32_t(hash >> 32), uint32_t(i + 1)};
    }
  }

  static constexpr size_t leastSlots = 256;
  Pool<Entry> entries;
  /// An open hash table, a power of two of slots, at most half of them taken.
  std::vector<Slot> slots = std::vector<Slot>(leastSlots);
};

} // namespace shardopt::cost

#endif // SHARDOPT_COST_TABLES_KEYEDVALUES_H
