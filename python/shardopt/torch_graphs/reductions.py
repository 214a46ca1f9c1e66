"""Reductions of ATen, and norms."""

from __future__ import annotations

import math
from typing import Any, Sequence

from .registry import Made, Result, Rule, both, dims_of, rule
from .stablehlo import Builder, Scalar, Value


# --- reductions -----------------------------------------------------------------------

def _reduced(b: Builder, made: Made, name: str, x: Value, dims: Any, start: Scalar) -> Value:
    """The dims that are kept, with size 1, are those of the result."""
    return b.reshape(b.reduce(name, x, dims_of(dims, len(x.shape)), start), made[0].shape)


def _count(x: Value, dims: Any) -> int:
    return math.prod(x.shape[dim] for dim in dims_of(dims, len(x.shape)))


@rule("sum")
def _sum(b: Builder, made: Made, x: Value, dims: Any = None, keep: bool = False, dtype: Any = None) -> Value:
    return _reduced(b, made, "add", b.convert(x, made[0].kind), dims, 0)


@rule("mean")
def _mean(b: Builder, made: Made, x: Value, dims: Any = None, keep: bool = False, dtype: Any = None) -> Value:
    total = _sum(b, made, x, dims)
    return b.elementwise("divide", total, b.full(_count(x, dims), total.shape, total.kind))


def _beyond(kind: str, least: bool) -> Scalar:
    """What no value is beyond."""
    if "f" in kind:
        return math.inf if least else -math.inf
    bits = int(kind.removeprefix("u")[1:])
    signed = kind not in ("i1", "ui8")
    return 2 ** (bits - signed) - 1 if least else -(2 ** (bits - 1)) * signed


def _extreme(op: str, least: bool) -> Rule:
    def run(b: Builder, made: Made, x: Value, dims: Any = None, keep: bool = False) -> Result:
        if isinstance(dims, Value):  # another tensor
            return b.elementwise(op, *both(b, made[0].shape, made[0].kind, x, dims))
        found = _reduced(b, made, op, x, dims, _beyond(x.kind, least))
        return found if len(made) == 1 else (found, lambda: _place_of_extreme(b, made[1:], x, dims, least))

    return run


rule("amax", "max")(_extreme("maximum", least=False))
rule("amin", "min")(_extreme("minimum", least=True))


def _place_of_extreme(b: Builder, made: Made, x: Value, dim: "int | None", least: bool) -> Value:
    """Of equal ones the first."""
    if dim is None:
        x, dim = b.reshape(x, (_count(x, None),)), 0
    dim = dim % len(x.shape) if x.shape else 0
    if not x.shape:
        return b.full(0, (), "i64")
    found = b.reduce_to_place(x, dim, "LT" if least else "GT", _beyond(x.kind, least))
    return b.reshape(found, made[0].shape)


def _arg_extreme(least: bool) -> Rule:
    return lambda b, made, x, dim=None, keep=False: _place_of_extreme(b, made, x, dim, least)


rule("argmax")(_arg_extreme(least=False))
rule("argmin")(_arg_extreme(least=True))


@rule("prod")
def _prod(b: Builder, made: Made, x: Value, dims: Any = None, keep: bool = False, dtype: Any = None) -> Value:
    return _reduced(b, made, "multiply", b.convert(x, made[0].kind), dims, 1)


@rule("any")
def _any(b: Builder, made: Made, x: Value, dims: Any = None, keep: bool = False) -> Value:
    return _reduced(b, made, "or", b.convert(x, "i1"), dims, False)


@rule("all")
def _all(b: Builder, made: Made, x: Value, dims: Any = None, keep: bool = False) -> Value:
    return _reduced(b, made, "and", b.convert(x, "i1"), dims, True)


def _centred(b: Builder, x: Value, dims: Sequence[int]) -> Value:
    kept = [dim for dim in range(len(x.shape)) if dim not in dims]
    mean = b.reduce("add", x, dims, 0)
    mean = b.elementwise("divide", mean, b.full(_count(x, list(dims)), mean.shape, mean.kind))
    return b.elementwise("subtract", x, b.broadcast(mean, x.shape, kept))


@rule("var")
def _var(b: Builder, made: Made, x: Value, dims: Any = None, correction: Scalar = 1, keepdim: bool = False, **_: Any) -> Value:
    apart = _centred(b, x, dims_of(dims, len(x.shape)))
    total = _reduced(b, made, "add", b.elementwise("multiply", apart, apart), dims, 0)
    return b.elementwise("divide", total, b.full(_count(x, dims) - correction, total.shape, total.kind))


