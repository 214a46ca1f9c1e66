"""The ops of ATen in StableHLO, by name."""

from __future__ import annotations

import math
from typing import Any, Sequence

from .elementwise import where
from .registry import RULES, Made, Result, Rule, Unsupported, both, dims_of, pair, rule, want
from .stablehlo import Builder, Scalar, Value

__all__ = ["RULES", "Unsupported"]


# --- reductions -------------------------------------------------------------------------


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


def _extreme(op: str, least: bool) -> Rule:
    def start(kind: str) -> Scalar:
        """What no value is beyond."""
        if "f" in kind:
            return math.inf if least else -math.inf
        bits = int(kind.removeprefix("u")[1:])
        signed = kind not in ("i1", "ui8")
        return 2 ** (bits - signed) - 1 if least else -(2 ** (bits - 1)) * signed

    def run(b: Builder, made: Made, x: Value, dims: Any = None, keep: bool = False) -> Result:
        if isinstance(dims, Value):  # another tensor
            return b.elementwise(op, *both(b, made[0].shape, made[0].kind, x, dims))
        found = _reduced(b, made, op, x, dims, start(x.kind))
        return found if len(made) == 1 else (found, None)

    return run


rule("amax", "max")(_extreme("maximum", least=False))
rule("amin", "min")(_extreme("minimum", least=True))


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


def _softened(b: Builder, x: Value, dim: int, is_log: bool) -> Value:
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
    return _softened(b, b.convert(x, made[0].kind), dim, is_log=False)


@rule("_log_softmax", "log_softmax")
def _log_softmax(b: Builder, made: Made, x: Value, dim: int, *_: Any, **__: Any) -> Value:
    return _softened(b, b.convert(x, made[0].kind), dim, is_log=True)


@rule("cumsum")
def _cumsum(b: Builder, made: Made, x: Value, dim: int, dtype: Any = None) -> Value:
    x, dim = b.convert(x, made[0].kind), dim % len(x.shape)
    ones, size = [1] * len(x.shape), x.shape[dim]
    window = [size if each == dim else 1 for each in range(len(x.shape))]
    padding = [(size - 1, 0) if each == dim else (0, 0) for each in range(len(x.shape))]
    return b.reduce_windows("add", x, 0, x.shape, window, ones, padding)


@rule("topk")
def _topk(b: Builder, made: Made, x: Value, count: int, dim: int = -1, largest: bool = True, sorted_: bool = True) -> tuple:
    want(dim % len(x.shape) == len(x.shape) - 1 and largest, f"'dim' is {dim}", "the largest of the last dim")
    values, indices = b.op("chlo.top_k", [x], [(made[0].shape, x.kind), (made[0].shape, "i32")], f"k = {count} : i64")
    return values, b.convert(indices, "i64")


# --- norms ------------------------------------------------------------------------------


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


# --- GEMMs, convolutions, pooling -------------------------------------------------------


@rule("mm")
def _mm(b: Builder, made: Made, x: Value, y: Value) -> Value:
    return b.dot(x, y, ([1], [0]))


@rule("bmm")
def _bmm(b: Builder, made: Made, x: Value, y: Value) -> Value:
    return b.dot(x, y, ([2], [1]), ([0], [0]))


@rule("mv", "dot")
def _mv(b: Builder, made: Made, x: Value, y: Value) -> Value:
    return b.dot(x, y, ([len(x.shape) - 1], [0]))


@rule("matmul")
def _matmul(b: Builder, made: Made, x: Value, y: Value) -> Value:
    if len(y.shape) == 2:
        return b.dot(x, y, ([len(x.shape) - 1], [0]))
    outer = made[0].shape[:-2]
    x, y = (b.broadcast(each, (*outer, *each.shape[-2:])) for each in (x, y))
    dims = list(range(len(outer)))
    return b.dot(x, y, ([len(outer) + 1], [len(outer)]), (dims, dims))


@rule("addmm", "baddbmm")
def _addmm(b: Builder, made: Made, bias: Value, x: Value, y: Value, beta: Scalar = 1, alpha: Scalar = 1) -> Value:
    want(beta == 1 and alpha == 1, f"'beta' is {beta} and 'alpha' {alpha}", "1 and 1")
    found = _mm(b, made, x, y) if len(x.shape) == 2 else _bmm(b, made, x, y)
    return b.elementwise("add", found, b.broadcast(bias, found.shape))


@rule("linear")
def _linear(b: Builder, made: Made, x: Value, weight: Value, bias: "Value | None" = None) -> Value:
    found = b.dot(x, weight, ([len(x.shape) - 1], [1]))
    return found if bias is None else b.elementwise("add", found, b.broadcast(bias, found.shape))


