//===- LLMOps.td - Fused operators of the llm dialect -*- tablegen -*-===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef SHARDOPT_DIALECT_LLM_IR_LLMOPS_TD
#define SHARDOPT_DIALECT_LLM_IR_LLMOPS_TD

include "mlir/IR/OpAsmInterface.td"
include "mlir/IR/RegionKindInterface.td"
include "mlir/IR/SymbolInterfaces.td"
include "mlir/Interfaces/ControlFlowInterfaces.td"
include "mlir/Interfaces/SideEffectInterfaces.td"
include "shardopt/Dialect/LLM/IR/LLMAttributes.td"
include "shardopt/Dialect/LLM/IR/LLMInterfaces.td"

def LLM_Structure : OpDocGroup {
  let summary = "Structure of a program";
  let description = "Weights, layers, residuals. These have no sharding.";
}

def LLM_Fused : OpDocGroup {
  let summary = "Fused operators";
  let description = "What a model consists of. Each has a `name` and a `sharding`.";
}

// No static size of an operand or a result is beyond what passes can list.
def LLM_BoundedSizes : NativeOpTrait<"BoundedSizes"> {
  let cppNamespace = "::shardopt::llm";
}

class LLM_Op<string mnemonic, list<Trait> traits = []>
    : Op<LLM_Dialect, mnemonic, !listconcat(traits, [LLM_BoundedSizes])> {
  let opDocGroup = LLM_Structure;
}

// An op with a name and a sharding dim, and a cost.
class LLM_FusedOp<string mnemonic, list<Trait> traits = []>
    : LLM_Op<mnemonic, !listconcat(traits, [
        Pure,
        DeclareOpInterfaceMethods<LLM_ShardableOpInterface,
            ["getActivations"]>,
        DeclareOpInterfaceMethods<LLM_CostOpInterface>])> {
  // Every fused op has these two among its arguments.
  dag common = (ins StrAttr:$name, OptionalAttr<LLM_DimAttr>:$sharding);
  let hasVerifier = 1;
  let opDocGroup = LLM_Fused;
}

// Sizes are static but for rows, sequences and positions: a verifier compares
// them, and costs are computed from them.
class LLM_StaticFrom<int dim, Type base, string desc> : ConfinedType<base, [
    CPred<"!::mlir::ShapedType::isDynamicShape("
          "::llvm::cast<::mlir::ShapedType>($_self).getShape().drop_front("
          # dim # "))">], desc>;

def LLM_Activation2D : LLM_StaticFrom<1, TensorRankOf<[AnyFloat], [2]>,
    "2D tensor of floating-point values with a static number of columns">;
def LLM_Vector : LLM_StaticFrom<0, TensorRankOf<[AnyFloat], [1]>,
    "statically shaped 1D tensor of floating-point values">;
def LLM_Matrix : LLM_StaticFrom<0, TensorRankOf<[AnyFloat], [2]>,
    "statically shaped 2D tensor of floating-point values">;
def LLM_Weight : LLM_StaticFrom<0, TensorRankOf<[AnyFloat], [2, 3]>,
    "statically shaped 2D or 3D tensor of floating-point values">;
def LLM_Bias : LLM_StaticFrom<0, TensorRankOf<[AnyFloat], [1, 2]>,
    "statically shaped 1D or 2D tensor of floating-point values">;
def LLM_Indices1D : TensorRankOf<[I32], [1]>;
def LLM_Indices2D : LLM_StaticFrom<1, TensorRankOf<[I32], [2]>,
    "2D tensor of 32-bit integers with a static number of columns">;
def LLM_Counts : LLM_StaticFrom<0, TensorRankOf<[I32], [3]>,
    "statically shaped 3D tensor of 32-bit integers">;
def LLM_RoutingWeights : LLM_StaticFrom<1, TensorRankOf<[F32], [2]>,
    "2D tensor of 32-bit floats with a static number of columns">;
def LLM_Cache : LLM_StaticFrom<2, TensorRankOf<[AnyFloat], [3, 4]>,
    "3D or 4D tensor of floating-point values, static but for sequences and positions">;

//===----------------------------------------------------------------------===//
// Structure
//===----------------------------------------------------------------------===//

def LLM_ParamOp : LLM_Op<"param", [Pure]> {
  let summary = "A weight of the model";
  let description = [{
    Stands for a weight, beside the op that reads it. Within the body of an
    `llm.repeat` it is the layer's slice of a stack of weights.

    `source` says which tensors of a checkpoint it is: `parts`, a list of
    dictionaries with `pattern` (the tensor's name, in which `{layer}` stands for
    the layer's number and `{expert}` for the expert's), optional `transposed`
    (a unit attribute: the checkpoint has `[out, in]`), optional `size` (how many
    columns the part adds along `axis`), and optional `deinterleave` (a unit
    attribute: even columns first, then odd ones); and `axis`, the dim along
    which several parts are concatenated, counted without the expert dim when
    the pattern has `{expert}` (experts are stacked in front). `layers` lists the
    numbers that `{layer}` takes, one for each iteration of the repeat.

    A part that the checkpoint stores quantised has `scales`, the pattern of the
    tensor with its scales: with `block = array<i64: r, c>` one for each block of r
    rows and c columns of the checkpoint's matrix (fp8; without `block` one for the
    matrix), or one exponent byte for 32 elements of a row (mxfp4, whose `pattern`
    is the tensor of packed blocks `[experts, out, in/32, 16]`, two elements a byte,
    the first in the low half).

    After lowering, `shardopt.slice` says which part of the global tensor the
    device holds.

    Constraints:
    - (C1) the type has static sizes
    - (C2) `source`, where present, has a non-empty `parts`, each with a string `pattern`, a
      positive 64-bit `size` if any, unit attributes for its flags, a string for `scales`,
      two positive numbers for `block`; `axis` is a dim of the param, and is there with
      several parts
    - (C3) `layers` has as many entries as the enclosing repeat has iterations, and is present
      only inside a repeat

    ```mlir
    func.func @f() -> tensor<4096x6144xbf16> {
      %w = llm.param @qkv_proj.weight {source = {axis = 1 : i64, parts = [
          {pattern = "model.layers.0.self_attn.q_proj.weight", size = 4096 : i64, transposed},
          {pattern = "model.layers.0.self_attn.k_proj.weight", size = 1024 : i64, transposed},
          {pattern = "model.layers.0.self_attn.v_proj.weight", size = 1024 : i64, transposed} ]}} : tensor<4096x6144xbf16>
      return %w : tensor<4096x6144xbf16>
    }
    ```
  }];
  let arguments = (ins SymbolNameAttr:$param,
                       OptionalAttr<DictionaryAttr>:$source,
                       OptionalAttr<DenseI64ArrayAttr>:$layers);
  let results = (outs AnyStaticShapeTensor:$result);
  let assemblyFormat = "$param attr-dict `:` type($result)";
  let hasVerifier = 1;
}

