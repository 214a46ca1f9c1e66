//===- Slice.cpp - What a device holds of a tensor ------------------------===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "shardopt/Tensors/Slice.h"

#include <algorithm>
#include <cassert>
#include <cstring>
#include <numeric>

using namespace shardopt;
using namespace shardopt::tensors;

/// Part `index` of `count` parts of a range, cut by a ceiling.
static Range cut(Range range, int64_t index, int64_t count) {
  int64_t part = (range.size() + count - 1) / count;
  int64_t begin = std::min(range.end, range.begin + index * part);
  return {begin, std::min(range.end, begin + part)};
}

Range tensors::promptsOf(int64_t prompts, const std::vector<GridAxis> &axes,
                         const Place &place) {
  Range range{0, prompts};
  bool isFirst = true;
  for (GridAxis axis : axes) {
    range = cut(range, place.coordinate[axis], place.size[axis]);
    if (isFirst)
      range = cut(range, place.microBatch, place.microBatches);
    isFirst = false;
  }
  return range;
}

static Entries countUp(int64_t begin, int64_t end) {
  Entries entries(size_t(std::max<int64_t>(0, end - begin)));
  std::iota(entries.begin(), entries.end(), begin);
  return entries;
}

Entries tensors::entriesOf(const Slice &slice, size_t dim, int64_t size,
                           int64_t prompts, const Place &place) {
  if (dim >= slice.dims.size())
    return countUp(0, size);
  const SliceDim &cut = slice.dims[dim];
  if (cut.axis) {
    int64_t coordinate = place.coordinate[*cut.axis];
    assert(coordinate < int64_t(cut.entries.size()));
    return cut.entries[coordinate];
  }
  if (!cut.isRows)
    return countUp(0, size);
  assert(prompts > 0 && size % prompts == 0);
  int64_t each = size / prompts;
  Range own = promptsOf(prompts, cut.rowAxes, place);
  return countUp(own.begin * each, own.end * each);
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

Tensor tensors::take(const Tensor &global,
                     const std::vector<Entries> &entries) {
  Tensor local(global.element(), sizesOf(entries));
  auto *to = static_cast<uint32_t *>(local.data());
  const auto *from = static_cast<const uint32_t *>(global.data());
  visitElements(global.shape(), entries, [&](int64_t here, int64_t there) {
    to[here] = there < 0 ? 0 : from[there];
  });
  return local;
}

void tensors::put(const Tensor &local, const std::vector<Entries> &entries,
                  Tensor &global) {
  assert(local.shape() == sizesOf(entries));
  auto *to = static_cast<uint32_t *>(global.data());
  const auto *from = static_cast<const uint32_t *>(local.data());
  visitElements(global.shape(), entries, [&](int64_t here, int64_t there) {
    if (there >= 0)
      to[there] = from[here];
  });
}