@rule("convolution", "conv1d", "conv2d", "conv3d")
def _convolution(
    b: Builder, made: Made, x: Value, weight: Value, bias: "Value | None" = None, stride: Any = 1, padding: Any = 0,
    dilation: Any = 1, transposed: Any = False, extra: Any = 0, groups: int = 1,
) -> Value:
    count = len(x.shape) - 2
    if not isinstance(transposed, bool):  # conv2d's sixth argument
        transposed, groups = False, transposed
    strides, pads, steps, extras = (pair(each, count) for each in (stride, padding, dilation, extra))
    if transposed:
        want(groups == 1, f"'groups' is {groups} of a transposed convolution", "1")
        weight = b.op("reverse", [weight], [(weight.shape, weight.kind)], f"dimensions = array<i64: {', '.join(str(2 + i) for i in range(count))}>")[0]
        weight = b.transpose(weight, [1, 0, *range(2, count + 2)])
        reach = [step * (size - 1) for step, size in zip(steps, weight.shape[2:])]
        both = [(far - pad, far - pad + more) for far, pad, more in zip(reach, pads, extras)]
        found = b.convolve(x, weight, made[0].shape, [1] * count, both, steps, 1, grown=strides)
    else:
        found = b.convolve(x, weight, made[0].shape, strides, [(pad, pad) for pad in pads], steps, groups)
    return found if bias is None else b.elementwise("add", found, b.broadcast(bias, found.shape, [1]))


def _windows(x: Value, size: Any, stride: Any, padding: Any) -> "tuple[list[int], list[int], list[tuple[int, int]]]":
    count = len(x.shape) - 2
    window = pair(size, count)
    strides = pair(stride, count) if stride not in ([], None) else window
    pads = pair(padding, count)
    return [1, 1, *window], [1, 1, *strides], [(0, 0), (0, 0), *((pad, pad) for pad in pads)]


@rule("max_pool2d_with_indices", "max_pool2d")
def _max_pool(b: Builder, made: Made, x: Value, size: Any, stride: Any = None, padding: Any = 0, dilation: Any = 1, ceil: bool = False) -> Result:
    want(not ceil, "'ceil_mode' is true", "false")
    window, strides, pads = _windows(x, size, stride, padding)
    steps = [1, 1, *pair(dilation, len(x.shape) - 2)]
    found = b.reduce_windows("maximum", x, -math.inf, made[0].shape, window, strides, pads, steps)
    return found if len(made) == 1 else (found, None)


@rule("avg_pool2d")
def _avg_pool(b: Builder, made: Made, x: Value, size: Any, stride: Any = None, padding: Any = 0, ceil: bool = False, count_pad: bool = True, divisor: "int | None" = None) -> Value:
    window, strides, pads = _windows(x, size, stride, padding)
    want(not ceil and (count_pad or not any(low for low, _ in pads)), "'ceil_mode' or 'count_include_pad' is set", "windows that count padding")
    total = b.reduce_windows("add", x, 0, made[0].shape, window, strides, pads)
    return b.elementwise("divide", total, b.full(divisor or math.prod(window), total.shape, total.kind))


