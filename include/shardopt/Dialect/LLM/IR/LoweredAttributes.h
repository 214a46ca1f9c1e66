//===- LoweredAttributes.h - What a lowered program says --------*- C++ -*-===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The per-rank program says what it is in dictionaries of builtin
// attributes, which any MLIR tool reads: `shardopt.*` on the module, on
// functions, their arguments and results, and on ops. Each has a struct here,
// and nobody else spells its fields: `read` takes what anybody may have
// written, and says at `emitError` what is wrong with it; `write` makes the
// attribute.
//
//===----------------------------------------------------------------------===//

#ifndef SHARDOPT_DIALECT_LLM_IR_LOWEREDATTRIBUTES_H
#define SHARDOPT_DIALECT_LLM_IR_LOWEREDATTRIBUTES_H

#include "shardopt/Dialect/LLM/IR/Run.h"
#include "shardopt/Model/Kernel.h"
#include "shardopt/Model/Placement.h"
#include "shardopt/Model/ProgramGrid.h"

#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/Operation.h"

#include <optional>
#include <string>
#include <vector>

namespace shardopt::llm::lowered {

/// Begins an error at the op that has the attribute.
using EmitError = llvm::function_ref<mlir::InFlightDiagnostic()>;

//===----------------------------------------------------------------------===//
// Runs
//===----------------------------------------------------------------------===//

/// The entries of each coordinate along an axis, as runs in their order.
using Coordinates = std::vector<std::vector<Run>>;

/// A list for each coordinate: a run is [start, size, stride], or [start, size,
/// stride, count, step] where it repeats; a start of -1 means zeros.
mlir::ArrayAttr writeRuns(mlir::MLIRContext *context,
                          const Coordinates &coordinates);
/// Errors: another form, or entries outside of [0, `size`), those of zeros but
/// for. `what` is named in them.
mlir::FailureOr<Coordinates> readRuns(mlir::Attribute attribute,
                                      llvm::StringRef what, int64_t size,
                                      EmitError emitError);
/// How many entries the runs have together.
int64_t countEntries(const std::vector<Run> &runs);
/// The entries one by one, -1 for zeros.
std::vector<int64_t> listEntries(const std::vector<Run> &runs);

//===----------------------------------------------------------------------===//
// shardopt.slice, of params, arguments and results
//===----------------------------------------------------------------------===//

/// How one dim is cut: by entries over `axis`, by rows over `rows`, by turns
/// over `stride`, or not at all.
struct SliceDim {
  std::optional<Axis> axis;
  mlir::ArrayAttr runs; ///< see writeRuns; null without `axis`
  /// A dynamic dim is sharded with a ceiling over the first axis, each part
  /// into micro-batches, and each of these by a ceiling over the next axis:
  /// that of the largest part where parts are cut alike.
  std::vector<Axis> rows;
  bool areRowsAlike = false;
  /// Of a dynamic dim coordinate i of n has entries i, i + n, i + 2 n, …, as
  /// many as coordinate 0: the last may be a zero.
  std::optional<Axis> stride;

  bool operator==(const SliceDim &other) const {
    return axis == other.axis && runs == other.runs && rows == other.rows &&
           areRowsAlike == other.areRowsAlike && stride == other.stride;
  }
};

/// Which part of a global tensor a device has.
struct Slice {
  static constexpr llvm::StringLiteral attrName = "shardopt.slice";

  std::string name;           ///< of the global tensor
  std::vector<int64_t> shape; ///< of it; -1 where dynamic
  std::vector<SliceDim> dims; ///< as many

  bool operator==(const Slice &other) const {
    return name == other.name && shape == other.shape && dims == other.dims;
  }

  /// A tensor that is not cut.
  static Slice whole(llvm::StringRef name, mlir::RankedTensorType type);

  static mlir::FailureOr<Slice> read(mlir::Attribute attribute,
                                     EmitError emitError);
  mlir::DictionaryAttr write(mlir::MLIRContext *context) const;

  /// Whether a tensor of `type` is such a slice on a grid of that shape, in
  /// pipeline stage `stage`. Errors name the dim that is not.
  mlir::LogicalResult verifyType(mlir::RankedTensorType type,
                                 const StageGrid &grid, int64_t stage,
                                 EmitError emitError) const;
};

//===----------------------------------------------------------------------===//
// Of ops
//===----------------------------------------------------------------------===//

/// Why a collective is there, and what it costs.
struct Collective {
  static constexpr llvm::StringLiteral attrName = "shardopt.collective";

  /// Of consecutive iterations of the repeat that it stands in.
  struct Charge {
    int64_t layers = 1; ///< iterations; of the only charge, any number
    std::string cause;  ///< the op that needed it
    /// As which the cost model counts it.
    cost::CollectiveKind kind = cost::CollectiveKind::AllReduce;
    /// Of a micro-batch: the full tensor, or what a device holds for an
    /// all-to-all.
    int64_t bytes = 0;
    double microseconds = 0; ///< the cost model's estimate
    bool isCharged = true;   ///< in the time of a strategy
  };

