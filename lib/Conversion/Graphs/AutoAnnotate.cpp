//===- AutoAnnotate.cpp - Choose the sharding of linalg functions ---------===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ForeignOp.h"
#include "InlineCalls.h"
#include "LayerFolding.h"
#include "Pins.h"
#include "Report.h"
#include "Writers.h"
#include "shardopt/Conversion/Graphs/Passes.h"
#include "shardopt/Cost/Calibrated/Calibrated.h"
#include "shardopt/Cost/Roofline.h"
#include "shardopt/Model/Machine/Machine.h"
#include "shardopt/Solvers/Selection/ProblemReader.h"
#include "shardopt/Solvers/Selection/Solver.h"
#include "shardopt/Support/Choice.h"
#include "shardopt/Support/WriteFile.h"

#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Shard/IR/ShardDialect.h"
#include "mlir/Dialect/Shard/IR/ShardOps.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Remarks.h"

#include <chrono>
#include <cmath>

namespace shardopt::graphs {
#define GEN_PASS_DEF_AUTOANNOTATEPASS
#include "shardopt/Conversion/Graphs/Passes.h.inc"
} // namespace shardopt::graphs

using namespace mlir;
using namespace shardopt;
using namespace shardopt::graphs;

namespace {

class AutoAnnotatePass
    : public graphs::impl::AutoAnnotatePassBase<AutoAnnotatePass> {
public:
  using AutoAnnotatePassBase::AutoAnnotatePassBase;

  void runOnOperation() override {
    if (failed(run()))
      signalPassFailure();
  }

private:
  LogicalResult run();
  LogicalResult checkOptions();
  LogicalResult checkFunction(func::FuncOp func);
  solve::SolverResult choose(const FactorGraph &graph,
                             const solve::Problem &instance, int64_t &shared);
  /// With `grid` for upstream, without for Shardy.
  LogicalResult annotate(func::FuncOp func, const cost::TimeModel &time,
                         double bytes, FlatSymbolRefAttr grid);
  remark::RemarkOpts named(StringRef name) {
    return remark::RemarkOpts::name(name).category(getArgument());
  }

  Mesh mesh;
};

} // namespace

/// What a value should be: a number, or a tensor of numbers with known sizes.
/// Empty where it is.
static StringRef wantedOf(Type type) {
  constexpr double mostElements = 0x1p53; // that costs count exactly
  if (isa<BaseMemRefType>(type))
    return "tensors, as before bufferization";
  if (isa<TupleType>(type))
    return "the tensors of the tuple";
  auto tensor = dyn_cast<TensorType>(type);
  if (!tensor)
    return "";
  if (!isa<RankedTensorType>(type) || !tensor.hasStaticShape() ||
      !tensor.getElementType().isIntOrFloat())
    return "static sizes of numbers";
  return elementsOf(tensor.getShape()) <= mostElements
             ? ""
             : "at most 2^53 elements";
}

/// Ops on tensors whose sizes are known, not yet annotated; also those of
/// loops.
static LogicalResult checkBlock(Block &block) {
  for (Operation &op : block) {
    if (isa<shard::ShardOp>(op) || op.hasAttr(sdyAttrName))
      return op.emitOpError(
          "is an annotation already, expected a function without");
    if (op.getNumRegions() != 0 && !isForeign(&op) &&
        !isa<linalg::LinalgOp, tensor::PadOp>(op))
      return op.emitOpError(
          "has a region, expected ops of linalg in one block");
    for (Type type : op.getResultTypes())
      if (StringRef wanted = wantedOf(type); !wanted.empty())
        return op.emitOpError("makes ") << type << ", expected " << wanted;
    if (isLoop(&op))
      for (Region &region : op.getRegions())
        for (Block &body : region)
          if (failed(checkBlock(body)))
            return failure();
  }
  return success();
}

