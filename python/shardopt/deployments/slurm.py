"""The service as one Slurm job, and as a recipe of srt-slurm."""

from __future__ import annotations

from typing import Any

from ..errors import Inexpressible
from .seats import ROUTER_PORT, Seat, hosts_of, seats_of
from .service import DECODE, PREFILL, SERVE, Deployment, Role
from .settings import Settings
from .shell import shared_files, urls, variables
from .yaml_text import document

WRITTEN_FOR = "Slurm 23.02 and later; srt-slurm recipes of 2026-08"


def files_of(deployment: Deployment, settings: Settings) -> dict[str, str]:
    seats = seats_of(deployment)
    files = {"service.sbatch": _batch(deployment, settings, seats)}
    files.update(shared_files(deployment, seats))
    if deployment.engine in ("vllm", "sglang"):
        files["recipe.yaml"] = document(recipe(deployment, settings))
    return files


def _batch(deployment: Deployment, settings: Settings, seats: list[Seat]) -> str:
    count = hosts_of(seats)
    per_node = deployment.roles[0].devices_per_node
    options = {
        "job-name": deployment.name,
        "nodes": count,
        "gpus-per-node": per_node,
        "time": settings.time,
        "output": f"{deployment.name}-%j.log",
        "partition": settings.partition,
        "account": settings.account,
    }
    lines = [
        "#!/bin/bash",
        *(f"#SBATCH --{name}={value}" for name, value in options.items() if value),
        "#SBATCH --exclusive",
        "# Submit it from its folder: sbatch service.sbatch",
        "set -eu",
        'mapfile -t hosts < <(scontrol show hostnames "$SLURM_JOB_NODELIST")',
        *(f'export HOST_{n}="${{hosts[{n - 1}]}}"' for n in range(1, count + 1)),
        'cd "$SLURM_SUBMIT_DIR"',
        "mkdir -p logs",
        "trap 'kill $(jobs -p) 2>/dev/null || true' EXIT",
    ]
    for seat in seats:
        log = f"logs/{seat.role.name}-{seat.worker}-{seat.rank}.log"
        step = f'srun --overlap --nodes=1 --ntasks=1 --nodelist="$HOST_{seat.host}"'
        lines.append(
            f'{step} --output={log} env {" ".join(variables(seat))} sh {seat.role.name}.sh &'
        )
    first = next(iter(urls(seats).values()))[0][0]
    if deployment.is_routed:
        step = 'srun --overlap --nodes=1 --ntasks=1 --nodelist="$HOST_1"'
        lines.append(f"{step} --output=logs/router.log sh router.sh &")
        first = f"http://$HOST_1:{ROUTER_PORT}"
    lines += [
        f'echo "{deployment.name} answers at {first}"',
        "wait",
        "",
    ]
    return "\n".join(lines)


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
        whole = role.workers * deployment.nodes(role)
        packed = -(-role.workers * role.devices // role.devices_per_node)
        resources[f"{prefix[name]}_nodes"] = whole if deployment.nodes(role) > 1 else packed
        resources[f"{prefix[name]}_workers"] = role.workers
        resources[f"gpus_per_{prefix[name]}"] = role.devices
    keys = {SERVE: "aggregated", PREFILL: "prefill", DECODE: "decode"}
    backend: dict[str, Any] = {"type": deployment.engine}
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
            "precision": deployment.roles[-1].quantization or "bf16",
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
}


def engine_flags(deployment: Deployment, role: Role) -> dict[str, Any]:
    """The flags of a role without those of nodes and ports, by name."""
    row, words = deployment.row, list(deployment.command(role, 0).args)
    words = words[len(row["program"]) + (2 if row["model"] else 1) :]
    found: dict[str, Any] = {}
    while words:
        flag = words.pop(0)
        value: Any = True
        if words and not words[0].startswith("--"):
            value = words.pop(0)
        if flag not in OF_NODES:
            found[flag.lstrip("-")] = value
    return found


def trial(deployment: Deployment, folder: str) -> list[str]:
    return ["sbatch", "--test-only", f"--chdir={folder}", f"{folder}/service.sbatch"]
