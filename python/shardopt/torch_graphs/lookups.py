"""Ops of ATen that read and write by index, and that look for places."""

from __future__ import annotations

from typing import Any, Sequence

from .elementwise import where
from .registry import Made, rule, want
from .stablehlo import Builder, Scalar, Value


def _vectors(b: Builder, indices: Sequence[Value]) -> "tuple[Value, tuple[int, ...]]":
    """Indices of several dims as vectors, and the shape that they have in common."""
    shape: tuple[int, ...] = ()
    for each in indices:
        wide = max(len(shape), len(each.shape))
        padded = [(1,) * (wide - len(one)) + one for one in (shape, each.shape)]
        shape = tuple(max(sizes) for sizes in zip(*padded))
    vectors = [b.reshape(b.broadcast(b.convert(each, "i64"), shape), (*shape, 1)) for each in indices]
    return b.concatenate(vectors, len(shape)), shape


def _looked_up(b: Builder, made: Made, table: Value, indices: Sequence[Value], first: int) -> Value:
    """`table` where its dims from `first` on are looked up by `indices`."""
    found, shape = _vectors(b, indices)
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


def _numbers(b: Builder, values: Sequence[int], shape: Sequence[int]) -> Value:
    """A constant of indices."""
    found = b.op("constant", [], [((len(values),), "i64")], f"value = dense<{list(values)}> : tensor<{len(values)}xi64>")[0]
    return b.reshape(found, shape)


@rule("unfold")
def _unfold(b: Builder, made: Made, x: Value, dim: int, size: int, step: int) -> Value:
    """Windows of a dim, whose elements are the last dim."""
    dim %= len(x.shape)
    count = made[0].shape[dim]
    places = _numbers(b, [at * step + each for at in range(count) for each in range(size)], (count, size))
    shape = (*x.shape[:dim], count, size, *x.shape[dim + 1 :])
    found = _looked_up(b, [Value("", shape, x.kind)], x, [places], dim)
    return b.transpose(found, [each for each in range(len(shape)) if each != dim + 1] + [dim + 1])


@rule("diagonal")
def _diagonal(b: Builder, made: Made, x: Value, offset: int = 0, dim1: int = 0, dim2: int = 1) -> Value:
    dims = [dim1 % len(x.shape), dim2 % len(x.shape)]
    others = [dim for dim in range(len(x.shape)) if dim not in dims]
    count, start = made[0].shape[-1], (max(0, -offset), max(0, offset))
    places = [_numbers(b, range(first, first + count), (count,)) for first in start]
    shape = (count, *made[0].shape[:-1])
    found = _looked_up(b, [Value("", shape, x.kind)], b.transpose(x, dims + others), places, 0)
    return b.transpose(found, [*range(1, len(shape)), 0])


def _corner(b: Builder, x: Value, shape: Sequence[int]) -> Value:
    """The first indices of each dim."""
    for dim, size in enumerate(shape):
        x = b.slice(x, dim, 0, size)
    return x


@rule("gather")
def _gather(b: Builder, made: Made, x: Value, dim: int, indices: Value, *_: Any) -> Value:
    dim %= len(x.shape)
    x = _corner(b, x, [x.shape[dim] if each == dim else size for each, size in enumerate(indices.shape)])
    vectors = b.reshape(b.convert(indices, "i64"), (*indices.shape, 1))
    return b.gather(x, vectors, made[0].shape, [], [dim], batch=[each for each in range(len(x.shape)) if each != dim])


@rule("slice_scatter")
def _slice_scatter(b: Builder, made: Made, x: Value, part: Value, dim: int = 0, start: "int | None" = None, end: "int | None" = None, step: int = 1) -> Value:
    dim %= len(x.shape)
    places = range(x.shape[dim])[slice(start, end, step)]
    if step == 1:
        return _updated(b, x, part, dim, places.start)
    return _put(b, x, [dim], _numbers(b, places, (len(places), 1)), b.convert(part, x.kind), "")


@rule("select_scatter")
def _select_scatter(b: Builder, made: Made, x: Value, part: Value, dim: int, index: int) -> Value:
    dim %= len(x.shape)
    return _updated(b, x, part, dim, index % x.shape[dim])


def _updated(b: Builder, x: Value, part: Value, dim: int, begin: int) -> Value:
    shape = list(x.shape)
    shape[dim] = part.shape[dim] if len(part.shape) == len(shape) else 1
    part = b.reshape(b.convert(part, x.kind), shape)
    starts = [b.scalar(begin if each == dim else 0, "i64") for each in range(len(shape))]
    return b.op("dynamic_update_slice", [x, part, *starts], [(x.shape, x.kind)])[0]


#: How PyTorch names what is done with the value at an index; without a name it is replaced.
_JOINED = {"sum": "add", "add": "add", "prod": "multiply", "multiply": "multiply", "amax": "maximum", "amin": "minimum"}


