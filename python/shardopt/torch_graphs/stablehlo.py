"""StableHLO in generic form, op by op.

Values know their shapes and element types. Types of results follow from operands, and
scalars of Python become constants.
"""

from __future__ import annotations

import json
import math
from dataclasses import dataclass
from typing import Iterable, Sequence, Union

#: Element types, the wider ones last: of two operands the later one is computed in.
KINDS = ("i1", "ui8", "i8", "i16", "i32", "i64", "f16", "bf16", "f32", "f64")
Scalar = Union[bool, int, float]
#: The bits of infinity, of minus infinity, and of what is no number.
_SPECIAL = {
    "f16": ("0x7C00", "0xFC00", "0x7E00"),
    "bf16": ("0x7F80", "0xFF80", "0x7FC0"),
    "f32": ("0x7F800000", "0xFF800000", "0x7FC00000"),
    "f64": ("0x7FF0000000000000", "0xFFF0000000000000", "0x7FF8000000000000"),
}


@dataclass(frozen=True)
class Value:
    name: str
    shape: tuple[int, ...]
    kind: str

    @property
    def type(self) -> str:
        return f"tensor<{''.join(f'{size}x' for size in self.shape)}{self.kind}>"

    @property
    def is_float(self) -> bool:
        return "f" in self.kind


def integers(name: str, values: Iterable[int]) -> str:
    """`name = array<i64: …>`"""
    listed = ", ".join(map(str, values))
    return f"{name} = array<i64{': ' if listed else ''}{listed}>"


def _listed(name: str, values: Sequence[int]) -> str:
    return f"{name} = [{', '.join(map(str, values))}]"


def common_kind(*kinds: str) -> str:
    """What two types are computed in; f16 and bf16 in f32."""
    if {"f16", "bf16"} <= set(kinds):
        return "f32"
    return max(kinds, key=KINDS.index)


def _comparison(direction: str, kind: str) -> str:
    """The attributes of `stablehlo.compare` of such elements."""
    how = "FLOAT" if "f" in kind else "UNSIGNED" if kind in ("i1", "ui8") else "SIGNED"
    return (
        f"compare_type = #stablehlo<comparison_type {how}>, "
        f"comparison_direction = #stablehlo<comparison_direction {direction}>"
    )


