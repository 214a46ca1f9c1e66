"""The table of engines (`engines.json`), and how it is read.

A row of `flags` says when a flag is written and its value, as expressions over
the fields of a plan; `fields` says the same the other way, each field as an
expression over the flags; `rules` must hold of flags, `limits` of plans.
"""

from __future__ import annotations

import functools
import json
import math
from pathlib import Path
from typing import Any, Mapping

from .errors import ShardoptError, UnknownName, UnknownVersion, list_known
from .plans import Plan
from .problem import Model

Names = dict[str, Any]


@functools.lru_cache(maxsize=None)
def table() -> dict[str, dict[str, Any]]:
    """The rows of the table by engine."""
    path = Path(__file__).with_name("engines.json")
    rows = json.loads(path.read_text(encoding="utf-8"))["engines"]
    return {row["engine"]: row for row in rows}


def engines() -> dict[str, list[str]]:
    """The engines, each with the series of versions that are known."""
    return {
        **{name: row["versions"] for name, row in table().items()},
        "transformers": ["5.23"],
    }


def known_version(text: str) -> str:
    """The version that "vllm" or "vllm==0.33.0" asks for: without one, the newest
    known. Unknown names and versions are errors that name the nearest."""
    name, _, version = text.partition("==")
    if name not in engines():
        raise UnknownName(f"unknown engine '{name}'; " + list_known(name, engines()))
    series = engines()[name]
    if not version:
        return series[-1]
    for known in series:
        rest = version[len(known) :] if version.startswith(known) else None
        if rest is not None and not (rest[:1].isdigit() and known[-1].isdigit()):
            return version
    raise UnknownVersion(
        f"unknown version '{version}' of {name}: its flags may be others; "
        + list_known(version, series)
    )


def find_engine(text: str) -> tuple[dict[str, Any], str]:
    """The row of an engine that has a command line, and the version."""
    version = known_version(text)
    name = text.partition("==")[0]
    if name not in table():
        raise ShardoptError(f"{name} is no server, expected one of " + ", ".join(table()))
    return table()[name], version


def value_of(expression: str, names: Mapping[str, Any]) -> Any:
    """What an expression of the table is, over `names`."""
    functions: Names = {"ceil": math.ceil, "max": max, "min": min, "len": len}
    functions.update(set=set, map=map, str=str)
    return eval(expression, {"__builtins__": {}, **functions, **names})


def facts_of(model: Model) -> Names:
    """What flags depend on beside a strategy."""
    return {
        "experts": model.experts,
        "has_dense_layers": model.has_dense_layers,
        "phase": model.phase,
        "context": model.context,
    }


def stage_layers(plan: Plan) -> list[int]:
    """The layers of each pipeline stage."""
    if plan.strategy.stages or plan.breakdown is None:
        return list(plan.strategy.stages)
    stages = [0] * plan.strategy.pp
    for row in plan.breakdown:
        if row["op"] == "layer_exit":
            stages[row["stage"]] += row["layers"]
    stages[-1] += 1  # the last layer ends in the head
    return stages


def devices_per_node_of(plan: Plan) -> int:
    """As many as the machine's domain has, and 4 where that is larger than a node."""
    domain = int(plan.problem.machine_parameters()["domain"]["devices"])
    return domain if domain <= 8 else 4


def fields_of(plan: Plan, devices_per_node: int | None) -> Names:
    """The names of a plan in expressions of the table."""
    strategy, model = plan.strategy, plan.problem.model
    per_server = strategy.tp * strategy.pp
    if model.experts:
        per_server *= strategy.replicas
    if devices_per_node is None:
        devices_per_node = devices_per_node_of(plan)
    return {
        **facts_of(model),
        "tp": strategy.tp,
        "dp": strategy.replicas,
        "ep": strategy.ep if model.experts else 1,
        "pp": strategy.pp,
        "cp": strategy.cp,
        "gathers": strategy.exchange == "gather",
        "batch": strategy.batch,
        "replicas_apart": True,
        "devices": per_server,
        "devices_per_node": devices_per_node,
        "nodes": -(-per_server // devices_per_node),
        "stage_layers": stage_layers(plan),
    }
