//===- ProgramInterface.cpp - What a program takes and returns ------------===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "shardopt/Execution/ProgramInterface.h"

#include "shardopt/Dialect/LLM/IR/LLMDialect.h"
#include "shardopt/Support/BatchSplit.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringSwitch.h"

#include <algorithm>
#include <map>
#include <numeric>

using namespace mlir;
using namespace shardopt;
using namespace shardopt::execution;
using namespace shardopt::tensors;

//===----------------------------------------------------------------------===//
// Attributes
//===----------------------------------------------------------------------===//

static Role parseRole(DictionaryAttr attributes) {
  auto role = attributes ? attributes.getAs<StringAttr>("llm.role") : nullptr;
  return llvm::StringSwitch<Role>(role ? role.getValue() : "")
      .Case("tokens", Role::Tokens)
      .Case("positions", Role::Positions)
      .Case("cache", Role::Cache)
      .Case("param", Role::Param)
      .Case("token_ids", Role::TokenIds)
      .Case("logits", Role::Logits)
      .Default(Role::Other);
}

static std::optional<GridAxis> parseAxis(Attribute attribute) {
  auto name = dyn_cast_or_null<StringAttr>(attribute);
  return name ? parseGridAxis(name.getValue()) : std::nullopt;
}

/// More entries of a run are a slip, and would not fit into memory.
static constexpr int64_t mostEntries = int64_t(1) << 28;

/// Writes out runs [start, size, stride] or [start, size, stride, count, step];
/// false where they have another form.
static bool appendRuns(Attribute runs, Entries &entries) {
  auto list = dyn_cast<ArrayAttr>(runs);
  if (!list)
    return false;
  for (Attribute attribute : list) {
    auto run = dyn_cast<DenseI64ArrayAttr>(attribute);
    if (!run || (run.size() != 3 && run.size() != 5))
      return false;
    ArrayRef<int64_t> r = run;
    int64_t count = r.size() == 5 ? r[3] : 1, step = r.size() == 5 ? r[4] : 0;
    int64_t total;
    if (r[1] < 0 || count < 0 || __builtin_mul_overflow(r[1], count, &total) ||
        total > mostEntries)
      return false;
    for (int64_t c = 0; c < count; ++c)
      for (int64_t i = 0; i < r[1]; ++i)
        entries.push_back(r[0] < 0 ? -1 : r[0] + c * step + i * r[2]);
  }
  return true;
}

/// The lists of runs of all coordinates.
static bool appendCoordinates(Attribute attribute,
                              std::vector<Entries> &coordinates) {
  auto list = dyn_cast_or_null<ArrayAttr>(attribute);
  return list && llvm::all_of(list, [&](Attribute runs) {
           return appendRuns(runs, coordinates.emplace_back());
         });
}

/// How a dim of global size `size` (-1: dynamic) is cut on `grid`; nothing
/// where the attribute has another form or does not fit.
static std::optional<SliceDim> parseDim(Attribute attribute, int64_t size,
                                        const AxisMap<int64_t> &grid) {
  auto fields = dyn_cast<DictionaryAttr>(attribute);
  if (!fields)
    return std::nullopt;
  SliceDim dim;
  if (Attribute axis = fields.get("axis")) {
    dim.axis = parseAxis(axis);
    if (!dim.axis || !appendCoordinates(fields.get("runs"), dim.entries) ||
        int64_t(dim.entries.size()) != grid[*dim.axis])
      return std::nullopt;
    for (const Entries &entries : dim.entries)
      for (int64_t entry : entries)
        if (entry < -1 || entry >= size)
          return std::nullopt;
  }
  if (Attribute rows = fields.get("rows")) {
    auto axes = dyn_cast<ArrayAttr>(rows);
    if (!axes)
      return std::nullopt;
    dim.isRows = true;
    for (Attribute name : axes) {
      std::optional<GridAxis> axis = parseAxis(name);
      if (!axis)
        return std::nullopt;
      dim.rowAxes.push_back(*axis);
    }
  }
  return dim;
}

