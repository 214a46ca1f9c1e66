//===- BodyBuilder.h - The ops of one layer as a cost body ------*- C++ -*-===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef SHARDOPT_LIB_DIALECT_LLM_ANALYSIS_BODYBUILDER_H
#define SHARDOPT_LIB_DIALECT_LLM_ANALYSIS_BODYBUILDER_H

#include "shardopt/Dialect/LLM/IR/LLMInterfaces.h"
#include "shardopt/Model/Model.h"

#include "llvm/ADT/DenseMap.h"

#include <memory>
#include <vector>

namespace shardopt {

/// One layer of a program.
struct LayerOps {
  mlir::Value residual;                       ///< what enters the layer
  std::vector<llm::ShardableOpInterface> ops; ///< in program order
  mlir::Value exit;                           ///< what leaves it

  llm::ShardableOpInterface first() const { return ops.front(); }
  llm::ShardableOpInterface last() const { return ops.back(); }

  /// The window of its attention, by the op's own attribute; 0: none.
  int64_t window() const;
};

/// The models of ops; those of the dialect that differ in name and annotation
/// alone have one together.
class OpModels {
public:
  std::shared_ptr<const cost::OpModel> of(llm::CostOpInterface op);

private:
  llvm::DenseMap<mlir::Attribute, std::shared_ptr<const cost::OpModel>> known;
};

/// The nodes, values and exit of `layer`, with ops of `models`; its variables
/// are not numbered. A layer of another form than `cost::Body` has is
/// diagnosed.
mlir::FailureOr<cost::Body> buildBody(const LayerOps &layer, OpModels &models);

} // namespace shardopt

#endif // SHARDOPT_LIB_DIALECT_LLM_ANALYSIS_BODYBUILDER_H
