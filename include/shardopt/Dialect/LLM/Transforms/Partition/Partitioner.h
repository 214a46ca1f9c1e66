//===- Partitioner.h - Writes the program of one device ---------*- C++ -*-===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What an op needs in order to write itself as the program of one device: its
// operands in the placement that its rule asks for, its slices of weights and
// caches, and collectives that know who caused them and what they cost.
//
// State: for every global value that has a placement, the local copies made of
// it so far, the first one being what its producer left. A copy in another
// layout is made once, from the copy that is cheapest to convert, which is what
// the cost model charges.
//
// Values are [rows, features]. In R, H and P a device holds the true number of
// rows; in T it holds a block of them, the last blocks padded with zeros. Each
// reshard into T pads, each reshard out of it slices to the true number.
//
//===----------------------------------------------------------------------===//

#ifndef SHARDOPT_DIALECT_LLM_TRANSFORMS_PARTITION_PARTITIONER_H
#define SHARDOPT_DIALECT_LLM_TRANSFORMS_PARTITION_PARTITIONER_H

#include "shardopt/Cost/TimeModel.h"
#include "shardopt/Dialect/LLM/IR/LLMOps.h"
#include "shardopt/Dialect/LLM/Transforms/Partition/Packing.h"

#include "mlir/IR/Builders.h"
#include "mlir/Interfaces/FunctionInterfaces.h"
#include "llvm/ADT/DenseMap.h"

namespace shardopt::llm {

/// A set of rows that values share, and how layout T cuts it.
struct RowSpace {
  ::llvm::StringRef name; ///< "tokens", "prompts" or "experts"
  mlir::Value rows;       ///< true number; null where all blocks are whole
  mlir::Value block;      ///< rows of a device in T; null with `rows`
  mlir::Value padding;    ///< tp * block - rows; null with `rows`
  double cost = 0;        ///< rows for which reshards are charged
};

/// One local copy of a global value.
struct LocalCopy {
  mlir::Value value;
  cost::Layout layout = cost::Layout::R;
  const Packing *packing = nullptr; ///< of the features; layout H only
  /// A raw projection whose activation follows its reduction; layout P only.
  ActivationAttr pending = nullptr;
};

/// How one dim of a weight or of a cache is cut.
struct Cut {
  cost::Axis axis = cost::Axis::Tp;
  const Packing *packing = nullptr; ///< static entries; null: not cut by them
  ::llvm::SmallVector<cost::Axis, 2> rows; ///< axes that cut a dynamic dim
};

/// Whether the cost model counts a collective.
enum class Charge { Counted, Free };

/// The exchange between dispatch and combine over ep, for rows that are
/// complete (R, H, P: a home for each tp rank) or a block (T: one home).
struct Exchange {
  mlir::Value origins; ///< of the copies, in the order of the wire
  mlir::Value send;    ///< [destinations, homes, experts]
  mlir::Value recv;    ///< [sources, homes, experts]
  mlir::Value homes;   ///< [homes, sources, experts]
};

/// {cause, bytes, microseconds, charged, type} of the collective `op`. `cause`
/// is the op that needed it; `bytes` what the cost model charges, a
/// micro-batch: the full tensor, or for an all-to-all what a device holds;
/// `charged` whether the model counts it; the type is the declared element
/// type.
mlir::DictionaryAttr describeCollective(mlir::Operation *op,
                                        ::llvm::StringRef cause, double bytes,
                                        double seconds, bool charged);

class Partitioner {
public:
  /// `grid` names the module's grid, with axes pp, ep and tp. `context` and
  /// `time` say what collectives cost; `skew` is the imbalance of the load of
  /// experts.
  Partitioner(mlir::FlatSymbolRefAttr grid, const cost::Context &context,
              const cost::TimeModel &time, std::optional<double> skew);

