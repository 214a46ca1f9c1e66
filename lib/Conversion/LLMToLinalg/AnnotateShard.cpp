//===- AnnotateShard.cpp - Dense ops for upstream's partitioner -----------===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Runs of GEMMs, norms and sums become functions of linalg, unsharded, whose
// values say in `shard.shard` how the strategy lays them out. Upstream's passes
// then partition them. What stands between the runs is named in remarks.
//
//===----------------------------------------------------------------------===//

#include "Lowering.h"
#include "shardopt/Conversion/ShardAnnotation.h"
#include "shardopt/Dialect/LLM/IR/ArgumentAttributes.h"
#include "shardopt/Dialect/LLM/IR/LoweredAttributes.h"
#include "shardopt/Dialect/LLM/IR/ModuleAttributes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Shard/IR/ShardDialect.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Remarks.h"
#include "llvm/ADT/StringSet.h"

#include <functional>

namespace shardopt::llm {
#define GEN_PASS_DEF_ANNOTATESHARDPASS
#include "shardopt/Conversion/LLMToLinalg/Passes.h.inc"
} // namespace shardopt::llm

using namespace mlir;
using namespace shardopt;
using namespace shardopt::llm;
using cost::Layout;

namespace {

/// What all functions share.
struct Target {
  FlatSymbolRefAttr grid;
  SmallVector<int16_t> axes; ///< of the tensor-parallel group
  int64_t tp = 1;
  int64_t rows = 1; ///< of a micro-batch of one replica
};

/// The values that stand for one of the program, columns after columns.
struct Held {
  Values parts;
  Layout layout = Layout::R;
};

/// Says why something stays replicated.
using Remark = std::function<void(Location, const std::string &)>;

/// Writes one function.
class RunWriter {
public:
  RunWriter(const Target &target, func::FuncOp func, Remark remark)
      : target(target), func(func), remark(std::move(remark)),
        b(func.getLoc(), func.getBody()) {}

  void write(Operation *op);
  /// Returns what is used outside of the function.
  void finish(ArrayRef<Operation *> run);

private:
  Value lay(Value value, int64_t dim, bool forUsers);
  Value annotate(Value value, Layout layout, bool forUsers);
  DictionaryAttr describe(StringRef name, RankedTensorType type, int64_t dim);
  Value addArgument(StringRef name, ArrayRef<int64_t> shape, int64_t dim,
                    StringRef source = {});
  Held &find(Value old, Layout wanted);
  Value use(Value old, Layout layout);
  void define(Value old, ValueRange made, Layout layout);

  bool divides(Location loc, StringRef what, int64_t size);
  Values product(Operation *op, Value input, Value weight, Value bias,
                 ArrayRef<int64_t> columns, bool isEven);
  Value weightPart(Value weight, size_t part, int64_t size, int64_t dim);
  Layout layoutOf(NormOpInterface norm);
  Value sum(Value lhs, Value rhs, Layout layout);
  void writeNorm(NormOpInterface norm);
  void writeUp(FfnUpOp op);

  const Target &target;
  func::FuncOp func;
  Remark remark;
  LoopBuilder b;
  DenseMap<Value, Held> held;
  DenseMap<std::pair<Value, size_t>, Value> weights;
  SmallVector<DictionaryAttr> argumentAttributes;
  Layout contracted = Layout::R; ///< of the input of the last `product`
};

class AnnotateShardPass
    : public llm::impl::AnnotateShardPassBase<AnnotateShardPass> {
public:
  using AnnotateShardPassBase::AnnotateShardPassBase;

  void runOnOperation() override;

private:
  FailureOr<Target> readTarget();
  void writeRuns(Block &block, const Target &target);
  void writeRun(ArrayRef<Operation *> run, const Target &target);
  void say(Location loc, const std::string &what, StringRef name);

  SmallVector<func::FuncOp> made;
  llvm::StringSet<> names;
};

} // namespace

//===----------------------------------------------------------------------===//
// Annotations
//===----------------------------------------------------------------------===//

/// The dim of [rows, features] that a layout shards, -1 for none.
static int64_t shardedDim(Layout layout) {
  return layout == Layout::T ? 0 : layout == Layout::H ? 1 : -1;
}

Value RunWriter::lay(Value value, int64_t dim, bool forUsers) {
  auto axesOf = [&](int64_t each) {
    return each == dim ? target.axes : SmallVector<int16_t>();
  };
  return annotateShard(b, value, target.grid, axesOf, forUsers);
}

Value RunWriter::annotate(Value value, Layout layout, bool forUsers) {
  return lay(value, shardedDim(layout), forUsers);
}

