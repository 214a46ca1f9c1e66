//===- Mesh.h - Meshes of devices, and layouts over them ------ -*- C++ -*-===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef SHARDOPT_LIB_CONVERSION_GRAPHS_MESH_H
#define SHARDOPT_LIB_CONVERSION_GRAPHS_MESH_H

#include "shardopt/Support/Error.h"

#include "llvm/ADT/ArrayRef.h"

#include <array>
#include <cstdint>
#include <string>
#include <vector>

namespace shardopt::graphs {

inline constexpr size_t mostAxes = 3;

/// The dim of a value that each axis of a mesh shards; -1: none. Several axes
/// on one dim cut it in the order of the mesh, the first one into the largest
/// blocks.
using AxisDims = std::array<int8_t, mostAxes>;
inline constexpr AxisDims replicated = {-1, -1, -1};

struct MeshAxis {
  std::string name;
  int64_t size = 1;
  int64_t stride = 1; ///< between the numbers of neighbours
};

class Mesh {
public:
  /// A mesh of one to three axes, "8", "4x2" or "data=4,model=2". Axes without
  /// a name are x, y and z.
  static ErrorOr<Mesh> parse(const std::string &text);

  const std::vector<MeshAxis> &axes() const { return all; }
  int64_t devices() const;
  /// Blocks that a value in `layout` has: along `dim`, and in all.
  int64_t blocks(const AxisDims &layout, int dim) const;
  int64_t blocks(const AxisDims &layout) const;
  /// Whether each dim of `shape` is a multiple of its blocks.
  bool divides(const AxisDims &layout, llvm::ArrayRef<int64_t> shape) const;
  /// Every layout of a tensor of this shape, the replicated one first.
  std::vector<AxisDims> layoutsOf(llvm::ArrayRef<int64_t> shape) const;

private:
  std::vector<MeshAxis> all;
};

} // namespace shardopt::graphs

#endif // SHARDOPT_LIB_CONVERSION_GRAPHS_MESH_H
