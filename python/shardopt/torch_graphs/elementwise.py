"""Ops of ATen, element by element, on shapes, and from nothing."""

from __future__ import annotations

import math
from typing import Any, Sequence

from .registry import RULES, Made, Rule, both, dims_of, rule, want
from .stablehlo import Builder, Scalar, Value, common_kind


# --- elementwise ----------------------------------------------------------------------

_UNARY = {
    "abs": "abs", "ceil": "ceil", "cos": "cosine", "exp": "exponential", "expm1": "exponential_minus_one",
    "floor": "floor", "log": "log", "log1p": "log_plus_one", "neg": "negate", "round": "round_nearest_even",
    "rsqrt": "rsqrt", "sigmoid": "logistic", "sign": "sign", "sin": "sine", "sqrt": "sqrt", "tan": "tan",
    "tanh": "tanh", "erf": "chlo.erf", "bitwise_not": "not",
    **{name: f"chlo.{name}" for name in ("acos", "acosh", "asin", "asinh", "atan", "atanh", "cosh", "digamma", "erfc", "lgamma", "sinh")},
    "erfinv": "chlo.erf_inv",
}
_BINARY = {
    "add": "add", "sub": "subtract", "mul": "multiply", "div": "divide", "maximum": "maximum", "minimum": "minimum",
    "atan2": "atan2", "bitwise_and": "and", "bitwise_or": "or", "bitwise_xor": "xor", "logical_and": "and",
    "logical_or": "or", "logical_xor": "xor", "fmod": "remainder",
}
_COMPARED = {"eq": "EQ", "ne": "NE", "lt": "LT", "le": "LE", "gt": "GT", "ge": "GE"}


def _unary(op: str) -> Rule:
    def run(b: Builder, made: Made, x: Value) -> Value:
        return b.elementwise(op, b.convert(x, made[0].kind))

    return run


def _binary(op: str) -> Rule:
    def run(b: Builder, made: Made, x: Value, y: "Value | Scalar", alpha: Scalar = 1, rounding_mode: "str | None" = None) -> Value:
        shape, kind = made[0].shape, made[0].kind
        left, right = both(b, shape, kind, x, y)
        if alpha != 1:
            right = b.elementwise("multiply", right, b.full(alpha, shape, kind))
        found = b.elementwise(op, left, right)
        if rounding_mode == "floor" and "f" not in kind:
            return b.elementwise(op, b.elementwise("subtract", left, _remainder(b, made, x, y)), right)
        if rounding_mode and "f" in kind:
            found = b.elementwise("floor", found) if rounding_mode == "floor" else _trunc(b, made, found)
        return found

    return run


def _compared(direction: str) -> Rule:
    def run(b: Builder, made: Made, x: Value, y: "Value | Scalar") -> Value:
        kind = common_kind(x.kind, y.kind) if isinstance(y, Value) else x.kind
        if isinstance(y, float) and "f" not in kind:
            kind = "f32"
        return b.compare(direction, *both(b, made[0].shape, kind, x, y))

    return run


for _name, _op in _UNARY.items():
    rule(_name)(_unary(_op))
for _name, _op in _BINARY.items():
    rule(_name)(_binary(_op))
for _name, _op in _COMPARED.items():
    rule(_name)(_compared(_op))


@rule("rsub")
def _rsub(b: Builder, made: Made, x: Value, y: "Value | Scalar", alpha: Scalar = 1) -> Value:
    left, right = both(b, made[0].shape, made[0].kind, x, y)
    return b.elementwise("subtract", right, left)


@rule("remainder")
def _remainder(b: Builder, made: Made, x: "Value | Scalar", y: "Value | Scalar") -> Value:
    """Of the divisor's sign; StableHLO's is of the dividend's."""
    shape, kind = made[0].shape, made[0].kind
    left, right = both(b, shape, kind, x, y)
    found, zero = b.elementwise("remainder", left, right), b.full(0, shape, kind)
    negative = [b.compare("LT", each, zero) for each in (found, right)]
    is_other = b.elementwise("and", b.compare("NE", found, zero), b.elementwise("xor", *negative))
    return b.op("select", [is_other, b.elementwise("add", found, right), found], [(shape, kind)])[0]


