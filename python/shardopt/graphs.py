"""Graphs of other compilers: the sharding of each op, chosen with a proof.

The pass `--shard-auto-annotate` reads StableHLO in generic form, or linalg, and this
module runs it and tells what it chose. A program of `torch.export` becomes StableHLO first.
"""

from __future__ import annotations

import json
import os
import re
import tempfile
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Mapping, Sequence

from ._tools import complaint, run_tool
from .border import parse_json, read_text, shown
from .errors import ShardoptError
from .torch_graphs import load_exported, stablehlo_of

#: What MLIR says of text that only the dialect itself can read.
_PRETTY = re.compile(r"Dialect `(?:stablehlo|chlo)' not found|(?:stablehlo|chlo)\.\w+' is unknown|custom op '(?:stablehlo|chlo)")
_PLACE = re.compile(r"^graph\.mlir:(\d+):\d+: error: ")

_WANTED = {
    "machine": "the name of a machine, or a JSON file",
    "mesh": "1 to 3 axes, such as 8, 4x2 or data=4,model=2",
    "simulator": "roofline, calibrated or auto",
}


@dataclass(frozen=True)
class Graph:
    """What was chosen for a function. Times are in microseconds, of one device."""

    mesh: Mapping[str, int]
    us: float
    bound_us: "float | None"
    """No sharding takes less."""
    proved: bool
    layers: int
    """How many repeated layers share their sharding; the bound is that of such shardings."""
    plans: Sequence[Mapping[str, Any]]
    """The chosen sharding, and those that people write by hand: `plan`, `us`, `memory_bytes`,
    `all_reduces`, `reshards`, `collective_bytes` of the results of both, on a device."""
    nodes: Sequence[Mapping[str, Any]]
    """Arguments and ops in order, as the pass reports them."""
    annotated: str
    """The module with annotations, as MLIR."""
    wall_s: float = field(compare=False)
    """Seconds of the choice, without reading the module."""

    @property
    def replicated_us(self) -> float:
        """What it takes where every device computes everything."""
        found: float = next(plan["us"] for plan in self.plans if plan["plan"] == "replicated")
        return found

    @property
    def memory_bytes(self) -> float:
        """What a device holds at its peak."""
        found: float = self.plans[0]["memory_bytes"]
        return found

    def placements(self) -> dict[str, list[str]]:
        """The placements of each argument as DTensor has them, one for each axis of the mesh."""
        found = {}
        for index, node in enumerate(each for each in self.nodes if each["op"] == "argument"):
            dims = node["shardings"][0]
            found[node["name"] or f"arg{index}"] = [
                next((f"Shard({dim})" for dim, axes in enumerate(dims) if axis in axes), "Replicate()")
                for axis in self.mesh
            ]
        return found

    def unused(self) -> list[str]:
        """Axes of the mesh that shard no value."""
        used = {axis for node in self.nodes for dims in node["shardings"] for axes in dims for axis in axes}
        return [axis for axis in self.mesh if axis not in used]

    def rows(self) -> list[dict[str, Any]]:
        """A row for each kind of argument, and of op that is a kernel or that communicates;
        one for all other ops, which are fused into these."""
        found: dict[tuple[Any, ...], dict[str, Any]] = {}
        for node in self.nodes:
            is_argument = node["op"] == "argument"
            collectives = _collectives(node)
            if node["op"] in ("func.return", "stablehlo.while") and not collectives:
                continue
            row = {"op": "fused", "result": "", "factors": "", "sharding": "", "collectives": ""}
            if is_argument or node["kernel"] or collectives:
                row = {
                    "op": node["op"],
                    "result": " ".join(kind.removeprefix("tensor").strip("<>") for kind in node["types"]),
                    "factors": "" if is_argument else _factors(node),
                    "sharding": " ".join(map(_spelled, node["shardings"])),
                    "collectives": collectives,
                }
            spent = 0.0 if is_argument else node["us"] + sum(one["us"] for one in node["reshards"])
            known = found.setdefault(tuple(row.values()), {"count": 0, **row, "us": 0.0})
            known["count"] += node.get("times", 1)
            known["us"] += spent
        return list(found.values())


def _spelled(sharding: Sequence[Sequence[str]]) -> str:
    return "[" + ", ".join("+".join(axes) or "-" for axes in sharding) + "]"


def _factors(node: Mapping[str, Any]) -> str:
    if node["replicated"]:
        return "none"
    return " ".join(
        ("sum " if factor["reduced"] else "") + str(factor["size"]) for factor in node["factors"]
    )