  /// Replaces the body of `func` by the program of one device. Errors: an op
  /// without a sharding, an illegal dim, a weight that cannot be sliced.
  mlir::LogicalResult run(mlir::FunctionOpInterface func);

  //===--------------------------------------------------------------------===//
  // The op at hand
  //===--------------------------------------------------------------------===//

  mlir::Location getLoc() const { return current->getLoc(); }
  mlir::OpBuilder &getBuilder() { return builder; }
  const cost::Context &getContext() const { return context; }
  Packings &getPackings() { return packings; }
  int64_t getSize(cost::Axis axis) const;
  int64_t tp() const { return context.degrees.tp; }

  /// The layout that the rule asks of activation operand `index`.
  cost::Layout getRequired(unsigned index = 0) const;
  /// The layout that the rule leaves in result `index`.
  cost::Layout getResultLayout(unsigned index = 0) const;
  /// What the cost model charges the `index`-th collective inside the op for.
  double getOwnBytes(unsigned index) const;

  template <typename OpTy, typename... Args> OpTy create(Args &&...args) {
    return OpTy::create(builder, getLoc(), std::forward<Args>(args)...);
  }
  /// A copy of `op` whose operands still are the global ones.
  template <typename OpTy> OpTy clone(OpTy op) {
    return mlir::cast<OpTy>(builder.clone(*op.getOperation()));
  }
  mlir::Value getIndex(int64_t value);
  /// This device's coordinate over tp, times `scale`: an index.
  mlir::Value getOffset(int64_t scale);
  mlir::Value getOffset(mlir::Value scale);

  //===--------------------------------------------------------------------===//
  // Values
  //===--------------------------------------------------------------------===//

  /// The local counterpart of a value without placement: tokens, positions.
  mlir::Value getPlain(mlir::Value global) const;
  /// The copies of a placed value made so far; the first is the producer's.
  ::llvm::ArrayRef<LocalCopy> getCopies(mlir::Value global) const;
  const RowSpace *getRowSpace(mlir::Value global) const;
  double getRowBytes(mlir::Value global) const;
  /// The features that `global` has in H already, else those of `otherwise`:
  /// what an op contracts whose result does not depend on their order.
  const Packing *getContracted(mlir::Value global, const Packing *otherwise);
  /// The value in `layout`, with the features of `packing` in H. Reshards where
  /// there is no such copy yet.
  mlir::Value get(mlir::Value global, cost::Layout layout,
                  const Packing *packing = nullptr);

  /// Says what a result of the op at hand is on this device. `rowBytes` is that
  /// of a whole row, as reshards are charged for it.
  void define(mlir::Value global, LocalCopy copy, const RowSpace *space,
              double rowBytes);
  /// As the rule says of result `index`, in the row space of `like`.
  void defineResult(mlir::OpResult global, mlir::Value local, mlir::Value like,
                    const Packing *packing = nullptr,
                    ActivationAttr pending = nullptr);
  /// `global` is `passed` itself, in the layout in which the op took it.
  void definePassed(mlir::OpResult global, mlir::Value passed);
  void definePlain(mlir::Value global, mlir::Value local);
  /// `global` is what an op made of the cache `cache`.
  void defineCache(mlir::Value global, mlir::Value local, mlir::Value cache);

  /// The tokens of the program, the last rows of its prompts, and the buffers
  /// between dispatch and combine.
  const RowSpace *getTokens() const { return &tokens; }
  const RowSpace *getPrompts(int64_t sequence);
  const RowSpace *getExpertRows();

  //===--------------------------------------------------------------------===//
  // Weights and caches
  //===--------------------------------------------------------------------===//

  /// The slice of a weight or cache; one cut for each dim.
  mlir::Value slice(mlir::Value global, ::llvm::ArrayRef<Cut> cuts);
  /// A one-dimensional weight; null for null. A null packing keeps it whole.
  mlir::Value sliceVector(mlir::Value global, const Packing *packing);
  static Cut whole() { return {}; }
  static Cut over(const Packing *packing) {
    return {cost::Axis::Tp, packing, {}};
  }
  Cut overExperts(int64_t experts);
  /// Rows of a cache: over ep, and over tp too where attention keeps T.
  static Cut overRows(cost::Layout layout);

