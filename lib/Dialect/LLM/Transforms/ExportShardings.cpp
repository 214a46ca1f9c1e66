//===- ExportShardings.cpp - Slices of weights by their names -------------===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A param of a per-rank program is made of tensors of a checkpoint, and its
// `shardopt.slice` says which entries each coordinate of an axis has. Here the
// entries become those of the tensors: even blocks, which other partitioners
// can be told, or something else.
//
//===----------------------------------------------------------------------===//

#include "PassOptions.h"
#include "shardopt/Dialect/LLM/IR/ArgumentAttributes.h"
#include "shardopt/Dialect/LLM/IR/LLMOps.h"
#include "shardopt/Dialect/LLM/IR/ModuleAttributes.h"
#include "shardopt/Dialect/LLM/Transforms/CollectivePasses.h"
#include "shardopt/Model/ProgramGrid.h"
#include "shardopt/Support/Json.h"
#include "shardopt/Support/WriteFile.h"

#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/STLExtras.h"

namespace shardopt::llm {
#define GEN_PASS_DEF_EXPORTSHARDINGSPASS
#include "shardopt/Dialect/LLM/Transforms/CollectivePasses.h.inc"
} // namespace shardopt::llm

using namespace mlir;
using namespace shardopt;
using namespace shardopt::llm;
using lowered::Slice;
using lowered::SliceDim;

namespace {

/// Entries of a dim for each coordinate, in order, without zeros.
using Holdings = std::vector<std::vector<int64_t>>;

/// How the coordinates along an axis hold a dim.
enum class Hold : uint8_t {
  Whole,  ///< every coordinate everything
  Blocks, ///< even blocks in order
  Mixed,  ///< as many entries as in even blocks, but others
  First,  ///< the first coordinate everything, the others nothing
  Uneven, ///< anything else
};

/// A dim of a tensor: blocks of one size over `ways` groups of neighbours.
struct TensorDim {
  int64_t size = 0;
  std::optional<Axis> axis;
  Hold hold = Hold::Whole;
  int64_t ways = 1;
};

/// A tensor of the checkpoint.
struct NamedTensor {
  std::string scales; ///< pattern of its scales; empty: none
  std::vector<TensorDim> dims;
};

class ExportShardingsPass
    : public ListsOptions<
          llm::impl::ExportShardingsPassBase<ExportShardingsPass>> {
public:
  using ListsOptions::ListsOptions;

  void runOnOperation() override {
    if (failed(run()))
      signalPassFailure();
    else
      markAllAnalysesPreserved();
  }

private:
  LogicalResult run();
};

} // namespace

static const char *wordOf(Hold hold) {
  switch (hold) {
  case Hold::Whole:
    return "whole";
  case Hold::Blocks:
    return "blocks";
  case Hold::Mixed:
    return "mixed";
  case Hold::First:
    return "first";
  case Hold::Uneven:
    return "uneven";
  }
  llvm_unreachable("unknown hold");
}

//===----------------------------------------------------------------------===//
// Patterns of entries
//===----------------------------------------------------------------------===//

/// Whether the groups hold each of `size` entries once, none more than `most`.
static bool holdsOnce(const Holdings &groups, int64_t size, int64_t most) {
  std::vector<bool> seen(size);
  int64_t count = 0;
  for (const std::vector<int64_t> &entries : groups) {
    if (int64_t(entries.size()) > most)
      return false;
    count += int64_t(entries.size());
    for (int64_t entry : entries)
      if (seen[entry])
        return false;
      else
        seen[entry] = true;
  }
  return count == size;
}

static bool areBlocks(const Holdings &groups, int64_t most) {
  int64_t next = 0;
  for (const std::vector<int64_t> &entries : groups) {
    if (next % most != 0 && !entries.empty())
      return false;
    for (int64_t entry : entries)
      if (entry != next++)
        return false;
  }
  return true;
}