def LLM_RepeatOp : LLM_Op<"repeat", [
    AttrSizedOperandSegments, SingleBlock, RecursiveMemoryEffects,
    DeclareOpInterfaceMethods<OpAsmOpInterface, ["getAsmResultNames"]>]> {
  let summary = "A stack of identical layers, as a scan";
  let description = [{
    Runs its body `count` times, one layer an iteration. The body's arguments are
    the residual, a slice of each stacked value (caches first, then weights that
    come as arguments; the leading size of each is `count`), and the invariants.
    It yields the residual and its layer's caches, which come back stacked as
    results. The yielded caches correspond in order to the first stacked values.

    `windows` gives each layer's sliding window, 0 where attention is full; the
    body's `llm.attention` takes its layer's.

    Constraints:
    - (C1) `count` is positive, and at most 1048576
    - (C2) the leading size of every stacked operand is `count`
    - (C3) the body's arguments are the residual, the slices, the invariants, with these types
    - (C4) the yield's operands have the types of the residual and of the first slices, and the
      results are the residual and those stacked operands
    - (C5) `windows` has `count` entries, none negative
    - (C6) names of fused ops are unique in the body
    - (C7) where there are `windows`, no op of the body has a `window`

    ```mlir
    func.func @f(%x: tensor<?x8xbf16>, %w: tensor<3x8x8xbf16>) -> tensor<?x8xbf16> {
      %y = llm.repeat 3 init(%x) stacked(%w) : (tensor<?x8xbf16>, tensor<3x8x8xbf16>) -> tensor<?x8xbf16> {
      ^bb0(%r: tensor<?x8xbf16>, %v: tensor<8x8xbf16>):
        %u = llm.linear %r, %v {name = "proj"} : (tensor<?x8xbf16>, tensor<8x8xbf16>) -> tensor<?x8xbf16>
        %s = llm.add %r, %u : tensor<?x8xbf16>
        llm.yield %s : tensor<?x8xbf16>
      }
      return %y : tensor<?x8xbf16>
    }
    ```
  }];
  let arguments = (ins I64Attr:$count, LLM_Activation2D:$init,
                       Variadic<AnyRankedTensor>:$stacked,
                       Variadic<AnyType>:$invariants,
                       OptionalAttr<DenseI64ArrayAttr>:$windows);
  let results = (outs LLM_Activation2D:$result,
                      Variadic<AnyRankedTensor>:$stacks);
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = [{
    $count `init` `(` $init `)` (`stacked` `(` $stacked^ `)`)?
    (`invariants` `(` $invariants^ `)`)? attr-dict-with-keyword `:`
    functional-type(operands, results) $body
  }];
  let extraClassDeclaration = [{
    ::mlir::Block *getBodyBlock() { return &getBody().front(); }
    /// The residual inside the body.
    ::mlir::BlockArgument getResidual() { return getBody().getArgument(0); }
    /// The body's arguments that are slices of the stacked operands.
    ::llvm::ArrayRef<::mlir::BlockArgument> getSlices();
    /// The body's arguments that stand for the invariants.
    ::llvm::ArrayRef<::mlir::BlockArgument> getInvariantArguments();
    /// The window of layer `index`: 0 where attention is full.
    int64_t getWindow(int64_t index);
  }];
  let hasVerifier = 1;
  let hasRegionVerifier = 1;
}

