"""Routers, dispatches, feed-forward networks and exchanges."""

import dataclasses
import itertools

import numpy as np

from .case import Case, X, i32, op, random


def routers():
    x, w = {"%x": X}, {"%w": "tensor<12x6xf32>"}
    bias, correction = {"%b": "tensor<6xf32>"}, {"%c": "tensor<6xf32>"}
    results = [X, "tensor<?x2xi32>", "tensor<?x2xf32>"]
    softmax = "scoring = #llm.scoring<softmax>, top_k = 2"
    sigmoid = "scoring = #llm.scoring<sigmoid>, top_k = 2"
    yield op("router", "router", {**x, **w}, results, softmax)
    yield op("router, normalised", "router", {**x, **w}, results, softmax + ", normalize = true")
    yield op(
        "router with a bias",
        "router",
        {**x, **w, **bias},
        results,
        sigmoid + ", scale = 2.5",
        form="{}, {} bias({})",
    )
    grouped = op(
        "router with groups and a correction",
        "router",
        {**x, **w, **correction},
        results,
        sigmoid + ", normalize = true, groups = 3, top_groups = 1, scale = 1.5",
        form="{}, {} correction({})",
        rows=13,
    )
    yield grouped
    yield dataclasses.replace(
        grouped,
        name="router with groups of one",
        body=grouped.body.replace("groups = 3, top_groups = 1", "groups = 6, top_groups = 2"),
    )
    yield dataclasses.replace(
        grouped,
        name="router with groups by their best",
        body=grouped.body.replace("top_groups = 1", "top_groups = 1, group_best = 1"),
    )
    yield op(
        "router that scales tokens",
        "router",
        {**x, **w},
        [X, "tensor<?x1xi32>", "tensor<?x1xf32>"],
        "scoring = #llm.scoring<sigmoid>, top_k = 1, scale_tokens",
    )
    tied = op("router whose scores are equal", "router", {**x, **w}, results, softmax)
    tied.given["w"] = np.zeros((12, 6))
    yield tied


def scaled_rows():
    operands = {"%x": X, "%w": "tensor<?x1xf32>"}
    yield op("scale_rows", "scale_rows", operands, [X])


def top_ks():
    results = ["tensor<?x3xi32>", "tensor<?x3xf32>"]
    yield op(
        "top_k of padded logits",
        "top_k",
        {"%l": "tensor<?x9xf32>"},
        results,
        "experts = 7, scoring = #llm.scoring<softmax>, top_k = 3, normalize = true",
    )
    yield op(
        "top_k with groups and ties",
        "top_k",
        {"%l": "tensor<?x8xf32>", "%c": "tensor<8xf32>"},
        results,
        "experts = 8, scoring = #llm.scoring<sigmoid>, top_k = 3, groups = 4, top_groups = 2",
        form="{} correction({})",
        given={
            "l": np.array([[0, 0, 0, 0, 0, 0, 0, 0], [1, 2, 1, 2, 2, 1, 0, 0], [0, 1, 2, 3, 3, 2, 1, 0]]),
            "c": np.zeros(8),
        },
    )


def dispatches():
    choices = i32(2, 0, 2, 4, 0, 2, 4, 0, 0, 2).reshape(5, 2)
    for name, indices in {
        "dispatch": choices,
        "dispatch, all to one expert": np.full((5, 2), 3, np.int32),
        "dispatch of one token": i32(4, 1).reshape(1, 2),
        "dispatch of no token": np.zeros((0, 2), np.int32),
    }.items():
        yield op(
            name,
            "dispatch",
            {"%t": X, "%i": "tensor<?x2xi32>"},
            [X, "tensor<1x1x5xi32>", "tensor<?xi32>"],
            "experts = 5",
            rows=len(indices),
            given={"i": indices},
        )
    yield op(
        "dispatch that scales",
        "dispatch",
        {"%t": X, "%i": "tensor<?x2xi32>", "%w": "tensor<?x2xf32>"},
        [X, "tensor<1x1x5xi32>", "tensor<?xi32>"],
        "experts = 5",
        form="{}, {} weights({})",
        rows=5,
        given={"i": choices},
    )
    origins = np.argsort(choices.reshape(-1), kind="stable").astype(np.int32)
    rows = {"%y": X, "%c": "tensor<1x1x5xi32>", "%o": "tensor<?xi32>", "%w": "tensor<?x2xf32>"}
    given = {"y": random(10, 12), "c": i32(4, 0, 4, 0, 2).reshape(1, 1, 5), "o": origins}
    yield op("combine", "combine", rows, [X], given=given)
    yield op("combine, unweighted", "combine", rows, [X], "unweighted", given=given)


ACTIVATIONS = {
    "silu": "kind = silu, gated = true",
    "silu, not gated": "kind = silu",
    "silu of gpt-oss": "kind = silu, gated = true, alpha = 1.702, limit = 0.7, shift = 1.0",
    "gelu": "kind = gelu",
    "gelu, gated": "kind = gelu, gated = true",
    "gelu_tanh": "kind = gelu_tanh",
    "relu": "kind = relu, gated = true, limit = 0.5",
    "relu2": "kind = relu2",
}


