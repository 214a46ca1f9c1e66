"""The degrees of parallelism: the planner's table, in which each is a row."""

from __future__ import annotations

import functools
from typing import Any, Mapping, NamedTuple

from ._native import native
from .border import list_known, shown
from .checks import _whole
from .errors import UnknownName


class Degree(NamedTuple):
    """A row of the table."""

    name: str
    is_required: bool
    """Whether every strategy says it."""
    default: "int | str | None"
    """Its default; None if that depends on other degrees."""
    names: tuple[str, ...]
    """Of its values from 1; empty: they are numbers."""

    def read(self, value: Any) -> Any:
        """What a user says, if it is a value."""
        if not self.names:
            return _whole(self.name, value, least=1)
        value = str(value) if isinstance(value, int) else value
        if value not in self.names:
            raise UnknownName(f"'{self.name}' is {shown(value)}; " + list_known(value, self.names))
        return value

    def number_of(self, value: Any) -> int:
        """As the planner takes a value."""
        return self.names.index(self.read(value)) + 1 if self.names else int(value)

    def value_of(self, number: int) -> Any:
        return self.names[number - 1] if self.names else number


@functools.lru_cache(maxsize=None)
def table() -> tuple[Degree, ...]:
    """The rows in their order."""
    found = []
    for name, is_required, number, names in native().degree_table:
        row = Degree(name, is_required, number, tuple(names))
        found.append(row if number is None else row._replace(default=row.value_of(number)))
    return tuple(found)


def filled(said: Mapping[str, Any]) -> dict[str, Any]:
    """All degrees in their order; what is not in `said`, or is None, has its fallback."""
    given = [
        None if said.get(row.name) is None else row.number_of(said[row.name]) for row in table()
    ]
    return {
        row.name: row.value_of(number)
        for row, number in zip(table(), native().fill_degrees(given))
    }


@functools.lru_cache(maxsize=4096)
def _usual(required: tuple[int, ...]) -> dict[str, Any]:
    names = [row.name for row in table() if row.is_required]
    return filled(dict(zip(names, required)))


def usual_of(values: Mapping[str, Any]) -> dict[str, Any]:
    """All degrees of a strategy that says those that it has to say, and no others."""
    return _usual(tuple(values[row.name] for row in table() if row.is_required))


def unsaid(values: Mapping[str, Any]) -> dict[str, Any]:
    """`values` without those that depend on others and have their fallback."""
    depending = [
        row.name
        for row in table()
        if not row.is_required and row.default is None and row.name in values
    ]
    if not depending:
        return dict(values)
    usual = usual_of(values)
    return {
        name: value
        for name, value in values.items()
        if name not in depending or value != usual[name]
    }