@rule("_adaptive_avg_pool2d", "adaptive_avg_pool2d")
def _adaptive_pool(b: Builder, made: Made, x: Value, size: Sequence[int]) -> Value:
    large, small = x.shape[-2:], made[0].shape[-2:]
    want(all(a % c == 0 for a, c in zip(large, small)), f"{list(large)} pixels are pooled to {list(small)}", "sizes that divide")
    window = [a // c for a, c in zip(large, small)]
    return _avg_pool(b, made, x, window)


@rule("upsample_nearest2d")
def _upsample(b: Builder, made: Made, x: Value, *_: Any) -> Value:
    small, large = x.shape[-2:], made[0].shape[-2:]
    want(all(a % c == 0 for a, c in zip(large, small)), f"{list(small)} pixels grow to {list(large)}", "a whole factor")
    tall, wide = (a // c for a, c in zip(large, small))
    n, c, h, w = x.shape
    return b.reshape(b.broadcast(x, (n, c, h, tall, w, wide), (0, 1, 2, 4)), made[0].shape)


@rule("scaled_dot_product_attention")
def _attention(
    b: Builder, made: Made, q: Value, k: Value, v: Value, mask: "Value | None" = None, dropout: float = 0,
    is_causal: bool = False, scale: "float | None" = None, enable_gqa: bool = False,
) -> Value:
    rank = len(q.shape)
    if enable_gqa:
        times = q.shape[-3] // k.shape[-3]
        k, v = (_repeated(b, each, rank - 3, times) for each in (k, v))
    batch = list(range(rank - 2))
    scores = b.dot(q, k, ([rank - 1], [rank - 1]), (batch, batch))
    factor = 1 / math.sqrt(q.shape[-1]) if scale is None else scale
    scores = b.elementwise("multiply", scores, b.full(factor, scores.shape, scores.kind))
    if is_causal:
        row, column = (b.iota(scores.shape, rank - 2 + i, "i64") for i in range(2))
        lowest = b.full(-math.inf, scores.shape, scores.kind)
        scores = b.op("select", [b.compare("LE", column, row), scores, lowest], [(scores.shape, scores.kind)])[0]
    if mask is not None and mask.kind == "i1":
        lowest = b.full(-math.inf, scores.shape, scores.kind)
        scores = b.op("select", [b.broadcast(mask, scores.shape), scores, lowest], [(scores.shape, scores.kind)])[0]
    elif mask is not None:
        scores = b.elementwise("add", scores, b.broadcast(b.convert(mask, scores.kind), scores.shape))
    return b.dot(_softened(b, scores, -1, is_log=False), v, ([rank - 1], [rank - 2]), (batch, batch))


def _repeated(b: Builder, x: Value, dim: int, times: int) -> Value:
    """Every index of a dim so many times."""
    shape = (*x.shape[: dim + 1], times, *x.shape[dim + 1 :])
    wide = b.broadcast(x, shape, [each for each in range(len(shape)) if each != dim + 1])
    return b.reshape(wide, (*x.shape[:dim], x.shape[dim] * times, *x.shape[dim + 1 :]))


# --- lookups ----------------------------------------------------------------------------


def _looked_up(b: Builder, made: Made, table: Value, indices: Sequence[Value], first: int) -> Value:
    """`table` where its dims from `first` on are looked up by `indices`."""
    shape: tuple[int, ...] = ()
    for each in indices:
        wide = max(len(shape), len(each.shape))
        padded = [(1,) * (wide - len(one)) + one for one in (shape, each.shape)]
        shape = tuple(max(sizes) for sizes in zip(*padded))
    vectors = [b.reshape(b.broadcast(b.convert(each, "i64"), shape), (*shape, 1)) for each in indices]
    found = b.concatenate(vectors, len(shape))
    indexed = list(range(first, first + len(indices)))
    rank = len(made[0].shape)
    offsets = [dim for dim in range(rank) if not first <= dim < first + len(shape)]
    return b.gather(table, found, made[0].shape, offsets, indexed)


@rule("embedding")
def _embedding(b: Builder, made: Made, table: Value, indices: Value, *_: Any) -> Value:
    return _looked_up(b, made, table, [indices], 0)


@rule("index", "_unsafe_index")
def _index(b: Builder, made: Made, x: Value, indices: Sequence["Value | None"]) -> Value:
    places = [dim for dim, each in enumerate(indices) if each is not None]
    kept = [each for each in indices if each is not None]
    want(all(each.kind != "i1" for each in kept), "an index is a mask, whose result has no static size", "numbers of rows")
    if places != list(range(places[0], places[0] + len(places))):
        order = places + [dim for dim in range(len(x.shape)) if dim not in places]
        return _looked_up(b, made, b.transpose(x, order), kept, 0)
    return _looked_up(b, made, x, kept, places[0])


@rule("index_select")
def _index_select(b: Builder, made: Made, x: Value, dim: int, indices: Value) -> Value:
    return _looked_up(b, made, x, [indices], dim % len(x.shape))


@rule("gather")
def _gather(b: Builder, made: Made, x: Value, dim: int, indices: Value, *_: Any) -> Value:
    dim %= len(x.shape)
    every = [indices if each == dim else b.iota(indices.shape, each, "i64") for each in range(len(x.shape))]
    return _looked_up(b, made, x, every, 0)


@rule("slice_scatter", "select_scatter")
def _slice_scatter(b: Builder, made: Made, x: Value, part: Value, dim: int = 0, start: "int | None" = None, end: Any = None, step: int = 1) -> Value:
    want(step == 1, f"the step is {step}", "1")
    dim %= len(x.shape)
    begin = (start or 0) % x.shape[dim]
    shape = list(x.shape)
    shape[dim] = part.shape[dim] if len(part.shape) == len(shape) else 1
    part = b.reshape(b.convert(part, x.kind), shape)
    starts = [b.scalar(begin if each == dim else 0, "i64") for each in range(len(shape))]
    return b.op("dynamic_update_slice", [x, part, *starts], [(x.shape, x.kind)])[0]


@rule("scatter")
def _scatter(b: Builder, made: Made, x: Value, dim: int, indices: Value, source: "Value | Scalar", **_: Any) -> Value:
    """One index a row: what is at it is replaced. Compared with every place of the dim."""
    dim %= len(x.shape)
    shape = [*indices.shape, x.shape[dim]]
    hit = b.compare("EQ", b.broadcast(indices, shape, list(range(len(indices.shape)))), b.iota(shape, len(shape) - 1, indices.kind))
    rank = len(x.shape)
    want(not isinstance(source, Value), "the source is a tensor", "a scalar")
    want(all(n == m for each, (n, m) in enumerate(zip(x.shape, indices.shape)) if each != dim), "indices have other rows", "those of the operand")
    found = b.reduce("or", hit, [dim], False)
    back = list(range(rank - 1))
    back.insert(dim, rank - 1)
    found = b.transpose(found, back)
    return where(b, made, found, source, x)
