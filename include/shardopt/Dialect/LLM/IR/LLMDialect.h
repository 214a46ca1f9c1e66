//===- LLMDialect.h - The llm dialect and its attributes -*- C++ -*-===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef SHARDOPT_DIALECT_LLM_IR_LLMDIALECT_H
#define SHARDOPT_DIALECT_LLM_IR_LLMDIALECT_H

#include "shardopt/Model/Context.h"
#include "shardopt/Model/RequestLoad.h"
#include "shardopt/Model/Strategy.h"

#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/Dialect.h"
#include "mlir/IR/DialectImplementation.h"
#include "llvm/ADT/bit.h"

#include <optional>

#include "shardopt/Dialect/LLM/IR/LLMDialect.h.inc"

namespace shardopt {
inline llvm::hash_code hash_value(const PartialDegrees &degrees) {
  return llvm::hash_combine(
      llvm::hash_combine_range(degrees.entries.begin(), degrees.entries.end()),
      llvm::hash_combine_range(degrees.stages.layers.begin(),
                               degrees.stages.layers.end()));
}
inline llvm::hash_code hash_value(const RequestLoad &load) {
  llvm::hash_code code(0);
  for (const std::optional<double> &value : load.values)
    // 0 is -0 too.
    code =
        llvm::hash_combine(code, value.has_value(),
                           llvm::bit_cast<uint64_t>(value.value_or(0) + 0.0));
  return code;
}
} // namespace shardopt

#include "shardopt/Dialect/LLM/IR/LLMEnums.h.inc"

/// Reals of attributes are doubles: parsed as such, printed with all digits.
template <> struct mlir::FieldParser<llvm::APFloat> {
  static FailureOr<llvm::APFloat> parse(AsmParser &parser) {
    double value;
    if (parser.parseFloat(value))
      return failure();
    return llvm::APFloat(value);
  }
};

namespace shardopt::llm {
using cost::Phase;
/// "decode" or "prefill".
mlir::FailureOr<Phase> parsePhase(mlir::AsmParser &parser);
} // namespace shardopt::llm

#define GET_ATTRDEF_CLASSES
#include "shardopt/Dialect/LLM/IR/LLMAttributes.h.inc"

namespace shardopt::llm {

/// Names of the discardable attributes of the dialect.
inline constexpr llvm::StringLiteral modelAttrName = "llm.model";
inline constexpr llvm::StringLiteral machineAttrName = "llm.machine";
inline constexpr llvm::StringLiteral workloadAttrName = "llm.workload";
inline constexpr llvm::StringLiteral strategyAttrName = "llm.strategy";
inline constexpr llvm::StringLiteral serviceAttrName = "llm.service";
inline constexpr llvm::StringLiteral roleAttrName = "llm.role";
/// The class of Transformers that the program was made of, for reports.
inline constexpr llvm::StringLiteral architectureAttrName = "llm.architecture";
/// How quantized weights are stored, where their element types do not say it:
/// a `WeightStorage`.
inline constexpr llvm::StringLiteral quantizationAttrName = "llm.quantization";

/// Of an argument that was an `llm.param`: its name, and what it said of the
/// checkpoint. One with layers is a stack, with a leading size.
inline constexpr llvm::StringLiteral paramAttrName = "llm.param";
inline constexpr llvm::StringLiteral sourceAttrName = "llm.source";
inline constexpr llvm::StringLiteral layersAttrName = "llm.layers";

} // namespace shardopt::llm

#endif // SHARDOPT_DIALECT_LLM_IR_LLMDIALECT_H
