"""Services as files that platforms run."""

from __future__ import annotations

import json
import os
from pathlib import Path
from types import ModuleType

from ..border import list_known
from ..errors import Inexpressible, UnknownName
from ..hub import is_hub_id
from ..services import Service
from ..shell import as_path, command_line
from . import compose, dynamo, kubernetes, llm_d, shell, slurm, srt_slurm
from .folder import write_folder
from .pairs import why_not_paired
from .planned import deployment_of
from .pods import holds_downloads
from .service import Deployment, Load, Role
from .settings import Settings

__all__ = [
    "Deployment", "Load", "Role", "Settings", "TARGETS", "deployment_of", "files_of",
    "left_to_users", "next_step", "why_not_exported", "why_not_paired", "write",
]

#: What each target is written by; a module says which versions it was `WRITTEN_FOR`.
TARGETS: dict[str, ModuleType] = {
    "shell": shell,
    "compose": compose,
    "slurm": slurm,
    "srt-slurm": srt_slurm,
    "kubernetes": kubernetes,
    "dynamo": dynamo,
    "llm-d": llm_d,
}


def files_of(deployment: Deployment, target: str, settings: Settings) -> dict[str, str]:
    """The files of a target by name, and the service that they are for."""
    if target not in TARGETS:
        raise UnknownName(f"unknown target '{target}'; " + list_known(target, TARGETS))
    settings.check_target(target)
    said = json.dumps(deployment.to_dict(), indent=1) + "\n"
    files = TARGETS[target].files_of(deployment, settings)
    noted = {name: _noted(text, deployment.notes) for name, text in files.items()}
    return {**noted, "plan/service.json": said}


def why_not_exported(service: Service, model: str | None = None) -> str | None:
    """Why no target can start a service with its engine and the checkpoint `model`, or
    None."""
    try:
        deployment_of(service, model=model).check()
    except Inexpressible as error:
        return "; ".join(error.reasons)
    return None


def left_to_users(deployment: Deployment, target: str, settings: Settings) -> list[str]:
    """What files do not say, because it differs from cluster to cluster."""
    if target in ("shell", "slurm") and settings.image is None:
        return [f"needs {each}" for each in shell.needs(deployment)]
    if not settings.is_of_pods(target):
        return []
    found = []
    if target == "kubernetes":
        found += [f"needs {each}" for each in kubernetes.needs(deployment)]
    if deployment.is_disaggregated or any(deployment.nodes(role) > 1 for role in deployment.roles):
        found.append("no RDMA devices are requested: add those of your cluster to the workers")
    if any(map(deployment.is_launched, deployment.roles)):
        found.append(
            "Dynamo starts workers of several nodes by mpirun: create its secret of SSH keys "
            "(mpirun-ssh-key-…)"
        )
    if not settings.node_selector and len({role.machine for role in deployment.roles}) == 1:
        found.append(
            f"any node with GPUs is taken for {deployment.roles[0].machine}: --node-selector KEY=VALUE "
            "chooses"
        )
    if is_hub_id(deployment.model):
        found.append(
            f"pods share the downloads of '{deployment.model}' in the claim '{settings.claim}' "
            "(HF_HOME), which all of them write: ReadWriteMany"
            if holds_downloads(deployment, settings)
            else f"each pod downloads '{deployment.model}': name a claim for its downloads (--claim)"
        )
    return found


def _noted(text: str, notes: list[str]) -> str:
    """A script or a file of YAML with notes as comments, behind a script's first line."""
    lines = "".join(f"# needs {note}\n" for note in notes)
    first, newline, rest = text.partition("\n")
    return first + newline + lines + rest if first.startswith("#!") else lines + text


def write(
    deployment: Deployment,
    target: str,
    folder: "str | os.PathLike[str]",
    settings: Settings = Settings(),
) -> list[Path]:
    """Writes the files of `target` into a new folder: all or none."""
    return write_folder(folder, files_of(deployment, target, settings))


def next_step(deployment: Deployment, target: str, folder: "str | os.PathLike[str]") -> str:
    """The command that tries what was written and changes nothing, for a shell."""
    return command_line(TARGETS[target].trial(deployment, as_path(os.fspath(folder))))
