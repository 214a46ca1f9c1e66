//===- LLMStructureOps.td - Weights, layers, residuals -*- tablegen -*-===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef SHARDOPT_DIALECT_LLM_IR_LLMSTRUCTUREOPS_TD
#define SHARDOPT_DIALECT_LLM_IR_LLMSTRUCTUREOPS_TD

include "shardopt/Dialect/LLM/IR/LLMOpBase.td"

def LLM_ParamOp : LLM_Op<"param", [
    Pure, DeclareOpInterfaceMethods<OpAsmOpInterface, ["getAsmResultNames"]>]> {
  let summary = "A weight of the model";
  let description = [{
    Stands for a weight, beside the op that reads it. Within the body of an
    `llm.repeat` it is the layer's slice of a stack of weights.

    `source` says which tensors of a checkpoint it is: `parts`, a list of
    dictionaries with `pattern` (the tensor's name, in which `{layer}` stands for
    the layer's number, as the repeat's `layers` say it, and `{expert}` for the
    expert's), optional `transposed`
    (a unit attribute: the checkpoint has `[out, in]`), optional `size` (how many
    columns the part adds along `axis`), and optional `deinterleave` (a unit
    attribute: even columns first, then odd ones); and `axis`, the dim along
    which several parts are concatenated, counted without the expert dim when
    the pattern has `{expert}` (experts are stacked in front).

    `offset` says where in its tensor a part of `size` entries along `axis` begins. With
    `groups` every part is cut into that many blocks of one size along `axis`, and the
    first blocks of all parts stand in front of the second ones, and so on: heads of
    which each has something of every part. Dims of size 1 that a tensor has and
    the param does not are left out.

    A part that the checkpoint stores quantised has `scales`, the pattern of the
    tensor with its scales: with `block = array<i64: r, c>` one for each block of r
    rows and c columns of the checkpoint's matrix (fp8; without `block` one for the
    matrix), or one exponent byte for 32 elements of a row (mxfp4, whose `pattern`
    is the tensor of packed blocks `[experts, out, in/32, 16]`, two elements a byte,
    the first in the low half).

    Every element is multiplied by the part's `factor` (1) and then has its `shift` (0)
    added: models that scale what a block adds to the residual, or that norm with one
    plus the weight, have it in their weights here.

    After lowering, `shardopt.slice` says which part of the global tensor the
    device holds.

    Constraints:
    - (C1) the type has static sizes
    - (C2) `source`, where present, has a non-empty `parts`, each with a string `pattern`, a
      positive 64-bit `size` if any, unit attributes for its flags, a string for `scales`,
      two positive numbers for `block`, a positive `factor`, a `shift` that is not negative,
      an `offset` that is not negative and comes with a `size`; `axis` is a dim of the param, and is
      there with several parts; `groups` divides every part's `size`

    ```mlir
    func.func @f() -> tensor<4096x6144xbf16> {
      %w = llm.param @qkv_proj.weight : tensor<4096x6144xbf16> from dim 1 [
          4096 of "model.layers.0.self_attn.q_proj.weight" transposed,
          1024 of "model.layers.0.self_attn.k_proj.weight" transposed,
          1024 of "model.layers.0.self_attn.v_proj.weight" transposed]
      return %w : tensor<4096x6144xbf16>
    }
    ```
  }];
  let arguments = (ins SymbolNameAttr:$param,
                       OptionalAttr<DictionaryAttr>:$source);
  let results = (outs AnyStaticShapeTensor:$result);
  let assemblyFormat = [{
    $param `:` type($result) (`from` custom<Source>($source)^)? attr-dict
  }];
  let hasVerifier = 1;
}

def LLM_RepeatOp : LLM_Op<"repeat", [
    AttrSizedOperandSegments, SingleBlock, RecursiveMemoryEffects,
    DeclareOpInterfaceMethods<OpAsmOpInterface,
        ["getAsmResultNames", "getAsmBlockArgumentNames"]>]> {
  let summary = "A stack of identical layers, as a scan";
  let description = [{
    Runs its body `count` times, one layer an iteration. The body's arguments are
    the residual, a slice of each stacked value (caches first, then weights that
    come as arguments; the leading size of each is `count`), and the invariants.
    It yields the residual and its layer's caches, which come back stacked as
    results. The yielded caches correspond in order to the first stacked values,
    which are written as `caches(…)`.

    `layers` gives the numbers of the layers in the checkpoint, one an iteration,
    which are those of the iterations where it is absent. It is written as ranges,
    both ends included: `layers<0-2, 60>`.

    `windows` gives each layer's sliding window, 0 where attention is full; the
    body's `llm.attention` takes its layer's. It is written up to where it starts
    again: `windows<128, 0, ...>`.

    Constraints:
    - (C1) `count` is positive, and at most 1048576
    - (C2) the leading size of every stacked operand is `count`
    - (C3) the body's arguments are the residual, the slices, the invariants, with these types
    - (C4) the yield's operands have the types of the residual and of the first slices, and the
      results are the residual and those stacked operands
    - (C5) `windows` has `count` entries, none negative
    - (C6) names of fused ops are unique in the body
    - (C7) where there are `windows`, no op of the body has a `window`
    - (C8) `layers` has `count` entries, none negative

    ```mlir
    func.func @f(%x: tensor<?x8xbf16>, %w: tensor<3x8x8xbf16>) -> tensor<?x8xbf16> {
      %y = llm.repeat 3 layers<0-2> init(%r = %x : tensor<?x8xbf16>) stacked(%v = %w : tensor<3x8x8xbf16>) {
        %u = llm.linear "proj" %r, %v : tensor<?x8xbf16> -> tensor<?x8xbf16>
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
                       OptionalAttr<DenseI64ArrayAttr>:$layers,
                       OptionalAttr<DenseI64ArrayAttr>:$windows);
  let results = (outs LLM_Activation2D:$result,
                      Variadic<AnyRankedTensor>:$stacks);
  let regions = (region SizedRegion<1>:$body);
  let hasCustomAssemblyFormat = 1;
  let extraClassDeclaration = [{
    ::mlir::Block *getBodyBlock() { return &getBody().front(); }
    /// The residual inside the body.
    ::mlir::BlockArgument getResidual() { return getBody().getArgument(0); }
    /// The body's arguments that are slices of the stacked operands.
    ::llvm::ArrayRef<::mlir::BlockArgument> getSlices();
    /// The body's arguments that stand for the invariants.
    ::llvm::ArrayRef<::mlir::BlockArgument> getInvariantArguments();
    /// The type of one layer's slice of a stacked value, which has a leading
    /// size.
    static ::mlir::RankedTensorType getSliceType(::mlir::RankedTensorType stacked);
    /// The number in the checkpoint of the layer of iteration `index`.
    int64_t getLayer(int64_t index);
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

def LLM_AddOp : LLM_Op<"add", [
    Pure, Commutative, AllTypesMatch<["lhs", "rhs", "result"]>,
    DeclareOpInterfaceMethods<OpAsmOpInterface, ["getAsmResultNames"]>]> {
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

#endif // SHARDOPT_DIALECT_LLM_IR_LLMSTRUCTUREOPS_TD
