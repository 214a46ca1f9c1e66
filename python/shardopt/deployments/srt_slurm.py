"""The service as a recipe of srt-slurm."""

from __future__ import annotations

import copy
import json
import re
from typing import Any, Container, Mapping, Sequence

from ..errors import Inexpressible
from ..launches import Command
from ..yaml_text import document
from .service import DECODE, PREFILL, SERVE, Deployment, Role
from .settings import Settings

WRITTEN_FOR = "srt-slurm recipes of 2026-08"

def files_of(deployment: Deployment, settings: Settings) -> dict[str, str]:
    return {"recipe.yaml": document(recipe(deployment, settings))}


def recipe(deployment: Deployment, settings: Settings) -> dict[str, Any]:
    """What `srtctl apply` takes: flags by role, without those of nodes, which it adds."""
    roles = {role.name: role for role in deployment.roles}
    gpus = {role.devices_per_node for role in deployment.roles}
    machines = {role.machine for role in deployment.roles}
    if len(gpus) > 1 or len(machines) > 1:
        why = "its roles are on different machines, and a recipe has one"
        raise Inexpressible(f"the service is no recipe: {why}", [why], None)
    prefix = {SERVE: "agg", PREFILL: "prefill", DECODE: "decode"}
    resources: dict[str, Any] = {
        "gpu_type": deployment.roles[0].machine.partition("_")[0] or "gpu",
        "gpus_per_node": gpus.pop(),
    }
    for name, role in roles.items():
        nodes = role.workers * deployment.nodes(role)
        if deployment.nodes(role) == 1:  # several workers may share one
            nodes = -(-role.workers // (role.devices_per_node // role.devices))
        resources[f"{prefix[name]}_nodes"] = nodes
        resources[f"{prefix[name]}_workers"] = role.workers
        resources[f"gpus_per_{prefix[name]}"] = role.devices
    keys = {SERVE: "aggregated", PREFILL: "prefill", DECODE: "decode"}
    backend: dict[str, Any] = {"type": deployment.engine}
    if deployment.engine == "vllm":  # the flags of each role say it themselves
        backend["connector"] = None
    for name, role in roles.items():
        env = deployment.command(role, 0).env
        if env:
            backend[f"{keys[name]}_environment"] = dict(env)
    backend[f"{deployment.engine}_config"] = {
        keys[name]: engine_flags(deployment, role) for name, role in roles.items()
    }
    load = deployment.load
    benchmark: dict[str, Any] = {"type": "sa-bench", "isl": load.isl, "osl": load.osl}
    benchmark["concurrencies"] = [load.concurrency]
    benchmark["req_rate"] = load.rate or "inf"
    return {
        "name": deployment.name,
        "model": {
            "path": deployment.model,
            "container": settings.image or deployment.row["image"],
            "precision": deployment.facts.get("precision", "bf16"),
        },
        "resources": resources,
        "frontend": {"type": "dynamo"},
        "backend": backend,
        "benchmark": benchmark,
    }


# What a launcher of several nodes adds by itself.
OF_NODES = {
    "--nnodes", "--node-rank", "--master-addr", "--dist-init-addr", "--headless",
    "--data-parallel-size-local", "--data-parallel-address", "--data-parallel-start-rank",
    "--data-parallel-rpc-port",
}
# What srtctl numbers itself.
_OF_PORTS = {"--disaggregation-bootstrap-port"}


def engine_flags(deployment: Deployment, role: Role) -> dict[str, Any]:
    """The flags of a role without those of nodes and ports, by name."""
    row, command = deployment.row, deployment.command(role, 0)
    if row.get("options"):  # an engine that is told its options in a file
        return options_said(row, command)
    said = flags_said(command)
    return {
        flag.lstrip("-"): values[0] if values else True
        for flag, *values in said
        if flag not in OF_NODES | _OF_PORTS
    }


def options_said(
    row: Mapping[str, Any], command: Command, apart: Container[str] = ()
) -> dict[str, Any]:
    """The flags of a command but those `apart`, and its file, as the options that they are."""
    found: dict[str, Any] = copy.deepcopy(dict(command.options))
    said = {flag: values for flag, *values in flags_said(command)}
    for path, flag in row["options"].items():
        if flag in said and flag not in apart:
            *outer, name = path.split(".")
            inner = found
            for part in outer:
                inner = inner.setdefault(part, {})
            inner[name] = _value_of(said[flag])
    return found


def _value_of(values: Sequence[str]) -> Any:
    """A switch, a number or a word."""
    if not values:
        return True
    return json.loads(values[0]) if re.fullmatch(r"[0-9]+(\.[0-9]+)?", values[0]) else values[0]


def flags_said(command: Command) -> list[list[str]]:
    """The flags of a command, each with its values."""
    found: list[list[str]] = []
    for word in command.flags:
        if word.startswith("--"):
            found.append([word])
        else:
            found[-1].append(word)
    return found


def trial(deployment: Deployment, folder: str) -> list[str]:
    return ["srtctl", "dry-run", "-f", f"{folder}/recipe.yaml"]
