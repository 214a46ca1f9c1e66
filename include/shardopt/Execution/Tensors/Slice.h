//===- Slice.h - What a device holds of a tensor ----------------*- C++ -*-===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The meaning of `shardopt.slice`: which entries of a global tensor one device
// holds, dim by dim.
//
//===----------------------------------------------------------------------===//

#ifndef SHARDOPT_EXECUTION_TENSORS_SLICE_H
#define SHARDOPT_EXECUTION_TENSORS_SLICE_H

#include "shardopt/Execution/Tensors/Tensor.h"
#include "shardopt/Model/ProgramGrid.h"

#include <optional>
#include <string>
#include <vector>

namespace shardopt::tensors {

/// A device of the grid, and the micro-batch that it works on.
struct Place {
  StageGrid grid;
  int64_t rank = 0; ///< of the device
  int64_t microBatch = 0;
  int64_t microBatches = 1;

  int64_t coordinate(Axis axis) const { return coordinateOf(rank, grid, axis); }
};

/// Half-open.
struct Range {
  int64_t begin = 0;
  int64_t end = 0;
  int64_t size() const { return end - begin; }
};

/// The prompts of all `prompts` that a device holds where rows are sharded on
/// `axes`: by a ceiling over the first axis, each part into micro-batches, and
/// each of these by a ceiling over the next axis; by that of the part with the
/// largest of the same micro-batch where parts are cut `alike`.
Range promptsOf(int64_t prompts, const std::vector<Axis> &axes,
                const Place &place, bool alike = false);

/// The entries of a global dim that a device holds; -1 stands for zeros.
using Entries = std::vector<int64_t>;

/// How one dim is cut.
struct SliceDim {
  std::optional<Axis> axis;     ///< with `entries`
  std::vector<Entries> entries; ///< by coordinate along the axis
  bool isRows = false;          ///< sharded on prompts, over `rowAxes`
  std::vector<Axis> rowAxes;
  bool areRowsAlike = false; ///< see promptsOf
  /// Coordinate i holds entries i, i + n, i + 2 n, … of n coordinates, and as
  /// many as coordinate 0.
  std::optional<Axis> stride;
};

/// How a tensor is cut; without `dims` every device holds all of it.
struct Slice {
  std::string name;
  Shape shape; ///< of the global tensor; -1 where dynamic
  std::vector<SliceDim> dims;
};

/// Whether a tensor with global sizes `shape` can be cut so: a dim of rows has
/// as many for every prompt, and a dim of listed entries has the size of the
/// list's.
bool canCut(const Slice &slice, const Shape &shape, int64_t prompts);

/// The entries of dim `dim`, of global size `size`. Where the dim is one of
/// rows, `size` is a multiple of `prompts`.
Entries entriesOf(const Slice &slice, size_t dim, int64_t size, int64_t prompts,
                  const Place &place);

/// The entries of every dim of a tensor with global sizes `shape`.
std::vector<Entries> entriesOf(const Slice &slice, const Shape &shape,
                               int64_t prompts, const Place &place);

/// How many these are, dim by dim, without listing them.
Shape localShape(const Slice &slice, const Shape &shape, int64_t prompts,
                 const Place &place);

/// Calls `visit(local, global)` for every element that the entries select: its
/// index in the local tensor, and in the global one of `shape`, or -1 for
/// zeros; row-major, local indices ascending.
template <typename Visit>
void visitElements(const Shape &shape, const std::vector<Entries> &entries,
                   Visit visit) {
  int64_t local = 0;
  auto descend = [&](auto &self, size_t dim, int64_t global) -> void {
    if (dim == entries.size())
      return visit(local++, global);
    for (int64_t entry : entries[dim])
      self(self, dim + 1,
           global < 0 || entry < 0 ? -1 : global * shape[dim] + entry);
  };
  descend(descend, 0, 0);
}

/// The part of a global tensor that the entries select.
Tensor take(const Tensor &global, const std::vector<Entries> &entries);
/// The inverse: writes a device's part into the global tensor.
void put(const Tensor &local, const std::vector<Entries> &entries,
         Tensor &global);

} // namespace shardopt::tensors

#endif // SHARDOPT_EXECUTION_TENSORS_SLICE_H