def LLM_YieldOp : LLM_Op<"yield", [Pure, Terminator, ReturnLike, HasParent<"RepeatOp">]> {
  let summary = "Ends a layer";
  let description = [{
    Gives the residual and the caches of the layer to the enclosing `llm.repeat`.
    See there for an example.
  }];
  let arguments = (ins Variadic<AnyType>:$values);
  let assemblyFormat = "attr-dict ($values^ `:` type($values))?";
  let builders = [OpBuilder<(ins), [{ /* an implicit terminator has no operands */ }]>];
}

def LLM_AddOp : LLM_Op<"add", [Pure, Commutative, AllTypesMatch<["lhs", "rhs", "result"]>]> {
  let summary = "Sum of two activations";
  let description = [{
    The residual at the end of a layer, or the sum of routed and shared experts.
    It has no sharding of its own: it is done in the layout that its user wants.

    ```mlir
    func.func @f(%a: tensor<?x8xbf16>, %b: tensor<?x8xbf16>) -> tensor<?x8xbf16> {
      %c = llm.add %a, %b : tensor<?x8xbf16>
      return %c : tensor<?x8xbf16>
    }
    ```
  }];
  let arguments = (ins LLM_Activation2D:$lhs, LLM_Activation2D:$rhs);
  let results = (outs LLM_Activation2D:$result);
  let assemblyFormat = "$lhs `,` $rhs attr-dict `:` type($result)";
}

//===----------------------------------------------------------------------===//
// Embedding, norms, projections
//===----------------------------------------------------------------------===//

def LLM_EmbeddingOp : LLM_FusedOp<"embedding"> {
  let summary = "Token embedding";
  let description = [{
    Row r of the result is row `tokens[r]` of the table. With an `offset` (given
    by the lowering) the table holds rows from `offset` on, and tokens outside
    give zeros.

    Sharding: 0 cuts the vocabulary and gives a partial sum P, 1 cuts the hidden
    size and gives H, none replicates the table and gives R.

    Constraints:
    - (C1) the result is as wide as the table
    - (C2) the result has a row for every token

    ```mlir
    func.func @f(%tokens: tensor<?xi32>, %table: tensor<32000x4096xbf16>) -> tensor<?x4096xbf16> {
      %x = llm.embedding %tokens, %table {name = "embed", sharding = #llm.dim<0>} : (tensor<?xi32>, tensor<32000x4096xbf16>) -> tensor<?x4096xbf16>
      return %x : tensor<?x4096xbf16>
    }
    ```
  }];
  let arguments = !con((ins LLM_Indices1D:$tokens, LLM_Matrix:$table,
                            Optional<Index>:$offset), common);
  let results = (outs LLM_Activation2D:$result);
  let assemblyFormat = [{
    $tokens `,` $table (`offset` `(` $offset^ `)`)? attr-dict `:`
    functional-type(operands, results)
  }];
}