LogicalResult AutoAnnotatePass::checkFunction(func::FuncOp func) {
  if (!llvm::hasSingleElement(func.getBody()))
    return func.emitOpError("has several blocks, expected one");
  for (Type type : func.getArgumentTypes())
    if (StringRef wanted = wantedOf(type); !wanted.empty())
      return func.emitOpError("takes ") << type << ", expected " << wanted;
  return checkBlock(func.getBody().front());
}

/// Refuses tensors with more layouts than the table of an edge has room for.
static LogicalResult checkChoices(func::FuncOp func, const Mesh &mesh) {
  constexpr size_t mostLayouts = 1024;
  auto isChecked = [&](Type type) {
    auto tensor = dyn_cast<RankedTensorType>(type);
    return !tensor ||
           std::pow(tensor.getRank() + 1., mesh.axes().size()) <=
               double(mostLayouts) ||
           mesh.layoutsOf(tensor.getShape()).size() <= mostLayouts;
  };
  auto check = [&](Operation *op, TypeRange types) -> LogicalResult {
    for (Type type : types)
      if (!isChecked(type))
        return op->emitOpError("has ")
               << type << ", which has more than " << mostLayouts
               << " shardings, expected a 'mesh' of fewer axes or fewer dims";
    return success();
  };
  if (failed(check(func, func.getArgumentTypes())))
    return failure();
  WalkResult result = func.walk([&](Operation *op) {
    return failed(check(op, op->getResultTypes())) ? WalkResult::interrupt()
                                                   : WalkResult::advance();
  });
  return failure(result.wasInterrupted());
}

/// Solves an instance. `shared` gets the layers that share their strategies.
solve::SolverResult AutoAnnotatePass::choose(const FactorGraph &graph,
                                             const solve::Problem &instance,
                                             int64_t &shared) {
  solve::SolverOptions options;
  options.timeLimit = timeLimit;
  if (shareLayers) {
    FoldedProblem folded = foldLayers(graph, instance);
    shared = folded.layers;
    if (shared > 1) {
      solve::SolverResult result = solve::solve(folded.problem, options);
      if (result.solution) {
        result.solution = folded.unfold(*result.solution);
        auto verdict = solve::verify(instance, *result.solution);
        result.cost = verdict->cost;
        if (verdict->feasible)
          return result;
      }
      shared = 1; // which takes too much memory
    }
  }
  return solve::solve(instance, options);
}

LogicalResult AutoAnnotatePass::annotate(func::FuncOp func,
                                         const cost::TimeModel &time,
                                         double bytes, FlatSymbolRefAttr grid) {
  auto start = std::chrono::steady_clock::now();
  if (failed(checkFunction(func)) ||
      (!pins.empty() && failed(applyPins(func, mesh, pins))) ||
      failed(checkPins(func, mesh)))
    return failure();
  FailureOr<FactorMap> factors = readFactors(func.getBody().front());
  if (failed(factors))
    return failure();
  for (Operation &op : func.getBody().front())
    if (auto found = factors->find(&op);
        found != factors->end() && !found->second.replicated.empty())
      remark::missed(op.getLoc(), named("replicated"))
          << (op.getName().getStringRef() +
              " is replicated: " + found->second.replicated)
                 .str();
  if (failed(checkChoices(func, mesh)))
    return failure();
  FactorGraph graph(func, *factors, time, mesh);
  solve::Problem instance = graph.problem(bytes);
  if (!problem.empty())
    if (auto error = writeFile(problem, solve::toJson(instance)))
      return func.emitOpError(error->message);
  int64_t shared = 1;
  solve::SolverResult result = choose(graph, instance, shared);
  if (!result.solution) {
    InFlightDiagnostic error = func.emitOpError("does not fit");
    if (result.shortage)
      error << ": every sharding takes at least "
            << int64_t(result.shortage->smallest)
            << " bytes of a device, which has " << int64_t(bytes);
    return error;
  }
  if (result.cost >= solve::infiniteCost)
    return func.emitOpError("found no sharding within ")
           << std::to_string(timeLimit)
           << " s, expected a larger 'time-limit' or a smaller 'mesh'";
  std::chrono::duration<double> spent =
      std::chrono::steady_clock::now() - start;
  remark::passed(func.getLoc(), named("annotated"))
      << remark::metric("microseconds", double(result.cost) / 1e6)
      << remark::metric("bound",
                        result.bound ? double(*result.bound) / 1e6 : 0.)
      << remark::metric("proved", result.proved)
      << remark::metric("layers", int64_t(shared));
  if (!report.empty())
    if (auto error = writeFile(
            report, reportOf(graph, *factors, mesh, instance, result,
                             {.layers = shared, .wallSeconds = spent.count()})))
      return func.emitOpError(error->message);
  if (grid)
    writeShard(graph, *result.solution, mesh, grid);
  else
    writeSdy(func, graph, *result.solution, mesh);
  return success();
}

