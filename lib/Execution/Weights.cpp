//===- Weights.cpp - Values of params -------------------------------------===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "shardopt/Execution/Weights.h"

#include <cmath>
#include <set>

using namespace shardopt;
using namespace shardopt::execution;
using namespace shardopt::tensors;
using llm::SourcePart;

ErrorOr<Tensor> Weights::load(const Operand &param, const Place &place) const {
  Shape shape = param.globalShape();
  // No dim of a param is one of rows, so the number of prompts does not matter.
  std::vector<Entries> entries =
      entriesOf(param.slice, shape, /*prompts=*/1, place);
  Shape local;
  for (const Entries &dim : entries)
    local.push_back(int64_t(dim.size()));
  int64_t each = countElements(local);
  if (param.isStacked)
    local.insert(local.begin(), int64_t(param.layers.size()));
  if (local != param.shape)
    return Error{"param '" + param.name + "': its slice has the shape " +
                 toString(local) + ", the program wants " +
                 toString(param.shape)};
  Tensor tensor(Element::F32, local);
  float *to = tensor.floats().data();
  if (!param.isStacked) {
    if (auto error = loadLayer(param, std::nullopt, shape, entries, to))
      return *error;
    return tensor;
  }
  for (int64_t layer : param.layers) {
    if (auto error = loadLayer(param, layer, shape, entries, to))
      return *error;
    to += each;
  }
  return tensor;
}

//===----------------------------------------------------------------------===//
// Random numbers
//===----------------------------------------------------------------------===//

/// Steele, Lea, Flood, "Fast Splittable Pseudorandom Number Generators"
/// (OOPSLA 2014): the finalizer of SplitMix64.
static uint64_t mix(uint64_t x) {
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9ull;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebull;
  return x ^ (x >> 31);
}

static constexpr uint64_t goldenGamma = 0x9e3779b97f4a7c15ull;

RandomStream::RandomStream(uint64_t seed, const std::string &name)
    : state(mix(seed + goldenGamma)) {
  for (unsigned char c : name)
    state = mix(state ^ c) + goldenGamma;
}

double RandomStream::operator[](int64_t index) const {
  uint64_t bits = mix(state + uint64_t(index + 1) * goldenGamma);
  return std::ldexp(double(bits >> 11), -52) - 1;
}

std::optional<Error>
RandomWeights::loadLayer(const Operand &param, std::optional<int64_t> layer,
                         const Shape &shape,
                         const std::vector<Entries> &entries, float *to) const {
  RandomStream stream(seed, param.name + "/" +
                                (layer ? std::to_string(*layer) : "-"));
  // A uniform number in [-1, 1) has the variance 1/3.
  bool isVector = shape.size() < 2;
  double center = isVector ? 1 : 0;
  double spread =
      isVector ? 0.5 : std::sqrt(3.0 / double(shape[shape.size() - 2]));
  visitElements(shape, entries, [&](int64_t here, int64_t there) {
    to[here] = there < 0 ? 0 : float(center + spread * stream[there]);
  });
  return std::nullopt;
}

//===----------------------------------------------------------------------===//
// Checkpoints
//===----------------------------------------------------------------------===//

static std::string expand(std::string pattern, const std::string &key,
                          int64_t number) {
  size_t at = pattern.find(key);
  return at == std::string::npos
             ? pattern
             : pattern.replace(at, key.size(), std::to_string(number));
}

namespace {

/// Where checkpoints may have the tensors of all experts in one `[experts,
/// blocks * out, in]`: its name, and which block of rows one of them is.
struct FusedTensor {
  std::string name;
  int64_t block = 0, blocks = 1;
};

/// What becomes of a tensor of an expert.
struct Fusion {
  std::string_view own, fused;
  int64_t block = 0, blocks = 1;
};

} // namespace

/// Without a gate, all of `up_proj` is one tensor.
static constexpr Fusion fusions[] = {
    {"gate_proj.weight", "gate_up_proj", 0, 2},
    {"up_proj.weight", "gate_up_proj", 1, 2},
    {"up_proj.weight", "up_proj"},
    {"down_proj.weight", "down_proj"},
    {"w1.weight", "gate_up_proj", 0, 2},
    {"w3.weight", "gate_up_proj", 1, 2},
    {"w2.weight", "down_proj"},
};

/// Those that a tensor of an expert can be in.
static std::vector<FusedTensor> fusedFrom(const std::string &pattern) {
  std::string key = ".{expert}.";
  size_t at = pattern.find(key);
  if (at == std::string::npos)
    return {};
  std::string module = pattern.substr(0, at + 1);
  std::vector<FusedTensor> found;
  for (const Fusion &fusion : fusions)
    if (pattern.substr(at + key.size()) == fusion.own)
      found.push_back(
          {module + std::string(fusion.fused), fusion.block, fusion.blocks});
  return found;
}