def LLM_RmsNormOp : LLM_FusedOp<"rms_norm"> {
  let summary = "Root-mean-square norm, with the residual added first";
  let description = [{
    With s the input, or input plus residual: `s / sqrt(mean(s^2) + epsilon) * weight`
    along the features. With a residual the second result is s, the new residual.
    The first norm of a layer reads the residual itself and has none.

    Sharding: 0 anchors input, residual and results in T, 1 in H (the sum of
    squares is all-reduced), none in R.

    Constraints:
    - (C1) input, residual and results have one type
    - (C2) the weight is as wide as the input
    - (C3) there are two results exactly when there is a residual
    - (C4) `epsilon` is positive

    ```mlir
    func.func @f(%x: tensor<?x8xbf16>, %r: tensor<?x8xbf16>, %w: tensor<8xbf16>) -> tensor<?x8xbf16> {
      %n, %s = llm.rms_norm %x residual(%r) weight(%w) {name = "ffn_norm", epsilon = 1.0e-5} : (tensor<?x8xbf16>, tensor<?x8xbf16>, tensor<8xbf16>) -> (tensor<?x8xbf16>, tensor<?x8xbf16>)
      return %n : tensor<?x8xbf16>
    }
    ```
  }];
  let arguments = !con((ins LLM_Activation2D:$input,
                            Optional<LLM_Activation2D>:$residual,
                            LLM_Vector:$weight, F64Attr:$epsilon), common);
  let results = (outs LLM_Activation2D:$result, Optional<LLM_Activation2D>:$sum);
  let assemblyFormat = [{
    $input (`residual` `(` $residual^ `)`)? `weight` `(` $weight `)` attr-dict `:`
    functional-type(operands, results)
  }];
}

def LLM_QkvProjOp : LLM_FusedOp<"qkv_proj"> {
  let summary = "Fused projection to queries, keys and values";
  let description = [{
    `input * weight + bias`; the columns are all query heads, then all key heads,
    then all value heads, each `head_dim` wide.

    Sharding: 0 contracts a cut hidden size (needs H, gives P), 1 cuts the heads
    (needs R, gives H), none keeps R or T.

    Constraints:
    - (C1) weight rows equal the input's width
    - (C2) weight columns, bias and result width equal `(heads + 2 * kv_heads) * head_dim`
    - (C3) `heads`, `kv_heads` and `head_dim` are positive

    ```mlir
    func.func @f(%x: tensor<?x64xbf16>, %w: tensor<64x96xbf16>) -> tensor<?x96xbf16> {
      %q = llm.qkv_proj %x, %w {name = "qkv_proj", heads = 8, kv_heads = 2, head_dim = 8} : (tensor<?x64xbf16>, tensor<64x96xbf16>) -> tensor<?x96xbf16>
      return %q : tensor<?x96xbf16>
    }
    ```
  }];
  let arguments = !con((ins LLM_Activation2D:$input, LLM_Matrix:$weight,
                            Optional<LLM_Vector>:$bias, I64Attr:$heads,
                            I64Attr:$kv_heads, I64Attr:$head_dim), common);
  let results = (outs LLM_Activation2D:$result);
  let assemblyFormat = [{
    $input `,` $weight (`bias` `(` $bias^ `)`)? attr-dict `:`
    functional-type(operands, results)
  }];
}

def LLM_LinearOp : LLM_FusedOp<"linear", [AttrSizedOperandSegments]> {
  let summary = "Linear projection, with an optional norm of its input";
  let description = [{
    `norm(input) * weight + bias`, where `norm` is a root-mean-square norm with its
    own weight and `epsilon`, or absent. The projections of multi-head latent
    attention. `heads` says that the columns are that many heads, which sharding
    dim 1 keeps whole. With `transposed` the weight is `[out, in]`.

    Sharding: 0 contracts a cut input (needs H, gives P; an inner norm of a cut or
    partial input costs an all-reduce of its sum of squares), 1 cuts the columns
    (needs R, gives H), none keeps R or T.

    Constraints:
    - (C1) weight rows (columns when `transposed`) equal the input's width
    - (C2) weight columns (rows when `transposed`) and bias equal the result's width
    - (C3) a norm weight is as wide as the input and comes with a positive `epsilon`
    - (C4) `heads` divides the result's width

    ```mlir
    func.func @f(%x: tensor<?x24xbf16>, %w: tensor<24x48xbf16>, %n: tensor<24xbf16>) -> tensor<?x48xbf16> {
      %q = llm.linear %x, %w norm(%n) {name = "q_up", epsilon = 1.0e-6, heads = 4} : (tensor<?x24xbf16>, tensor<24x48xbf16>, tensor<24xbf16>) -> tensor<?x48xbf16>
      return %q : tensor<?x48xbf16>
    }
    ```
  }];
  let arguments = !con((ins LLM_Activation2D:$input, LLM_Matrix:$weight,
                            Optional<LLM_Vector>:$norm, Optional<LLM_Vector>:$bias,
                            OptionalAttr<F64Attr>:$epsilon,
                            OptionalAttr<I64Attr>:$heads, UnitAttr:$transposed), common);
  let results = (outs LLM_Activation2D:$result);
  let assemblyFormat = [{
    $input `,` $weight (`norm` `(` $norm^ `)`)? (`bias` `(` $bias^ `)`)? attr-dict `:`
    functional-type(operands, results)
  }];
}

//===----------------------------------------------------------------------===//
// Attention
//===----------------------------------------------------------------------===//

