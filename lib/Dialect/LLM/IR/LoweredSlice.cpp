//===- LoweredSlice.cpp - Slices and runs as attributes -------------------===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Fields.h"
#include "shardopt/Dialect/LLM/IR/LoweredAttributes.h"

#include "shardopt/Support/Limits.h"

#include "mlir/IR/Builders.h"

using namespace mlir;
using namespace shardopt;
using namespace shardopt::llm;
using lowered::Coordinates;
using lowered::EmitError;
using lowered::Slice;
using lowered::SliceDim;

//===----------------------------------------------------------------------===//
// Runs
//===----------------------------------------------------------------------===//

ArrayAttr lowered::writeRuns(MLIRContext *context,
                             const Coordinates &coordinates) {
  Builder builder(context);
  SmallVector<Attribute> lists;
  for (const std::vector<Run> &runs : coordinates) {
    SmallVector<Attribute> list;
    for (const Run &run : runs) {
      SmallVector<int64_t> numbers = {run.start, run.size, run.stride};
      if (run.count > 1)
        numbers.append({run.count, run.step});
      list.push_back(builder.getDenseI64ArrayAttr(numbers));
    }
    lists.push_back(builder.getArrayAttr(list));
  }
  return builder.getArrayAttr(lists);
}

/// Whether all entries of `run` are in [0, `size`). Numbers are whatever a user
/// wrote.
static bool isInside(const Run &run, int64_t size) {
  if (run.start < 0)
    return run.start == -1;
  // The entries furthest along either stride; those between lie between.
  int64_t along, across, far;
  if (__builtin_mul_overflow(run.size - 1, run.stride, &along) ||
      __builtin_mul_overflow(run.count - 1, run.step, &across))
    return false;
  for (int64_t i : {int64_t(0), along})
    for (int64_t c : {int64_t(0), across})
      if (__builtin_add_overflow(run.start, i, &far) ||
          __builtin_add_overflow(far, c, &far) || far < 0 || far >= size)
        return false;
  return true;
}

/// A run of at most `maxDimSize` entries in [0, `size`); nothing where it is
/// none.
static std::optional<Run> readRun(Attribute attribute, int64_t size) {
  auto numbers = dyn_cast<DenseI64ArrayAttr>(attribute);
  if (!numbers || (numbers.size() != 3 && numbers.size() != 5))
    return std::nullopt;
  Run run{numbers[0], numbers[1], numbers[2]};
  if (numbers.size() == 5) {
    run.count = numbers[3];
    run.step = numbers[4];
  }
  if (run.size < 1 || run.size > maxDimSize || run.count < 1 ||
      run.count > maxDimSize || !isInside(run, size))
    return std::nullopt;
  return run;
}

FailureOr<Coordinates> lowered::readRuns(Attribute attribute, StringRef what,
                                         int64_t size, EmitError emitError) {
  auto fail = [&](Attribute found) {
    emitError() << what
                << " must be a list for each coordinate of runs [start, size, "
                   "stride] or [start, size, stride, count, step] of entries "
                   "below "
                << size << ", found " << found;
    return failure();
  };
  auto lists = dyn_cast_or_null<ArrayAttr>(attribute);
  if (!lists)
    return fail(attribute);
  Coordinates coordinates;
  for (Attribute list : lists) {
    auto runs = dyn_cast<ArrayAttr>(list);
    if (!runs)
      return fail(list);
    std::vector<Run> &own = coordinates.emplace_back();
    for (Attribute entry : runs) {
      std::optional<Run> run = readRun(entry, size);
      if (!run)
        return fail(entry);
      own.push_back(*run);
    }
    if (countEntries(own) > maxDimSize)
      return fail(list);
  }
  return coordinates;
}

int64_t lowered::countEntries(const std::vector<Run> &runs) {
  int64_t count = 0;
  for (const Run &run : runs)
    count += run.size * run.count;
  return count;
}