/// The `shardopt.slice` of a tensor that is whole, or cut into even blocks
/// along `dim`.
DictionaryAttr RunWriter::describe(StringRef name, RankedTensorType type,
                                   int64_t dim) {
  lowered::Slice slice = lowered::Slice::whole(name, type);
  if (dim >= 0) {
    int64_t block = type.getDimSize(dim) / target.tp;
    lowered::Coordinates blocks;
    for (int64_t i : llvm::seq(target.tp))
      blocks.push_back({{i * block, block}});
    slice.dims[dim].axis = Axis::Tp;
    slice.dims[dim].runs = lowered::writeRuns(b.getContext(), blocks);
  }
  NamedAttribute attribute(b.getStringAttr(lowered::Slice::attrName),
                           slice.write(b.getContext()));
  return b.getDictionaryAttr(attribute);
}

/// An argument that is whole, or cut into even blocks along `dim`.
Value RunWriter::addArgument(StringRef name, ArrayRef<int64_t> shape,
                             int64_t dim, StringRef source) {
  auto type = RankedTensorType::get(shape, b.getF32Type());
  Value value = b.getBlock()->addArgument(type, b.getLoc());
  NamedAttrList attributes(describe(name, type, dim));
  if (!source.empty())
    attributes.set("shardopt.tensor", b.getStringAttr(source));
  argumentAttributes.push_back(attributes.getDictionary(b.getContext()));
  return lay(value, dim, /*forUsers=*/false);
}

/// What stands for a value of the program: an argument, if nothing does yet,
/// in the layout that its first reader wants.
Held &RunWriter::find(Value old, Layout wanted) {
  auto [it, isNew] = held.try_emplace(old);
  if (isNew) {
    int64_t columns = staticSize(old, 1);
    std::string name = "x" + std::to_string(argumentAttributes.size());
    it->second.layout = wanted;
    it->second.parts = {
        addArgument(name, {target.rows, columns}, shardedDim(wanted))};
  }
  return it->second;
}

Value RunWriter::use(Value old, Layout layout) {
  return annotate(find(old, layout).parts.front(), layout, /*forUsers=*/true);
}

void RunWriter::define(Value old, ValueRange made, Layout layout) {
  Held &found = held[old];
  found.layout = layout;
  for (Value value : made)
    found.parts.push_back(annotate(value, layout, /*forUsers=*/false));
}

//===----------------------------------------------------------------------===//
// Ops
//===----------------------------------------------------------------------===//

bool RunWriter::divides(Location loc, StringRef what, int64_t size) {
  if (size % target.tp == 0)
    return true;
  remark(loc, what.str() + " stays replicated: " + std::to_string(size) +
                  " is not divided by tp, which is " +
                  std::to_string(target.tp));
  return false;
}

/// A part of a weight or bias, an argument that is sharded along `dim`.
Value RunWriter::weightPart(Value weight, size_t part, int64_t size,
                            int64_t dim) {
  auto [it, isNew] = weights.try_emplace({weight, part});
  if (!isNew)
    return it->second;
  std::string name = "w" + std::to_string(argumentAttributes.size());
  std::string tensor;
  if (auto param = weight.getDefiningOp<ParamOp>()) {
    name = param.getParam().str();
    FailureOr<Source> source = failure();
    if (DictionaryAttr said = param.getSourceAttr())
      source = Source::read(said, "'source'", rankOf(weight),
                            [] { return InFlightDiagnostic(); });
    if (succeeded(source) && part < source->parts.size())
      tensor = source->parts[part].pattern;
  }
  bool isWhole = size == staticSize(weight, rankOf(weight) - 1);
  SmallVector<int64_t> shape(
      cast<RankedTensorType>(weight.getType()).getShape());
  shape.back() = size;
  if (!isWhole)
    name += "." + std::to_string(part);
  Value made = addArgument(name, shape, dim, tensor);
  return weights[{weight, part}] = made;
}