/// Of a dim with `size` entries. Neighbours that hold the same are a group.
static TensorDim classify(Axis axis, const Holdings &held, int64_t size) {
  TensorDim dim{size, axis};
  if (llvm::all_of(held, [&](const std::vector<int64_t> &entries) {
        return int64_t(entries.size()) == size;
      }))
    return dim;
  if (int64_t(held.front().size()) == size &&
      llvm::all_of(llvm::drop_begin(held),
                   [](const auto &entries) { return entries.empty(); })) {
    dim.hold = Hold::First;
    return dim;
  }
  Holdings groups;
  for (size_t begin = 0, end = 0; begin < held.size(); begin = end) {
    for (end = begin + 1; end < held.size() && held[end] == held[begin];)
      ++end;
    // Several coordinates with nothing are no copies of each other.
    if (held[begin].empty())
      end = begin + 1;
    groups.push_back(held[begin]);
  }
  int64_t ways = int64_t(groups.size()), most = (size + ways - 1) / ways;
  dim.hold = Hold::Uneven;
  bool areAlike = int64_t(held.size()) % ways == 0;
  size_t copies = held.size() / ways;
  for (size_t i = 0; areAlike && i < held.size(); ++i)
    areAlike = held[i] == groups[i / copies];
  if (!areAlike || !holdsOnce(groups, size, most))
    return dim;
  dim.ways = ways;
  dim.hold = areBlocks(groups, most) ? Hold::Blocks : Hold::Mixed;
  return dim;
}

//===----------------------------------------------------------------------===//
// From a param to its tensors
//===----------------------------------------------------------------------===//

/// Part and entry, in its tensor, of an entry of a param's dim along which its
/// parts are joined.
static std::pair<const SourcePart *, int64_t> locate(const Source &source,
                                                     int64_t entry) {
  int64_t all = 0;
  for (const SourcePart &part : source.parts)
    all += part.size / source.groups;
  int64_t group = entry / all;
  int64_t rest = entry % all;
  size_t index = 0;
  for (; rest >= source.parts[index].size / source.groups; ++index)
    rest -= source.parts[index].size / source.groups;
  const SourcePart &part = source.parts[index];
  int64_t at = group * (part.size / source.groups) + rest + part.offset;
  return {&part, at};
}

/// Where a column stands in the tensor that has even and odd ones in turn.
static int64_t interleave(int64_t column, int64_t size) {
  int64_t evens = (size + 1) / 2;
  return column < evens ? 2 * column : 2 * (column - evens) + 1;
}

/// The dims, in the order of the param's, of the tensor that has `own`; they
/// are `sizes` large.
static std::vector<TensorDim> dimsOf(const Slice &slice, const Source &source,
                                     const SourcePart &own, int64_t joined,
                                     const std::vector<int64_t> &sizes) {
  std::vector<TensorDim> dims;
  for (size_t i = 0; i < slice.dims.size(); ++i) {
    const SliceDim &dim = slice.dims[i];
    if (!dim.axis) {
      dims.emplace_back().size = sizes[i];
      continue;
    }
    FailureOr<lowered::Coordinates> runs =
        lowered::readRuns(dim.runs, "'runs'", slice.shape[i],
                          [] { return InFlightDiagnostic(); });
    assert(succeeded(runs) && "verified with the slice");
    Holdings held;
    for (const std::vector<Run> &coordinate : *runs) {
      bool isLast = i + 1 == slice.dims.size();
      std::vector<int64_t> &entries = held.emplace_back();
      for (int64_t entry : lowered::listEntries(coordinate)) {
        if (entry < 0)
          continue;
        const SourcePart *part = &own;
        if (int64_t(i) == joined)
          std::tie(part, entry) = locate(source, entry);
        if (part->pattern == own.pattern)
          entries.push_back(isLast && part->isInterleaved
                                ? interleave(entry, sizes[i])
                                : entry);
      }
      llvm::sort(entries);
    }
    dims.push_back(classify(*dim.axis, held, sizes[i]));
  }
  return dims;
}

/// The tensors of a param, by name. Experts that have tensors of their own are
/// the first dim of one.
static llvm::MapVector<StringRef, NamedTensor> tensorsOf(const Slice &slice,
                                                         Source &source) {
  bool hasExperts =
      StringRef(source.parts.front().pattern).contains("{expert}");
  size_t joined = size_t(source.axis) + hasExperts;
  for (SourcePart &part : source.parts)
    if (part.size == 0)
      part.size = slice.shape[joined];
  llvm::MapVector<StringRef, NamedTensor> tensors;
  for (const SourcePart &part : source.parts) {
    NamedTensor &tensor = tensors[part.pattern];
    if (!tensor.dims.empty())
      continue;
    std::vector<int64_t> sizes = slice.shape;
    sizes[joined] = 0;
    for (const SourcePart &other : source.parts)
      if (other.pattern == part.pattern)
        sizes[joined] = std::max(sizes[joined], other.offset + other.size);
    tensor.scales = part.scales;
    tensor.dims = dimsOf(slice, source, part, int64_t(joined), sizes);
    size_t rank = tensor.dims.size();
    if (part.isTransposed && rank >= 2)
      std::swap(tensor.dims[rank - 1], tensor.dims[rank - 2]);
  }
  return tensors;
}

