//===- Slice.cpp - What a device holds of a tensor ------------------------===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "shardopt/Execution/Tensors/Slice.h"

#include "shardopt/Model/BatchSplit.h"

#include <algorithm>
#include <cassert>
#include <utility>

using namespace shardopt;
using namespace shardopt::tensors;

/// Part `index` of `count` parts of a range, each the ceiling of its share of
/// `size`.
static Range cut(Range range, int64_t index, int64_t count, int64_t size) {
  int64_t part = ceilDiv(size, count);
  int64_t begin = std::min(range.end, range.begin + index * part);
  return {begin, std::min(range.end, begin + part)};
}

/// The rows of a micro-batch that part `index` of the first axis has.
static Range microBatchOf(int64_t prompts, Axis first, int64_t index,
                          const Place &place) {
  Range range = cut({0, prompts}, index, place.grid.size(first), prompts);
  return cut(range, place.microBatch, place.microBatches, range.size());
}

Range tensors::promptsOf(int64_t prompts, const std::vector<Axis> &axes,
                         const Place &place, bool alike) {
  if (axes.empty())
    return {0, prompts};
  Axis first = axes.front();
  Range range = microBatchOf(prompts, first, place.coordinate(first), place);
  int64_t largest = 0; // of this micro-batch in all parts
  for (int64_t part = 0; alike && part < place.grid.size(first); ++part)
    largest =
        std::max(largest, microBatchOf(prompts, first, part, place).size());
  for (size_t i = 1; i < axes.size(); ++i) {
    int64_t parts = place.grid.size(axes[i]);
    range = cut(range, place.coordinate(axes[i]), parts,
                alike ? largest : range.size());
    largest = ceilDiv(largest, parts);
  }
  return range;
}

namespace {

/// What a device holds of a dim: a list of entries, or a range.
struct Held {
  const Entries *list = nullptr;
  Range range;
  int64_t stride = 1; ///< of the range, whose last entries
  int64_t limit = 0;  ///< are zeros from here on, where `stride` is above 1

  int64_t size() const {
    return list ? int64_t(list->size()) : ceilDiv(range.size(), stride);
  }
  Entries entries() const;
};

} // namespace

Entries Held::entries() const {
  if (list)
    return *list;
  Entries entries;
  for (int64_t entry = range.begin; entry < range.end; entry += stride)
    entries.push_back(stride > 1 && entry >= limit ? -1 : entry);
  return entries;
}

static Held heldOf(const Slice &slice, size_t dim, int64_t size,
                   int64_t prompts, const Place &place) {
  if (dim >= slice.dims.size())
    return {nullptr, {0, size}};
  const SliceDim &cut = slice.dims[dim];
  if (cut.axis) {
    int64_t coordinate = place.coordinate(*cut.axis);
    assert(coordinate < int64_t(cut.entries.size()));
    return {&cut.entries[coordinate], {}};
  }
  if (cut.stride) {
    int64_t stride = place.grid.size(*cut.stride);
    int64_t begin = place.coordinate(*cut.stride);
    return {
        nullptr, {begin, begin + ceilDiv(size, stride) * stride}, stride, size};
  }
  if (!cut.isRows)
    return {nullptr, {0, size}};
  assert(prompts > 0 && size % prompts == 0);
  int64_t each = size / prompts;
  Range own = promptsOf(prompts, cut.rowAxes, place, cut.areRowsAlike);
  return {nullptr, {own.begin * each, own.end * each}};
}

bool tensors::canCut(const Slice &slice, const Shape &shape, int64_t prompts) {
  if (slice.dims.empty())
    return true;
  if (slice.dims.size() != shape.size())
    return false;
  for (size_t dim = 0; dim < shape.size(); ++dim) {
    const SliceDim &cut = slice.dims[dim];
    if (cut.axis && shape[dim] != slice.shape[dim])
      return false;
    if (cut.isRows && shape[dim] % prompts != 0)
      return false;
  }
  return true;
}

Entries tensors::entriesOf(const Slice &slice, size_t dim, int64_t size,
                           int64_t prompts, const Place &place) {
  return heldOf(slice, dim, size, prompts, place).entries();
}

Shape tensors::localShape(const Slice &slice, const Shape &shape,
                          int64_t prompts, const Place &place) {
  Shape local;
  for (size_t dim = 0; dim < shape.size(); ++dim)
    local.push_back(heldOf(slice, dim, shape[dim], prompts, place).size());
  return local;
}

std::vector<Entries> tensors::entriesOf(const Slice &slice, const Shape &shape,
                                        int64_t prompts, const Place &place) {
  std::vector<Entries> entries;
  for (size_t dim = 0; dim < shape.size(); ++dim)
    entries.push_back(entriesOf(slice, dim, shape[dim], prompts, place));
  return entries;
}

static Shape sizesOf(const std::vector<Entries> &entries) {
  Shape shape;
  for (const Entries &dim : entries)
    shape.push_back(int64_t(dim.size()));
  return shape;
}

/// The elements as words: all types of elements that are cut are as wide.
static const uint32_t *wordsOf(const Tensor &tensor) {
  assert(sizeOf(tensor.element()) == sizeof(uint32_t));
  return reinterpret_cast<const uint32_t *>(tensor.data());
}
static uint32_t *wordsOf(Tensor &tensor) {
  return const_cast<uint32_t *>(wordsOf(std::as_const(tensor)));
}

Tensor tensors::take(const Tensor &global,
                     const std::vector<Entries> &entries) {
  Tensor local(global.element(), sizesOf(entries));
  uint32_t *to = wordsOf(local);
  const uint32_t *from = wordsOf(global);
  visitElements(global.shape(), entries, [&](int64_t here, int64_t there) {
    to[here] = there < 0 ? 0 : from[there];
  });
  return local;
}

void tensors::put(const Tensor &local, const std::vector<Entries> &entries,
                  Tensor &global) {
  assert(local.shape() == sizesOf(entries));
  uint32_t *to = wordsOf(global);
  const uint32_t *from = wordsOf(local);
  visitElements(global.shape(), entries, [&](int64_t here, int64_t there) {
    if (there >= 0)
      to[there] = from[here];
  });
}
