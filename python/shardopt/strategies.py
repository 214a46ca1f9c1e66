"""Strategies: degrees, as the planner's table has them, and a dim for each op."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Iterable, Mapping, Sequence

from .border import list_known, shown
from .checks import _whole
from .degrees import filled, table, unsaid
from .errors import ShardoptError, UnknownName, WrongValue
from .former_names import former
from .problem import dim_of
from .tables import counted

_PAIRS: dict[tuple[str, int], tuple[str, int]] = {}


def pairs_of(dims: Iterable[tuple[str, int]]) -> tuple[tuple[str, int], ...]:
    """Ops with their dims, each shared by all strategies: that is less to keep,
    and quicker to read."""
    return tuple(_PAIRS.setdefault(pair, pair) for pair in dims)


class _OfTable:
    """What a strategy does with its degrees, whichever the table has."""

    dims: tuple[tuple[str, int], ...]
    stages: tuple[int, ...]

    def said(self) -> dict[str, Any]:
        """The degrees that do not have their default."""
        values = {row.name: getattr(self, row.name) for row in table()}
        return {row.name: values[row.name] for row in table() if values[row.name] != row.default}

    def degrees(self) -> dict[str, Any]:
        """All degrees, in the order of the table."""
        return filled(self.said())

    def to_dict(self) -> dict[str, Any]:
        """The form of reports: what has its default is not said."""
        found = self.said()
        if self.stages:
            found["stages"] = list(self.stages)
        found["dims"] = dict(self.dims)
        return found

    replicas = former("replicas", "dp_size")

    @property
    def dp_size(self) -> int:
        """Data-parallel ranks of all but the experts: dp, or ep without it."""
        return int(self.degrees()["dp"])

    @property
    def devices(self) -> int:
        said = self.degrees()
        return int(said["tp"] * said["dp"] * said["pp"])

    def numbers(self) -> list[int]:
        """As the planner takes it: the degrees in its order, then the dims, then
        the layers of the stages, if it has them."""
        said = self.degrees()
        numbers = [row.number_of(said[row.name]) for row in table()]
        numbers += [dim for _, dim in self.dims]
        numbers += self.stages
        return numbers

    @classmethod
    def from_dict(
        cls, values: Mapping[str, Any], ops: Mapping[str, Mapping[int, str]]
    ) -> "Strategy":
        """Reads the form of reports: degrees, and `dims` by op or in order."""
        known = [*(row.name for row in table()), "stages", "dims"]
        for name in values:
            if name not in known:
                raise UnknownName(f"a strategy has '{name}'; " + list_known(name, known))
        for name in (*(row.name for row in table() if row.is_required), "dims"):
            if name not in values:
                raise ShardoptError(f"a strategy lacks '{name}'")
        dims = _named_dims(values["dims"], ops)
        degrees = {
            row.name: row.read(values[row.name]) for row in table() if row.name in values
        }
        stages = values.get("stages", ())
        if not isinstance(stages, (list, tuple)):
            raise WrongValue(
                f"'stages' is {shown(stages)}, expected the layers of each stage"
            )
        layers = tuple(_whole("stages", count, least=1) for count in stages)
        cut = pairs_of((op, dim_of(op, dims[op], ops[op])) for op in ops)
        return Strategy(dims=cut, stages=layers, **unsaid(degrees))

    @classmethod
    def from_numbers(cls, numbers: Sequence[int], ops: Iterable[str]) -> "Strategy":
        """What `numbers` gives, as a strategy."""
        rows, ops = table(), list(ops)
        said = unsaid({row.name: row.value_of(number) for row, number in zip(rows, numbers)})
        end = len(rows) + len(ops)
        dims = pairs_of(zip(ops, numbers[len(rows) : end]))
        return Strategy(dims=dims, stages=tuple(numbers[end:]), **said)


if TYPE_CHECKING:

    @dataclass(frozen=True)
    class Strategy(_OfTable):
        """As type checkers see it: the class is made of the planner's table."""

        tp: int
        ep: int
        pp: int
        batch: int
        dims: tuple[tuple[str, int], ...]
        dp: int | None = None
        cp: int = 1
        tp2: int = 1
        exchange: str = "all_to_all"
        eplb: str = "off"
        stages: tuple[int, ...] = ()

