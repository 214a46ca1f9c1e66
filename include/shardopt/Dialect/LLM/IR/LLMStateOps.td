//===- LLMStateOps.td - Mixers with a state -*- tablegen -*-===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef SHARDOPT_DIALECT_LLM_IR_LLMSTATEOPS_TD
#define SHARDOPT_DIALECT_LLM_IR_LLMSTATEOPS_TD

include "shardopt/Dialect/LLM/IR/LLMOpBase.td"

def LLM_GatedDeltaNetOp : LLM_FusedOp<"gated_delta_net", [],
    ["getPromptRows", "mixesRows"]> {
  let summary = "Short convolution, gated delta rule and gated norm";
  let description = [{
    A row of the input holds `heads` groups, one for each key head, of a query, a
    key, the values and the gates of its n = `value_heads` / `heads` value heads,
    and for each of these a writing strength b and a step a: `2 * key_dim + 2 * n *
    value_dim + 2 * n` columns. Queries, keys and values, in this order in every
    group, are the channels of a causal convolution along the rows of a prompt,
    `conv` `[taps, channels]`, whose last tap is the row itself, followed by silu.
    Query and key are divided by the root of their sum of squares plus 1e-6, the
    query also by the root of `key_dim`. Each value head has a state S
    `[key_dim, value_dim]`, which a row changes with its k, v, b and a:

        S' = exp(-exp(decay) * softplus(a + step_bias)) * S
        S  = S' + sigmoid(b) * k (v - k S')

    The result is `q S`, normed by the root of its mean of squares (`epsilon`),
    times `norm` and silu of the gate.

    Caches have one size whatever the number of positions: the state of every
    value head, and the last `taps - 1` rows of the convolution's channels, the
    latest last. The row at position 0 begins with zeros of both; every other one
    with what the row before it has left. A row with a negative position is
    padding: it changes no cache and gives zeros.

    `sequence` is the number of rows of a prompt: 1 in decode. The rows of a prompt
    stand in the order of their positions.

    Sharding: 0 cuts the key heads, each with its value heads (needs H, gives H),
    none keeps R (states replicated) or T (states cut by sequences). There are no
    positions in a state that context parallelism could cut.

    Constraints:
    - (C1) `heads`, `value_heads`, `key_dim`, `value_dim` and `sequence` are positive, and
      `heads` divides `value_heads`
    - (C2) the input has `2 * heads * key_dim + 2 * value_heads * (value_dim + 1)` columns, the
      result `value_heads * value_dim`
    - (C3) `conv_state` is `[sequences, taps - 1, channels]` and `state`
      `[sequences, value_heads, key_dim, value_dim]`, with at least two taps and
      `2 * heads * key_dim + value_heads * value_dim` channels; both come back with their types
    - (C4) `conv` is `[taps, channels]`
    - (C5) `decay` and `step_bias` have one entry a value head, `norm` has `value_dim`
    - (C6) `epsilon` is positive
    - (C7) the positions are not the function's argument with the role `tokens`

    ```mlir
    func.func @f(%x: tensor<?x72xbf16>, %p: tensor<?xi32>, %c: tensor<?x3x40xbf16>, %s: tensor<?x4x4x6xf32>, %w: tensor<4x40xbf16>, %d: tensor<4xbf16>, %n: tensor<6xbf16>) -> tensor<?x24xbf16> {
      %y, %c1, %s1 = llm.gated_delta_net "gated_delta_net" %x at(%p) conv_state(%c) state(%s) conv(%w) decay(%d) step_bias(%d) norm(%n) {heads = 2, value_heads = 4, key_dim = 4, value_dim = 6, epsilon = 1.0e-6} : tensor<?x72xbf16>, tensor<?x3x40xbf16>, tensor<?x4x4x6xf32> -> tensor<?x24xbf16>
      return %y : tensor<?x24xbf16>
    }
    ```
  }];
  let arguments = !con((ins LLM_Activation2D:$input, LLM_Indices1D:$positions,
                            LLM_State:$conv_state, LLM_State:$state,
                            LLM_Matrix:$conv, LLM_Vector:$decay,
                            LLM_Vector:$step_bias, LLM_Vector:$norm,
                            I64Attr:$heads, I64Attr:$value_heads,
                            I64Attr:$key_dim, I64Attr:$value_dim,
                            F64Attr:$epsilon,
                            DefaultValuedAttr<I64Attr, "1">:$sequence), common);
  let results = (outs LLM_Activation2D:$result, LLM_State:$new_conv_state,
                      LLM_State:$new_state);
  let operandSyntax = ["", "at", "conv_state", "state", "conv", "decay", "step_bias", "norm"];
  let writtenOperands = [0, 2, 3];
  let typeRule = "typesOfGatedDeltaNet";
  let moreResults = ["new_conv_state", "new_state"];
  let extraClassDeclaration = [{
    /// Columns of the input, and channels of the convolution, of one key head.
    int64_t getGroupWidth();
    int64_t getGroupChannels();
  }];
}