def LLM_AttentionOp : LLM_FusedOp<"attention", [AttrSizedOperandSegments]> {
  let summary = "Rotary embedding, cache update and attention";
  let description = [{
    `gqa`: the input holds queries, keys and values as `llm.qkv_proj` orders them.
    Queries and keys are normed per head where `q_norm` and `k_norm` are given
    (with `epsilon`), turned by `rope`, and keys and values written into the caches
    `[sequence, position, kv_head, feature]` at (row / `sequence`, position). Query head
    j then reads kv head `min((o + j) / group - o / group, kv_heads - 1)`, where o is
    `head_offset` (0 without it) and `group` is heads / kv_heads of the whole model.

    `mla`: the input holds `heads` queries of `nope_dim + rope_dim` features, `latent`
    holds `rank` latent features and `rope_dim` shared rotary ones. The latent is
    normed with `kv_norm` and `kv_norm_epsilon`, the rotary features are turned, and
    both are written into the one cache `[sequence, position, rank + rope_dim]`.
    `kv_up` `[rank, heads * (nope_dim + value_dim)]` makes of a cached latent, head
    by head, `nope_dim` features of the key and `value_dim` of the value.

    Softmax of `scale * q.k` over the positions from 0 to the row's own, only the
    last `window` of them where there is a window; `sinks` adds one logit a head
    that takes weight and gives no value.

    `sequence` is the number of rows of a prompt: 1 in decode. A row with a
    negative position is padding: it writes no cache and gives zeros.

    Sharding: 0 cuts the heads (needs H, gives H), 1 the features of every head
    (gqa in decode only; needs H, the scores are all-reduced, gives H), none keeps
    R (caches replicated) or T (caches cut by sequences).

    Constraints:
    - (C1) gqa: one input of `(heads + 2 * kv_heads) * head_dim` columns, no latent, two caches
      `[?, ?, kv_heads, head_dim]`, a result of `heads * head_dim` columns
    - (C2) mla: an input of `heads * (nope_dim + rope_dim)` columns, a latent of
      `rank + rope_dim`, one cache `[?, ?, rank + rope_dim]`, `kv_norm` of `rank` entries with a positive
      `kv_norm_epsilon`, `kv_up` as above, a result of `heads * value_dim` columns
    - (C3) the caches come back with their types
    - (C4) `q_norm` and `k_norm` come together, `head_dim` wide, with a positive `epsilon`; gqa only
    - (C5) `sinks` has one entry a head
    - (C6) `sequence`, `group` and every size are positive, `window` is where present
    - (C7) `rope.dim` is at most `head_dim` (gqa), or equals `rope_dim` (mla)
    - (C8) dim 1 is illegal for mla, in prefill (`sequence` over 1), and for an odd `head_dim`
    - (C9) no cache is there twice: each is written in its place
    - (C10) the positions are not the function's argument with the role `tokens`

    ```mlir
    func.func @f(%x: tensor<?x96xbf16>, %p: tensor<?xi32>, %k: tensor<?x?x2x8xbf16>, %v: tensor<?x?x2x8xbf16>) -> tensor<?x64xbf16> {
      %a, %k1, %v1 = llm.attention gqa %x at(%p) cache(%k, %v) {name = "attention", heads = 8, kv_heads = 2, head_dim = 8, group = 4, scale = 0.35355339059327379, rope = #llm.rope<dim = 8, theta = 1.0e4>}
        : (tensor<?x96xbf16>, tensor<?xi32>, tensor<?x?x2x8xbf16>, tensor<?x?x2x8xbf16>) -> (tensor<?x64xbf16>, tensor<?x?x2x8xbf16>, tensor<?x?x2x8xbf16>)
      return %a : tensor<?x64xbf16>
    }
    ```
  }];
  let arguments = !con((ins LLM_AttentionKindAttr:$kind, LLM_Activation2D:$input,
                            Optional<LLM_Activation2D>:$latent,
                            LLM_Indices1D:$positions, Variadic<LLM_Cache>:$caches,
                            Optional<LLM_Vector>:$q_norm, Optional<LLM_Vector>:$k_norm,
                            Optional<LLM_Vector>:$sinks,
                            Optional<LLM_Vector>:$kv_norm,
                            Optional<LLM_Matrix>:$kv_up,
                            Optional<Index>:$head_offset,
                            I64Attr:$heads, OptionalAttr<I64Attr>:$kv_heads,
                            OptionalAttr<I64Attr>:$head_dim,
                            DefaultValuedAttr<I64Attr, "1">:$group,
                            OptionalAttr<I64Attr>:$nope_dim,
                            OptionalAttr<I64Attr>:$rope_dim,
                            OptionalAttr<I64Attr>:$value_dim,
                            OptionalAttr<I64Attr>:$rank, F64Attr:$scale,
                            OptionalAttr<LLM_RopeAttr>:$rope,
                            OptionalAttr<I64Attr>:$window,
                            OptionalAttr<F64Attr>:$epsilon,
                            OptionalAttr<F64Attr>:$kv_norm_epsilon,
                            DefaultValuedAttr<I64Attr, "1">:$sequence), common);
  let results = (outs LLM_Activation2D:$result, Variadic<LLM_Cache>:$new_caches);
  let assemblyFormat = [{
    `` $kind $input (`,` $latent^)? `at` `(` $positions `)` `cache` `(` $caches `)`
    (`q_norm` `(` $q_norm^ `)`)? (`k_norm` `(` $k_norm^ `)`)? (`sinks` `(` $sinks^ `)`)?
    (`kv_norm` `(` $kv_norm^ `)`)? (`kv_up` `(` $kv_up^ `)`)?
    (`head_offset` `(` $head_offset^ `)`)? attr-dict `:`
    functional-type(operands, results)
  }];
}

