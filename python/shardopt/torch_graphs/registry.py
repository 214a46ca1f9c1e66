"""What rules for ops of ATen are made of, and where they are kept.

A rule gets the ops so far, what the op makes (shapes and types, as PyTorch says them),
and its arguments, tensors as values. It returns its result, or a tuple of them; None in
a tuple is a result without a rule.
"""

from __future__ import annotations

from typing import Any, Callable, Sequence, TypeVar, Union

from .stablehlo import Builder, Scalar, Value

#: Shape and element type of each result.
Made = Sequence[Value]
Result = Union[Value, tuple]
Rule = Callable[..., Result]
Kept = TypeVar("Kept", bound=Rule)

#: By name, without the overload: `aten.add`.
RULES: dict[str, Rule] = {}


class Unsupported(Exception):
    """An argument that a rule has no form for: what it is, and what would do."""


def rule(*names: str) -> Callable[[Kept], Kept]:
    def remember(function: Kept) -> Kept:
        RULES.update({f"aten.{name}": function for name in names})
        return function

    return remember


def want(holds: bool, found: str, wanted: str) -> None:
    if not holds:
        raise Unsupported(f"{found}, expected {wanted}")


def dims_of(dims: Any, rank: int) -> list[int]:
    """Dims as numbers from the front; none are all."""
    if dims is None or dims == []:
        return list(range(rank))
    return sorted((dim + rank) % rank if rank else 0 for dim in ([dims] if isinstance(dims, int) else dims))


def pair(value: Any, count: int = 2) -> list[int]:
    """One number for each spatial dim."""
    values = [value] if isinstance(value, int) else list(value)
    return values * count if len(values) == 1 else values


def both(b: Builder, shape: Sequence[int], kind: str, *operands: "Value | Scalar") -> list[Value]:
    """Operands in one shape and type."""
    return [
        b.broadcast(b.convert(each, kind), shape) if isinstance(each, Value) else b.full(each, shape, kind)
        for each in operands
    ]