/// Of that tensor, the matrix of an expert.
static ErrorOr<StoredTensor> sliceFused(const StoredTensor &tensor,
                                        const FusedTensor &from,
                                        int64_t experts, int64_t expert) {
  const Shape &shape = tensor.shape;
  if (shape.size() != 3 || shape[0] != experts || shape[1] % from.blocks != 0)
    return Error{"'" + from.name + "' has the shape " + toString(shape) +
                 ", expected " + std::to_string(experts) +
                 " matrices of as many rows for each of " +
                 std::to_string(from.blocks) + " projections"};
  StoredTensor part = tensor;
  part.shape = {shape[1] / from.blocks, shape[2]};
  int64_t size = countElements(part.shape);
  part.data +=
      (expert * from.blocks + from.block) * size * bytesOf(tensor.type);
  return part;
}

namespace {

/// A part of a param, seen as the op wants it: [experts,] rows, columns.
class PartView {
public:
  /// A view of what is `part` of a param of so many dims.
  static ErrorOr<PartView> open(const SafeTensors &checkpoint,
                                const SourcePart &part, const Shape &wanted,
                                std::optional<int64_t> layer);

  /// Leaves `size` entries from `offset` on along `axis`.
  void cut(size_t axis, int64_t offset, int64_t size) {
    cutAxis = axis;
    begin = offset;
    sizes[axis] = size;
  }

  /// Sizes as the op wants them.
  const Shape &shape() const { return sizes; }
  /// Lists a matrix row by row: a vector that the checkpoint has by heads.
  void flatten() {
    if (!isTransposed && !isInterleaved && !isPerExpert)
      sizes = {countElements(sizes)};
  }
  /// The element at `index` of a tensor of these sizes.
  double at(Span<const int64_t> index) const;

private:
  std::vector<StoredTensor> stored; ///< one, or one an expert
  std::vector<StoredTensor> scales; ///< none, or one for each of these
  std::vector<int64_t> block;
  bool isPerExpert = false, isTransposed = false, isInterleaved = false;
  bool isPacked = false; ///< two numbers of four bits a byte
  double factor = 1, shift = 0;
  Shape sizes;
  /// Of the unpacked tensor before it is transposed, without dims of size 1
  /// that the op does not want.
  Shape storedSizes;
  size_t cutAxis = 0; ///< whose entries from `begin` on are left
  int64_t begin = 0;
};

} // namespace

/// Of mxfp4 (OCP Microscaling Formats, version 1.0): a sign, two bits of
/// exponent, one of mantissa.
static constexpr double fourBits[] = {0, .5, 1, 1.5, 2, 3, 4, 6};

/// Numbers of a block that share a scale, a power of two.
static constexpr int64_t blockNumbers = 32;

/// Whether a tensor holds [..., blocks, bytes of a block] of mxfp4.
static bool isPackedInBlocks(const StoredTensor &tensor) {
  return tensor.type == StoredType::U8 && tensor.shape.size() >= 2 &&
         tensor.shape.back() * 2 == blockNumbers;
}

/// Whether there is a scale for each block of a tensor, or one for all of it.
static std::optional<Error> checkScales(const StoredTensor &tensor,
                                        const StoredTensor &scale,
                                        const SourcePart &part) {
  Shape wanted;
  if (isPackedInBlocks(tensor)) // a scale for each block
    wanted.assign(tensor.shape.begin(), tensor.shape.end() - 1);
  else if (part.block.size() == 2 && tensor.shape.size() == 2)
    for (size_t i = 0; i < 2; ++i)
      wanted.push_back((tensor.shape[i] + part.block[i] - 1) / part.block[i]);
  if (countElements(scale.shape) == countElements(wanted))
    return std::nullopt;
  return Error{"the scales '" + part.scales + "' have the shape " +
               toString(scale.shape) + ", expected " + toString(wanted)};
}