@rule("var_mean")
def _var_mean(b: Builder, made: Made, x: Value, dims: Any = None, correction: Scalar = 1, keepdim: bool = False, **_: Any) -> tuple:
    return _var(b, made, x, dims, correction), _mean(b, made[1:], x, dims)


def softened(b: Builder, x: Value, dim: int, is_log: bool) -> Value:
    dim %= len(x.shape)
    kept = [each for each in range(len(x.shape)) if each != dim]
    most = b.broadcast(b.reduce("maximum", x, [dim], -math.inf), x.shape, kept)
    x = b.elementwise("subtract", x, most)
    grown = b.elementwise("exponential", x)
    total = b.reduce("add", grown, [dim], 0)
    if is_log:
        return b.elementwise("subtract", x, b.broadcast(b.elementwise("log", total), x.shape, kept))
    return b.elementwise("divide", grown, b.broadcast(total, x.shape, kept))


@rule("_softmax", "softmax")
def _softmax(b: Builder, made: Made, x: Value, dim: int, *_: Any, **__: Any) -> Value:
    return softened(b, b.convert(x, made[0].kind), dim, is_log=False)


@rule("_log_softmax", "log_softmax")
def _log_softmax(b: Builder, made: Made, x: Value, dim: int, *_: Any, **__: Any) -> Value:
    return softened(b, b.convert(x, made[0].kind), dim, is_log=True)


def _cumulated(op: str, start: Scalar) -> Rule:
    def run(b: Builder, made: Made, x: Value, dim: int, dtype: Any = None) -> Value:
        x = b.convert(x, made[0].kind)
        if not x.shape:
            return x
        dim, size, ones = dim % len(x.shape), x.shape[dim], [1] * len(x.shape)
        window = [size if each == dim else 1 for each in range(len(x.shape))]
        padding = [(size - 1, 0) if each == dim else (0, 0) for each in range(len(x.shape))]
        return b.reduce_windows(op, x, start, x.shape, window, ones, padding)

    return run


rule("cumsum")(_cumulated("add", 0))
rule("cumprod")(_cumulated("multiply", 1))


# --- norms ----------------------------------------------------------------------------

def _normalized(b: Builder, x: Value, dims: Sequence[int], epsilon: float) -> Value:
    kept = [dim for dim in range(len(x.shape)) if dim not in dims]
    apart = _centred(b, x, dims)
    spread = b.reduce("add", b.elementwise("multiply", apart, apart), dims, 0)
    spread = b.elementwise("divide", spread, b.full(_count(x, list(dims)), spread.shape, spread.kind))
    scale = b.elementwise("rsqrt", b.elementwise("add", spread, b.full(epsilon, spread.shape, spread.kind)))
    return b.elementwise("multiply", apart, b.broadcast(scale, x.shape, kept))


def _scaled(b: Builder, x: Value, weight: "Value | None", bias: "Value | None", dims: Sequence[int]) -> Value:
    for op, each in (("multiply", weight), ("add", bias)):
        if each is not None:
            x = b.elementwise(op, x, b.broadcast(each, x.shape, dims))
    return x


@rule("native_layer_norm", "layer_norm")
def _layer_norm(b: Builder, made: Made, x: Value, shape: Sequence[int], weight: "Value | None" = None, bias: "Value | None" = None, epsilon: float = 1e-5, *_: Any) -> Result:
    dims = list(range(len(x.shape) - len(shape), len(x.shape)))
    found = _scaled(b, _normalized(b, x, dims, epsilon), weight, bias, dims)
    return found if len(made) == 1 else (found, None, None)


@rule("native_group_norm")
def _group_norm(b: Builder, made: Made, x: Value, weight: "Value | None", bias: "Value | None", count: int, features: int, area: int, groups: int, epsilon: float) -> tuple:
    parted = b.reshape(x, (count, groups, features // groups, *x.shape[2:]))
    found = b.reshape(_normalized(b, parted, list(range(2, len(parted.shape))), epsilon), x.shape)
    return _scaled(b, found, weight, bias, [1]), None, None


@rule("_native_batch_norm_legit_no_training")
def _batch_norm(b: Builder, made: Made, x: Value, weight: "Value | None", bias: "Value | None", mean: Value, spread: Value, momentum: float, epsilon: float) -> tuple:
    scale = b.elementwise("rsqrt", b.elementwise("add", spread, b.full(epsilon, spread.shape, spread.kind)))
    apart = b.elementwise("subtract", x, b.broadcast(mean, x.shape, [1]))
    found = b.elementwise("multiply", apart, b.broadcast(scale, x.shape, [1]))
    return _scaled(b, found, weight, bias, [1]), None, None