def LLM_Mamba2ProjOp : LLM_FusedOp<"mamba2_proj", [LLM_RowByRow]> {
  let summary = "Fused projection to what a state space reads";
  let description = [{
    `input * weight + bias`; the columns are the gates of all heads, then the values of
    all heads, each `head_dim` wide, then the writing vectors B of all groups and the
    reading vectors C of all groups, each `state_dim` wide, then a step of each head.

    Sharding: 0 contracts a cut hidden size (needs H, gives P), 1 cuts the groups, each
    with its heads, and of a single group the heads, with B and C on every device (needs
    R, gives H), none keeps R or T.

    Constraints:
    - (C1) weight rows equal the input's width
    - (C2) weight columns, bias and result width equal `(2 * head_dim + 1) * heads + 2 * groups *
      state_dim`
    - (C3) `heads`, `head_dim`, `groups` and `state_dim` are positive, and `groups` divides `heads`

    ```mlir
    func.func @f(%x: tensor<?x64xbf16>, %w: tensor<64x60xbf16>) -> tensor<?x60xbf16> {
      %y = llm.mamba2_proj "in_proj" %x, %w {heads = 4, head_dim = 5, groups = 2, state_dim = 4} : tensor<?x64xbf16> -> tensor<?x60xbf16>
      return %y : tensor<?x60xbf16>
    }
    ```
  }];
  let arguments = !con((ins LLM_Activation2D:$input, LLM_Matrix:$weight,
                            Optional<LLM_Vector>:$bias, I64Attr:$heads,
                            I64Attr:$head_dim, I64Attr:$groups,
                            I64Attr:$state_dim), common);
  let results = (outs LLM_Activation2D:$result);
  let operandSyntax = ["", ",", "bias?"];
  let typeRule = "typesOfProjection";
  let weightOperand = 1;
}