ErrorOr<PartView> PartView::open(const SafeTensors &checkpoint,
                                 const SourcePart &part, const Shape &wanted,
                                 std::optional<int64_t> layer) {
  PartView view;
  int64_t experts = wanted.front();
  view.isPerExpert = part.pattern.find("{expert}") != std::string::npos;
  view.isTransposed = part.isTransposed;
  view.isInterleaved = part.isInterleaved;
  view.block = part.block;
  view.factor = part.factor;
  view.shift = part.shift;
  auto find = [&](const std::string &pattern,
                  int64_t expert) -> ErrorOr<StoredTensor> {
    auto named = [&](const std::string &pattern) {
      std::string name = expand(pattern, "{expert}", expert);
      return layer ? expand(name, "{layer}", *layer) : name;
    };
    std::string name = named(pattern);
    if (const StoredTensor *tensor = checkpoint.find(name))
      return *tensor;
    for (const FusedTensor &from : fusedFrom(pattern))
      if (const StoredTensor *tensor = checkpoint.find(named(from.name)))
        return sliceFused(*tensor, from, experts, expert);
    return Error{"the checkpoint has no tensor '" + name + "'"};
  };
  for (int64_t expert = 0; expert < (view.isPerExpert ? experts : 1);
       ++expert) {
    ErrorOr<StoredTensor> tensor = find(part.pattern, expert);
    if (!tensor)
      return tensor.error();
    if (!view.stored.empty() && tensor->shape != view.stored[0].shape)
      return Error{"experts of '" + part.pattern + "' differ in shape"};
    view.stored.push_back(*tensor);
    if (part.scales.empty()) {
      // Its numbers are others without them.
      if (tensor->type == StoredType::F8E4M3 ||
          tensor->type == StoredType::F8E5M2)
        for (const char *suffix : {"_scale_inv", "_scale"})
          if (find(part.pattern + suffix, expert))
            return Error{"'" + part.pattern + "' has scales, '" + part.pattern +
                         suffix + "', which the program does not read"};
      continue;
    }
    view.isPacked = isPackedInBlocks(*tensor);
    if (tensor->type == StoredType::U8 && !view.isPacked)
      return Error{"'" + part.pattern + "' has the shape " +
                   toString(tensor->shape) +
                   ", expected 16 bytes of four-bit numbers in its last dim"};
    ErrorOr<StoredTensor> scale = find(part.scales, expert);
    if (!scale)
      return scale.error();
    if (view.isPacked && scale->type != StoredType::U8)
      return Error{"the scales '" + part.scales +
                   "' are not bytes, which are exponents of two"};
    if (auto error = checkScales(*tensor, *scale, part))
      return *error;
    view.scales.push_back(*scale);
  }
  view.sizes = view.stored[0].shape;
  if (view.isPacked) {
    view.sizes.pop_back();
    view.sizes.back() *= blockNumbers;
  }
  for (size_t i = 0; i < view.sizes.size();)
    if (view.sizes[i] == 1 &&
        view.sizes.size() + view.isPerExpert > wanted.size())
      view.sizes.erase(view.sizes.begin() + i);
    else
      ++i;
  view.storedSizes = view.sizes;
  if (view.isTransposed && view.sizes.size() < 2)
    return Error{"'" + part.pattern + "' has the shape " +
                 toString(view.sizes) + ", expected a matrix to transpose"};
  if (view.isTransposed)
    std::swap(view.sizes[view.sizes.size() - 1],
              view.sizes[view.sizes.size() - 2]);
  if (view.isPerExpert)
    view.sizes.insert(view.sizes.begin(), experts);
  return view;
}

double PartView::at(Span<const int64_t> index) const {
  int64_t expert = isPerExpert ? index[0] : 0;
  int64_t place[4] = {};
  size_t rank = index.size() - isPerExpert;
  for (size_t i = 0; i < rank; ++i)
    place[i] =
        index[i + isPerExpert] + (i + isPerExpert == cutAxis ? begin : 0);
  if (isInterleaved) { // even columns first, then odd ones
    int64_t evens = (sizes.back() + 1) / 2, &column = place[rank - 1];
    column = column < evens ? 2 * column : 2 * (column - evens) + 1;
  }
  if (isTransposed)
    std::swap(place[rank - 1], place[rank - 2]);
  const StoredTensor &tensor = stored[expert];
  int64_t linear = 0;
  for (size_t i = 0; i < rank; ++i)
    linear = linear * storedSizes[i] + place[i];
  if (isPacked) {
    int bits = int(tensor.at(linear / 2)) >> (linear % 2 ? 4 : 0);
    int exponent = int(scales[expert].at(linear / blockNumbers)) - 127;
    return std::ldexp((bits & 8 ? -1 : 1) * fourBits[bits & 7], exponent) *
               factor +
           shift;
  }
  double value = tensor.at(linear);
  if (!scales.empty()) {
    const StoredTensor &scale = scales[expert];
    int64_t at = 0;
    if (block.size() == 2 && rank == 2) {
      int64_t blocks = (storedSizes[1] + block[1] - 1) / block[1];
      at = place[0] / block[0] * blocks + place[1] / block[1];
    }
    value *= scale.at(at);
  }
  return value * factor + shift;
}