/// Nothing where the attribute has another form or does not fit the grid.
static std::optional<Slice> parseSlice(DictionaryAttr attribute,
                                       const AxisMap<int64_t> &grid) {
  auto name = attribute.getAs<StringAttr>("name");
  auto shape = attribute.getAs<DenseI64ArrayAttr>("shape");
  auto dims = attribute.getAs<ArrayAttr>("dims");
  if (!name || !shape || !dims || size_t(shape.size()) != dims.size())
    return std::nullopt;
  Slice slice;
  slice.name = name.str();
  slice.shape = shape.asArrayRef().vec();
  for (auto [size, attribute] : llvm::zip_equal(slice.shape, dims)) {
    std::optional<SliceDim> dim = parseDim(attribute, size, grid);
    if (!dim)
      return std::nullopt;
    slice.dims.push_back(std::move(*dim));
  }
  return slice;
}

static Source parseSource(DictionaryAttr attribute) {
  Source source;
  if (auto axis = attribute.getAs<IntegerAttr>("axis"))
    source.axis = axis.getInt();
  for (auto entry :
       attribute.getAs<ArrayAttr>("parts").getAsRange<DictionaryAttr>()) {
    SourcePart part;
    part.pattern = entry.getAs<StringAttr>("pattern").str();
    part.isTransposed = entry.contains("transposed");
    part.isInterleaved = entry.contains("deinterleave");
    if (auto scales = entry.getAs<StringAttr>("scales"))
      part.scales = scales.str();
    if (auto block = entry.getAs<DenseI64ArrayAttr>("block"))
      part.block = block.asArrayRef().vec();
    source.parts.push_back(std::move(part));
  }
  return source;
}

//===----------------------------------------------------------------------===//
// Functions
//===----------------------------------------------------------------------===//

Shape Operand::globalShape() const {
  if (!slice.shape.empty())
    return slice.shape;
  return Shape(shape.begin() + isStacked, shape.end());
}

/// An argument or result; an error where its type is no tensor of f32 or i32.
static ErrorOr<Operand> readOperand(Type type, DictionaryAttr attributes,
                                    const std::string &name,
                                    const AxisMap<int64_t> &grid) {
  auto tensor = dyn_cast<RankedTensorType>(type);
  if (!tensor || !(tensor.getElementType().isF32() ||
                   tensor.getElementType().isInteger(32))) {
    std::string text;
    llvm::raw_string_ostream(text) << type;
    return Error{name + " is " + text + ", expected a tensor of f32 or i32"};
  }
  Operand operand;
  operand.role = parseRole(attributes);
  operand.name = name;
  operand.element =
      tensor.getElementType().isF32() ? Element::F32 : Element::I32;
  for (int64_t size : tensor.getShape())
    operand.shape.push_back(ShapedType::isDynamic(size) ? -1 : size);
  if (!attributes)
    return operand;
  if (auto attribute = attributes.getAs<DictionaryAttr>("shardopt.slice")) {
    std::optional<Slice> slice = parseSlice(attribute, grid);
    if (!slice)
      return Error{name + " has a 'shardopt.slice' that does not fit its grid, "
                          "or is none"};
    operand.slice = std::move(*slice);
    operand.name = operand.slice.name;
  }
  if (operand.role != Role::Param)
    return operand;
  if (auto param = attributes.getAs<StringAttr>("llm.param"))
    if (operand.slice.name.empty())
      operand.name = param.str();
  if (auto source = attributes.getAs<DictionaryAttr>("llm.source"))
    operand.source = parseSource(source);
  if (auto layers = attributes.getAs<DenseI64ArrayAttr>("llm.layers"))
    operand.layers = layers.asArrayRef().vec();
  operand.isStacked = !operand.layers.empty() ||
                      (!operand.slice.shape.empty() &&
                       operand.slice.shape.size() + 1 == operand.shape.size());
  if (operand.isStacked && operand.layers.empty()) {
    operand.layers.resize(operand.shape.front());
    std::iota(operand.layers.begin(), operand.layers.end(), 0);
  }
  return operand;
}