std::vector<int64_t> lowered::listEntries(const std::vector<Run> &runs) {
  std::vector<int64_t> entries;
  for (const Run &run : runs)
    for (int64_t c = 0; c < run.count; ++c)
      for (int64_t i = 0; i < run.size; ++i)
        entries.push_back(
            run.start < 0 ? -1 : run.start + c * run.step + i * run.stride);
  return entries;
}

//===----------------------------------------------------------------------===//
// shardopt.slice
//===----------------------------------------------------------------------===//

static int64_t orDynamic(int64_t size) {
  return ShapedType::isDynamic(size) ? -1 : size;
}

Slice Slice::whole(StringRef name, RankedTensorType type) {
  Slice slice;
  slice.name = name.str();
  for (int64_t size : type.getShape())
    slice.shape.push_back(orDynamic(size));
  slice.dims.resize(slice.shape.size());
  return slice;
}

/// The axes that can shard entries of a dim.
static constexpr Axis sliceAxes[] = {Axis::Pp,  Axis::Ep, Axis::Tp,  Axis::Dp,
                                     Axis::Etp, Axis::Cp, Axis::Tp1, Axis::Tp2};
static constexpr StringRef sliceAxisNames[] = {"pp",  "ep", "tp",  "dp",
                                               "etp", "cp", "tp1", "tp2"};

/// The axes of a dim that is sharded on rows.
static std::vector<Axis> readRows(Fields &fields) {
  std::vector<Axis> rows;
  auto names = fields.get<ArrayAttr>("rows", "a list of axes");
  if (!names)
    return rows;
  for (Attribute name : names) {
    auto text = dyn_cast<StringAttr>(name);
    std::optional<Axis> axis = text ? parseAxis(text.getValue()) : std::nullopt;
    if (!axis || llvm::is_contained(rows, *axis)) {
      fields.failField(
          "rows", "a list of different axes, 'pp', 'dp', 'ep' or 'tp'", names);
      return rows;
    }
    rows.push_back(*axis);
  }
  return rows;
}

/// Reads a dim whose global size is `size`, -1 where dynamic, into `dim`.
static LogicalResult readDim(Attribute attribute, StringRef what, int64_t size,
                             EmitError emitError, SliceDim &dim) {
  Fields fields(attribute, what, emitError);
  if (fields.has("axis")) {
    dim.axis = sliceAxes[fields.choice("axis", sliceAxisNames)];
    dim.runs = fields.get<ArrayAttr>("runs", "lists of runs");
    if (dim.runs &&
        failed(lowered::readRuns(dim.runs, ("'runs' of " + what).str(), size,
                                 emitError)))
      return failure();
  } else if (fields.has("rows")) {
    dim.rows = readRows(fields);
    dim.areRowsAlike = fields.flag("alike");
    if (size >= 0 && !fields.hasFailed())
      fields.fail() << "'rows' of " << what
                    << " belongs to a dynamic dim, found one of " << size;
  } else if (fields.has("stride")) {
    dim.stride = sliceAxes[fields.choice("stride", sliceAxisNames)];
    if (size >= 0 && !fields.hasFailed())
      fields.fail() << "'stride' of " << what
                    << " belongs to a dynamic dim, found one of " << size;
  }
  return failure(fields.hasFailed());
}

FailureOr<Slice> Slice::read(Attribute attribute, EmitError emitError) {
  std::string what = "'" + attrName.str() + "'";
  Fields fields(attribute, what, emitError);
  Slice slice;
  slice.name = fields.text("name", "the name of a tensor");
  slice.shape = fields.integers("shape");
  for (int64_t size : slice.shape)
    if ((size < 1 && size != -1) || size > maxDimSize) {
      fields.fail() << "'shape' of " << what << " must have sizes from 1 to "
                    << maxDimSize << ", or -1 where dynamic, found " << size;
      break;
    }
  auto dims = fields.get<ArrayAttr>("dims", "a list of dictionaries");
  if (dims && dims.size() != slice.shape.size() && !fields.hasFailed())
    fields.fail() << "'dims' of " << what << " must be one for each size, "
                  << slice.shape.size() << ", found " << dims.size();
  if (fields.hasFailed())
    return failure();
  for (auto [index, dim] : llvm::enumerate(dims)) {
    if (failed(readDim(dim, "dim " + std::to_string(index) + " of " + what,
                       slice.shape[index], emitError,
                       slice.dims.emplace_back())))
      return failure();
  }
  return slice;
}

