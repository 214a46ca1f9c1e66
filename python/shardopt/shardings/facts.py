"""How a plan shards each tensor of a checkpoint, over one mesh of named axes.

The facts are those of the per-rank program (`--llm-export-shardings`), so a sharding
written here is the one that is executed and verified. A mesh is one pipeline stage.
"""

from __future__ import annotations

import json
import tempfile
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Iterable, Iterator, Mapping, Sequence

from .._tools import compiled
from ..checks import _check_kind
from ..engine_table import stage_layers
from ..errors import ShardoptError
from ..plans import Plan
from ..programs import LOWERING, write_inputs

#: Groups of devices that name the axes of a mesh, the first that fits first.
_GROUPS = ("tp", "dp", "ep", "cp", "etp", "tp1", "tp2")
_FACTS = "shardings.json"

#: Of a dim: the axes that it is sharded over, slowest first. Of a tensor: its dims.
Axes = tuple[str, ...]
Spec = tuple[Axes, ...]


@dataclass(frozen=True)
class Tensor:
    """A tensor of the checkpoint; `*` in its name stands for a number."""

    name: str
    shape: tuple[int, ...]
    spec: Spec
    has_experts: bool
    """Whether the first dim is that of experts, which have tensors of their own."""

    @property
    def own(self) -> Spec:
        """Of the tensor that has the name: without the dim of experts."""
        return self.spec[self.has_experts :]


@dataclass(frozen=True)
class Shardings:
    """The mesh, and what is sharded over it."""

    model: str
    mesh: Mapping[str, int]
    groups: Mapping[str, Axes]
    """The axes of each group of devices: tp, dp, ep, cp."""
    tensors: tuple[Tensor, ...]
    activations: Mapping[str, Spec]
    """The result of each op, [rows, features]; without those that are partial sums
    or sorted by expert."""
    notes: tuple[str, ...]
    """What the formats cannot express, a sentence each."""

    def parts(self, axes: Axes) -> int:
        """How many blocks a dim over `axes` has."""
        found = 1
        for axis in axes:
            found *= self.mesh[axis]
        return found


