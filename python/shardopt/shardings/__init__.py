"""Shardings of a plan for compilers that take them: JAX, PyTorch, Shardy."""

from __future__ import annotations

import os
from pathlib import Path

from ..border import list_known, read_text
from ..deployments.folder import write_folder
from ..errors import ShardoptError, UnknownName
from ..plans import Plan
from . import dtensor_files, jax_files, sdy_files
from .facts import Shardings, Tensor, shardings_of

__all__ = ["Shardings", "TARGETS", "Tensor", "files_of", "shardings_of", "write"]

#: The targets, in the order of the help.
TARGETS = ("jax", "dtensor", "sdy")


def files_of(
    plan: Plan, target: str, module: "str | os.PathLike[str] | None" = None
) -> dict[str, str]:
    """The files of a target by name. `module` is a file of StableHLO, for `sdy`, whose
    arguments get their shardings."""
    if target not in TARGETS:
        raise UnknownName(f"unknown target '{target}'; " + list_known(target, TARGETS))
    if module is not None and target != "sdy":
        raise ShardoptError(f"'--module' is StableHLO text, which {target} does not take: expected --target sdy")
    if target == "sdy":
        read = None if module is None else (f"'{module}'", read_text(module))
        return sdy_files.files_of(plan, read)
    return (jax_files if target == "jax" else dtensor_files).files_of(plan)


def write(
    plan: Plan,
    target: str,
    folder: "str | os.PathLike[str]",
    module: "str | os.PathLike[str] | None" = None,
) -> list[Path]:
    """Writes the files of `target` into a new folder: all or none."""
    return write_folder(folder, files_of(plan, target, module))