static ErrorOr<Entry> readEntry(func::FuncOp function,
                                const AxisMap<int64_t> &grid) {
  Entry entry;
  entry.name = function.getName().str();
  for (unsigned i = 0; i < function.getNumArguments(); ++i) {
    ErrorOr<Operand> operand =
        readOperand(function.getArgumentTypes()[i], function.getArgAttrDict(i),
                    "arg" + std::to_string(i), grid);
    if (!operand)
      return Error{"'" + entry.name + "': argument " + std::to_string(i) +
                   ": " + operand.error().message};
    if (operand->role == Role::Cache)
      entry.caches.push_back(*operand);
    entry.arguments.push_back(std::move(*operand));
  }
  unsigned caches = 0;
  for (unsigned i = 0; i < function.getNumResults(); ++i) {
    DictionaryAttr attributes = function.getResultAttrDict(i);
    Role role = parseRole(attributes);
    if (role == Role::Cache) {
      ++caches;
      continue;
    }
    std::string name = role == Role::TokenIds ? "token_ids"
                       : role == Role::Logits ? "logits"
                                              : "result" + std::to_string(i);
    ErrorOr<Operand> operand =
        readOperand(function.getResultTypes()[i], attributes, name, grid);
    if (!operand)
      return Error{"'" + entry.name + "': result " + operand.error().message};
    operand->name = name; // the slice's name is that of an argument
    entry.results.push_back(std::move(*operand));
  }
  if (caches != entry.caches.size())
    return Error{"'" + entry.name + "' takes " +
                 std::to_string(entry.caches.size()) + " caches and returns " +
                 std::to_string(caches) + ", expected as many"};
  return entry;
}

//===----------------------------------------------------------------------===//
// Modules
//===----------------------------------------------------------------------===//

std::vector<std::string> ProgramInterface::describeSites() const {
  std::vector<std::string> words;
  for (const Site &site : sites)
    words.push_back(site.words);
  return words;
}

int64_t ProgramInterface::microBatches(int64_t prompts) const {
  return splitBatch(prompts, grid[GridAxis::Ep], grid[GridAxis::Pp])
      .microBatches;
}

Place ProgramInterface::place(int64_t rank, int64_t prompts) const {
  Place place;
  place.size = grid;
  place.coordinate = coordinatesOf(rank, grid);
  place.microBatches = microBatches(prompts);
  return place;
}

ProgramWorkload execution::readWorkload(ModuleOp module) {
  ProgramWorkload workload;
  if (auto attribute =
          module->getAttrOfType<llm::WorkloadAttr>(llm::workloadAttrName)) {
    workload.isPrefill = attribute.getPhase() == llm::Phase::Prefill;
    workload.context = attribute.getContextLength();
  }
  if (auto lowered =
          module->getAttrOfType<DictionaryAttr>("shardopt.workload")) {
    if (auto phase = lowered.getAs<StringAttr>("phase"))
      workload.isPrefill = phase.getValue() == "prefill";
    if (auto context = lowered.getAs<IntegerAttr>("context"))
      workload.context = context.getInt();
  }
  if (auto strategy =
          module->getAttrOfType<llm::StrategyAttr>(llm::strategyAttrName))
    workload.batch = strategy.getDegrees()[Degree::Batch].value_or(0);
  if (auto strategy =
          module->getAttrOfType<DictionaryAttr>("shardopt.strategy"))
    if (auto batch = strategy.getAs<IntegerAttr>("batch"))
      workload.batch = batch.getInt();
  return workload;
}

static std::string getString(DictionaryAttr attribute, StringRef name) {
  auto text = attribute.getAs<StringAttr>(name);
  return text ? text.str() : std::string();
}