@rule("trunc")
def _trunc(b: Builder, made: Made, x: Value) -> Value:
    return b.elementwise("multiply", b.elementwise("sign", x), b.elementwise("floor", b.elementwise("abs", x)))


@rule("hypot")
def _hypot(b: Builder, made: Made, x: Value, y: Value) -> Value:
    squares = [b.elementwise("multiply", each, each) for each in both(b, made[0].shape, made[0].kind, x, y)]
    return b.elementwise("sqrt", b.elementwise("add", *squares))


@rule("exp2")
def _exp2(b: Builder, made: Made, x: Value) -> Value:
    return b.elementwise("power", *both(b, made[0].shape, made[0].kind, 2, x))


def _logarithm(base: int) -> Rule:
    def run(b: Builder, made: Made, x: Value) -> Value:
        found = b.elementwise("log", b.convert(x, made[0].kind))
        return b.elementwise("multiply", found, b.full(1 / math.log(base), found.shape, found.kind))

    return run


rule("log2")(_logarithm(2))
rule("log10")(_logarithm(10))


@rule("reciprocal")
def _reciprocal(b: Builder, made: Made, x: Value) -> Value:
    return b.elementwise("divide", b.full(1, x.shape, x.kind), x)


@rule("logical_not")
def _logical_not(b: Builder, made: Made, x: Value) -> Value:
    return b.elementwise("not", b.convert(x, "i1"))


@rule("isfinite")
def _isfinite(b: Builder, made: Made, x: Value) -> Value:
    return b.op("is_finite", [x], [(x.shape, "i1")])[0]


@rule("isnan")
def _isnan(b: Builder, made: Made, x: Value) -> Value:
    return b.compare("NE", x, x)


@rule("isinf")
def _isinf(b: Builder, made: Made, x: Value) -> Value:
    return b.compare("EQ", b.elementwise("abs", x), b.full(math.inf, x.shape, x.kind))


@rule("pow")
def _pow(b: Builder, made: Made, x: "Value | Scalar", y: "Value | Scalar") -> Value:
    shape, kind = made[0].shape, made[0].kind
    if isinstance(x, Value) and y in (2, 3):
        x = b.convert(x, kind)
        square = b.elementwise("multiply", x, x)
        return square if y == 2 else b.elementwise("multiply", square, x)
    if isinstance(x, Value) and y in (0.5, -0.5):
        return b.elementwise("sqrt" if y == 0.5 else "rsqrt", b.convert(x, kind))
    return b.elementwise("power", *both(b, shape, kind, x, y))


@rule("where")
def where(b: Builder, made: Made, which: Value, x: "Value | Scalar", y: "Value | Scalar") -> Value:
    shape = made[0].shape
    return b.op("select", [b.broadcast(which, shape), *both(b, shape, made[0].kind, x, y)], [(shape, made[0].kind)])[0]


@rule("masked_fill")
def _masked_fill(b: Builder, made: Made, x: Value, mask: Value, value: "Value | Scalar") -> Value:
    return where(b, made, mask, value, x)


@rule("clamp", "clamp_min", "hardtanh")
def _clamp(b: Builder, made: Made, x: Value, low: "Value | Scalar | None" = None, high: "Value | Scalar | None" = None) -> Value:
    for op, bound in (("maximum", low), ("minimum", high)):
        if bound is not None:
            x = b.elementwise(op, *both(b, made[0].shape, made[0].kind, x, bound))
    return x


@rule("relu")
def _relu(b: Builder, made: Made, x: Value) -> Value:
    return b.elementwise("maximum", x, b.full(0, x.shape, x.kind))


@rule("silu")
def _silu(b: Builder, made: Made, x: Value) -> Value:
    return b.elementwise("multiply", x, b.elementwise("logistic", x))