@rule("scatter", "scatter_reduce")
def _scatter(b: Builder, made: Made, x: Value, dim: int, indices: Value, source: "Value | Scalar", reduce: str = "", include_self: bool = True) -> Value:
    want(reduce in ("", *_JOINED) and include_self, f"'reduce' is '{reduce}' and 'include_self' {include_self}", f"{', '.join(_JOINED)} and True")
    if not x.shape:
        x, indices = b.reshape(x, (1,)), b.reshape(indices, (1,))
    dim %= len(x.shape)
    region = [x.shape[dim] if each == dim else size for each, size in enumerate(indices.shape)]
    source = _corner(b, source, indices.shape) if isinstance(source, Value) else b.full(source, indices.shape, x.kind)
    vectors = b.reshape(b.convert(indices, "i64"), (*indices.shape, 1))
    others = [each for each in range(len(x.shape)) if each != dim]
    part = _corner(b, x, region)
    found = b.scatter(part, vectors, b.convert(source, x.kind), [], [dim], _JOINED.get(reduce, ""), batch=others)
    if part.shape != x.shape:
        starts = [b.scalar(0, "i64") for _ in x.shape]
        found = b.op("dynamic_update_slice", [x, found, *starts], [(x.shape, x.kind)])[0]
    return b.reshape(found, made[0].shape)


@rule("scatter_add")
def _scatter_add(b: Builder, made: Made, x: Value, dim: int, indices: Value, source: Value) -> Value:
    return _scatter(b, made, x, dim, indices, source, "sum")


def _put(b: Builder, x: Value, dims: Sequence[int], vectors: Value, values: Value, op: str) -> Value:
    """Writes over dims from `dims[0]` on, which lie together; `values` are shaped as what
    `vectors` would look up."""
    count = len(vectors.shape) - 1
    windows = [dim for dim in range(len(values.shape)) if not dims[0] <= dim < dims[0] + count]
    return b.scatter(x, vectors, values, windows, list(dims), op)


@rule("index_put", "_unsafe_index_put")
def _index_put(b: Builder, made: Made, x: Value, indices: Sequence["Value | None"], values: Value, accumulate: bool = False) -> Value:
    masks = [each for each in indices if each is not None and each.kind == "i1"]
    if masks:
        want(len(indices) == 1 and values.shape == () and not accumulate, "an index is a mask with several values", "one value behind a mask, or numbers of rows")
        return where(b, made, b.broadcast(masks[0], x.shape, range(len(masks[0].shape))), values, x)
    places = [dim for dim, each in enumerate(indices) if each is not None]
    order = list(range(len(x.shape)))
    if places != list(range(places[0], places[0] + len(places))):
        order = places + [dim for dim in order if dim not in places]
    first = order.index(places[0])
    vectors, shape = _vectors(b, [each for each in indices if each is not None])
    turned = b.transpose(x, order)
    made_shape = (*turned.shape[:first], *shape, *turned.shape[first + len(places) :])
    values = b.broadcast(b.convert(values, x.kind), made_shape)
    found = _put(b, turned, range(first, first + len(places)), vectors, values, "add" if accumulate else "")
    return b.transpose(found, [order.index(dim) for dim in range(len(order))])


@rule("topk")
def _topk(b: Builder, made: Made, x: Value, count: int, dim: int = -1, largest: bool = True, sorted_: bool = True) -> tuple:
    dim %= len(x.shape)
    if dim == len(x.shape) - 1 and largest:
        values, indices = b.op("chlo.top_k", [x], [(made[0].shape, x.kind), (made[0].shape, "i32")], f"k = {count} : i64")
        return values, b.convert(indices, "i64")
    values, indices = b.sort(x, dim, largest)
    return b.slice(values, dim, 0, count), b.slice(indices, dim, 0, count)


@rule("sort")
def _sort(b: Builder, made: Made, x: Value, dim: int = -1, descending: bool = False, *_: Any, stable: Any = None) -> tuple:
    if isinstance(dim, bool):  # sort.stable has it behind `stable`
        dim, descending = int(descending), bool(_[0]) if _ else False
    return b.sort(x, dim % len(x.shape), descending)


@rule("bucketize")
def _bucketize(b: Builder, made: Made, x: Value, bounds: Value, *_: Any, right: bool = False, out_int32: bool = False) -> Value:
    """How many bounds are before a value."""
    want(len(bounds.shape) == 1 and isinstance(x, Value), "bounds have several dims", "one list of them")
    shape = (*x.shape, bounds.shape[0])
    value = b.broadcast(x, shape, range(len(x.shape)))
    before = b.compare("LE" if right else "LT", b.broadcast(bounds, shape), value)
    return b.convert(b.reduce("add", b.convert(before, "i64"), [len(x.shape)], 0), made[0].kind)