  cost::CollectiveKind kind = cost::CollectiveKind::AllReduce; ///< of the op
  std::vector<Charge> charges; ///< at least one, in the order of iterations
  mlir::Type type;             ///< of the elements, as declared

  /// One without charges, of `op`, which is of that kind.
  Collective(mlir::Operation *op, cost::CollectiveKind kind);

  static mlir::FailureOr<Collective> read(mlir::Attribute attribute,
                                          cost::CollectiveKind kind,
                                          EmitError emitError);
  mlir::DictionaryAttr write(mlir::MLIRContext *context) const;

  /// Of iterations [begin, begin + size) of the repeat.
  Collective slice(int64_t begin, int64_t size) const;

private:
  explicit Collective(cost::CollectiveKind kind) : kind(kind) {}
};

/// The kind of a collective by the name of its op, without the dialect:
/// "all_to_all_v", "recv".
std::optional<cost::CollectiveKind> kindOfCollective(llvm::StringRef op);

/// Which value of the source program an op makes, and how it lies.
struct Value {
  static constexpr llvm::StringLiteral attrName = "shardopt.value";

  std::string op; ///< the named op whose result it is
  cost::Layout layout = cost::Layout::R;
  std::string rows;        ///< "tokens", "prompts", "experts", or "positions"
                           ///< where blocks have these in turn; empty: not said
  std::string order;       ///< of the features, layout H or T.H; else empty
  mlir::ArrayAttr columns; ///< see writeRuns; layout H or T.H, else null

  static mlir::FailureOr<Value> read(mlir::Attribute attribute,
                                     EmitError emitError);
  mlir::DictionaryAttr write(mlir::MLIRContext *context) const;
};

//===----------------------------------------------------------------------===//
// Of functions and modules
//===----------------------------------------------------------------------===//

/// Which pipeline stage a function does.
struct Stage {
  static constexpr llvm::StringLiteral attrName = "shardopt.stage";

  int64_t index = 0;
  int64_t count = 1;

  static mlir::FailureOr<Stage> read(mlir::Attribute attribute,
                                     EmitError emitError);
  mlir::DictionaryAttr write(mlir::MLIRContext *context) const;
};

/// A call of the runtime, by whose number compiled code says where it is.
struct Site {
  /// On a module, the list of all.
  static constexpr llvm::StringLiteral attrName = "shardopt.sites";

  std::string op;            ///< the collective; empty for a kept value
  std::vector<int64_t> axes; ///< of the collective
  std::optional<Collective> collective;
  std::optional<Value> keep; ///< the value that is handed out

  static mlir::FailureOr<Site> read(mlir::Attribute attribute,
                                    EmitError emitError);
  mlir::DictionaryAttr write(mlir::MLIRContext *context) const;
};

/// On a module whose collectives are calls: the shape of the grid.
inline constexpr llvm::StringLiteral gridAttrName = "shardopt.grid";

//===----------------------------------------------------------------------===//
// Where they stand
//===----------------------------------------------------------------------===//

/// The attribute of `op`, nothing where it has none.
template <typename T>
mlir::FailureOr<std::optional<T>> readFrom(mlir::Operation *op) {
  mlir::Attribute attribute = op->getAttr(T::attrName);
  if (!attribute)
    return std::optional<T>();
  mlir::FailureOr<T> value =
      T::read(attribute, [&] { return op->emitOpError(); });
  if (failed(value))
    return mlir::failure();
  return std::optional<T>(std::move(*value));
}

/// The one among the attributes of an argument or a result of `func`, which is
/// called `what` in errors; nothing where it has none.
template <typename T>
mlir::FailureOr<std::optional<T>> readFrom(mlir::DictionaryAttr attributes,
                                           mlir::Operation *func,
                                           const llvm::Twine &what) {
  mlir::Attribute attribute =
      attributes ? attributes.get(T::attrName) : mlir::Attribute();
  if (!attribute)
    return std::optional<T>();
  std::string place = what.str();
  mlir::FailureOr<T> value = T::read(attribute, [&] {
    mlir::InFlightDiagnostic error = func->emitOpError();
    error << place << ": ";
    return error;
  });
  if (failed(value))
    return mlir::failure();
  return std::optional<T>(std::move(*value));
}

/// An op that is no collective has none.
template <>
mlir::FailureOr<std::optional<Collective>>
readFrom<Collective>(mlir::Operation *op);

template <typename T> void writeTo(mlir::Operation *op, const T &value) {
  op->setAttr(T::attrName, value.write(op->getContext()));
}

} // namespace shardopt::llm::lowered

#endif // SHARDOPT_DIALECT_LLM_IR_LOWEREDATTRIBUTES_H