@dataclass
class _Mesh:
    """Axes of the grid, split where a tensor needs a part of one."""

    grid: Sequence[int]
    groups: Mapping[str, Sequence[int]]
    factors: list[list[int]] = field(init=False)

    def __post_init__(self) -> None:
        self.factors = [[size] for size in self.grid]

    def prefix(self, group: Sequence[int], ways: int) -> list[tuple[int, int]] | None:
        """The slowest factors of a group, (axis, index), whose product is `ways`. One that
        is larger than what is left is split."""
        found: list[tuple[int, int]] = []
        for axis in group:
            for index, factor in enumerate(self.factors[axis]):
                if ways == 1:
                    return found
                if factor % ways == 0 and factor != ways:
                    self.factors[axis][index : index + 1] = [ways, factor // ways]
                    factor = ways
                if ways % factor:
                    return None
                ways //= factor
                found.append((axis, index))
        return found if ways == 1 else None

    def name(self, axis: int) -> str:
        """The group that is this axis alone, else one that it is a part of."""
        for group in _GROUPS:
            if list(self.groups[group]) == [axis]:
                return group
        group = next(name for name in _GROUPS if axis in self.groups[name])
        return f"{group}{self.groups[group].index(axis)}"

    def names(self, axis: int) -> Axes:
        name, factors = self.name(axis), self.factors[axis]
        if len(factors) == 1:
            return (name,)
        return tuple(f"{name}_{index}" for index in range(len(factors)))

    def sizes(self) -> dict[str, int]:
        """By name, slowest first, without the stages."""
        return {
            name: size
            for axis in range(1, len(self.grid))
            if self.grid[axis] > 1
            for name, size in zip(self.names(axis), self.factors[axis])
        }

    def axes(self, group: str) -> Axes:
        return tuple(name for axis in self.groups[group] for name in self.names(axis))


def _lowered(plan: Plan) -> dict[str, Any]:
    """What the per-rank program of a plan says of its tensors."""
    with tempfile.TemporaryDirectory() as folder:
        module = write_inputs(folder, plan.problem.model, plan.strategy)
        words = [module, *LOWERING, f"--llm-export-shardings=shardings={_FACTS}", "-o", "lowered.mlir"]
        compiled(words, folder, "the plan cannot be lowered")
        facts: dict[str, Any] = json.loads(Path(folder, _FACTS).read_text(encoding="utf-8"))
    return facts


def _dim_of(mesh: _Mesh, dim: Mapping[str, Any]) -> "list[tuple[int, int]] | None":
    """Of a dim its factors; None where it cannot be said."""
    held = dim.get("held", "first")
    if held == "first":  # what the others add is zero
        return []
    return None if held == "uneven" else mesh.prefix(mesh.groups[dim["axis"]], dim["ways"])


def _named(mesh: _Mesh, factors: Iterable[tuple[int, int]]) -> Axes:
    return tuple(mesh.names(axis)[index] for axis, index in factors)


def _spec_of(mesh: _Mesh, fact: Mapping[str, Any], said: dict[str, list[str]]) -> Spec:
    """The spec of a tensor; `said` gets what it leaves out."""
    spec = []
    for dim in fact["dims"]:
        factors = _dim_of(mesh, dim)
        if factors is None:
            said.setdefault("uneven", []).append(fact["name"])
        elif dim.get("held") == "mixed":
            said.setdefault("mixed", []).append(fact["name"])
        spec.append(_named(mesh, factors or ()))
    return tuple(spec)


def _globs(name: str, layers: Sequence[int] | None) -> Iterator[str]:
    """The names of a tensor in these layers, or one for all where they are None."""
    name = name.replace("{expert}", "*")
    if layers is None or "{layer}" not in name:
        yield name.replace("{layer}", "*")
        return
    for layer in layers:
        yield name.replace("{layer}", str(layer))


def _tensors(
    facts: Mapping[str, Any], mesh: _Mesh, said: dict[str, list[str]]
) -> Iterator[Tensor]:
    """One for all layers, or one for each where these differ."""
    by_name: dict[str, list[tuple[Mapping[str, Any], Spec]]] = {}
    for fact in facts["tensors"]:
        spec = _spec_of(mesh, fact, said)
        by_name.setdefault(fact["name"], []).append((fact, spec))
    for name, found in by_name.items():
        alike = len({spec for _, spec in found}) == 1
        if not alike and "{layer}" not in name:
            said.setdefault("twice", []).append(name)
        for fact, spec in found[:1] if alike or "{layer}" not in name else found:
            shape = tuple(dim["size"] for dim in fact["dims"])
            for glob in _globs(name, None if alike else fact["layers"]):
                yield Tensor(glob, shape, spec, "{expert}" in name)
        scales = found[0][0].get("scales")
        if scales:
            said.setdefault("scales", []).append(scales)


#: Of [rows, features] in a layout, which dim `tp` shards.
_TP_DIM = {"R": None, "T": 0, "H": 1}


def _activations(facts: Mapping[str, Any], mesh: _Mesh) -> dict[str, Spec]:
    rows, tp = mesh.axes("dp"), mesh.axes("tp")
    found: dict[str, Spec] = {}
    for value in facts["values"]:
        if value["rows"] != "tokens" or value["layout"] not in _TP_DIM:
            continue
        dim = _TP_DIM[value["layout"]]
        found[value["op"]] = (rows + tp, ()) if dim == 0 else (rows, tp if dim == 1 else ())
    return found


_SENTENCES = {
    "uneven": "replicated, since the plan's parts are no even blocks",
    "mixed": "sharded into even blocks; the plan's parts hold other entries, because each tensor joins "
    "several matrices, so a compiler moves columns after the GEMM",
    "twice": "sharded as the first op needs it; a second op of the plan needs another sharding",
    "scales": "replicated scales",
}


def _listed(names: Iterable[str]) -> str:
    found = list(dict.fromkeys("*".join(_parts(name)) for name in names))
    more = f" and {len(found) - 4} more" if len(found) > 4 else ""
    return ", ".join(found[:4]) + more


def _parts(name: str) -> list[str]:
    return name.replace("{expert}", "{layer}").split("{layer}")


def _notes(plan: Plan, said: Mapping[str, list[str]]) -> Iterator[str]:
    strategy = plan.strategy
    if strategy.pp > 1:
        yield (
            f"the mesh is one pipeline stage of {strategy.pp}, which have "
            f"{stage_layers(plan)} layers: no sharding says where a layer is"
        )
    if not plan.problem.model.experts and strategy.dp_size > 1:
        yield "dp are replicas of a dense model: rows are sharded over it, and no weight is"
    if plan.problem.model.experts and strategy.ep > 1:
        yield (
            f"experts are sharded over ep; how rows reach them ({strategy.exchange} in the plan) is "
            "up to your program and its compiler"
        )
    if strategy.cp > 1:
        yield (
            f"the {strategy.cp} devices of cp take the positions of a cache in turn, which no sharding says"
        )
    if "kv_b_proj.weight" in plan.problem.model.mlir:
        yield (
            "kv_b_proj is sharded on heads; whether queries absorb it, as in the plan's decode, is up "
            "to your program"
        )
    for what, names in said.items():
        yield f"{_SENTENCES[what]}: {_listed(names)}"


def _groups(mesh: _Mesh) -> dict[str, Axes]:
    """Those of several devices; the devices of an expert (etp) where tp has others."""
    found = {name: mesh.axes(name) for name in _GROUPS if mesh.axes(name)}
    if found.get("etp") == found.get("tp"):
        found.pop("etp", None)
    return found


def shardings_of(plan: Plan) -> Shardings:
    """The shardings of a plan's tensors. The plan must be of one phase. Needs the
    compiler's tools."""
    _check_kind(Plan, "plan", plan)
    facts = _lowered(plan)
    if not facts["tensors"]:
        raise ShardoptError(
            f"the weights of '{plan.problem.model.name}' are arguments of its function, expected 'llm.param' ops, "
            "which have names"
        )
    mesh = _Mesh(facts["grid"], {**dict.fromkeys(_GROUPS, ()), **facts["groups"]})
    for fact in facts["tensors"]:  # split every axis first, so that names are final
        for dim in fact["dims"]:
            _dim_of(mesh, dim)
    said: dict[str, list[str]] = {}
    tensors = tuple(_tensors(facts, mesh, said))
    return Shardings(
        plan.problem.model.name,
        mesh.sizes(),
        _groups(mesh),
        tensors,
        _activations(facts, mesh),
        tuple(_notes(plan, said)),
    )
