//===- ModuleModel.h - A module as the cost model sees it -------*- C++ -*-===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef SHARDOPT_DIALECT_LLM_ANALYSIS_MODULEMODEL_H
#define SHARDOPT_DIALECT_LLM_ANALYSIS_MODULEMODEL_H

#include "shardopt/Dialect/LLM/IR/LLMInterfaces.h"
#include "shardopt/Model/Model.h"

#include "mlir/IR/BuiltinOps.h"

#include <vector>

namespace shardopt {

/// A module as plain data, and the ops that a variable of it stands for: more
/// than one where layers share their names, and so their dims. Refers to the
/// module, which must neither change nor go.
struct ModuleModel {
  std::string name; ///< of the module; empty if it has none
  cost::Model model;
  std::vector<std::vector<llm::ShardableOpInterface>> ops; ///< by variable
};

/// Reads the program of `module`: one `llm.embedding`, layers, one
/// `llm.lm_head`, each reading what the one before it made. Layers are the
/// iterations of `llm.repeat`s, or runs of ops between them. Each of them
/// starts with an `llm.rms_norm` without residual and ends with a tree of
/// `llm.add`s. Layers whose ops have the same names are of one kind and must be
/// alike but for attention's window.
///
/// Variables are numbered: the embedding, the ops of each kind of layer in
/// program order (kinds whose names start with "dense." first), the head.
///
/// A program of another form is diagnosed at the op where it differs.
mlir::FailureOr<ModuleModel> buildModuleModel(mlir::ModuleOp module);

} // namespace shardopt

#endif // SHARDOPT_DIALECT_LLM_ANALYSIS_MODULEMODEL_H
