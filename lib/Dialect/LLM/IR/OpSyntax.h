//===- OpSyntax.h - How operators are written -------------------*- C++ -*-===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Fused ops and pieces are written one way,
//
//   %a, %k, %v = llm.attention gqa "attention" dim<0> %qkv at(%p) cache(%c, %d)
//       {heads = 64, …} : tensor<?x9216xbf16> -> tensor<?x8192xbf16>
//
// and an op's definition in ODS says what is its own: the words in front
// of operands, and the types that are written. A rule makes the other types of
// those. Where an op has others than the rule says, all are written, as of a
// function: what is printed always reads back to the same op.
//
//===----------------------------------------------------------------------===//

#ifndef SHARDOPT_LIB_DIALECT_LLM_IR_OPSYNTAX_H
#define SHARDOPT_LIB_DIALECT_LLM_IR_OPSYNTAX_H

#include "shardopt/Model/DimChoice.h"

#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/OpImplementation.h"

#include <functional>

namespace shardopt::llm {

/// The types of an op that is being read or written: of operands by their place
/// in ODS (which counts those that are absent), and of results.
class OpTypes {
public:
  OpTypes(mlir::MLIRContext *context, llvm::ArrayRef<unsigned> sizes,
          std::function<mlir::Attribute(llvm::StringRef)> attribute)
      : operands(sizes.size()), sizes(sizes), attribute(std::move(attribute)),
        context(context) {}

  /// The written ones at first, null where a type is not known. The rule
  /// changes operands that are absent at no cost.
  llvm::SmallVector<mlir::Type> operands, results;
  /// The element type of the weight.
  mlir::Type weightElement;

  /// How many operands stand at place `operand`: 0 where it is absent.
  unsigned getSize(unsigned operand) const { return sizes[operand]; }
  bool has(unsigned operand) const { return sizes[operand] != 0; }

  // What follows is for rules. A type or an attribute that does not fit makes
  // the rule fail, whatever it then makes.

  mlir::Attribute getAttribute(llvm::StringRef name) const {
    return attribute(name);
  }
  /// The value of an integer attribute.
  int64_t getInteger(llvm::StringRef name);
  int64_t getInteger(llvm::StringRef name, int64_t whenAbsent);
  /// Sizes of a ranked tensor; `dim` counts from the end where it is negative.
  int64_t getSize(mlir::Type tensor, int dim);
  int64_t getRows(mlir::Type tensor) { return getSize(tensor, 0); }
  int64_t getColumns(mlir::Type tensor) { return getSize(tensor, -1); }
  mlir::Type getElement(mlir::Type tensor);
  /// Tensors; of the element type of the first operand where none is said.
  mlir::Type tensor(llvm::ArrayRef<int64_t> shape, mlir::Type element = {});
  mlir::Type weight(llvm::ArrayRef<int64_t> shape);
  mlir::Type indices(llvm::ArrayRef<int64_t> shape);
  mlir::Type floats(llvm::ArrayRef<int64_t> shape);
  mlir::Type index();

  bool failed() const { return hasFailed; }

private:
  llvm::ArrayRef<unsigned> sizes;
  std::function<mlir::Attribute(llvm::StringRef)> attribute;
  mlir::MLIRContext *context;
  bool hasFailed = false;
};

/// All results' types are written.
inline constexpr unsigned allResults = ~0u;

/// What is an op's own in how it is written; `LLM_WrittenOp` in ODS says more.
struct OpSyntax {
  bool isNamed;
  bool hasKind;
  llvm::ArrayRef<llvm::StringLiteral> operands;
  llvm::ArrayRef<unsigned> writtenOperands;
  unsigned writtenResults;
  int weightOperand;
  /// Makes the types that are not written: a function of OpTypes.cpp, which is
  /// declared with the op.
  void (*typeRule)(OpTypes &types);
  /// The sharding dims that such ops have; null for one that is not named.
  Span<const cost::DimChoice> (*choices)();
};

mlir::ParseResult parseOp(mlir::OpAsmParser &parser,
                          mlir::OperationState &state, const OpSyntax &syntax);

/// `sizes` has the number of operands at each place, `defaults` the attributes
/// of an op without a syntax of its own.
void printOp(mlir::OpAsmPrinter &printer, mlir::Operation *op,
             const OpSyntax &syntax, llvm::ArrayRef<unsigned> sizes,
             mlir::DictionaryAttr defaults);

template <typename OpT>
void printOp(mlir::OpAsmPrinter &printer, OpT op, const OpSyntax &syntax) {
  llvm::SmallVector<unsigned> sizes;
  for (unsigned place = 0; place < syntax.operands.size(); ++place)
    sizes.push_back(op.getODSOperandIndexAndLength(place).second);
  mlir::Attribute all;
  if constexpr (OpT::hasProperties()) {
    typename OpT::Properties defaults;
    OpT::populateDefaultProperties(op->getName(), defaults);
    all = OpT::getPropertiesAsAttr(op.getContext(), defaults);
  }
  printOp(printer, op, syntax, sizes,
          llvm::cast_if_present<mlir::DictionaryAttr>(all));
}

/// Gives `state` the attributes that are `written` at `loc`, if none of them
/// has its place elsewhere in the text.
mlir::ParseResult
addAttributes(mlir::OpAsmParser &parser, llvm::SMLoc loc,
              const mlir::NamedAttrList &written, mlir::OperationState &state,
              llvm::function_ref<bool(llvm::StringRef)> isElsewhere);

/// Calls the first result as the op is called, and the others as `more` says.
void nameResults(mlir::Operation *op, mlir::OpAsmSetValueNameFn setName,
                 llvm::ArrayRef<llvm::StringRef> more);

/// The shortest text that reads back to the same double: 1.0e-6.
void printReal(mlir::AsmPrinter &printer, const llvm::APFloat &value);

} // namespace shardopt::llm

#endif // SHARDOPT_LIB_DIALECT_LLM_IR_OPSYNTAX_H