/// input * weight + bias as the dim says, a result for each group of
/// `columns`. Where it cannot be, everything is replicated.
Values RunWriter::product(Operation *op, Value input, Value weight, Value bias,
                          ArrayRef<int64_t> columns, bool isEven) {
  auto shardable = cast<ShardableOpInterface>(op);
  Dim dim = shardable.getShardingDim().value_or(Dim::None);
  std::string name = shardable.getShardingName().str();
  Layout in = Layout::R, out = Layout::R;
  int64_t weightDim = -1, biasDim = -1;
  int64_t inner = staticSize(weight, 0);
  auto allDivide = [&] {
    return llvm::all_of(columns, [&](int64_t size) {
      return divides(op->getLoc(), name, size);
    });
  };
  if (dim == dimBoth)
    remark(op->getLoc(), name + " stays replicated: it is on two axes of tp");
  if (dim == Dim::Zero && isEven && divides(op->getLoc(), name, inner))
    in = Layout::H, weightDim = 0;
  else if (dim == Dim::One && isEven && allDivide())
    out = Layout::H, weightDim = 1, biasDim = 0;
  else if (auto it = held.find(input); dim == Dim::None && it != held.end() &&
                                       it->second.layout == Layout::T)
    in = out = Layout::T;
  contracted = out;
  Value x = use(input, in);
  Values results;
  for (auto [part, size] : llvm::enumerate(columns)) {
    Value w = lay(weightPart(weight, part, size, weightDim), weightDim, true);
    Value start;
    if (bias)
      start = lay(weightPart(bias, part, size, biasDim), biasDim, true);
    results.push_back(project(b, x, w, start));
  }
  return results;
}

Layout RunWriter::layoutOf(NormOpInterface norm) {
  auto shardable = cast<ShardableOpInterface>(norm.getOperation());
  Dim dim = shardable.getShardingDim().value_or(Dim::None);
  std::string name = shardable.getShardingName().str();
  int64_t columns = staticSize(norm.getNormed().get(), 1);
  if (dim == Dim::Zero && divides(norm.getLoc(), name, target.rows))
    return Layout::T;
  if (dim == Dim::One && divides(norm.getLoc(), name, columns))
    return Layout::H;
  return Layout::R;
}

/// The sum of two values in one layout, whose result has it, too.
Value RunWriter::sum(Value lhs, Value rhs, Layout layout) {
  lhs = annotate(lhs, layout, /*forUsers=*/true);
  rhs = annotate(rhs, layout, /*forUsers=*/true);
  Value made =
      map(b, sizesOf(b, lhs), b.getF32Type(), {whole(lhs), whole(rhs)},
          [](LoopBuilder &b, ValueRange e) { return add(b, e[0], e[1]); });
  return annotate(made, layout, /*forUsers=*/false);
}

/// A norm, all of whose values have one layout. The sum with the residual is
/// annotated before it is read.
void RunWriter::writeNorm(NormOpInterface norm) {
  Layout layout = layoutOf(norm);
  int64_t dim = layout == Layout::H ? 0 : -1;
  auto vector = [&](Value weight) -> Value {
    if (!weight)
      return {};
    int64_t size = staticSize(weight, 0);
    return lay(weightPart(weight, 0, size, dim), dim, true);
  };
  Value x = find(norm.getNormed().get(), layout).parts.front();
  Value residual;
  if (OpOperand *added = norm.getAddedResidual())
    residual = find(added->get(), layout).parts.front();
  auto rms = dyn_cast<RmsNormOp>(norm.getOperation());
  bool isFirst = rms && rms.getNormFirst();
  if (residual && !isFirst)
    x = sum(x, residual, layout);
  Value read = annotate(x, layout, true), made;
  if (rms)
    made = rmsNorm(b, read, vector(rms.getWeight()),
                   rms.getEpsilon().convertToDouble());
  else if (auto layer = dyn_cast<LayerNormOp>(norm.getOperation()))
    made =
        layerNorm(b, read, vector(layer.getWeight()), vector(layer.getBias()),
                  layer.getEpsilon().convertToDouble());
  if (residual && isFirst)
    made = sum(annotate(made, layout, false), residual, layout);
  define(norm->getResult(0), made, layout);
  if (norm->getNumResults() > 1)
    held[norm->getResult(1)] = {{x}, layout};
}

void RunWriter::writeUp(FfnUpOp op) {
  int64_t columns = staticSize(op.getWeight(), 1);
  std::optional<ActivationAttr> activation = op.getActivation();
  bool isGated = activation && activation->getGated();
  SmallVector<int64_t> parts(isGated ? 2 : 1, columns / (isGated ? 2 : 1));
  Values raw = product(op, op.getInput(), op.getWeight(), op.getBias(), parts,
                       /*isEven=*/true);
  for (Value &value : raw)
    value = annotate(annotate(value, contracted, false), contracted, true);
  Value made = raw.front();
  if (isGated)
    made = activateGated(b, raw[0], raw[1], *activation);
  else if (activation)
    made = activate(b, raw[0], *activation, /*blocks=*/1);
  define(op.getResult(), made, contracted);
}

