"""GEMMs, convolutions, pooling and attention of ATen."""

from __future__ import annotations

import math
from typing import Any, Sequence

from .reductions import softened
from .registry import Made, Result, pair, rule, want
from .stablehlo import Builder, Scalar, Value


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
    found = _mm(b, made, x, y) if len(x.shape) == 2 else _bmm(b, made, x, y)
    bias = b.broadcast(bias, found.shape)
    found, bias = (
        each if factor == 1 else b.elementwise("multiply", each, b.full(factor, each.shape, each.kind))
        for each, factor in ((found, alpha), (bias, beta))
    )
    return b.elementwise("add", found, bias)


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
        weight = b.op("reverse", [weight], [(weight.shape, weight.kind)], f"dimensions = array<i64: {', '.join(str(2 + i) for i in range(count))}>")[0]
        # Inputs by group and outputs, as outputs of all groups and inputs of one.
        inputs, outputs, *size = weight.shape
        weight = b.reshape(weight, (groups, inputs // groups, outputs, *size))
        weight = b.transpose(weight, [0, 2, 1, *range(3, count + 3)])
        weight = b.reshape(weight, (groups * outputs, inputs // groups, *size))
        reach = [step * (size - 1) for step, size in zip(steps, weight.shape[2:])]
        both = [(far - pad, far - pad + more) for far, pad, more in zip(reach, pads, extras)]
        found = b.convolve(x, weight, made[0].shape, [1] * count, both, steps, groups, grown=strides)
    else:
        found = b.convolve(x, weight, made[0].shape, strides, [(pad, pad) for pad in pads], steps, groups)
    return found if bias is None else b.elementwise("add", found, b.broadcast(bias, found.shape, [1]))


def _windows(x: Value, made: Value, size: Any, stride: Any, padding: Any, dilation: Any = 1) -> "tuple[list[int], list[int], list[tuple[int, int]]]":
    """Window, strides, and padding of each dim. Where the last window begins inside and
    ends behind, there is more padding."""
    count = len(x.shape) - 2
    window = pair(size, count)
    strides = pair(stride, count) if stride not in ([], None) else window
    pads = []
    for each in range(count):
        pad, reach = pair(padding, count)[each], (window[each] - 1) * pair(dilation, count)[each] + 1
        end = (made.shape[2 + each] - 1) * strides[each] + reach
        pads.append((pad, max(pad, end - x.shape[2 + each] - pad)))
    return [1, 1, *window], [1, 1, *strides], [(0, 0), (0, 0), *pads]


@rule("max_pool2d_with_indices", "max_pool1d", "max_pool2d", "max_pool3d")
def _max_pool(b: Builder, made: Made, x: Value, size: Any, stride: Any = None, padding: Any = 0, dilation: Any = 1, ceil: bool = False) -> Result:
    window, strides, pads = _windows(x, made[0], size, stride, padding, dilation)
    steps = [1, 1, *pair(dilation, len(x.shape) - 2)]
    found = b.reduce_windows("maximum", x, -math.inf, made[0].shape, window, strides, pads, steps)
    return found if len(made) == 1 else (found, None)


@rule("avg_pool2d", "avg_pool3d")
def _avg_pool(b: Builder, made: Made, x: Value, size: Any, stride: Any = None, padding: Any = 0, ceil: bool = False, count_pad: bool = True, divisor: "int | None" = None) -> Value:
    window, strides, pads = _windows(x, made[0], size, stride, padding)
    total = b.reduce_windows("add", x, 0, made[0].shape, window, strides, pads)
    given = [(0, 0), (0, 0), *((pad, pad) for pad in pair(padding, len(x.shape) - 2))]
    if divisor or pads == given and (count_pad or not any(low for low, _ in given)):
        return b.elementwise("divide", total, b.full(divisor or math.prod(window), total.shape, total.kind))
    # How many elements each window has, with the padding that counts.
    ones = b.full(1, (1, 1, *x.shape[2:]), x.kind)
    if count_pad:
        sides = [[pad[side] for pad in given] for side in (0, 1)]
        ones = b.pad(ones, b.scalar(1, x.kind), *sides)
        pads = [(low - pad, high - pad) for (low, high), (pad, _) in zip(pads, given)]
    counts = b.reduce_windows("add", ones, 0, (1, 1, *total.shape[2:]), window, strides, pads)
    counts = b.reshape(counts, total.shape[2:])
    return b.elementwise("divide", total, b.broadcast(counts, total.shape))


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
    return b.dot(softened(b, scores, -1, is_log=False), v, ([rank - 1], [rank - 2]), (batch, batch))


def _repeated(b: Builder, x: Value, dim: int, times: int) -> Value:
    """Every index of a dim so many times."""
    shape = (*x.shape[: dim + 1], times, *x.shape[dim + 1 :])
    wide = b.broadcast(x, shape, [each for each in range(len(shape)) if each != dim + 1])
    return b.reshape(wide, (*x.shape[:dim], x.shape[dim] * times, *x.shape[dim + 1 :]))
