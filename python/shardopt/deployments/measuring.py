"""The files of proposed measurements: servers, one after the other, and the engine's own
benchmark at each load."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING

from ..measurements import FILE, RESULTS, text_of
from ..shell import Expansion, command_line, quoted
from ..tables import counted
from . import shell
from .routing import benchmark_command
from .seats import PORT, hosts_of, seats_of
from .service import Load
from .settings import Settings

if TYPE_CHECKING:
    from ..calibration import Proposals

_STOP = [
    'stop() { kill -TERM -- "-$server" 2>/dev/null || :; wait "$server" || :; sleep 10; }',
    "trap stop EXIT",
]


def files_of(found: "Proposals") -> dict[str, str]:
    """The measurements as CSV, a folder for each server, and the script that starts one
    after the other and measures."""
    files = {FILE: text_of(found.measurements)}
    lines: list[str] = []
    most = 1
    url = Expansion(f"http://$HOST_1:{PORT}")
    for number, (deployment, loads) in enumerate(found.servers(), 1):
        folder = f"server-{number}"
        for name, text in shell.files_of(deployment, Settings()).items():
            files[f"{folder}/{name}"] = text
        hosts = hosts_of(seats_of(deployment))
        most = max(most, hosts)
        role = deployment.roles[0]
        on = " ".join(f'"${{{i}}}"' for i in range(1, hosts + 1))
        lines += [
            f"# {counted(role.devices, 'GPU')}: tp {role.tp}, dp {role.ranks}, ep {role.ep}, pp {role.pp}",
            f'setsid sh "$here/{folder}/start.sh" {on} &',
            "server=$!",
            f"wait_for {quoted(url)}",
        ]
        for load in loads:
            at = Load(load.isl, load.osl, load.concurrency)
            words = benchmark_command(dataclasses.replace(deployment, load=at), url)
            kept = [part.format(file=f"{load.name}.json") for part in deployment.row["benchmark_output"]]
            lines.append(f"[ -e {quoted(f'{load.name}.json')} ] || {command_line([*words, *kept])}")
        lines.append("stop")
    head = [
        "#!/bin/sh",
        f"# Starts {counted(len(found.servers()), 'server')} one after the other, and measures "
        f"{counted(len(found.proposals), 'load')}.",
        f"# usage: measure.sh {' '.join(f'[HOST_{i}]' for i in range(1, most + 1))}; without, localhost",
        "set -eu",
        "[ $# -gt 0 ] || set -- localhost",
        f'[ $# -ge {most} ] || {{ echo "{counted(most, "host")} are needed" >&2; exit 2; }}',
        "export HOST_1=$1",
        'here=$(cd "$(dirname "$0")" && pwd)',
        f'mkdir -p "$here/{RESULTS}"',
        f'cd "$here/{RESULTS}"',
        *shell.waiting(further='kill -0 "$server"'),
        *_STOP,
    ]
    files["measure.sh"] = "\n".join([*head, *lines, "trap - EXIT", ""])
    return files