def LLM_OutProjOp : LLM_FusedOp<"out_proj"> {
  let summary = "Output projection of attention";
  let description = [{
    `input * weight + bias`; the rows of the weight are `heads` heads.

    Sharding: 0 contracts cut heads (or cut features of heads; needs H, gives P), 1
    cuts the hidden size (needs R, gives H), none keeps R or T.

    Constraints:
    - (C1) weight rows equal the input's width
    - (C2) weight columns and bias equal the result's width
    - (C3) `heads` divides the input's width

    ```mlir
    func.func @f(%x: tensor<?x64xbf16>, %w: tensor<64x32xbf16>) -> tensor<?x32xbf16> {
      %o = llm.out_proj %x, %w {name = "out_proj", heads = 8} : (tensor<?x64xbf16>, tensor<64x32xbf16>) -> tensor<?x32xbf16>
      return %o : tensor<?x32xbf16>
    }
    ```
  }];
  let arguments = !con((ins LLM_Activation2D:$input, LLM_Matrix:$weight,
                            Optional<LLM_Vector>:$bias, I64Attr:$heads), common);
  let results = (outs LLM_Activation2D:$result);
  let assemblyFormat = [{
    $input `,` $weight (`bias` `(` $bias^ `)`)? attr-dict `:`
    functional-type(operands, results)
  }];
}

//===----------------------------------------------------------------------===//
// Mixture of experts
//===----------------------------------------------------------------------===//

def LLM_RouterOp : LLM_FusedOp<"router", [AttrSizedOperandSegments]> {
  let summary = "Scores of the experts and the choice of the best k";
  let description = [{
    Logits `input * weight + bias`, scored by `scoring` (softmax over all experts, or
    sigmoid). The choice adds `correction` to the scores; with `groups` only the
    experts of the `top_groups` groups with the largest sum of their two best
    corrected scores can be chosen. The `top_k` best are chosen, ties by the lower
    index; their weights are the uncorrected scores, divided by their sum when
    `normalize` holds, times `scale`.

    The first result is the input itself, which `llm.dispatch` reads.

    Sharding: 0 contracts a cut hidden size (needs H; the logits are all-reduced), 1
    cuts the experts (needs R; the logits are gathered), none keeps R or T.

    Constraints:
    - (C1) weight rows equal the input's width; the first result has the input's type
    - (C2) bias and correction have one entry an expert
    - (C3) indices and weights have `top_k` columns, at most as many as experts
    - (C4) `groups` divides the experts, `top_groups` is between 1 and `groups`, and the chosen groups
      hold `top_k` experts
    - (C5) `scale` is finite

    ```mlir
    func.func @f(%x: tensor<?x32xbf16>, %w: tensor<32x8xbf16>) -> tensor<?x2xi32> {
      %t, %i, %s = llm.router %x, %w {name = "router", scoring = #llm.scoring<softmax>, top_k = 2, normalize = true} : (tensor<?x32xbf16>, tensor<32x8xbf16>) -> (tensor<?x32xbf16>, tensor<?x2xi32>, tensor<?x2xf32>)
      return %i : tensor<?x2xi32>
    }
    ```
  }];
  let arguments = !con((ins LLM_Activation2D:$input, LLM_Matrix:$weight,
                            Optional<LLM_Vector>:$bias, Optional<LLM_Vector>:$correction,
                            LLM_ScoringAttr:$scoring, I64Attr:$top_k,
                            DefaultValuedAttr<BoolAttr, "false">:$normalize,
                            DefaultValuedAttr<I64Attr, "1">:$groups,
                            DefaultValuedAttr<I64Attr, "1">:$top_groups,
                            DefaultValuedAttr<F64Attr, "1.0">:$scale), common);
  let results = (outs LLM_Activation2D:$tokens, LLM_Indices2D:$indices,
                      LLM_RoutingWeights:$weights);
  let assemblyFormat = [{
    $input `,` $weight (`bias` `(` $bias^ `)`)? (`correction` `(` $correction^ `)`)?
    attr-dict `:` functional-type(operands, results)
  }];
}