static DictionaryAttr write(Builder &builder, const SliceDim &dim) {
  NamedAttrList fields;
  if (dim.axis) {
    fields.set("axis", builder.getStringAttr(spell(*dim.axis)));
    fields.set("runs", dim.runs);
  } else if (!dim.rows.empty()) {
    SmallVector<Attribute> names;
    for (Axis axis : dim.rows)
      names.push_back(builder.getStringAttr(spell(axis)));
    fields.set("rows", builder.getArrayAttr(names));
    if (dim.areRowsAlike)
      fields.set("alike", builder.getUnitAttr());
  } else if (dim.stride) {
    fields.set("stride", builder.getStringAttr(spell(*dim.stride)));
  }
  return fields.getDictionary(builder.getContext());
}

DictionaryAttr Slice::write(MLIRContext *context) const {
  Builder builder(context);
  SmallVector<Attribute> list;
  for (const SliceDim &dim : dims)
    list.push_back(::write(builder, dim));
  return builder.getDictionaryAttr(
      {builder.getNamedAttr("name", builder.getStringAttr(name)),
       builder.getNamedAttr("shape", builder.getDenseI64ArrayAttr(shape)),
       builder.getNamedAttr("dims", builder.getArrayAttr(list))});
}

//===----------------------------------------------------------------------===//
// Slices and types
//===----------------------------------------------------------------------===//

/// The sizes of what coordinates have of a dim that is sharded on entries; in
/// stages only that of `stage` counts.
static LogicalResult verifyEntries(const SliceDim &dim, StringRef what,
                                   int64_t global, int64_t local,
                                   const StageGrid &grid, int64_t stage,
                                   EmitError emitError) {
  Coordinates coordinates =
      *lowered::readRuns(dim.runs, what, global, emitError);
  int64_t members = grid.size(*dim.axis);
  if (int64_t(coordinates.size()) != members)
    return emitError() << what << " has entries of " << coordinates.size()
                       << " coordinates along '" << spell(*dim.axis)
                       << "', expected " << members << ", the size of the grid";
  for (int64_t member = 0; member < members; ++member) {
    if (*dim.axis == Axis::Pp && member != stage)
      continue;
    int64_t found = lowered::countEntries(coordinates[member]);
    if (found != local)
      return emitError() << what << " has " << found
                         << " entries at coordinate " << member << ", expected "
                         << local << ", the size of the type";
  }
  return success();
}

LogicalResult Slice::verifyType(RankedTensorType type, const StageGrid &grid,
                                int64_t stage, EmitError emitError) const {
  if (type.getRank() != int64_t(dims.size()))
    return emitError() << "'" << attrName << "' has " << dims.size()
                       << " dims, expected " << type.getRank() << ", those of "
                       << type;
  bool isAfterRows = false; // some dynamic dim came before
  for (size_t i = 0; i < dims.size(); ++i) {
    std::string what =
        "dim " + std::to_string(i) + " of '" + attrName.str() + "'";
    int64_t local = orDynamic(type.getDimSize(i));
    if (dims[i].axis) {
      if (failed(verifyEntries(dims[i], what, shape[i], local, grid, stage,
                               emitError)))
        return failure();
      continue;
    }
    if (shape[i] != local)
      return emitError() << what << " is whole and has the size " << shape[i]
                         << ", expected " << local << ", that of " << type;
    if (!dims[i].rows.empty() && isAfterRows)
      return emitError() << what
                         << " is sharded on rows, expected that of the first "
                            "dynamic dim only";
    isAfterRows |= local < 0;
  }
  return success();
}