else:
    _DOC = """Degrees, and a dim for each op. Degrees that are not said have their
    default: dp is ep, cp and tp2 1, the exchange an all-to-all, eplb off. `stages` are the layers of each
    pipeline stage; empty: they are divided evenly."""
    _DIMS = "tuple[tuple[str, int], ...]"

    Strategy = dataclasses.make_dataclass(
        "Strategy",
        [
            *((row.name, "int") for row in table() if row.is_required),
            ("dims", _DIMS),
            *(
                (row.name, "int | str | None", dataclasses.field(default=row.default))
                for row in table()
                if not row.is_required
            ),
            ("stages", "tuple[int, ...]", dataclasses.field(default=())),
        ],
        bases=(_OfTable,),
        namespace={"__module__": __name__, "__doc__": _DOC},
        frozen=True,
    )


def _named_dims(dims: Any, ops: Mapping[str, Mapping[int, str]]) -> Mapping[str, Any]:
    """A dim for each op, by op or in order."""
    if not isinstance(dims, Mapping):
        if not isinstance(dims, (list, tuple)):
            raise WrongValue(f"'dims' is {shown(dims)}, expected a dim for each op")
        if len(dims) != len(ops):
            raise ShardoptError(
                f"'dims' has {len(dims)} dims, expected one for each of "
                f"{len(ops)} ops"
            )
        dims = dict(zip(ops, dims))
    for name in dims:
        if name not in ops:
            raise UnknownName(
                f"'dims' has '{name}', which is no op of the model; " + list_known(name, ops)
            )
    missing = [name for name in ops if name not in dims]
    if missing:
        raise ShardoptError(f"'dims' lacks '{missing[0]}'")
    return dims


def _checked_strategy(
    strategy: Any, ops: Mapping[str, Mapping[int, str]]
) -> Strategy:
    """A strategy, or what says one, with the ops in the order of the model's."""
    if isinstance(strategy, Strategy):
        _check_dims(strategy.dims)
        if not isinstance(strategy.stages, (list, tuple)):
            raise WrongValue(
                f"'stages' is {shown(strategy.stages)}, expected the layers of each stage"
            )
        strategy = strategy.to_dict()
    if not isinstance(strategy, Mapping):
        raise WrongValue(
            f"{shown(strategy)} is no strategy, expected a Strategy, a dictionary as "
            "its 'to_dict' makes them, or a list of integers as 'numbers' does"
        )
    return Strategy.from_dict(strategy, ops)


def _check_dims(dims: Any) -> None:
    """That they are pairs, each of another op."""
    named: set[str] = set()
    for pair in dims if isinstance(dims, (list, tuple)) else [dims]:
        if not isinstance(pair, (list, tuple)) or len(pair) != 2:
            raise WrongValue(
                f"'dims' has {shown(pair)}, expected pairs of an op and its dim"
            )
        if not isinstance(pair[0], str):
            raise WrongValue(f"'dims' has the op {shown(pair[0])}, expected a name")
        if pair[0] in named:
            raise ShardoptError(f"'dims' has '{pair[0]}' twice, expected each op once")
        named.add(pair[0])


def other_dims(
    strategy: Strategy, engine: str, wanted: Iterable[int], ops: Mapping[str, Mapping[int, str]]
) -> list[str]:
    """Each op of a strategy that has another dim than an engine gives it."""
    return [
        f"{op} is {_cut(ops[op][dim])}, and {engine} has it {_cut(ops[op].get(known, 'none'))}"
        for (op, dim), known in zip(strategy.dims, wanted)
        if dim != known
    ]


def _cut(name: str) -> str:
    return "replicated" if name == "none" else f"sharded on {name}"


def first_other_dim(
    strategy: Strategy, engine: str, wanted: Iterable[int], ops: Mapping[str, Mapping[int, str]]
) -> str | None:
    """The first of `other_dims`, and how many others there are; None: there is none."""
    found = other_dims(strategy, engine, wanted, ops)
    more = f" (and {counted(len(found) - 1, 'other op')})" if len(found) > 1 else ""
    return found[0] + more if found else None