def _collectives(node: Mapping[str, Any]) -> str:
    """All-reduces of an op, and reshards of its operands."""
    found = [f"all-reduce {one['axis']}" for one in node.get("reductions", ())]
    found += [
        f"{_spelled(one['from'])} to {_spelled(one['to'])}"
        for one in node.get("reshards", ())
        if one["us"] > 0
    ]
    return "; ".join(found)


def _raise(said: str, path: "str | os.PathLike[str]", machine: "str | os.PathLike[str]") -> None:
    message = _PLACE.sub(lambda found: f"'{path}', line {found.group(1)}: ", said.removeprefix("error: "))
    for copied, meant in (("'graph.mlir'", f"'{path}'"), ("machine.json", f"{machine}"), ("pins.json: /parameters/", "pin ")):
        message = message.replace(copied, meant)
    if _PRETTY.search(said):
        place = message.partition(": ")[0]
        raise ShardoptError(
            f"{place}: the module is in pretty form, expected the generic form: "
            "get_asm(print_generic_op_form=True) in JAX, or stablehlo-opt --mlir-print-op-generic"
        )
    raise ShardoptError(message)


_SHARDING = re.compile(r"\[([\w+, -]*)\]")


def read_pins(path: "str | os.PathLike[str]") -> dict[str, Any]:
    """The shardings of a file that `export --target jax` wrote, or that looks alike."""
    found = parse_json(read_text(path), f"'{path}'")
    parameters = found.get("parameters") if isinstance(found, dict) else None
    if not isinstance(parameters, dict):
        raise ShardoptError(f"'{path}' has no object 'parameters', expected names with the axes of each dim")
    return parameters


def parse_pin(text: str) -> "tuple[str, list[list[str] | None]]":
    """`NAME=[-, model]`, as tables spell shardings: axes of each dim, joined by +."""
    name, _, sharding = text.rpartition("=")
    found = _SHARDING.fullmatch(sharding.strip())
    if not name or not found:
        raise ShardoptError(f"'pin' is {shown(text)}, expected NAME=[-, model]: for each dim -, an axis, or axes joined by +")
    dims = [dim.strip() for dim in found.group(1).split(",")] if found.group(1).strip() else []
    return name, [None if dim == "-" else dim.split("+") for dim in dims]


def _is_exported(graph: Any) -> bool:
    return hasattr(graph, "graph_signature")


def _text_of(graph: Any) -> str:
    if _is_exported(graph):
        return stablehlo_of(graph)
    if os.fspath(graph).endswith(".pt2"):
        return stablehlo_of(load_exported(graph))
    return read_text(graph)


def import_graph(
    graph: Any,
    machine: str = "h100_sxm",
    mesh: str = "8",
    memory_gb: "float | None" = None,
    time_limit: float = 60,
    pins: "Mapping[str, Any] | None" = None,
    simulator: str = "auto",
) -> Graph:
    """Reads a graph and chooses its sharding over `mesh`, such as "8", "4x2" or
    "data=4,model=2". The graph is a file of MLIR with one public function, an
    `ExportedProgram` of PyTorch, or a file of `torch.export.save` (.pt2). Needs the compiler's
    tools.

    `pins` has for names of arguments and results the axes of each dim, such as
    `{"*.q_proj.weight": ["model", None]}`, as the file of `export --target jax` has
    them. `*` stands for anything; without names there are arg0 and result0."""
    inputs, described = {"graph.mlir": _text_of(graph)}, machine
    if os.path.exists(machine):
        inputs["machine.json"] = read_text(machine)
        machine = "machine.json"
    for name, value in (("machine", machine), ("mesh", mesh), ("simulator", simulator)):
        if not re.fullmatch(r"[\w=,./-]+", value):
            raise ShardoptError(f"'{name}' is {shown(value)}, expected {_WANTED[name]}")
    options = {
        "machine": machine, "mesh": mesh, "simulator": simulator, "memory-gb": memory_gb, "time-limit": time_limit,
        "report": "report.json",
    }
    if pins:
        inputs["pins.json"] = json.dumps({"parameters": dict(pins)})
        options["pins"] = "pins.json"
    words = " ".join(f"{name}={value}" for name, value in options.items() if value is not None)
    with tempfile.TemporaryDirectory() as folder:
        for name, text in inputs.items():
            Path(folder, name).write_text(text, encoding="utf-8")
        done = run_tool(
            "shard-opt",
            ["graph.mlir", "--allow-unregistered-dialect", f"--shard-auto-annotate={words}", "-o", "annotated.mlir"],
            folder,
        )
        if done.returncode:
            _raise(complaint(done), "the exported program" if _is_exported(graph) else graph, described)
        report = json.loads(Path(folder, "report.json").read_text(encoding="utf-8"))
        annotated = Path(folder, "annotated.mlir").read_text(encoding="utf-8")
    return Graph(annotated=annotated, **report)