  //===--------------------------------------------------------------------===//
  // Reshards and collectives
  //===--------------------------------------------------------------------===//

  /// `from`, with the rows of `space` and rows of `rowBytes`, in another
  /// layout.
  LocalCopy reshard(LocalCopy from, cost::Layout to, const Packing *packing,
                    const RowSpace *space, double rowBytes,
                    Charge charge = Charge::Counted);

  mlir::Value allReduce(mlir::Value value, double bytes,
                        Charge charge = Charge::Counted, bool max = false);
  mlir::Value allGather(mlir::Value value, int64_t dim, double bytes,
                        Charge charge = Charge::Counted);
  mlir::Value reduceScatter(mlir::Value value, int64_t dim, double bytes);
  mlir::Value allToAll(mlir::Value value, cost::Axis axis, int64_t splitDim,
                       int64_t concatDim, double bytes,
                       Charge charge = Charge::Counted);
  mlir::Value allToAllV(mlir::Value rows, mlir::Value send, mlir::Value recv,
                        double bytes);
  /// The block of dim `dim` that belongs to this device's coordinate over tp.
  mlir::Value allSlice(mlir::Value value, int64_t dim);

  /// Rows padded to whole blocks with `fill`; a tensor of any rank.
  mlir::Value padRows(mlir::Value value, const RowSpace *space, int fill = 0);
  /// The true rows of a value gathered from blocks.
  mlir::Value trimRows(mlir::Value value, const RowSpace *space);
  /// A static choice of columns, or `value` itself where it keeps all of them.
  mlir::Value selectColumns(mlir::Value value, const std::vector<Run> &runs);
  /// Columns [begin, begin + size).
  mlir::Value sliceColumns(mlir::Value value, int64_t begin, int64_t size);
  mlir::Value concatColumns(::llvm::ArrayRef<mlir::Value> values);

  //===--------------------------------------------------------------------===//
  // Routing
  //===--------------------------------------------------------------------===//

  /// A router's indices or weights, as the router made them in `layout` (R or
  /// T).
  void defineRouting(mlir::Value global, mlir::Value local,
                     cost::Layout layout);
  /// Routing for complete rows, or for this device's block (T), where rows of
  /// padding have `fill`.
  mlir::Value getRouting(mlir::Value global, cost::Layout layout, int fill);

  /// Whether experts and rows are all on this device, so that nothing is
  /// exchanged and dispatch and combine stay as they are.
  bool exchangesNothing() const;
  /// Makes the exchange of a dispatch, for rows in `layout`.
  Exchange &beginExchange(DispatchOp op, cost::Layout layout);
  /// The exchange that `counts` belongs to, for values in `layout`.
  const Exchange &getExchange(mlir::Value counts, cost::Layout layout);
  /// The counts that products of values in `layout` read: [homes, sources,
  /// experts].
  mlir::Value getCounts(mlir::Value counts, cost::Layout layout);

private:
  struct Placed {
    ::llvm::SmallVector<LocalCopy, 2> copies;
    const RowSpace *space = nullptr;
    double rowBytes = 0;
    mlir::Value root; ///< the value that this one merely passes on
  };
  struct RoutingCopies {
    mlir::Value complete, block;
  };
  struct Routed {
    DispatchOp dispatch;
    Exchange complete, block;
    Exchange &get(bool blocks) { return blocks ? block : complete; }
  };