/// Leaves of a tensor what is `part` of it, where several parts of `source` are
/// of one tensor: all of them must be all of it.
static std::optional<Error> cutPart(const llm::Source &source,
                                    const SourcePart &part, size_t axis,
                                    PartView &view) {
  int64_t count = 0, covered = 0;
  for (const SourcePart &other : source.parts)
    if (other.pattern == part.pattern) {
      ++count;
      covered += other.size;
    }
  if (count == 1 && part.offset == 0)
    return std::nullopt;
  int64_t found = axis < view.shape().size() ? view.shape()[axis] : 0;
  if (covered != found || part.offset > found - part.size)
    return Error{"the parts of '" + part.pattern + "' have " +
                 std::to_string(covered) + " entries along dim " +
                 std::to_string(axis) + ", the checkpoint has " +
                 toString(view.shape())};
  view.cut(axis, part.offset, part.size);
  return std::nullopt;
}

/// Whether the sizes of parts, concatenated along `axis`, are `shape`.
static bool fits(const std::vector<PartView> &parts, size_t axis,
                 int64_t groups, const Shape &shape) {
  int64_t along = 0;
  for (const PartView &part : parts) {
    if (part.shape().size() != shape.size())
      return false;
    for (size_t i = 0; i < shape.size(); ++i)
      if (i != axis && part.shape()[i] != shape[i])
        return false;
    if (part.shape()[axis] % groups != 0)
      return false;
    along += part.shape()[axis];
  }
  return along == shape[axis];
}

std::vector<std::string>
CheckpointWeights::findUnread(const ProgramInterface &program) const {
  std::set<std::string> unread;
  for (const std::string &name : checkpoint.names())
    unread.insert(name);
  auto read = [&](const std::string &pattern, const Operand &param,
                  std::optional<int64_t> layer) {
    std::string name = layer ? expand(pattern, "{layer}", *layer) : pattern;
    if (name.find("{expert}") == std::string::npos) {
      unread.erase(name);
      return;
    }
    for (const FusedTensor &from : fusedFrom(name))
      unread.erase(from.name);
    int64_t experts = param.globalShape().front();
    for (int64_t expert = 0; expert < experts; ++expert)
      unread.erase(expand(name, "{expert}", expert));
  };
  for (const Entry &stage : program.stages)
    for (const Operand &param : stage.arguments) {
      if (!param.source)
        continue;
      std::vector<std::optional<int64_t>> layers(param.layers.begin(),
                                                 param.layers.end());
      if (!param.isStacked)
        layers = {std::nullopt};
      for (const SourcePart &part : param.source->parts)
        for (std::optional<int64_t> layer : layers)
          for (const std::string &pattern : {part.pattern, part.scales})
            read(pattern, param, layer);
    }
  return {unread.begin(), unread.end()};
}

std::optional<Error> CheckpointWeights::loadLayer(
    const Operand &param, std::optional<int64_t> layer, const Shape &shape,
    const std::vector<Entries> &entries, float *to) const {
  auto fail = [&](const std::string &message) {
    return Error{"param '" + param.name + "': " + message};
  };
  if (!param.source)
    return fail("it has no 'source', so nothing says which tensor of the "
                "checkpoint it is");
  if (shape.empty())
    return fail("it is a scalar, expected at least one dim");
  std::vector<PartView> parts;
  size_t axis = size_t(param.source->axis);
  if (param.source->parts.front().pattern.find("{expert}") != std::string::npos)
    ++axis; // experts are stacked in front
  for (const SourcePart &part : param.source->parts) {
    ErrorOr<PartView> view = PartView::open(checkpoint, part, shape, layer);
    if (!view)
      return fail(view.error().message);
    if (shape.size() == 1)
      view->flatten();
    if (auto error = cutPart(*param.source, part, axis, *view))
      return fail(error->message);
    parts.push_back(std::move(*view));
  }
  int64_t groups = param.source->groups;
  if (axis >= shape.size() || !fits(parts, axis, groups, shape)) {
    std::string found;
    for (size_t i = 0; i < parts.size(); ++i) {
      const std::string &pattern = param.source->parts[i].pattern;
      found += (i == 0 ? "" : ", ") + toString(parts[i].shape()) + " of '" +
               (layer ? expand(pattern, "{layer}", *layer) : pattern) + "'";
    }
    return fail("the checkpoint has " + found + ", the program wants " +
                toString(shape));
  }
  std::vector<int64_t> index(shape.size());
  visitElements(shape, entries, [&](int64_t here, int64_t there) {
    if (there < 0) {
      to[here] = 0;
      return;
    }
    for (size_t i = shape.size(); i-- > 0; there /= shape[i])
      index[i] = there % shape[i];
    const PartView *part = parts.data();
    int64_t width = shape[axis] / groups, group = index[axis] / width;
    index[axis] %= width;
    for (; index[axis] >= part->shape()[axis] / groups; ++part)
      index[axis] -= part->shape()[axis] / groups;
    index[axis] += group * (part->shape()[axis] / groups);
    to[here] = float(part->at(index));
  });
  return std::nullopt;
}