//===----------------------------------------------------------------------===//
// Output
//===----------------------------------------------------------------------===//

static void write(json::Writer &json, const TensorDim &dim) {
  json.beginObject().member("size", dim.size);
  if (dim.hold != Hold::Whole)
    json.member("axis", shardopt::spell(*dim.axis))
        .member("held", wordOf(dim.hold))
        .member("ways", dim.ways);
  json.endObject();
}

static void writeLayers(json::Writer &json, RepeatOp repeat) {
  json.key("layers").beginArray();
  for (int64_t i = 0; repeat && i < int64_t(repeat.getCount()); ++i)
    json.value(repeat.getLayer(i));
  json.endArray();
}

static LogicalResult writeParam(json::Writer &json, ParamOp param) {
  auto fail = [&] { return param.emitOpError(); };
  FailureOr<std::optional<Slice>> slice = lowered::readFrom<Slice>(param);
  if (failed(slice))
    return failure();
  if (!*slice)
    return fail() << "has no '" << Slice::attrName
                  << "', expected a module of --llm-insert-collectives";
  int64_t rank = int64_t((*slice)->dims.size());
  Source source;
  source.parts.emplace_back().pattern = param.getParam().str();
  if (DictionaryAttr said = param.getSourceAttr()) {
    FailureOr<Source> read = Source::read(said, "'source'", rank, fail);
    if (failed(read))
      return failure();
    source = std::move(*read);
  }
  for (const auto &[name, tensor] : tensorsOf(**slice, source)) {
    json.beginObject().member("name", name.str());
    if (!tensor.scales.empty())
      json.member("scales", tensor.scales);
    writeLayers(json, param->getParentOfType<RepeatOp>());
    json.key("dims").beginArray();
    for (const TensorDim &dim : tensor.dims)
      write(json, dim);
    json.endArray().endObject();
  }
  return success();
}

/// The axes of the grid, and those of each group that is larger than 1.
static void writeGrid(json::Writer &json, const ProgramGrid &grid) {
  json.key("grid").beginArray();
  for (int64_t size : grid.shape())
    json.value(size);
  json.endArray().key("groups").beginObject();
  SmallVector<Axis> axes = {Axis::Tp, Axis::Cp,    Axis::Dp,
                            Axis::Ep, Axis::Etp,   Axis::Q,
                            Axis::C,  Axis::Outer, Axis::Stage};
  if (grid.groups().size(Axis::Tp2) > 1)
    axes.append({Axis::Tp1, Axis::Tp2});
  for (Axis axis : axes) {
    json.key(shardopt::spell(axis)).beginArray();
    for (int16_t number : grid.axes(axis))
      json.value(int64_t(number));
    json.endArray();
  }
  json.endObject();
}

static LogicalResult writeValues(json::Writer &json, ModuleOp module) {
  WalkResult walked = module.walk([&](Operation *op) {
    FailureOr<std::optional<lowered::Value>> value =
        lowered::readFrom<lowered::Value>(op);
    if (failed(value))
      return WalkResult::interrupt();
    if (*value)
      json.beginObject()
          .member("op", (*value)->op)
          .member("layout", cost::spell((*value)->layout))
          .member("rows", (*value)->rows)
          .endObject();
    return WalkResult::advance();
  });
  return failure(walked.wasInterrupted());
}

LogicalResult ExportShardingsPass::run() {
  ModuleOp module = getOperation();
  if (shardings.empty())
    return emitError(module.getLoc(), "'shardings' is missing, expected the "
                                      "file to write to");
  FailureOr<std::optional<Degrees>> degrees = readLoweredStrategy(module);
  if (failed(degrees))
    return failure();
  if (!*degrees)
    return emitError(module.getLoc(), "the module has no '")
           << loweredStrategyAttrName
           << "', expected a module of --llm-insert-collectives";
  std::string text;
  json::Writer json(text);
  json.beginObject(json::Style::Block);
  writeGrid(json, ProgramGrid(**degrees));
  json.key("tensors").beginArray(json::Style::Block);
  WalkResult walked = module.walk([&](ParamOp param) {
    return failed(writeParam(json, param)) ? WalkResult::interrupt()
                                           : WalkResult::advance();
  });
  if (walked.wasInterrupted())
    return failure();
  json.endArray().key("values").beginArray(json::Style::Block);
  if (failed(writeValues(json, module)))
    return failure();
  json.endArray().endObject();
  if (auto error = writeFile(shardings, text + "\n"))
    return emitError(module.getLoc(), error->message);
  return success();
}