@rule("softplus")
def _softplus(b: Builder, made: Made, x: Value, beta: Scalar = 1, threshold: Scalar = 20) -> Value:
    scaled = b.elementwise("multiply", x, b.full(beta, x.shape, x.kind))
    grown = b.elementwise("log_plus_one", b.elementwise("exponential", scaled))
    grown = b.elementwise("divide", grown, b.full(beta, x.shape, x.kind))
    large = b.compare("GT", scaled, b.full(threshold, x.shape, x.kind))
    return b.op("select", [large, x, grown], [(x.shape, x.kind)])[0]


@rule("gelu")
def _gelu(b: Builder, made: Made, x: Value, approximate: str = "none") -> Value:
    def times(value: Value, factor: float) -> Value:
        return b.elementwise("multiply", value, b.full(factor, x.shape, x.kind))

    if approximate == "tanh":
        cube = b.elementwise("multiply", b.elementwise("multiply", x, x), x)
        inner = b.elementwise("add", x, times(cube, 0.044715))
        grown = b.elementwise("tanh", times(inner, math.sqrt(2 / math.pi)))
    else:
        grown = b.elementwise("chlo.erf", times(x, math.sqrt(0.5)))
    return b.elementwise("multiply", times(x, 0.5), b.elementwise("add", grown, b.full(1, x.shape, x.kind)))


@rule("clone", "alias", "detach", "contiguous", "lift_fresh_copy", "dropout", "to", "_to_copy", "type_as")
def _same(b: Builder, made: Made, x: Value, *_: Any, **__: Any) -> Value:
    return b.broadcast(b.convert(x, made[0].kind), made[0].shape)


@rule("copy")
def _copy(b: Builder, made: Made, x: Value, source: Value, *_: Any) -> Value:
    """What is written over `x`."""
    return _same(b, made, source)


# --- shapes ---------------------------------------------------------------------------

@rule("view", "_unsafe_view", "reshape", "unsqueeze", "squeeze", "flatten", "unflatten")
def _view(b: Builder, made: Made, x: Value, *_: Any) -> Value:
    return b.reshape(x, made[0].shape)


@rule("permute")
def _permute(b: Builder, made: Made, x: Value, order: Sequence[int]) -> Value:
    return b.transpose(x, [dim % len(x.shape) for dim in order])


@rule("transpose", "t", "mT")
def _transpose(b: Builder, made: Made, x: Value, one: int = 0, other: int = 1) -> Value:
    order = list(range(len(x.shape)))
    if len(order) < 2:
        return x
    order[one], order[other] = order[other], order[one]
    return b.transpose(x, order)


@rule("expand")
def _expand(b: Builder, made: Made, x: Value, *_: Any, **__: Any) -> Value:
    return b.broadcast(x, made[0].shape)


@rule("repeat")
def _repeat(b: Builder, made: Made, x: Value, times: Sequence[int]) -> Value:
    x = b.reshape(x, (1,) * (len(times) - len(x.shape)) + x.shape)
    for dim, count in enumerate(times):
        x = b.concatenate([x] * count, dim)
    return x


@rule("slice")
def _slice(b: Builder, made: Made, x: Value, dim: int = 0, start: "int | None" = None, end: "int | None" = None, step: int = 1) -> Value:
    dim %= len(x.shape)
    begin, stop, _ = slice(start, end).indices(x.shape[dim])
    return b.slice(x, dim, begin, stop, step)


@rule("select")
def _select(b: Builder, made: Made, x: Value, dim: int, index: int) -> Value:
    dim %= len(x.shape)
    index %= x.shape[dim]
    return b.reshape(b.slice(x, dim, index, index + 1), made[0].shape)