def LLM_DispatchOp : LLM_FusedOp<"dispatch"> {
  let summary = "Sends the copies of every token to its experts";
  let description = [{
    Makes a row for every (token, chosen expert), ordered by expert and then by
    token and choice; none is dropped. `counts` `[homes, sources, experts]`, here
    `[1, 1, E]`, says how many rows each expert has; `origins` has, for each row,
    token * top_k + choice.

    Sharding: 0 exchanges tokens cut over the tensor-parallel group (needs T), 1
    exchanges features cut over it (needs H), none keeps R (every device sends a
    full copy) or T.

    Constraints:
    - (C1) the rows have the tokens' width and element type
    - (C2) `counts` is `[1, 1, experts]`
    - (C3) `experts` is positive and at least the number of choices

    ```mlir
    func.func @f(%t: tensor<?x32xbf16>, %i: tensor<?x2xi32>) -> tensor<?x32xbf16> {
      %d, %c, %o = llm.dispatch %t, %i {name = "dispatch", experts = 8} : (tensor<?x32xbf16>, tensor<?x2xi32>) -> (tensor<?x32xbf16>, tensor<1x1x8xi32>, tensor<?xi32>)
      return %d : tensor<?x32xbf16>
    }
    ```
  }];
  let arguments = !con((ins LLM_Activation2D:$tokens, LLM_Indices2D:$indices,
                            I64Attr:$experts), common);
  let results = (outs LLM_Activation2D:$rows, LLM_Counts:$counts, LLM_Indices1D:$origins);
  let assemblyFormat = [{
    $tokens `,` $indices attr-dict `:` functional-type(operands, results)
  }];
}

def LLM_FfnUpOp : LLM_FusedOp<"ffn_up", [AttrSizedOperandSegments]> {
  let summary = "Up-projection (and gate) with the activation";
  let description = [{
    `activation(input * weight + bias)`. A gated activation has `2*ff` columns, gate
    first, then up. With `counts` the product is grouped: the weight is
    `[experts, in, columns]`, the rows are ordered `[home][source][expert]`, each home's
    block is padded at its end to the same length, and rows beyond its counts give
    zeros. Without an `activation` (after lowering) it is the projection alone.

    Sharding: 0 contracts a cut hidden size (needs H, gives a partial sum of the
    raw projection, P), 1 cuts the columns (needs R, gives H; gate and up of the same
    columns on one device), none keeps R or T.

    Constraints:
    - (C1) weight rows equal the input's width
    - (C2) weight columns and bias are `ff`, or `2*ff` when gated, where ff is the result's width
    - (C3) the weight has rank 3 exactly when there are `counts`, whose last size is its number of
      experts; the bias then has a row an expert

    ```mlir
    func.func @f(%x: tensor<?x32xbf16>, %w: tensor<32x160xbf16>) -> tensor<?x80xbf16> {
      %u = llm.ffn_up %x, %w {name = "ffn_up", activation = #llm.activation<kind = silu, gated = true>} : (tensor<?x32xbf16>, tensor<32x160xbf16>) -> tensor<?x80xbf16>
      return %u : tensor<?x80xbf16>
    }
    ```
  }];
  let arguments = !con((ins LLM_Activation2D:$input, LLM_Weight:$weight,
                            Optional<LLM_Bias>:$bias, Optional<LLM_Counts>:$counts,
                            OptionalAttr<LLM_ActivationAttr>:$activation), common);
  let results = (outs LLM_Activation2D:$result);
  let assemblyFormat = [{
    $input `,` $weight (`bias` `(` $bias^ `)`)? (`counts` `(` $counts^ `)`)? attr-dict `:`
    functional-type(operands, results)
  }];
}

