//===- ProgramInterface.cpp - What a program takes and returns ------------===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "shardopt/Execution/ProgramInterface.h"

#include "shardopt/Dialect/LLM/IR/ModuleAttributes.h"
#include "shardopt/Model/BatchSplit.h"
#include "shardopt/Support/Limits.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/ADT/STLExtras.h"

#include <map>
#include <numeric>

using namespace mlir;
using namespace shardopt;
using namespace shardopt::execution;
using namespace shardopt::tensors;

//===----------------------------------------------------------------------===//
// Attributes
//===----------------------------------------------------------------------===//

/// The runs of every coordinate, written out. They have been read before.
static std::vector<Entries> listEntries(ArrayAttr runs, int64_t size) {
  std::vector<Entries> entries;
  if (!runs)
    return entries;
  auto coordinates = llm::lowered::readRuns(runs, "runs", size, [&] {
    return emitError(UnknownLoc::get(runs.getContext()));
  });
  for (const std::vector<llm::Run> &own : *coordinates)
    entries.push_back(llm::lowered::listEntries(own));
  return entries;
}

static Slice expand(const llm::lowered::Slice &slice) {
  Slice result;
  result.name = slice.name;
  result.shape = slice.shape;
  for (auto [size, dim] : llvm::zip_equal(slice.shape, slice.dims)) {
    SliceDim &cut = result.dims.emplace_back();
    if (dim.axis) {
      cut.axis = dim.axis;
      cut.entries = listEntries(dim.runs, size);
    }
    cut.isRows = !dim.rows.empty();
    cut.rowAxes = dim.rows;
    cut.areRowsAlike = dim.areRowsAlike;
    cut.stride = dim.stride;
  }
  return result;
}

//===----------------------------------------------------------------------===//
// Functions
//===----------------------------------------------------------------------===//

Shape Operand::globalShape() const {
  if (!slice.shape.empty())
    return slice.shape;
  return Shape(shape.begin() + isStacked, shape.end());
}

/// What is said where diagnostics have said more.
static Error attributesAreWrong() {
  return {"the attributes of the program are wrong"};
}

namespace {

/// Reads the arguments and results of one function, a stage of a program.
class EntryReader {
public:
  EntryReader(func::FuncOp function, const StageGrid &grid, int64_t stage)
      : function(function), grid(grid), stage(stage) {}

  ErrorOr<Entry> read();

private:
  ErrorOr<Operand> readOperand(Type type, DictionaryAttr attributes,
                               const std::string &place,
                               const std::string &name);
  LogicalResult readSlice(RankedTensorType type, DictionaryAttr attributes,
                          const std::string &place, Operand &operand);
  LogicalResult readParam(DictionaryAttr attributes, const std::string &place,
                          Operand &operand);

  func::FuncOp function;
  const StageGrid &grid;
  int64_t stage;
};

} // namespace

LogicalResult EntryReader::readSlice(RankedTensorType type,
                                     DictionaryAttr attributes,
                                     const std::string &place,
                                     Operand &operand) {
  auto slice =
      llm::lowered::readFrom<llm::lowered::Slice>(attributes, function, place);
  if (failed(slice))
    return failure();
  if (!*slice)
    return success();
  // The slice of a stack of weights is one of a layer's.
  if (operand.role == Role::Param && type.getRank() > 0 &&
      int64_t((*slice)->dims.size()) + 1 == type.getRank()) {
    operand.isStacked = true;
    type = RankedTensorType::get(type.getShape().drop_front(),
                                 type.getElementType());
  }
  operand.slice = expand(**slice);
  operand.name = operand.slice.name;
  return (*slice)->verifyType(type, grid, stage, [&] {
    InFlightDiagnostic error = function.emitOpError();
    error << place << ": ";
    return error;
  });
}

LogicalResult EntryReader::readParam(DictionaryAttr attributes,
                                     const std::string &place,
                                     Operand &operand) {
  auto fail = [&]() -> InFlightDiagnostic {
    InFlightDiagnostic error = function.emitOpError();
    error << place << ": ";
    return error;
  };
  if (auto param = attributes.getAs<StringAttr>(llm::paramAttrName))
    if (operand.slice.name.empty())
      operand.name = param.str();
  // The dialect's verifier knows the other forms of these.
  if (auto layers = attributes.getAs<llm::LayersAttr>(llm::layersAttrName)) {
    operand.isStacked = true;
    operand.layers = layers.getNumbers().vec();
  }
  if (operand.isStacked && operand.shape.front() < 0)
    return fail() << "is a stack of weights of unknown number";
  if (operand.isStacked && operand.layers.empty()) {
    operand.layers.resize(operand.shape.front());
    std::iota(operand.layers.begin(), operand.layers.end(), 0);
  }
  Attribute attribute = attributes.get(llm::Source::attrName);
  if (!attribute)
    return success();
  auto source = llm::Source::read(
      attribute, "'llm.source'",
      int64_t(operand.shape.size()) - operand.isStacked, fail);
  if (succeeded(source))
    operand.source = std::move(*source);
  return success(succeeded(source));
}

