"""Embedding, norms, projections."""

import dataclasses

from .case import Case, X, i32, op


def embeddings():
    table = {"%t": "tensor<?xi32>", "%w": "tensor<11x6xf32>"}
    tokens = {"t": i32(3, 10, 0, 3, 7)}
    yield op("embedding", "embedding", table, ["tensor<?x6xf32>"], given=tokens)
    yield op("embedding, scaled", "embedding", table, ["tensor<?x6xf32>"], "scale = 2.5", given=tokens)
    yield op(
        "embedding of a part of the vocabulary",
        "embedding",
        {**table, "%o": "index"},
        ["tensor<?x6xf32>"],
        form="{}, {} offset({})",
        given={"t": i32(3, 10, 13, 14, 3, 13, 2), "ot": i32(3)},
    )


def norms():
    yield op(
        "rms_norm",
        "rms_norm",
        {"%x": X, "%w": "tensor<12xf32>"},
        [X],
        "epsilon = 1.0e-2",
        form="{} weight({})",
    )
    yield op(
        "rms_norm with a residual",
        "rms_norm",
        {"%x": X, "%s": X, "%w": "tensor<12xf32>"},
        [X, X],
        "epsilon = 1.0e-5",
        form="{} residual({}) weight({})",
    )
    yield op(
        "rms_norm with a residual behind it",
        "rms_norm",
        {"%x": X, "%s": X, "%w": "tensor<12xf32>"},
        [X],
        "epsilon = 1.0e-5, norm_first",
        form="{} residual({}) weight({})",
    )
    yield op(
        "layer_norm without a bias",
        "layer_norm",
        {"%x": X, "%w": "tensor<12xf32>"},
        [X],
        "epsilon = 1.0e-2",
        form="{} weight({})",
    )
    vectors = {"%w": "tensor<12xf32>", "%b": "tensor<12xf32>"}
    yield op(
        "layer_norm",
        "layer_norm",
        {"%x": X, **vectors},
        [X],
        "epsilon = 1.0e-2",
        form="{} weight({}) bias({})",
    )
    yield op(
        "layer_norm with a residual",
        "layer_norm",
        {"%x": X, "%s": X, **vectors},
        [X, X],
        "epsilon = 1.0e-5",
        form="{} residual({}) weight({}) bias({})",
    )
    add = "  %r = llm.add %x, %y : tensor<?x12xf32>\n  return %r : tensor<?x12xf32>"
    yield Case("add", f"%x: {X}, %y: {X}", X, add)


def projections():
    x, w, b = {"%x": X}, {"%w": "tensor<12x28xf32>"}, {"%b": "tensor<28xf32>"}
    y, bias = ["tensor<?x28xf32>"], "{}, {} bias({})"
    heads = "heads = 5, kv_heads = 1, head_dim = 4"
    yield op("qkv_proj", "qkv_proj", {**x, **w}, y, heads)
    yield op("qkv_proj with a bias", "qkv_proj", {**x, **w, **b}, y, heads, form=bias)
    yield op("out_proj", "out_proj", {**x, **w}, y, "heads = 3")
    out = op("out_proj with a bias", "out_proj", {**x, **w, **b}, y, "heads = 3", form=bias)
    yield out
    yield dataclasses.replace(out, name="out_proj of one row", rows=1)
    yield dataclasses.replace(out, name="out_proj of no row", rows=0)
    yield op("linear", "linear", {**x, **w}, y)
    yield op(
        "linear with a norm and a bias",
        "linear",
        {**x, **w, "%n": "tensor<12xf32>", **b},
        y,
        "epsilon = 1.0e-3",
        form="{}, {} norm({}) bias({})",
    )
    yield op(
        "linear, transposed",
        "linear",
        {**x, "%w": "tensor<28x12xf32>"},
        y,
        "transposed",
    )
    yield op(
        "linear in bf16",
        "linear",
        {"%x": "tensor<?x12xbf16>", "%w": "tensor<12x28xbf16>"},
        ["tensor<?x28xbf16>"],
    )