/// Heads of queries, keys and values; groups have complete ones.
static SmallVector<int64_t> columnsOf(QkvProjOp op) {
  int64_t size = op.getHeadDim();
  int64_t others = int64_t(op.getKvHeads()) * size;
  int64_t all = staticSize(op.getWeight(), 1);
  if (all != int64_t(op.getHeads()) * size + 2 * others)
    return {all}; // with gates
  return {all - 2 * others, others, others};
}

void RunWriter::write(Operation *op) {
  b.setLoc(op->getLoc());
  if (auto qkv = dyn_cast<QkvProjOp>(op)) {
    SmallVector<int64_t> columns = columnsOf(qkv);
    bool isEven = true;
    if (qkv.getShardingDim() == Dim::One && columns.size() == 1) {
      remark(op->getLoc(),
             qkv.getName().str() + " stays replicated: its queries have gates");
      isEven = false;
    } else if (qkv.getShardingDim() == Dim::One) {
      isEven = divides(op->getLoc(), qkv.getName(), qkv.getKvHeads());
    }
    Values made = product(op, qkv.getInput(), qkv.getWeight(), qkv.getBias(),
                          columns, isEven);
    return define(qkv.getResult(), made, contracted);
  }
  if (auto up = dyn_cast<FfnUpOp>(op))
    return writeUp(up);
  auto one = [&](auto op, bool isEven) {
    Values made = product(op, op.getInput(), op.getWeight(), op.getBias(),
                          {staticSize(op.getWeight(), 1)}, isEven);
    define(op.getResult(), made, contracted);
  };
  if (auto down = dyn_cast<FfnDownOp>(op))
    return one(down, true);
  if (auto linear = dyn_cast<LinearOp>(op))
    return one(linear, true);
  if (auto out = dyn_cast<OutProjOp>(op))
    return one(out, out.getShardingDim() != Dim::Zero ||
                        divides(op->getLoc(), out.getName(), out.getHeads()));
  if (auto norm = dyn_cast<NormOpInterface>(op))
    return writeNorm(norm);
  auto add = cast<AddOp>(op);
  auto isInRows = [&](Value value) {
    auto it = held.find(value);
    return it != held.end() && it->second.layout == Layout::T;
  };
  Layout layout =
      isInRows(add.getLhs()) || isInRows(add.getRhs()) ? Layout::T : Layout::R;
  Value lhs = find(add.getLhs(), layout).parts.front();
  Value rhs = find(add.getRhs(), layout).parts.front();
  held[add.getResult()] = {{sum(lhs, rhs, layout)}, layout};
}

void RunWriter::finish(ArrayRef<Operation *> run) {
  llvm::SmallPtrSet<Operation *, 8> inside(run.begin(), run.end());
  Values results;
  SmallVector<DictionaryAttr> attributes;
  auto add = [&](Value part, Layout layout) {
    std::string name = "result" + std::to_string(results.size());
    attributes.push_back(describe(name, cast<RankedTensorType>(part.getType()),
                                  shardedDim(layout)));
    results.push_back(annotate(part, layout, /*forUsers=*/true));
  };
  for (Operation *op : run)
    for (Value old : op->getResults())
      if (llvm::any_of(old.getUsers(),
                       [&](Operation *user) { return !inside.count(user); }))
        for (Value part : held[old].parts)
          add(part, held[old].layout);
  func::ReturnOp::create(b, results);
  func.setFunctionType(b.getFunctionType(b.getBlock()->getArgumentTypes(),
                                         ValueRange(results).getTypes()));
  func.setAllArgAttrs(argumentAttributes);
  func.setAllResultAttrs(attributes);
}

//===----------------------------------------------------------------------===//
// Runs
//===----------------------------------------------------------------------===//

/// Why upstream's passes cannot partition an op; nothing where they can.
static std::optional<StringRef> reasonAgainst(Operation *op) {
  if (auto up = dyn_cast<FfnUpOp>(op)) {
    if (up.getCounts())
      return "rows are sorted by expert";
    if (up.getRowGate())
      return "a gate scales its rows";
    return std::nullopt;
  }
  if (auto down = dyn_cast<FfnDownOp>(op))
    return down.getCounts()
               ? std::optional<StringRef>("rows are sorted by expert")
               : std::nullopt;
  if (auto linear = dyn_cast<LinearOp>(op)) {
    if (linear.getNorm() || linear.getTransposed())
      return "it norms its input or has a transposed weight";
    return std::nullopt;
  }
  if (isa<QkvProjOp, OutProjOp, RmsNormOp, LayerNormOp, AddOp>(op))
    return std::nullopt;
  return "it reads rows or caches by index";
}

