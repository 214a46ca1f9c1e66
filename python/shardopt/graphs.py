"""Graphs of other compilers: the sharding of each op, chosen with a proof.

The pass `--shard-auto-annotate` reads StableHLO in generic form, or linalg, and this
module runs it and tells what it chose.
"""

from __future__ import annotations

import json
import os
import re
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Mapping, Sequence

from ._tools import complaint, run_tool
from .border import read_text, shown
from .errors import ShardoptError

#: What MLIR says of text that only the dialect itself can read.
_PRETTY = re.compile(r"Dialect `(?:stablehlo|chlo)' not found|(?:stablehlo|chlo)\.\w+' is unknown|custom op '(?:stablehlo|chlo)")
_PLACE = re.compile(r"^graph\.mlir:(\d+):\d+: error: ")

_WANTED = {
    "machine": "the name of a machine, or a JSON file",
    "mesh": "1 to 3 axes, such as 8, 4x2 or data=4,model=2",
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
    replicated_us: float
    """What it takes where every device computes everything."""
    memory_bytes: float
    nodes: Sequence[Mapping[str, Any]]
    """Arguments and ops in order, as the pass reports them."""
    annotated: str
    """The module with annotations, as MLIR."""

    def rows(self) -> list[dict[str, Any]]:
        """A row for each kind of argument, and of op that is a kernel or that communicates;
        one for all other ops, which are fused into these."""
        found: dict[tuple[Any, ...], dict[str, Any]] = {}
        for node in self.nodes:
            is_argument = node["op"] == "argument"
            collectives = _collectives(node)
            if node["op"] == "func.return" and not collectives:
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
            known["count"] += 1
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


def _raise(said: str, path: "str | os.PathLike[str]") -> None:
    message = _PLACE.sub(lambda found: f"'{path}', line {found.group(1)}: ", said)
    if _PRETTY.search(said):
        place = message.partition(": ")[0]
        raise ShardoptError(
            f"{place}: the module is in pretty form, expected the generic form: "
            "get_asm(print_generic_op_form=True) in JAX, or stablehlo-opt --mlir-print-op-generic"
        )
    raise ShardoptError(message)


def import_graph(
    path: "str | os.PathLike[str]",
    machine: str = "h100_sxm",
    mesh: str = "8",
    memory_gb: "float | None" = None,
    time_limit: float = 60,
) -> Graph:
    """Reads a module of one public function and chooses its sharding over `mesh`, such as
    "8", "4x2" or "data=4,model=2". Needs the compiler's tools."""
    inputs = {"graph.mlir": read_text(path)}
    if os.path.exists(machine):
        inputs["machine.json"] = read_text(machine)
        machine = "machine.json"
    for name, value in (("machine", machine), ("mesh", mesh)):
        if not re.fullmatch(r"[\w=,./-]+", value):
            raise ShardoptError(f"'{name}' is {shown(value)}, expected {_WANTED[name]}")
    options = {
        "machine": machine, "mesh": mesh, "memory-gb": memory_gb, "time-limit": time_limit,
        "report": "report.json",
    }
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
            _raise(complaint(done), path)
        report = json.loads(Path(folder, "report.json").read_text(encoding="utf-8"))
        annotated = Path(folder, "annotated.mlir").read_text(encoding="utf-8")
    return Graph(annotated=annotated, **report)