static KeptSite parseKept(DictionaryAttr attribute) {
  KeptSite kept;
  kept.op = getString(attribute, "op");
  std::string layout = getString(attribute, "layout");
  if (!layout.empty())
    kept.layout = layout.front();
  kept.isBetweenExperts = getString(attribute, "rows") == "experts";
  if (!appendCoordinates(attribute.get("columns"), kept.columns))
    kept.columns.clear();
  return kept;
}

static CollectiveSite parseCollective(DictionaryAttr attribute) {
  CollectiveSite collective;
  collective.cause = getString(attribute, "cause");
  if (auto charged = attribute.getAs<BoolAttr>("charged"))
    collective.isCharged = charged.getValue();
  if (auto type = attribute.getAs<TypeAttr>("type"))
    collective.elementBits = type.getValue().getIntOrFloatBitWidth();
  return collective;
}

static Site parseSite(DictionaryAttr attribute) {
  Site site;
  site.words = getString(attribute, "op");
  if (auto keep = attribute.getAs<DictionaryAttr>("keep")) {
    site.kept = parseKept(keep);
    site.words = "value of " + site.kept->op;
  }
  if (auto described = attribute.getAs<DictionaryAttr>("collective")) {
    site.collective = parseCollective(described);
    site.collective->kind = getString(attribute, "op");
    site.words += " for " + site.collective->cause;
  }
  return site;
}

/// The functions of an entry: itself, or its stages by number.
static ErrorOr<std::vector<func::FuncOp>>
findFunctions(ModuleOp module, const std::string &name) {
  // By the name before stages were split; a function without stages has one.
  std::map<std::string, std::map<int64_t, func::FuncOp>> programs;
  for (auto function : module.getOps<func::FuncOp>()) {
    if (!function.isPublic() || function.isExternal())
      continue;
    std::string program = function.getName().str();
    int64_t index = 0;
    if (auto stage =
            function->getAttrOfType<DictionaryAttr>("shardopt.stage")) {
      index = stage.getAs<IntegerAttr>("index").getInt();
      if (stage.getAs<IntegerAttr>("count").getInt() > 1)
        program.resize(program.rfind("_stage"));
    }
    programs[program][index] = function;
  }
  std::string known;
  for (const auto &[program, stages] : programs)
    known += (known.empty() ? "'" : ", '") + program + "'";
  if (programs.empty())
    return Error{"the module has no public function to run"};
  if (name.empty() && programs.size() > 1)
    return Error{"the module has several public functions, expected one of " +
                 known + " by --entry="};
  auto found = name.empty() ? programs.begin() : programs.find(name);
  if (found == programs.end())
    return Error{"no public function '" + name + "', there are: " + known};
  std::vector<func::FuncOp> functions;
  for (const auto &[index, function] : found->second)
    functions.push_back(function);
  return functions;
}

ErrorOr<ProgramInterface> execution::readInterface(ModuleOp module,
                                                   const std::string &entry) {
  ProgramInterface result;
  if (auto grid = module->getAttrOfType<DenseI64ArrayAttr>("shardopt.grid")) {
    if (size_t(grid.size()) != result.grid.size())
      return Error{"a grid of " + std::to_string(grid.size()) +
                   " axes, expected pp, ep and tp"};
    llvm::copy(grid.asArrayRef(), result.grid.begin());
  }
  if (auto sites = module->getAttrOfType<ArrayAttr>("shardopt.sites"))
    for (auto site : sites.getAsRange<DictionaryAttr>())
      result.sites.push_back(parseSite(site));
  ErrorOr<std::vector<func::FuncOp>> functions = findFunctions(module, entry);
  if (!functions)
    return functions.error();
  for (func::FuncOp function : *functions) {
    ErrorOr<Entry> stage = readEntry(function, result.grid);
    if (!stage)
      return stage.error();
    result.stages.push_back(std::move(*stage));
  }
  if (int64_t stages = result.grid[GridAxis::Pp];
      int64_t(result.stages.size()) != stages)
    return Error{"the program has " + std::to_string(result.stages.size()) +
                 " stages on a grid with pp = " + std::to_string(stages)};
  return result;
}
