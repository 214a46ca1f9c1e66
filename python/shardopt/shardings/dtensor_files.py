"""Shardings as files for PyTorch: placements by name, and a plan of `parallelize_module`.

The styles of modules are those of `tp_plans`: torch has a style for most of them.
"""

from __future__ import annotations

from typing import Any, Mapping

from ..errors import Inexpressible, ShardoptError
from ..plans import Plan
from ..tp_plans import parallel_plan
from .facts import Shardings, Spec, shardings_of
from .jax_files import lines_of

#: The releases of PyTorch that the files were tried with.
WRITTEN_FOR = "2.5 to 2.15"

#: A style of Transformers as one of torch, with its arguments. Modules that have none
#: are replicated.
_STYLES: Mapping[str, list[str]] = {
    "colwise": ["ColwiseParallel"],
    "colwise_gather_output": ["ColwiseParallel", "output_layouts=Replicate"],
    "rowwise": ["RowwiseParallel"],
    "rowwise_split_input": ["RowwiseParallel", "input_layouts=Replicate"],
    "embedding_rowwise": ["RowwiseParallel", "input_layouts=Replicate"],
    "embedding_colwise": ["ColwiseParallel", "output_layouts=Replicate"],
}

_MODULE = '''"""Shardings of a plan, for PyTorch {versions}, under torchrun.

    mesh = shardings.mesh("cuda")
    model = shardings.parallelize(model, mesh)      # modules, as Transformers names them
    weight = shardings.distribute(name, tensor, mesh)  # one tensor of the checkpoint
"""

import json
import pathlib
import re

from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.tensor import Replicate, Shard, distribute_tensor
from torch.distributed.tensor.parallel import (
    ColwiseParallel,
    RowwiseParallel,
    parallelize_module,
)

TABLE = json.loads(pathlib.Path(__file__).with_name("shardings.json").read_text())


def mesh(device_type):
    """The mesh of one pipeline stage, over all processes."""
    sizes = TABLE["mesh"]
    return init_device_mesh(device_type, tuple(sizes.values()), mesh_dim_names=tuple(sizes))


def placements(name, experts=False):
    """Those of a tensor of the checkpoint, one for each dim of the mesh; with `experts` of the
    stack of what all experts have, `*` in its name."""
    table = TABLE["experts" if experts else "placements"]
    for glob, found in table.items():
        if re.fullmatch(r"(?:\\d+|\\*)".join(map(re.escape, glob.split("*"))), name):
            return [Replicate() if dim is None else Shard(dim) for dim in found]
    raise KeyError(f"'{{name}}' is no tensor of {{TABLE['model']}}")


def distribute(name, tensor, mesh, experts=False):
    """A tensor of the checkpoint, or a stack of those of experts, as a DTensor."""
    return distribute_tensor(tensor, mesh, placements(name, experts))


def _style(name, *arguments):
    layouts = {{key: Replicate() for key in (one.partition("=")[0] for one in arguments)}}
    return {{"ColwiseParallel": ColwiseParallel, "RowwiseParallel": RowwiseParallel}}[name](**layouts)


def parallelize(model, mesh):
    """Shards the modules of a model of Transformers, over tp."""
    if TABLE["parallelize"] is None:
        raise ValueError("no plan of modules: " + "; ".join(TABLE["notes"]))
    axes = tuple(TABLE["groups"].get("tp", ()))
    if not axes:
        return model
    plan = {{module: _style(*style) for module, style in TABLE["parallelize"].items()}}
    tp = mesh[axes] if len(axes) == 1 else mesh[axes]._flatten("all_of_tp")
    return parallelize_module(model, tp, plan)
'''


def _placements(shardings: Shardings, spec: Spec) -> "list[int | None]":
    """The dim that each axis of the mesh shards."""
    return [
        next((at for at, axes in enumerate(spec) if axis in axes), None) for axis in shardings.mesh
    ]


def _styles(plan: Plan, notes: list[str]) -> "dict[str, list[str]] | None":
    """A style for each module; None where the plan has none, and `notes` get why."""
    try:
        arguments = parallel_plan(plan)
    except Inexpressible as error:
        notes.append("no plan of modules: " + "; ".join(error.reasons))
        return None
    except ShardoptError as error:  # a family that the table lacks, or no config
        notes.append(f"no plan of modules: {error}")
        return None
    modules = {**arguments["tp_plan"], **arguments.get("ep_plan", {})}
    lacking = [
        name for name, style in modules.items() if style not in _STYLES and style != "replicate"
    ]
    if any(name.endswith("experts") for name in lacking):
        notes.append(
            "torch has no style for experts, which parallelize() replicates: distribute() shards "
            "their tensors"
        )
        lacking = [name for name in lacking if ".experts" not in name]
        modules = {name: style for name, style in modules.items() if ".experts" not in name}
    if lacking:
        raise Inexpressible(f"torch has no style for {', '.join(lacking)}", lacking, None)
    return {name: _STYLES[style] for name, style in modules.items() if style in _STYLES}


def files_of(plan: Plan) -> dict[str, str]:
    """The files, by name."""
    shardings = shardings_of(plan)
    notes = list(shardings.notes)
    table: dict[str, Any] = {
        "model": shardings.model,
        "notes": notes,
        "mesh": shardings.mesh,
        "groups": {name: list(axes) for name, axes in shardings.groups.items()},
        "parallelize": _styles(plan, notes),
        "placements": {
            tensor.name: _placements(shardings, tensor.own) for tensor in shardings.tensors
        },
        "experts": {
            tensor.name: _placements(shardings, tensor.spec)
            for tensor in shardings.tensors
            if tensor.has_experts
        },
    }
    return {
        "shardings.json": lines_of(table, ("notes", "parallelize", "placements", "experts")),
        "shardings.py": _MODULE.format(versions=WRITTEN_FOR),
    }