def LLM_FfnDownOp : LLM_FusedOp<"ffn_down", [AttrSizedOperandSegments]> {
  let summary = "Down-projection of a feed-forward network";
  let description = [{
    `input * weight + bias`; grouped as in `llm.ffn_up` where there are `counts`.

    Sharding: 0 contracts a cut ff (needs H, gives P), 1 cuts the hidden size (needs
    R, gives H), none keeps R or T.

    Constraints:
    - (C1) weight rows equal the input's width
    - (C2) weight columns and bias equal the result's width
    - (C3) the weight has rank 3 exactly when there are `counts`, whose last size is its number of
      experts; the bias then has a row an expert

    ```mlir
    func.func @f(%x: tensor<?x80xbf16>, %w: tensor<80x32xbf16>) -> tensor<?x32xbf16> {
      %d = llm.ffn_down %x, %w {name = "ffn_down"} : (tensor<?x80xbf16>, tensor<80x32xbf16>) -> tensor<?x32xbf16>
      return %d : tensor<?x32xbf16>
    }
    ```
  }];
  let arguments = !con((ins LLM_Activation2D:$input, LLM_Weight:$weight,
                            Optional<LLM_Bias>:$bias, Optional<LLM_Counts>:$counts), common);
  let results = (outs LLM_Activation2D:$result);
  let assemblyFormat = [{
    $input `,` $weight (`bias` `(` $bias^ `)`)? (`counts` `(` $counts^ `)`)? attr-dict `:`
    functional-type(operands, results)
  }];
}

def LLM_CombineOp : LLM_FusedOp<"combine"> {
  let summary = "Brings the experts' rows back to their tokens";
  let description = [{
    Row t of the result is the sum, over its k choices, of the routing weight times
    the expert's row.

    Sharding: 0 exchanges rows cut over the tensor-parallel group (needs T), 1
    exchanges cut features (needs H), none keeps R, T or P (it is linear, so a
    reduction may be deferred).

    Constraints:
    - (C1) the result has the rows' width and element type
    - (C2) `counts` is `[1, 1, experts]`

    ```mlir
    func.func @f(%y: tensor<?x32xbf16>, %c: tensor<1x1x8xi32>, %o: tensor<?xi32>, %w: tensor<?x2xf32>) -> tensor<?x32xbf16> {
      %x = llm.combine %y, %c, %o, %w {name = "combine"} : (tensor<?x32xbf16>, tensor<1x1x8xi32>, tensor<?xi32>, tensor<?x2xf32>) -> tensor<?x32xbf16>
      return %x : tensor<?x32xbf16>
    }
    ```
  }];
  let arguments = !con((ins LLM_Activation2D:$rows, LLM_Counts:$counts,
                            LLM_Indices1D:$origins, LLM_RoutingWeights:$weights), common);
  let results = (outs LLM_Activation2D:$result);
  let assemblyFormat = [{
    $rows `,` $counts `,` $origins `,` $weights attr-dict `:`
    functional-type(operands, results)
  }];
}

//===----------------------------------------------------------------------===//
// Head
//===----------------------------------------------------------------------===//

def LLM_LmHeadOp : LLM_FusedOp<"lm_head"> {
  let summary = "Final norm, output projection, greedy argmax";
  let description = [{
    Reads the last row of each prompt (every row in decode, where `sequence` is 1),
    norms it with `norm` and `epsilon`, multiplies by the weight `[hidden, vocab]` (or
    `[vocab, hidden]` with `tied`, where it is the embedding's table) and returns the
    index of the largest logit, the lowest among equals. The logits themselves are
    an optional second result.

    Sharding: 0 contracts a cut hidden size (needs H; the logits are
    reduce-scattered over the vocabulary), 1 cuts the vocabulary (needs R), none keeps
    R or T. Pairs of value and index are gathered for the argmax.

    Constraints:
    - (C1) the norm is as wide as the input, and `epsilon` is positive
    - (C2) weight rows (columns when `tied`) equal the input's width
    - (C3) logits, where asked for, are as wide as the vocabulary
    - (C4) `sequence` is positive

    ```mlir
    func.func @f(%x: tensor<?x32xbf16>, %n: tensor<32xbf16>, %w: tensor<32x101xbf16>) -> tensor<?xi32> {
      %t = llm.lm_head %x norm(%n) weight(%w) {name = "lm_head", epsilon = 1.0e-5} : (tensor<?x32xbf16>, tensor<32xbf16>, tensor<32x101xbf16>) -> tensor<?xi32>
      return %t : tensor<?xi32>
    }
    ```
  }];
  let arguments = !con((ins LLM_Activation2D:$input, LLM_Vector:$norm,
                            LLM_Matrix:$weight, F64Attr:$epsilon,
                            DefaultValuedAttr<I64Attr, "1">:$sequence,
                            UnitAttr:$tied), common);
  let results = (outs LLM_Indices1D:$token_ids, Optional<LLM_Activation2D>:$logits);
  let assemblyFormat = [{
    $input `norm` `(` $norm `)` `weight` `(` $weight `)` attr-dict `:`
    functional-type(operands, results)
  }];
}

#endif // SHARDOPT_DIALECT_LLM_IR_LLMOPS_TD