class Builder:
    """The body of a function; `place` is the location of the ops that follow."""

    def __init__(self) -> None:
        self.lines: list[str] = []
        self.place = ""
        self._count = 0

    def new(self, shape: Sequence[int], kind: str) -> Value:
        self._count += 1
        return Value(f"%{self._count}", tuple(shape), kind)

    def op(
        self,
        name: str,
        operands: Sequence[Value],
        results: Sequence[tuple[Sequence[int], str]],
        attributes: str = "",
        region: Sequence[str] = (),
    ) -> list[Value]:
        made = [self.new(*each) for each in results]
        name = name if "." in name else "stablehlo." + name
        inside = f" <{{{attributes}}}>" if attributes else ""
        body = ["({", *(f"  {line}" for line in region), "})"] if region else [""]
        names = ", ".join(value.name for value in made)
        lines = [f'{names} = "{name}"({", ".join(value.name for value in operands)}){inside}' + (" " if region else "")]
        lines[-1] += body[0]
        lines += body[1:]
        types = ", ".join(value.type for value in operands)
        results_type = ", ".join(value.type for value in made)
        lines[-1] += f" : ({types}) -> {results_type if len(made) == 1 else f'({results_type})'}"
        if self.place:
            lines[-1] += f" loc({json.dumps(self.place)})"
        self.lines += lines
        return made

    # --- elementwise --------------------------------------------------------------------

    def scalar(self, value: Scalar, kind: str) -> Value:
        if kind == "i1":
            text = "true" if value else "false"
        elif "f" not in kind:
            text = str(int(value))
        elif math.isfinite(value):
            text = f"{float(value):.17e}"
        else:
            text = _SPECIAL[kind][2 if math.isnan(value) else value < 0]
        made = f"dense<{text}> : tensor<{kind}>"
        return self.op("constant", [], [((), kind)], f"value = {made}")[0]

    def full(self, value: Scalar, shape: Sequence[int], kind: str) -> Value:
        return self.broadcast(self.scalar(value, kind), shape)

    def convert(self, value: Value, kind: str) -> Value:
        if value.kind == kind:
            return value
        if kind == "i1":
            return self.compare("NE", value, self.full(0, value.shape, value.kind))
        return self.op("convert", [value], [(value.shape, kind)])[0]

    def elementwise(self, name: str, *operands: Value) -> Value:
        return self.op(name, operands, [(operands[0].shape, operands[0].kind)])[0]

    def compare(self, direction: str, left: Value, right: Value) -> Value:
        return self.op("compare", [left, right], [(left.shape, "i1")], _comparison(direction, left.kind))[0]

    # --- shapes -------------------------------------------------------------------------

    def broadcast(self, value: Value, shape: Sequence[int], dims: "Sequence[int] | None" = None) -> Value:
        """To `shape`; `dims` are those of the result that the value's dims become, by
        default the last ones."""
        if value.shape == tuple(shape):
            return value
        if dims is None:
            dims = range(len(shape) - len(value.shape), len(shape))
        return self.op("broadcast_in_dim", [value], [(shape, value.kind)], integers("broadcast_dimensions", dims))[0]

    def reshape(self, value: Value, shape: Sequence[int]) -> Value:
        return value if value.shape == tuple(shape) else self.op("reshape", [value], [(shape, value.kind)])[0]

    def transpose(self, value: Value, order: Sequence[int]) -> Value:
        if list(order) == sorted(order):
            return value
        shape = [value.shape[dim] for dim in order]
        return self.op("transpose", [value], [(shape, value.kind)], integers("permutation", order))[0]

    def slice(self, value: Value, dim: int, start: int, end: int, step: int = 1) -> Value:
        starts, ends = [0] * len(value.shape), list(value.shape)
        strides = [1] * len(value.shape)
        starts[dim], ends[dim], strides[dim] = start, end, step
        shape = list(value.shape)
        shape[dim] = -((start - end) // step)
        if shape == list(value.shape):
            return value
        attributes = ", ".join(
            (integers("limit_indices", ends), integers("start_indices", starts), integers("strides", strides))
        )
        return self.op("slice", [value], [(shape, value.kind)], attributes)[0]

    def concatenate(self, values: Sequence[Value], dim: int) -> Value:
        shape = list(values[0].shape)
        shape[dim] = sum(value.shape[dim] for value in values)
        if len(values) == 1:
            return values[0]
        return self.op("concatenate", values, [(shape, values[0].kind)], f"dimension = {dim} : i64")[0]

    def pad(self, value: Value, filler: Value, low: Sequence[int], high: Sequence[int]) -> Value:
        shape = [sum(sizes) for sizes in zip(value.shape, low, high)]
        attributes = ", ".join(
            (integers("edge_padding_high", high), integers("edge_padding_low", low), integers("interior_padding", [0] * len(shape)))
        )
        return self.op("pad", [value, filler], [(shape, value.kind)], attributes)[0]

    def iota(self, shape: Sequence[int], dim: int, kind: str) -> Value:
        return self.op("iota", [], [(shape, kind)], f"iota_dimension = {dim} : i64")[0]

    # --- reductions, GEMMs, windows, lookups --------------------------------------------

    def _joined(self, name: str, kind: str) -> list[str]:
        """The region of a reduction."""
        one = f"tensor<{kind}>"
        self._count += 1
        left, right, both = (f"%{letter}{self._count}" for letter in "lrj")
        return [
            f"^bb0({left}: {one}, {right}: {one}):",
            f'  {both} = "stablehlo.{name}"({left}, {right}) : ({one}, {one}) -> {one}',
            f'  "stablehlo.return"({both}) : ({one}) -> ()',
        ]

    def reduce(self, name: str, value: Value, dims: Sequence[int], start: Scalar) -> Value:
        """Over `dims`, which are dropped."""
        if not dims:
            return value
        shape = [size for dim, size in enumerate(value.shape) if dim not in dims]
        first = self.scalar(start, value.kind)
        region = self._joined(name, value.kind)
        return self.op("reduce", [value, first], [(shape, value.kind)], integers("dimensions", sorted(dims)), region)[0]

    def reduce_to_place(self, value: Value, dim: int, direction: str, start: Scalar) -> Value:
        """Where along `dim` the value is that all others compare with in `direction`; the first of equal ones."""
        kind, shape = value.kind, [size for each, size in enumerate(value.shape) if each != dim]
        one, place, flag = f"tensor<{kind}>", "tensor<i64>", "tensor<i1>"

        def compare(name: str, left: str, right: str, how: str, of: str) -> str:
            return f'  {name} = "stablehlo.compare"({left}, {right}) <{{{_comparison(how, of)}}}> : (tensor<{of}>, tensor<{of}>) -> {flag}'

        self._count += 1
        a, i, c, j, beats, equal, first, tied, wins, best, at = (f"%{name}{self._count}" for name in "aicjbeftwvp")
        region = [
            f"^bb0({a}: {one}, {i}: {place}, {c}: {one}, {j}: {place}):",
            compare(beats, a, c, direction, kind), compare(equal, a, c, "EQ", kind),
            compare(first, i, j, "LT", "i64"),
            f'  {tied} = "stablehlo.and"({equal}, {first}) : ({flag}, {flag}) -> {flag}',
            f'  {wins} = "stablehlo.or"({beats}, {tied}) : ({flag}, {flag}) -> {flag}',
            f'  {best} = "stablehlo.select"({wins}, {a}, {c}) : ({flag}, {one}, {one}) -> {one}',
            f'  {at} = "stablehlo.select"({wins}, {i}, {j}) : ({flag}, {place}, {place}) -> {place}',
            f'  "stablehlo.return"({best}, {at}) : ({one}, {place}) -> ()',
        ]
        operands = [value, self.iota(value.shape, dim, "i64"), self.scalar(start, kind), self.scalar(2**62, "i64")]
        return self.op("reduce", operands, [(shape, kind), (shape, "i64")], integers("dimensions", [dim]), region)[1]

    def sort(self, value: Value, dim: int, descending: bool) -> "tuple[Value, Value]":
        """Sorted along `dim`, and where each was; equal ones keep their order."""
        self._count += 1
        left, right, i, j, before = (f"%{name}{self._count}" for name in "lrijb")
        one, place = f"tensor<{value.kind}>", "tensor<i64>"
        attributes = _comparison("GT" if descending else "LT", value.kind)
        region = [
            f"^bb0({left}: {one}, {right}: {one}, {i}: {place}, {j}: {place}):",
            f'  {before} = "stablehlo.compare"({left}, {right}) <{{{attributes}}}> : ({one}, {one}) -> tensor<i1>',
            f'  "stablehlo.return"({before}) : (tensor<i1>) -> ()',
        ]
        results = [(value.shape, value.kind), (value.shape, "i64")]
        values, places = self.op("sort", [value, self.iota(value.shape, dim, "i64")], results, f"dimension = {dim} : i64, is_stable = true", region)
        return values, places

    def reduce_windows(
        self, name: str, value: Value, start: Scalar, shape: Sequence[int], window: Sequence[int],
        strides: Sequence[int], padding: Sequence[tuple[int, int]], dilation: "Sequence[int] | None" = None,
    ) -> Value:
        first = self.scalar(start, value.kind)
        pads = ", ".join(f"[{low}, {high}]" for low, high in padding)
        attributes = ", ".join((
            f"padding = dense<[{pads}]> : tensor<{len(padding)}x2xi64>",
            integers("window_dilations", dilation or [1] * len(window)),
            integers("window_dimensions", window),
            integers("window_strides", strides),
        ))
        return self.op("reduce_window", [value, first], [(shape, value.kind)], attributes, self._joined(name, value.kind))[0]

    def dot(
        self, left: Value, right: Value, sums: "tuple[Sequence[int], Sequence[int]]",
        batch: "tuple[Sequence[int], Sequence[int]]" = ((), ()),
    ) -> Value:
        """Batch dims, then what is left of each side."""
        members = [
            _listed(f"{side}_{kind}_dimensions", dims)
            for kind, both in (("batching", batch), ("contracting", sums))
            for side, dims in zip(("lhs", "rhs"), both)
            if dims
        ]
        shape = [left.shape[dim] for dim in batch[0]]
        for side, value in enumerate((left, right)):
            shape += [n for dim, n in enumerate(value.shape) if dim not in batch[side] and dim not in sums[side]]
        attributes = f"dot_dimension_numbers = #stablehlo.dot<{', '.join(members)}>"
        return self.op("dot_general", [left, right], [(shape, left.kind)], attributes)[0]

    def gather(
        self, table: Value, indices: Value, shape: Sequence[int], offsets: Sequence[int], indexed: Sequence[int],
        batch: Sequence[int] = (),
    ) -> Value:
        """Rows of `table`, whose dims `indexed` are looked up by the last dim of `indices`;
        dims `batch` are those of both."""
        sizes = [1 if dim in (*indexed, *batch) else size for dim, size in enumerate(table.shape)]
        members = [
            *([_listed("offset_dims", offsets)] if offsets else []),
            _listed("collapsed_slice_dims", indexed),
            *([_listed("operand_batching_dims", batch), _listed("start_indices_batching_dims", batch)] if batch else []),
            _listed("start_index_map", indexed),
            f"index_vector_dim = {len(indices.shape) - 1}",
        ]
        attributes = ", ".join((
            f"dimension_numbers = #stablehlo.gather<{', '.join(members)}>",
            "indices_are_sorted = false",
            integers("slice_sizes", sizes),
        ))
        return self.op("gather", [table, indices], [(shape, table.kind)], attributes)[0]

    def scatter(
        self, table: Value, indices: Value, updates: Value, windows: Sequence[int], indexed: Sequence[int], op: str,
        batch: Sequence[int] = (),
    ) -> Value:
        """`table` with `updates` where the last dim of `indices` says, along dims `indexed`; `op`
        joins both, and without one the old value is dropped."""
        members = [
            *([_listed("update_window_dims", windows)] if windows else []),
            _listed("inserted_window_dims", indexed),
            *([_listed("input_batching_dims", batch), _listed("scatter_indices_batching_dims", batch)] if batch else []),
            _listed("scatter_dims_to_operand_dims", indexed),
            f"index_vector_dim = {len(indices.shape) - 1}",
        ]
        attributes = ", ".join((
            "indices_are_sorted = false", f"scatter_dimension_numbers = #stablehlo.scatter<{', '.join(members)}>",
            "unique_indices = false",
        ))
        region = self._joined(op or "add", table.kind)
        if not op:
            new = region[0].split(", ")[1].split(":")[0]
            region = [region[0], f'  "stablehlo.return"({new}) : (tensor<{table.kind}>) -> ()']
        return self.op("scatter", [table, indices, updates], [(table.shape, table.kind)], attributes, region)[0]

    def convolve(
        self, value: Value, weight: Value, shape: Sequence[int], strides: Sequence[int],
        padding: Sequence[tuple[int, int]], dilation: Sequence[int], groups: int, grown: "Sequence[int] | None" = None,
    ) -> Value:
        """Batch and features first, in the weight outputs and inputs; `grown` is what a
        transposed convolution dilates its input by."""
        count = len(shape) - 2
        spatial = ", ".join(map(str, range(count)))
        pads = ", ".join(f"[{low}, {high}]" for low, high in padding)
        attributes = ", ".join((
            "batch_group_count = 1 : i64",
            f"dimension_numbers = #stablehlo.conv<[b, f, {spatial}]x[o, i, {spatial}]->[b, f, {spatial}]>",
            f"feature_group_count = {groups} : i64",
            integers("lhs_dilation", grown or [1] * count),
            f"padding = dense<[{pads}]> : tensor<{count}x2xi64>",
            integers("rhs_dilation", dilation),
            f"window_reversal = array<i1: {', '.join(['false'] * count)}>",
            integers("window_strides", strides),
        ))
        return self.op("convolution", [value, weight], [(shape, value.kind)], attributes)[0]