LogicalResult AutoAnnotatePass::checkOptions() {
  Location loc = getOperation().getLoc();
  ErrorOr<Mesh> parsed = Mesh::parse(meshText);
  if (!parsed)
    return emitError(loc, parsed.error().message);
  mesh = *parsed;
  if (!(memoryGb >= 0))
    return emitError(loc, "'memory-gb' is ")
           << std::to_string(memoryGb) << ", expected 1e9 bytes of at least 0";
  if (!(timeLimit >= 0))
    return emitError(loc, "'time-limit' is ")
           << std::to_string(timeLimit) << ", expected seconds of at least 0";
  return success();
}

/// Times of a roofline, of measured kernels, or of these where the machine has
/// constants.
static ErrorOr<std::shared_ptr<const cost::TimeModel>>
timeOf(const Machine &machine, const std::string &simulator) {
  enum class Source : uint8_t { Roofline, Calibrated, Auto };
  auto source = parseChoice<Source>("simulator", simulator,
                                    {{"roofline", Source::Roofline},
                                     {"calibrated", Source::Calibrated},
                                     {"auto", Source::Auto}});
  if (!source)
    return source.error();
  if (*source != Source::Roofline) {
    auto measured = cost::Calibrated::create(machine);
    if (measured)
      return std::shared_ptr<const cost::TimeModel>(*measured);
    if (*source == Source::Calibrated)
      return measured.error();
  }
  return std::shared_ptr<const cost::TimeModel>(
      std::make_shared<cost::Roofline>(machine));
}

LogicalResult AutoAnnotatePass::run() {
  ModuleOp module = getOperation();
  if (failed(checkOptions()) || failed(inlineCalls(module)))
    return failure();
  ErrorOr<Machine> loaded = loadMachine(machine);
  if (!loaded)
    return emitError(module.getLoc(), loaded.error().message);
  SmallVector<func::FuncOp> functions;
  for (auto func : module.getOps<func::FuncOp>())
    if (!func.isDeclaration())
      functions.push_back(func);
  for (const Option<std::string> *file : {&problem, &report})
    if (!file->getValue().empty() && functions.size() != 1)
      return emitError(functions.empty() ? module.getLoc()
                                         : functions[1].getLoc(),
                       "the module has ")
             << functions.size() << " functions, expected 1 for its '"
             << file->getArgStr() << "'";
  ErrorOr<std::shared_ptr<const cost::TimeModel>> time =
      timeOf(*loaded, simulator);
  if (!time)
    return emitError(module.getLoc(), time.error().message);
  double bytes = memoryGb > 0 ? memoryGb * 1e9 : loaded->memoryCapacity;
  FlatSymbolRefAttr grid;
  if (module
          .walk([](Operation *op) {
            return isForeign(op) ? WalkResult::interrupt()
                                 : WalkResult::advance();
          })
          .wasInterrupted())
    writeSdyMesh(module, mesh);
  else
    grid = writeShardGrid(module, mesh);
  for (func::FuncOp func : functions)
    if (failed(annotate(func, **time, bytes, grid)))
      return failure();
  return success();
}
