//===- ArgumentAttributes.h - What arguments and results are ----*- C++ -*-===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// `llm.role`, which says what a caller gives or gets, and `llm.source` with the
// `source` of `llm.param`, which says where a weight comes from.
//
//===----------------------------------------------------------------------===//

#ifndef SHARDOPT_DIALECT_LLM_IR_ARGUMENTATTRIBUTES_H
#define SHARDOPT_DIALECT_LLM_IR_ARGUMENTATTRIBUTES_H

#include "shardopt/Dialect/LLM/IR/LLMDialect.h"
#include "shardopt/Dialect/LLM/IR/LoweredAttributes.h"

namespace shardopt::llm {

/// What an argument or a result of a program is.
enum class Role : uint8_t { Tokens, Positions, Cache, Param, TokenIds, Logits };

/// "tokens", "positions", "cache", "param", "token_ids", "logits".
llvm::StringRef spell(Role role);
std::optional<Role> parseRole(llvm::StringRef name);
/// All spellings, for messages.
std::vector<std::string> listRoles();

/// The `llm.role` among the attributes of an argument or a result, which may be
/// null; nothing where there is none.
std::optional<Role> getRole(mlir::DictionaryAttr attributes);
mlir::NamedAttribute roleAttribute(mlir::MLIRContext *context, Role role);

/// A tensor of a checkpoint that is part of a weight.
struct SourcePart {
  std::string pattern; ///< its name, with {layer} and {expert} for numbers
  int64_t size = 0;    ///< of the part along the axis; 0: not said
  int64_t offset = 0;  ///< where it begins in the tensor, along the axis
  bool isTransposed = false;
  bool isInterleaved = false; ///< even columns go first, then odd ones
  std::string scales;         ///< pattern of the scales; empty: none
  /// Rows and columns of the checkpoint's matrix that share a scale, or none.
  std::vector<int64_t> block;
  double factor = 1; ///< of every element, positive
  double shift = 0;  ///< added to it then, not negative
};

/// Where a weight comes from.
struct Source {
  static constexpr llvm::StringLiteral attrName = sourceAttrName;

  std::vector<SourcePart> parts;
  int64_t axis = 0; ///< along which parts are concatenated
  /// Blocks of each part; block i of every part stands before block i + 1 of
  /// any.
  int64_t groups = 1;

  /// Of a weight with `rank` dims, those of one layer. The attribute is called
  /// `what` in errors: "'source'".
  static mlir::FailureOr<Source> read(mlir::Attribute attribute,
                                      llvm::StringRef what, int64_t rank,
                                      lowered::EmitError emitError);
  mlir::DictionaryAttr write(mlir::MLIRContext *context) const;
};

} // namespace shardopt::llm

#endif // SHARDOPT_DIALECT_LLM_IR_ARGUMENTATTRIBUTES_H