/// An argument or result, at `place`; an error where its type is no tensor of
/// f32 or i32.
ErrorOr<Operand> EntryReader::readOperand(Type type, DictionaryAttr attributes,
                                          const std::string &place,
                                          const std::string &name) {
  auto tensor = dyn_cast<RankedTensorType>(type);
  if (!tensor || !(tensor.getElementType().isF32() ||
                   tensor.getElementType().isInteger(32))) {
    std::string text;
    llvm::raw_string_ostream(text) << type;
    return Error{"'" + function.getName().str() + "': " + place + " is " +
                 text + ", expected a tensor of f32 or i32"};
  }
  if (size_t(tensor.getRank()) > maxOperandRank)
    return Error{"'" + function.getName().str() + "': " + place +
                 " is of rank " + std::to_string(tensor.getRank()) +
                 ", expected at most " + std::to_string(maxOperandRank)};
  Operand operand;
  operand.role = llm::getRole(attributes);
  operand.name = name;
  operand.element =
      tensor.getElementType().isF32() ? Element::F32 : Element::I32;
  for (int64_t size : tensor.getShape())
    operand.shape.push_back(ShapedType::isDynamic(size) ? -1 : size);
  if (failed(readSlice(tensor, attributes, place, operand)))
    return attributesAreWrong();
  if (operand.role == Role::Param &&
      failed(readParam(attributes, place, operand)))
    return attributesAreWrong();
  return operand;
}