@rule("split_with_sizes", "split", "chunk", "unbind", "unsafe_split", "tensor_split")
def _split(b: Builder, made: Made, x: Value, *args: Any) -> tuple:
    # The shapes of the results say where: the last argument is the dim.
    is_unbind = len(made[0].shape) < len(x.shape)
    known = args[0] if is_unbind and args else args[1] if len(args) > 1 else 0
    dim, at, found = known % len(x.shape), 0, []
    for each in made:
        size = 1 if is_unbind else each.shape[dim]
        found.append(b.reshape(b.slice(x, dim, at, at + size), each.shape))
        at += size
    return tuple(found)


@rule("cat", "concatenate")
def _cat(b: Builder, made: Made, values: Sequence[Value], dim: int = 0) -> Value:
    # Empty lists of rank 1 are accepted by PyTorch, and are nothing.
    kept = [b.convert(each, made[0].kind) for each in values if each.shape != (0,)]
    return b.concatenate(kept, dim % len(made[0].shape))


@rule("stack")
def _stack(b: Builder, made: Made, values: Sequence[Value], dim: int = 0) -> Value:
    dim %= len(made[0].shape)
    return b.concatenate([b.reshape(x, (*x.shape[:dim], 1, *x.shape[dim:])) for x in values], dim)


@rule("constant_pad_nd")
def _pad(b: Builder, made: Made, x: Value, sizes: Sequence[int], value: Scalar = 0) -> Value:
    low, high = [0] * len(x.shape), [0] * len(x.shape)
    for i in range(0, len(sizes), 2):
        low[-1 - i // 2], high[-1 - i // 2] = sizes[i], sizes[i + 1]
    want(min(*low, *high) >= 0, f"padding is {list(sizes)}", "sizes of at least 0")
    return b.pad(x, b.scalar(value, x.kind), low, high)


@rule("flip")
def _flip(b: Builder, made: Made, x: Value, dims: Sequence[int]) -> Value:
    listed = ", ".join(map(str, dims_of(dims, len(x.shape))))
    return b.op("reverse", [x], [(x.shape, x.kind)], f"dimensions = array<i64: {listed}>")[0]


# --- values from nothing --------------------------------------------------------------

@rule("full", "full_like", "new_full")
def _full(b: Builder, made: Made, *args: Any, **_: Any) -> Value:
    return b.full(args[-1], made[0].shape, made[0].kind)


@rule("zeros", "zeros_like", "new_zeros", "empty", "empty_like", "new_empty")
def _zeros(b: Builder, made: Made, *_: Any, **__: Any) -> Value:
    return b.full(0, made[0].shape, made[0].kind)


@rule("ones", "ones_like", "new_ones")
def _ones(b: Builder, made: Made, *_: Any, **__: Any) -> Value:
    return b.full(1, made[0].shape, made[0].kind)


@rule("scalar_tensor")
def _scalar_tensor(b: Builder, made: Made, value: Scalar, **_: Any) -> Value:
    return b.scalar(value, made[0].kind)


@rule("arange")
def _arange(b: Builder, made: Made, *args: Scalar, **_: Any) -> Value:
    start, step = (args[0] if len(args) > 1 else 0), (args[2] if len(args) > 2 else 1)
    shape, kind = made[0].shape, made[0].kind
    found = b.iota(shape, 0, kind)
    if step != 1:
        found = b.elementwise("multiply", found, b.full(step, shape, kind))
    return b.elementwise("add", found, b.full(start, shape, kind)) if start else found


@rule("tril", "triu")
def _triangle(b: Builder, made: Made, x: Value, diagonal: int = 0, lower: bool = True) -> Value:
    rank = len(x.shape)
    row, column = (b.iota(x.shape, rank - 2 + i, "i64") for i in range(2))
    if diagonal:
        row = b.elementwise("add", row, b.full(diagonal, x.shape, "i64"))
    kept = b.compare("LE" if lower else "GE", column, row)
    return b.op("select", [kept, x, b.full(0, x.shape, x.kind)], [(x.shape, x.kind)])[0]


RULES["aten.triu"] = lambda b, made, x, diagonal=0: _triangle(b, made, x, diagonal, lower=False)