void AnnotateShardPass::say(Location loc, const std::string &what,
                            StringRef name) {
  remark::missed(loc, remark::RemarkOpts::name(name).category(getArgument()))
      << what;
}

void AnnotateShardPass::writeRun(ArrayRef<Operation *> run,
                                 const Target &target) {
  SmallVector<StringRef> named;
  for (Operation *op : run)
    if (auto shardable = dyn_cast<ShardableOpInterface>(op))
      named.push_back(shardable.getShardingName());
  if (named.empty())
    return;
  std::string name = named.front().str();
  if (named.size() > 1)
    name += "-" + named.back().str();
  if (!names.insert(name).second)
    return; // layers of one kind that are not adjacent
  Location loc = run.front()->getLoc();
  auto func =
      func::FuncOp::create(loc, name, FunctionType::get(&getContext(), {}, {}));
  func.addEntryBlock();
  RunWriter writer(target, func, [&](Location at, const std::string &why) {
    say(at, why, "replicated");
  });
  for (Operation *op : run)
    writer.write(op);
  writer.finish(run);
  made.push_back(func);
}

/// The runs of a block, and of the repeats in it.
void AnnotateShardPass::writeRuns(Block &block, const Target &target) {
  SmallVector<Operation *> run;
  auto flush = [&] {
    writeRun(run, target);
    run.clear();
  };
  for (Operation &op : block) {
    if (isa<ParamOp>(op) || !isa_and_present<LLMDialect>(op.getDialect()))
      continue;
    if (auto repeat = dyn_cast<RepeatOp>(op)) {
      flush();
      writeRuns(repeat.getBody().front(), target);
      continue;
    }
    if (op.hasTrait<OpTrait::IsTerminator>())
      continue;
    std::optional<StringRef> reason = reasonAgainst(&op);
    if (!reason) {
      run.push_back(&op);
      continue;
    }
    flush();
    if (auto shardable = dyn_cast<ShardableOpInterface>(op))
      say(op.getLoc(),
          shardable.getShardingName().str() + " is left out: " + reason->str(),
          "left-out");
  }
  flush();
}

FailureOr<Target> AnnotateShardPass::readTarget() {
  ModuleOp module = getOperation();
  if (rows < 0)
    return emitError(module.getLoc(), "'rows' is ")
           << rows.getValue()
           << ", expected a positive number, or 0 for the strategy's";
  PartialDegrees partial = readStrategy(module);
  if (std::optional<Degree> missing = partial.firstMissing())
    return emitError(module.getLoc(), "'")
           << spell(*missing) << "' is missing, expected it in '"
           << strategyAttrName << "'";
  Degrees degrees = partial.filled();
  FailureOr<cost::Workload> workload = readWorkloadOrToken(module);
  if (failed(workload))
    return failure();
  ProgramGrid grid(degrees);
  Target target;
  target.axes = llvm::to_vector(ArrayRef<int16_t>(grid.axes(Axis::Tp)));
  target.tp = degrees.tp;
  target.rows = rows;
  if (rows == 0) {
    int64_t own = (degrees.batch + degrees.dp - 1) / degrees.dp;
    int64_t micro = std::min<int64_t>(degrees.pp, own);
    target.rows = (own + micro - 1) / micro;
    if (workload->phase == cost::Phase::Prefill)
      target.rows *= workload->context;
  }
  OpBuilder builder(module.getContext());
  target.grid = FlatSymbolRefAttr::get(builder.getStringAttr("grid"));
  return target;
}

void AnnotateShardPass::runOnOperation() {
  ModuleOp module = getOperation();
  if (isPartitioned(module)) {
    emitError(module.getLoc(), "the module is lowered: its ops have the sizes "
                               "of one device, expected an unsharded one");
    return signalPassFailure();
  }
  FailureOr<Target> target = readTarget();
  if (failed(target))
    return signalPassFailure();
  for (auto func : module.getOps<func::FuncOp>())
    if (!func.isDeclaration())
      writeRuns(func.getBody().front(), *target);
  std::vector<int64_t> shape =
      ProgramGrid(readStrategy(module).filled()).shape();
  // The program has been read: only the functions stay, of builtin attributes.
  for (Operation &op : llvm::make_early_inc_range(*module.getBody()))
    op.erase();
  module->setAttrs(DictionaryAttr::get(&getContext()));
  OpBuilder builder = OpBuilder::atBlockBegin(module.getBody());
  shard::GridOp::create(builder, module.getLoc(), "grid", shape);
  for (func::FuncOp func : made)
    builder.insert(func);
}