ErrorOr<Entry> EntryReader::read() {
  Entry entry;
  entry.name = function.getName().str();
  for (unsigned i = 0; i < function.getNumArguments(); ++i) {
    std::string number = std::to_string(i);
    ErrorOr<Operand> operand =
        readOperand(function.getArgumentTypes()[i], function.getArgAttrDict(i),
                    "argument " + number, "arg" + number);
    if (!operand)
      return operand.error();
    if (operand->role == Role::Cache)
      entry.caches.push_back(*operand);
    entry.arguments.push_back(std::move(*operand));
  }
  unsigned caches = 0;
  for (unsigned i = 0; i < function.getNumResults(); ++i) {
    DictionaryAttr attributes = function.getResultAttrDict(i);
    std::optional<Role> role = llm::getRole(attributes);
    if (role == Role::Cache) {
      ++caches;
      continue;
    }
    std::string number = std::to_string(i);
    std::string name = role ? llm::spell(*role).str() : "result" + number;
    ErrorOr<Operand> operand = readOperand(
        function.getResultTypes()[i], attributes, "result " + number, name);
    if (!operand)
      return operand.error();
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

std::vector<std::vector<int64_t>> ProgramInterface::listParts() const {
  std::vector<std::vector<int64_t>> parts(sites.size());
  for (auto [site, calls] : llvm::zip_equal(sites, parts))
    if (site.collective && site.collective->parts.size() > 1)
      for (const CollectiveSite::Part &part : site.collective->parts)
        calls.push_back(part.calls);
  return parts;
}

int64_t ProgramInterface::microBatches(int64_t prompts) const {
  return splitBatch(prompts, grid.groups().size(Axis::Dp), numStages())
      .microBatches;
}

Place ProgramInterface::place(int64_t rank, int64_t prompts) const {
  Place place;
  place.grid = grid.groups();
  place.rank = rank;
  place.microBatches = microBatches(prompts);
  return place;
}

ErrorOr<ProgramWorkload> execution::readProgramWorkload(ModuleOp module) {
  FailureOr<std::optional<cost::Workload>> workload = llm::readWorkload(module);
  FailureOr<std::optional<Degrees>> degrees = llm::readLoweredStrategy(module);
  if (failed(workload) || failed(degrees))
    return attributesAreWrong();
  ProgramWorkload result;
  if (*workload) {
    result.isPrefill = (*workload)->phase == cost::Phase::Prefill;
    result.context = (*workload)->context;
  }
  result.batch = *degrees
                     ? (*degrees)->batch
                     : llm::readStrategy(module)[Degree::Batch].value_or(0);
  return result;
}

static KeptSite expand(const llm::lowered::Value &value) {
  KeptSite kept;
  kept.op = value.op;
  kept.layout = value.layout;
  kept.isBetweenExperts = value.rows == "experts";
  kept.isDealt = value.rows == "positions";
  kept.columns = listEntries(value.columns, maxDimSize);
  return kept;
}

static CollectiveSite expand(const llm::lowered::Collective &collective,
                             const std::string &kind) {
  CollectiveSite site;
  site.kind = kind;
  for (const auto &charge : collective.charges)
    site.parts.push_back({charge.layers, charge.cause, charge.isCharged});
  site.elementBits = collective.type.getIntOrFloatBitWidth();
  return site;
}

static Site expand(const llm::lowered::Site &site) {
  Site result;
  result.words = site.op;
  if (site.keep) {
    result.kept = expand(*site.keep);
    result.words = "value of " + result.kept->op;
  }
  if (site.collective) {
    result.collective = expand(*site.collective, site.op);
    result.words += " for " + result.collective->parts.front().cause;
  }
  return result;
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
    auto stage = llm::lowered::readFrom<llm::lowered::Stage>(function);
    if (failed(stage))
      return attributesAreWrong();
    if (*stage && (*stage)->count > 1) {
      index = (*stage)->index;
      std::string suffix = "_stage" + std::to_string(index);
      if (!llvm::StringRef(program).ends_with(suffix))
        return Error{"'" + program + "' is stage " + std::to_string(index) +
                     " of a program, expected a name that ends in '" + suffix +
                     "'"};
      program.resize(program.size() - suffix.size());
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

/// The sizes that a module says its grid has, those of one device without any.
static ErrorOr<std::vector<int64_t>> readShape(ModuleOp module) {
  Attribute attribute = module->getAttr(llm::lowered::gridAttrName);
  if (!attribute)
    return std::vector<int64_t>{1, 1, 1};
  auto grid = dyn_cast<DenseI64ArrayAttr>(attribute);
  if (grid && grid.size() >= 3 &&
      llvm::all_of(grid.asArrayRef(),
                   [](int64_t n) { return n >= 1 && n <= maxDegree; }))
    return grid.asArrayRef().vec();
  std::string text;
  llvm::raw_string_ostream(text) << attribute;
  return Error{"the grid is " + text +
               ", expected positive sizes of pp, ep and tp"};
}

/// The grid of the strategy by which the module was partitioned; where it says
/// none, its axes are pp, ep and tp.
static ErrorOr<ProgramGrid> readGrid(ModuleOp module) {
  ErrorOr<std::vector<int64_t>> shape = readShape(module);
  if (!shape)
    return shape.error();
  FailureOr<std::optional<Degrees>> degrees = llm::readLoweredStrategy(module);
  if (failed(degrees))
    return attributesAreWrong();
  if (!*degrees && shape->size() != 3)
    return Error{"the grid is " + toString(*shape) +
                 " and there is no 'shardopt.strategy', expected sizes of pp, "
                 "ep and tp"};
  ProgramGrid grid(
      degrees->value_or(Degrees((*shape)[2], (*shape)[1], (*shape)[0], 1)));
  if (grid.shape() == *shape)
    return grid;
  return Error{"the grid is " + toString(*shape) +
               " and 'shardopt.strategy' is for " + toString(grid.shape()) +
               ", expected the same pp, ep and tp"};
}

ErrorOr<ProgramInterface> execution::readInterface(ModuleOp module,
                                                   const std::string &entry) {
  ProgramInterface result;
  ErrorOr<ProgramGrid> grid = readGrid(module);
  if (!grid)
    return grid.error();
  result.grid = *grid;
  if (auto sites =
          module->getAttrOfType<ArrayAttr>(llm::lowered::Site::attrName))
    for (Attribute attribute : sites) {
      auto site = llm::lowered::Site::read(
          attribute, [&] { return module.emitOpError(); });
      if (failed(site))
        return attributesAreWrong();
      result.sites.push_back(expand(*site));
    }
  ErrorOr<std::vector<func::FuncOp>> functions = findFunctions(module, entry);
  if (!functions)
    return functions.error();
  for (func::FuncOp function : *functions) {
    ErrorOr<Entry> stage = EntryReader(function, result.grid.groups(),
                                       int64_t(result.stages.size()))
                               .read();
    if (!stage)
      return stage.error();
    result.stages.push_back(std::move(*stage));
  }
  if (int64_t stages = result.numStages();
      int64_t(result.stages.size()) != stages)
    return Error{"the program has " + std::to_string(result.stages.size()) +
                 " stages on a grid with pp = " + std::to_string(stages)};
  return result;
}