def LLM_Mamba2Op : LLM_FusedOp<"mamba2", [AttrSizedOperandSegments],
    ["getPromptRows", "mixesRows"]> {
  let summary = "Short convolution, state space and gated norm";
  let description = [{
    The input holds gates, values, B, C and steps as `llm.mamba2_proj` orders them; head h
    reads B and C of group h * `groups` / `heads`. Values, B and C are the channels of a
    causal convolution along the rows of a prompt, `conv` `[taps, channels]`, whose last
    tap is the row itself, plus `conv_bias`, followed by silu. Each head has a state S
    `[head_dim, state_dim]`, which a row changes with its values x, its B and its step:

        t = min(max(softplus(step + step_bias), step_min), step_max)
        S = exp(-exp(decay) * t) * S' + t * x B
        y = S C + skip * x

    The result is y times silu of the gate. Where there is a `norm`, what each group makes
    is divided by the root of its mean of squares (`epsilon`), and multiplied by `norm`.

    Caches have one size whatever the number of positions: the state of every head, and
    the last `taps - 1` rows of the convolution's channels, the latest last. The row at
    position 0 begins with zeros of both; every other one with what the row before it has
    left. A row with a negative position is padding: it changes no cache and gives zeros.

    `sequence` is the number of rows of a prompt: 1 in decode. The rows of a prompt stand
    in the order of their positions.

    Sharding: 0 cuts the groups, each with its heads; of a single group the heads, with B
    and C on every device and an all-reduce of the norm's sum of squares (needs H, gives
    H), none keeps R (states replicated) or T (states cut by sequences). There are no
    positions in a state that context parallelism could cut.

    Constraints:
    - (C1) `heads`, `head_dim`, `groups`, `state_dim` and `sequence` are positive, and `groups`
      divides `heads`
    - (C2) the input has `(2 * head_dim + 1) * heads + 2 * groups * state_dim` columns, the result
      `heads * head_dim`
    - (C3) `conv_state` is `[sequences, taps - 1, channels]` and `state`
      `[sequences, heads, head_dim, state_dim]`, with at least two taps and
      `heads * head_dim + 2 * groups * state_dim` channels; both come back with their types
    - (C4) `conv` is `[taps, channels]`, and `conv_bias` has an entry a channel
    - (C5) `decay`, `skip` and `step_bias` have one entry a head, `norm` has `heads * head_dim`
    - (C6) a norm comes with a positive `epsilon`
    - (C7) `step_min` is not negative and less than `step_max`
    - (C8) the positions are not the function's argument with the role `tokens`

    ```mlir
    func.func @f(%x: tensor<?x60xbf16>, %p: tensor<?xi32>, %c: tensor<?x3x36xbf16>, %s: tensor<?x4x5x4xf32>, %w: tensor<4x36xbf16>, %d: tensor<4xbf16>, %n: tensor<20xbf16>) -> tensor<?x20xbf16> {
      %y, %c1, %s1 = llm.mamba2 "mamba2" %x at(%p) conv_state(%c) state(%s) conv(%w) decay(%d) skip(%d) step_bias(%d) norm(%n) {heads = 4, head_dim = 5, groups = 2, state_dim = 4, epsilon = 1.0e-5} : tensor<?x60xbf16>, tensor<?x3x36xbf16>, tensor<?x4x5x4xf32> -> tensor<?x20xbf16>
      return %y : tensor<?x20xbf16>
    }
    ```
  }];
  let arguments = !con((ins LLM_Activation2D:$input, LLM_Indices1D:$positions,
                            LLM_State:$conv_state, LLM_State:$state,
                            LLM_Matrix:$conv, Optional<LLM_Vector>:$conv_bias,
                            LLM_Vector:$decay, LLM_Vector:$skip,
                            LLM_Vector:$step_bias, Optional<LLM_Vector>:$norm,
                            I64Attr:$heads, I64Attr:$head_dim, I64Attr:$groups,
                            I64Attr:$state_dim, OptionalAttr<F64Attr>:$epsilon,
                            DefaultValuedAttr<F64Attr, "0.0">:$step_min,
                            OptionalAttr<F64Attr>:$step_max,
                            DefaultValuedAttr<I64Attr, "1">:$sequence), common);
  let results = (outs LLM_Activation2D:$result, LLM_State:$new_conv_state,
                      LLM_State:$new_state);
  let operandSyntax = ["", "at", "conv_state", "state", "conv", "conv_bias?", "decay", "skip", "step_bias", "norm?"];
  let writtenOperands = [0, 2, 3];
  let typeRule = "typesOfMamba2";
  let moreResults = ["new_conv_state", "new_state"];
  let extraClassDeclaration = [{
    /// Channels of the convolution.
    int64_t getChannels();
  }];
}

#endif // SHARDOPT_DIALECT_LLM_IR_LLMSTATEOPS_TD
