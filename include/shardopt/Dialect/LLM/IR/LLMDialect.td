//===- LLMDialect.td - The llm dialect -*- tablegen -*-===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef SHARDOPT_DIALECT_LLM_IR_LLMDIALECT_TD
#define SHARDOPT_DIALECT_LLM_IR_LLMDIALECT_TD

include "mlir/IR/OpBase.td"

def LLM_Dialect : Dialect {
  let name = "llm";
  let cppNamespace = "::shardopt::llm";
  let summary = "Fused operators of large language models, with shardings";
  let description = [{
    A program of this dialect is one step of inference: a decode step of every
    sequence of a batch, or the prefill of a batch of prompts. An op is what a
    serving engine runs as one or two kernels: a fused projection, attention
    with its rotary embedding and cache update, a router, a grouped matrix
    product. What changes a model's numbers is an attribute or an operand of
    the op, so that the IR alone says what the model computes.

    Rows. The leading dimension of an activation is dynamic: sequences in
    decode, and prompts times tokens, prompt by prompt, in prefill.

    Sharding. Every fused op but `llm.param`, `llm.add` and `llm.repeat` has a
    `name` and an optional `sharding`: `#llm.dim<0>`, `<1>` or `<none>`, the dim
    of its weight (or of its activation, where it has none) that is cut over the
    tensor-parallel group. An activation is then in one of four layouts over that
    group: R (replicated), T (rows cut), H (features cut), P (a partial sum).

    A name stands for one op of a program, or for several that are alike, share
    one `sharding` and are each in a repeat of their own.

    Attributes of a module: `llm.model` (a string, what reports call the model),
    `llm.machine` (a string), `llm.workload` (`#llm.workload`), `llm.strategy`
    (`#llm.strategy`), `llm.service` (`#llm.service`), `llm.planned_only` (a string: why
    the module has the sizes of a model and not its numbers, so that nothing executes
    it). Attributes of arguments and results of functions:
    `llm.role` (a string: tokens, positions, cache, param, token_ids or logits).
    Attributes of arguments that were an `llm.param`: `llm.param` (a string, its name),
    `llm.source` (a dictionary), `llm.layers` (`#llm.layers`, one number for each entry of
    the leading dim). There are no others that begin with `llm.`.

    Pieces are the ops into which `--llm-insert-collectives` opens a fused op
    where a collective falls inside it. They carry no `sharding`.
  }];
  let useDefaultAttributePrinterParser = 1;
  let hasOperationAttrVerify = 1;
  let hasRegionArgAttrVerify = 1;
  let hasRegionResultAttrVerify = 1;
}

#endif // SHARDOPT_DIALECT_LLM_IR_LLMDIALECT_TD