def feed_forwards():
    for name, activation in ACTIVATIONS.items():
        width = 14 if "gated" in activation else 7
        attributes = f"activation = #llm.activation<{activation}>"
        yield op(
            f"ffn_up, {name}",
            "ffn_up",
            {"%x": X, "%w": f"tensor<12x{width}xf32>", "%b": f"tensor<{width}xf32>"},
            ["tensor<?x7xf32>"],
            attributes,
            form="{}, {} bias({})",
        )
    gated = f"activation = #llm.activation<{ACTIVATIONS['silu of gpt-oss']}>"
    yield op(
        "ffn_up with a row gate",
        "ffn_up",
        {"%x": X, "%w": "tensor<12x14xf32>", "%g": "tensor<12xf32>"},
        ["tensor<?x7xf32>"],
        gated,
        form="{}, {} row_gate({})",
    )
    for blocks, name in itertools.product((1, 3), ("gated", "plain")):
        width = 12 if name == "gated" else 6
        attribute = gated if name == "gated" else "activation = #llm.activation<kind = gelu>"
        body = (
            f"  %r = llm.activation %x {{{attribute}, blocks = {blocks}}} : "
            f"tensor<?x{width}xf32> -> tensor<?x6xf32>\n  return %r : tensor<?x6xf32>"
        )
        yield Case(
            f"activation, {name}, {blocks} blocks",
            f"%x: tensor<?x{width}xf32>",
            "tensor<?x6xf32>",
            body,
        )
    counts = {
        "one block": i32(3, 0, 5, 1).reshape(1, 1, 4),
        "padded homes": i32(1, 0, 2, 1, 0, 0, 0, 1, 0, 0, 3, 0, 1, 1, 0, 0).reshape(2, 2, 4),
        "all on one expert": i32(0, 0, 9, 0).reshape(1, 1, 4),
        "no rows": np.zeros((1, 1, 4), np.int32),
    }
    for name, value in counts.items():
        homes, sources, _ = value.shape
        block = value.sum(axis=(1, 2)).max() + (homes > 1)
        given = {"rows": homes * block, "given": {"c": value}}
        c = {"%c": f"tensor<{homes}x{sources}x4xi32>"}
        yield op(
            f"ffn_up of experts, {name}",
            "ffn_up",
            {"%x": X, "%w": "tensor<4x12x14xf32>", "%b": "tensor<4x14xf32>", **c},
            ["tensor<?x7xf32>"],
            gated,
            form="{}, {} bias({}) counts({})",
            **given,
        )
        yield op(
            f"ffn_down of experts, {name}",
            "ffn_down",
            {"%x": X, "%w": "tensor<4x12x5xf32>", **c},
            ["tensor<?x5xf32>"],
            form="{}, {} counts({})",
            **given,
        )
    yield op(
        "ffn_down",
        "ffn_down",
        {"%x": X, "%w": "tensor<12x5xf32>", "%b": "tensor<5xf32>"},
        ["tensor<?x5xf32>"],
        form="{}, {} bias({})",
    )


def exchanges():
    choices = i32(4, 0, -1, -1, 5, 2, 0, 4, 4, 1, -1, -1, 3, 5).reshape(7, 2)
    for homes in (1, 3):
        yield op(
            f"exchange_plan over {homes} homes",
            "exchange_plan",
            {"%i": "tensor<?x2xi32>", "%b": "index"},
            [f"tensor<2x{homes}x3xi32>", "tensor<?xi32>"],
            form="{} block({})",
            given={"i": choices, "bt": i32(3)},
        )
    yield op(
        "permute",
        "permute",
        {"%t": X, "%o": "tensor<?xi32>"},
        [X],
        "top_k = 3",
        given={"o": i32(14, 0, 7, 1, 1, 9)},
    )
    yield op(
        "permute that scales",
        "permute",
        {"%t": X, "%o": "tensor<?xi32>", "%w": "tensor<?x3xf32>"},
        [X],
        "top_k = 3",
        form="{}, {} weights({})",
        given={"o": i32(14, 0, 7, 1, 1, 9)},
    )
    yield op(
        "unpermute, unweighted",
        "unpermute",
        {"%y": X, "%o": "tensor<?xi32>", "%w": "tensor<?x3xf32>"},
        [X],
        "unweighted",
        given={"y": random(6, 12), "o": i32(14, 0, 7, 1, 3, 9)},
    )
    yield op(
        "unpermute",
        "unpermute",
        {"%y": X, "%o": "tensor<?xi32>", "%w": "tensor<?x3xf32>"},
        [X],
        given={"y": random(6, 12), "o": i32(14, 0, 7, 1, 3, 9)},
    )


def homes():
    counts = i32(1, 0, 2, 0, 1, 1, 0, 0, 0, 2, 1, 0).reshape(2, 3, 2)  # [source][home][expert]
    c, x = "tensor<2x3x2xi32>", "tensor<?x5xf32>"
    size = f"  %r = llm.block_size %c : {c}\n  return %r : tensor<1xi32>"
    yield Case("block_size", f"%c: {c}", "tensor<1xi32>", size, given={"c": counts})
    for block in (4, 6):
        yield op(
            f"pack_homes to {block} rows",
            "pack_homes",
            {"%x": x, "%c": c, "%b": "tensor<1xi32>"},
            [x, "tensor<3x2x2xi32>"],
            form="{}, {} block({})",
            rows=8,
            given={"c": counts, "b": i32(block)},
        )
        yield op(
            f"unpack_homes of {block} rows",
            "unpack_homes",
            {"%x": x, "%c": c},
            [x],
            rows=3 * block,
            given={"c": counts},
        )
    yield op(
        "pack_homes of no row",
        "pack_homes",
        {"%x": x, "%c": c, "%b": "tensor<1xi32>"},
        [x, "tensor<3x2x2xi32>"],
        form="{}, {} block({})",
        rows=0,
        given={"c": 0 * counts, "b": i32(0)},
    )
