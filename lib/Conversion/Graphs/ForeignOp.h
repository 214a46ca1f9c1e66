//===- ForeignOp.h - Ops whose dialect is not loaded ------------*- C++ -*-===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef SHARDOPT_LIB_CONVERSION_GRAPHS_FOREIGNOP_H
#define SHARDOPT_LIB_CONVERSION_GRAPHS_FOREIGNOP_H

#include "Factors.h"

#include <optional>

namespace shardopt::graphs {

/// An op in generic form, whose sizes and attributes are read here, and whose
/// factors are collected. Reads never fail at once: what is wrong reads as
/// nothing, and `finish` has the first error.
class ForeignOp {
public:
  explicit ForeignOp(mlir::Operation *op);

  mlir::Operation *operator->() const { return op; }
  mlir::Operation *get() const { return op; }
  unsigned numOperands() const { return op->getNumOperands(); }
  unsigned numResults() const { return op->getNumResults(); }
  /// Sizes; none of what there is not.
  llvm::ArrayRef<int64_t> operand(unsigned index) const;
  llvm::ArrayRef<int64_t> result(unsigned index = 0) const;

  /// Remembers the first wish that does not hold.
  bool want(bool holds, const llvm::Twine &wanted);
  /// Integers of an attribute or property: an array, a dense one, or a member
  /// of an attribute in the op's own text, "name.member".
  llvm::SmallVector<int64_t> integers(llvm::StringRef name);
  bool has(llvm::StringRef name) const;
  /// The only integer.
  int64_t integer(llvm::StringRef name, int64_t otherwise);
  /// The same as dims of a tensor of so many.
  llvm::SmallVector<int64_t> dims(llvm::StringRef name, size_t rank);
  /// The text of an attribute of the op's own dialect.
  llvm::StringRef text(llvm::StringRef name) const;

  /// A factor that nothing follows yet.
  Factor &add(int64_t size, bool isReduced = false);
  /// One that `dim` of the first operand and of every result follow.
  void addAlike(int64_t dim);

  mlir::FailureOr<OpFactors> finish();

  OpFactors found;

private:
  std::optional<llvm::SmallVector<int64_t>> read(llvm::StringRef name) const;

  mlir::Operation *op;
  std::string error;
};

/// The product of sizes.
double elementsOf(llvm::ArrayRef<int64_t> shape);

/// The factors of an op of StableHLO or CHLO. Says what is wrong where it is
/// not known.
mlir::FailureOr<OpFactors> stablehloFactors(mlir::Operation *op);

bool isLoop(mlir::Operation *op);
/// The trips of a loop, whose body has one block. Says what is wrong where they
/// are not known.
mlir::FailureOr<OpFactors> loopFactors(mlir::Operation *op);

/// The factors that the attribute `sdy.sharding_rule` declares.
mlir::FailureOr<OpFactors> declaredFactors(mlir::Operation *op);
bool declaresFactors(mlir::Operation *op);

/// Factors of a reshape: the largest blocks that both shapes have in common.
void addReshape(ForeignOp &op);

} // namespace shardopt::graphs

#endif // SHARDOPT_LIB_CONVERSION_GRAPHS_FOREIGNOP_H
