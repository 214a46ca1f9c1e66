//===- LLMOps.td - Operators of the llm dialect -*- tablegen -*-===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef SHARDOPT_DIALECT_LLM_IR_LLMOPS_TD
#define SHARDOPT_DIALECT_LLM_IR_LLMOPS_TD

include "shardopt/Dialect/LLM/IR/LLMStructureOps.td"
include "shardopt/Dialect/LLM/IR/LLMEndOps.td"
include "shardopt/Dialect/LLM/IR/LLMNormOps.td"
include "shardopt/Dialect/LLM/IR/LLMAttentionOps.td"
include "shardopt/Dialect/LLM/IR/LLMStateOps.td"
include "shardopt/Dialect/LLM/IR/LLMFeedForwardOps.td"
include "shardopt/Dialect/LLM/IR/LLMPieces.td"
include "shardopt/Dialect/LLM/IR/LLMContextPieces.td"

#endif // SHARDOPT_DIALECT_LLM_IR_LLMOPS_TD
