"""What moves features, and heads."""

import numpy as np

from .case import Case, X, i32, op, random


def features():
    def unary(name, mnemonic, attributes, result):
        body = f"  %r = llm.{mnemonic} %x {{{attributes}}} : ({X}) -> {result}\n  return %r : {result}"
        return Case(name, f"%x: {X}", result, body)

    runs = "runs = array<i64: 0, 2, 3, 2, 1, -1, 2, 1, 1, 0, 11, 1, 1, 1, 0>"
    yield unary("select_columns", "select_columns", runs, "tensor<?x7xf32>")
    yield unary("sum_squares", "sum_squares", "", "tensor<?x1xf32>")
    yield unary("sum_squares by group", "sum_squares", "groups = 4", "tensor<?x4xf32>")
    for groups in (1, 3):
        x, s, w = X, f"tensor<?x{groups}xf32>", f"tensor<{12 // groups}xf32>"
        body = (
            f"  %r = llm.scale_norm %x, %s, %w {{epsilon = 1.0e-2, size = 24}} : {x}, {s}\n"
            f"  return %r : {X}"
        )
        yield Case(
            f"scale_norm of {groups} groups",
            f"%x: {x}, %s: {s}, %w: {w}",
            X,
            body,
            given={"s": np.abs(random(5, groups))},
        )
    moments = "tensor<?x6xf32>"
    yield unary("sum_squares with sums", "sum_squares", "groups = 3, sums", moments)
    body = (
        "  %r = llm.scale_norm %x, %s, %w bias(%b) {epsilon = 1.0e-2, size = 24} : "
        f"{X}, {moments}\n  return %r : {X}"
    )
    # Squares first, of which rounding may leave less than the mean's.
    squares = 3 * np.abs(random(5, 3))
    squares[0] = 0
    yield Case(
        "scale_norm of deviations from the mean",
        f"%x: {X}, %s: {moments}, %w: tensor<4xf32>, %b: tensor<4xf32>",
        X,
        body,
        given={"s": np.concatenate([squares, random(5, 3, seed=2)], axis=1)},
    )
    each = (
        "  %r = llm.scale_norm %x, %s, %w {epsilon = 1.0e-2, size = 24, sums} : "
        f"({X}, {moments}, tensor<12xf32>) -> {X}\n  return %r : {X}"
    )
    yield Case(
        "scale_norm with weights of every group",
        f"%x: {X}, %s: {moments}, %w: tensor<12xf32>",
        X,
        each,
        given={"s": np.concatenate([squares, random(5, 3, seed=2)], axis=1)},
    )
    plain = (
        "  %r = llm.scale_norm %x, %s {epsilon = 1.0e-2, size = 24} : "
        f"{X}, tensor<?x3xf32>\n  return %r : {X}"
    )
    yield Case(
        "scale_norm without weights",
        f"%x: {X}, %s: tensor<?x3xf32>",
        X,
        plain,
        given={"s": np.abs(random(5, 3))},
    )


# ---------------------------------------------------------------------------
# Head
# ---------------------------------------------------------------------------


def heads():
    norm, ids = {"%n": "tensor<12xf32>"}, "tensor<?xi32>"
    for name, shape, attributes in (
        ("lm_head", "12x17", ""),
        ("lm_head, tied", "17x12", ", tied"),
        ("lm_head, prefill", "12x17", ", sequence = 3"),
        ("lm_head, scaled and capped", "12x17", ", logit_scale = 0.4, soft_cap = 0.9"),
    ):
        yield op(
            name,
            "lm_head",
            {"%x": X, **norm, "%w": f"tensor<{shape}xf32>"},
            [ids, "tensor<?x17xf32>"],
            "epsilon = 1.0e-3" + attributes,
            form="{} norm({}) weight({})",
            rows=9,
        )
    yield op(
        "lm_head with a norm of deviations",
        "lm_head",
        {"%x": X, **norm, "%w": "tensor<12x17xf32>", "%b": "tensor<12xf32>"},
        [ids, "tensor<?x17xf32>"],
        "epsilon = 1.0e-3",
        form="{} norm({}) weight({}) norm_bias({})",
        rows=9,
    )
    yield op(
        "lm_head with a norm of deviations without a bias",
        "lm_head",
        {"%x": X, **norm, "%w": "tensor<12x17xf32>"},
        [ids, "tensor<?x17xf32>"],
        "epsilon = 1.0e-3, norm_mean",
        form="{} norm({}) weight({})",
        rows=9,
    )
    last = {"%x": X, "%o": "index", "%p": "index"}
    for offset, rows in ((0, 9), (3, 4), (7, 0)):
        yield op(
            f"last_rows of {rows} rows from {offset}",
            "last_rows",
            last,
            [X],
            "sequence = 3",
            form="{} offset({}) prompts({})",
            rows=rows,
            given={"ot": i32(offset), "pt": i32(3)},
        )
    logits = np.array([[1, 3, 3, 0, 9], [-5, -6, -7, -5, 0], [2, 2, 2, 2, 2]], float)
    for offset in (0, 8, 15):
        yield op(
            f"argmax from {offset}",
            "argmax",
            {"%l": "tensor<?x5xf32>", "%o": "index"},
            ["tensor<?x2xi32>"],
            "vocabulary = 12",
            form="{} offset({})",
            given={"l": logits, "ot": i32(offset)},
        )
    values = np.array([[3, 4, 4], [-1, -2, -1], [0, 0, 0]], np.float32)
    indices = i32(1, 9, 7, 2, 9, 12, 0, 9, 8).reshape(3, 3)
    pairs = np.stack([values.view(np.int32), indices], axis=-1).reshape(3, 6)
    yield op(
        "argmax_merge", "argmax_merge", {"%c": "tensor<?x6xi32>"}, [ids], given={"c": pairs}
    )
