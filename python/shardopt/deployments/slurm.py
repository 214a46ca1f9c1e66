"""The service as one Slurm job, of two components where roles are on two machines."""

from __future__ import annotations

import contextlib
from typing import Sequence

from ..errors import Inexpressible
from ..shell import quoted
from ..yaml_text import document
from .seats import ROUTER_PORT, Seat, groups_of, seats_of
from .service import Deployment, Role
from .settings import Settings
from .srt_slurm import recipe
from .shell import shared_files, started_seats, urls, variables

WRITTEN_FOR = "Slurm 23.02 and later; with --image Pyxis 0.16"


def files_of(deployment: Deployment, settings: Settings) -> dict[str, str]:
    seats = seats_of(deployment)
    files = {"service.sbatch": _batch(deployment, settings, seats)}
    files.update(shared_files(deployment, seats))
    with contextlib.suppress(Inexpressible):  # a job holds more than a recipe
        files["recipe.yaml"] = document(recipe(deployment, settings))
    return files


def _batch(deployment: Deployment, settings: Settings, seats: list[Seat]) -> str:
    groups = groups_of(seats)
    of_host = {host: number for number, (_, hosts) in enumerate(groups) for host in hosts}
    lines = ["#!/bin/bash"]
    for number, (role, hosts) in enumerate(groups):
        lines += ["#SBATCH hetjob"] if number else []
        lines += _options(deployment, settings, role, len(hosts), len(groups), number == 0)
    lines += ["# Submit it from its folder: sbatch service.sbatch", "set -eu"]
    for number, (_, hosts) in enumerate(groups):
        nodes = "SLURM_JOB_NODELIST" + (f"_HET_GROUP_{number}" if len(groups) > 1 else "")
        lines.append(f'mapfile -t hosts < <(scontrol show hostnames "${nodes}")')
        lines += [f'export HOST_{n}="${{hosts[{n - hosts[0]}]}}"' for n in hosts]
    lines += [
        'cd "$SLURM_SUBMIT_DIR"',
        "mkdir -p logs",
        "trap 'kill $(jobs -p) 2>/dev/null || true' EXIT",
    ]
    for seat in started_seats(deployment, seats):
        log = f"logs/{seat.role.name}-{seat.worker}-{seat.rank}.log"
        launched = deployment.is_launched(seat.role)
        taken, tasks = (seat.hosts, seat.role.devices) if launched else ((seat.host,), 1)
        step = _step(settings, of_host[seat.host], len(groups), taken, tasks)
        lines.append(
            f'{step} --output={log} env {" ".join(variables(seat))} sh {seat.role.name}.sh &'
        )
    first = next(iter(urls(seats).values()))[0][0]
    if deployment.is_routed:
        step = _step(settings, of_host[1], len(groups), (1,))
        lines.append(f"{step} --output=logs/router.log sh router.sh &")
        first = f"http://$HOST_1:{ROUTER_PORT}"
    lines += [
        f'echo "{deployment.name} answers at {first}"',
        "wait",
        "",
    ]
    return "\n".join(lines)


def _options(
    deployment: Deployment, settings: Settings, role: Role, nodes: int, groups: int, is_first: bool
) -> list[str]:
    """The directives of one kind of machines."""
    partition = settings.partition_of(role.name)
    if groups > 1 and partition is None:
        why = (
            f"its roles are on different machines, and {role.name} needs a partition of "
            f"{role.machine}: expected --partition {role.name}:NAME"
        )
        raise Inexpressible(f"the service is no job: {why}", [why], None)
    options = {
        "job-name": deployment.name if is_first else None,
        "nodes": nodes,
        "gpus-per-node": role.devices_per_node,
        "time": settings.time,
        "output": f"{deployment.name}-%j.log" if is_first else None,
        "partition": partition,
        "account": settings.account,
    }
    found = [f"#SBATCH --{name}={value}" for name, value in options.items() if value]
    return [*found, "#SBATCH --exclusive"]


def _step(
    settings: Settings, group: int, groups: int, hosts: Sequence[int], tasks: int = 1
) -> str:
    """A step on machines of the job, of processes of MPI if there are several, in the
    container where there is an image."""
    words = f"srun --overlap --nodes={len(hosts)} --ntasks={tasks}"
    if tasks > 1:
        words += f" --ntasks-per-node={tasks // len(hosts)} --mpi=pmix"
    if groups > 1:
        words += f" --het-group={group}"
    if settings.image:
        words += f' --container-image={quoted(settings.image)} --container-mounts="$PWD:$PWD"'
        words += ' --container-workdir="$PWD"'
    return f'{words} --nodelist="{",".join(f"$HOST_{host}" for host in hosts)}"'


def trial(deployment: Deployment, folder: str) -> list[str]:
    return ["sbatch", "--test-only", f"--chdir={folder}", f"{folder}/service.sbatch"]
