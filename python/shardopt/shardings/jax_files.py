"""Shardings as files for JAX: a table of names, and a module that reads it."""

from __future__ import annotations

import json
from typing import Any

from ..plans import Plan
from .facts import Shardings, Spec, shardings_of

#: The releases of JAX that the files were tried with.
WRITTEN_FOR = "0.6 to 0.10"

_MODULE = '''"""Shardings of a plan, for JAX {versions}.

    mesh = shardings.mesh()
    params = jax.device_put(params, shardings.shardings(mesh, params))

Names are those of the checkpoint. `params` is any tree; the keys on the way to a
leaf, joined by dots, are its name. `jit` takes the rest from its arguments.
"""

import json
import pathlib
import re

import jax
import numpy
from jax.sharding import Mesh, NamedSharding, PartitionSpec

TABLE = json.loads(pathlib.Path(__file__).with_name("shardings.json").read_text())


def _spec(axes):
    return PartitionSpec(*(tuple(found) if found else None for found in axes))


def _find(table, name):
    for glob, axes in table.items():
        if re.fullmatch(r"(?:\\d+|\\*)".join(map(re.escape, glob.split("*"))), name):
            return axes
    return None


def mesh(devices=None):
    """The mesh of one pipeline stage, over these devices or the first ones."""
    sizes = TABLE["mesh"]
    count = 1
    for size in sizes.values():
        count *= size
    found = list(jax.devices() if devices is None else devices)
    if len(found) < count:
        raise ValueError(f"the mesh {{sizes}} takes {{count}} devices, found {{len(found)}}")
    return Mesh(numpy.array(found[:count]).reshape(tuple(sizes.values())), tuple(sizes))


def spec(name, stacked=0):
    """The PartitionSpec of a tensor of the checkpoint, behind `stacked` more dims."""
    axes = _find(TABLE["parameters"], name)
    if axes is None:
        raise KeyError(f"'{{name}}' is no tensor of {{TABLE['model']}}")
    return _spec([None] * stacked + axes)


def expert_spec(name, stacked=0):
    """The same of the stack of a tensor that all experts have, `*` in its name or the
    number of one: the first dim after `stacked` ones is that of experts."""
    axes = _find(TABLE["experts"], name)
    if axes is None:
        raise KeyError(f"'{{name}}' is no tensor of the experts of {{TABLE['model']}}")
    return _spec([None] * stacked + axes)


def activation(op):
    """The PartitionSpec of [rows, features] of an op's result."""
    return _spec(TABLE["activations"][op])


def shardings(mesh, params):
    """A NamedSharding for each leaf of `params`."""

    def key(entry):
        return str(getattr(entry, "key", getattr(entry, "name", getattr(entry, "idx", entry))))

    def of(path, leaf):
        return NamedSharding(mesh, spec(".".join(map(key, path))))

    return jax.tree_util.tree_map_with_path(of, params)
'''


def _even(shardings: Shardings, name: str, shape: "tuple[int, ...]", spec: Spec, notes: list[str]) -> list[Any]:
    """A spec without the dims that JAX refuses: those that blocks do not divide."""
    found = []
    for size, axes in zip(shape, spec):
        parts = shardings.parts(axes)
        if size % parts:
            notes.append(
                f"replicated, since JAX does not shard a dim of {size} into {parts} blocks: {name}; "
                f"padded to {-(-size // parts) * parts}, it can be {list(axes)}"
            )
            axes = ()
        found.append(list(axes) or None)
    return found


def table_of(shardings: Shardings) -> dict[str, Any]:
    """What `shardings.json` holds."""
    notes = list(shardings.notes)
    parameters: dict[str, Any] = {}
    experts: dict[str, Any] = {}
    for tensor in shardings.tensors:
        spec = _even(shardings, tensor.name, tensor.shape, tensor.spec, notes)
        if tensor.has_experts:
            experts[tensor.name] = spec
        parameters[tensor.name] = spec[1:] if tensor.has_experts else spec
    return {
        "model": shardings.model,
        "notes": notes,
        "mesh": shardings.mesh,
        "groups": {name: list(axes) for name, axes in shardings.groups.items()},
        "parameters": parameters,
        "experts": experts,
        "activations": {
            op: [list(axes) or None for axes in spec] for op, spec in shardings.activations.items()
        },
    }


def lines_of(table: Any, wide: "tuple[str, ...]") -> str:
    """JSON with the members of some tables, each on a line."""
    rows = []
    for key, value in table.items():
        if key in wide and value:
            each = value.items() if isinstance(value, dict) else [(None, one) for one in value]
            opened, closed = ("{", "}") if isinstance(value, dict) else ("[", "]")
            inner = ",\n".join(
                "  " + (f"{json.dumps(name)}: " if name is not None else "") + json.dumps(one)
                for name, one in each
            )
            rows.append(f" {json.dumps(key)}: {opened}\n{inner}\n {closed}")
        else:
            rows.append(f" {json.dumps(key)}: {json.dumps(value)}")
    return "{\n" + ",\n".join(rows) + "\n}\n"


def files_of(plan: Plan) -> dict[str, str]:
    """The files, by name."""
    table = table_of(shardings_of(plan))
    wide = ("notes", "parameters", "experts", "activations")
    return {
        "shardings.json": lines_of(table, wide),
        "shardings.py": _MODULE.format(versions=WRITTEN_FOR),
    }
