//===- Mesh.cpp - Meshes of devices, and layouts over them ----------------===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Mesh.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringRef.h"

using namespace shardopt;
using namespace shardopt::graphs;

/// Devices that a mesh may have.
static constexpr int64_t mostDevices = 1 << 20;

static bool isName(llvm::StringRef text) {
  return !text.empty() && !llvm::isDigit(text.front()) &&
         llvm::all_of(text,
                      [](char c) { return llvm::isAlnum(c) || c == '_'; });
}

ErrorOr<Mesh> Mesh::parse(const std::string &text) {
  Error wrong = {"'mesh' is '" + text + "', expected 1 to " +
                 std::to_string(mostAxes) +
                 " axes, such as 8, 4x2 or data=4,model=2, of at most " +
                 std::to_string(mostDevices) + " devices"};
  llvm::StringRef whole = text;
  bool isNamed = whole.contains('=');
  llvm::SmallVector<llvm::StringRef> parts;
  whole.split(parts, isNamed ? ',' : 'x');
  if (parts.size() > mostAxes)
    return wrong;
  Mesh mesh;
  for (auto [i, part] : llvm::enumerate(parts)) {
    MeshAxis axis;
    axis.name = std::string("xyz").substr(i, 1);
    if (isNamed) {
      auto [name, size] = part.split('=');
      axis.name = name.str();
      part = size;
    }
    bool isTwice = llvm::any_of(mesh.all, [&](const MeshAxis &other) {
      return other.name == axis.name;
    });
    if (!isName(axis.name) || isTwice || part.getAsInteger(10, axis.size) ||
        axis.size < 1 || axis.size > mostDevices)
      return wrong;
    mesh.all.push_back(std::move(axis));
  }
  int64_t stride = 1;
  for (MeshAxis &axis : llvm::reverse(mesh.all)) {
    axis.stride = stride;
    stride *= axis.size;
    if (stride > mostDevices)
      return wrong;
  }
  return mesh;
}

int64_t Mesh::devices() const { return all.front().stride * all.front().size; }

int64_t Mesh::blocks(const AxisDims &layout, int dim) const {
  int64_t count = 1;
  for (auto [i, axis] : llvm::enumerate(all))
    if (layout[i] == dim)
      count *= axis.size;
  return count;
}

int64_t Mesh::blocks(const AxisDims &layout) const {
  int64_t count = 1;
  for (auto [i, axis] : llvm::enumerate(all))
    if (layout[i] >= 0)
      count *= axis.size;
  return count;
}

bool Mesh::divides(const AxisDims &layout,
                   llvm::ArrayRef<int64_t> shape) const {
  return llvm::all_of(llvm::enumerate(shape), [&](auto dim) {
    return dim.value() % blocks(layout, int(dim.index())) == 0;
  });
}

std::vector<AxisDims> Mesh::layoutsOf(llvm::ArrayRef<int64_t> shape) const {
  std::vector<AxisDims> found = {replicated};
  for (size_t axis = 0; axis < all.size(); ++axis)
    for (size_t i = 0, end = found.size(); i < end; ++i)
      for (size_t dim = 0; dim < shape.size(); ++dim) {
        AxisDims layout = found[i];
        layout[axis] = int8_t(dim);
        if (divides(layout, shape))
          found.push_back(layout);
      }
  return found;
}