  mlir::LogicalResult runOnBlock(mlir::Block &block);
  mlir::LogicalResult runOnOp(mlir::Operation &op);
  mlir::LogicalResult runOnShardable(ShardableOpInterface op);
  mlir::LogicalResult runOnRepeat(RepeatOp op);
  mlir::LogicalResult runOnAdd(AddOp op);
  mlir::LogicalResult runOnOther(mlir::Operation &op);
  mlir::LogicalResult runOnReturn(mlir::Operation &op);
  mlir::LogicalResult runOnYield(YieldOp op);

  void makeRowSpaces(mlir::Block &body);
  mlir::LogicalResult propagateSlices(RepeatOp from, RepeatOp to);
  void placeArgument(mlir::BlockArgument global, mlir::BlockArgument local);
  /// The local value of any operand, complete where devices have parts of it;
  /// null, with a diagnostic, where every device has its own.
  mlir::Value getComplete(mlir::Value global);
  mlir::LogicalResult getComplete(mlir::ValueRange globals,
                                  ::llvm::SmallVectorImpl<mlir::Value> &locals);
  /// The layout in which a sum, or what a repeat carries, is wanted.
  cost::Layout getTarget(mlir::Value value);
  /// The name of the op for which the op at hand reshards.
  ::llvm::StringRef getCause();

  mlir::ArrayAttr describeRuns(const Packing *packing);
  mlir::Attribute describeCut(const Cut &cut);
  mlir::DictionaryAttr describeSlice(mlir::StringRef name,
                                     mlir::RankedTensorType type,
                                     ::llvm::ArrayRef<Cut> cuts);
  mlir::Value sliceParam(ParamOp param, mlir::RankedTensorType type,
                         ::llvm::ArrayRef<Cut> cuts);
  mlir::Value sliceArgument(mlir::BlockArgument argument,
                            mlir::RankedTensorType type,
                            ::llvm::ArrayRef<Cut> cuts);
  void describeArguments(mlir::FunctionOpInterface func, mlir::Block &body);

  /// Names `op` as the cause, and says what it costs.
  void annotate(mlir::Operation *op, const cost::Collective &collective,
                Charge charge);
  void markValue(const LocalCopy &copy, mlir::Value global,
                 const RowSpace *space);
  mlir::Value activate(mlir::Value value, ActivationAttr activation);
  mlir::Value scatterFeatures(mlir::Value value, const Packing *packing,
                              double bytes, Charge charge);
  bool cutsRows(cost::Layout layout) const;
  void planExchange(Routed &routed, cost::Layout layout);

  mlir::FlatSymbolRefAttr grid;
  cost::Context context;
  const cost::TimeModel &time;
  std::optional<double> skew;
  mlir::OpBuilder builder;
  Packings packings;

  mlir::Operation *current = nullptr;
  cost::Rule rule;
  cost::OpCost cost;

  ::llvm::DenseMap<mlir::Value, Placed> placed;
  ::llvm::DenseMap<mlir::Value, mlir::Value> plain;
  ::llvm::DenseMap<mlir::Value, RoutingCopies> routing;
  ::llvm::DenseMap<mlir::Value, Routed> routed; ///< by counts of the dispatch
  /// Slices made of a param so far, by their description.
  ::llvm::DenseMap<std::pair<mlir::Value, mlir::Attribute>, mlir::Value> params;
  ::llvm::DenseMap<mlir::Value, unsigned> slicesOfParam;
  /// What local arguments, and caches made of them, are slices of.
  ::llvm::DenseMap<mlir::Value, mlir::DictionaryAttr> slices;
  ::llvm::DenseMap<const Packing *, mlir::ArrayAttr> runsOf;
  /// The new repeat that the ops of an old body go into.
  ::llvm::DenseMap<mlir::Block *, mlir::Operation *> repeats;

  RowSpace tokens, prompts, experts;
  bool blocksAreWholePrompts = false;
  mlir::Value coordinate; ///< over tp
};

} // namespace shardopt::llm

#endif // SHARDOPT_DIALECT_LLM_TRANSFORMS_PARTITION_PARTITIONER_H
