"""The service as shell scripts: one a role, and one that starts all."""

from __future__ import annotations

from ..shell import Expansion, command_line, exec_lines, quoted
from .routing import benchmark_command, router_command, router_files
from .seats import ROUTER_PORT, Seat, groups_of, hosts_of, seats_of
from .service import Deployment, Role
from .settings import Settings

WRITTEN_FOR = "POSIX sh, ssh"

_ON = r"""
quote() { printf "'%s'" "$(printf %s "$1" | sed "s/'/'\\\\''/g")"; }
on() { # HOST LOG WORD...: runs the words there, in the background
  host=$1 log=$2; shift 2
  if [ -n "$dry" ]; then echo "$host: $*"; return; fi
  if [ "$host" = localhost ]; then "$@" >"$log" 2>&1 &
  else
    words=; for word in "$@"; do words="$words $(quote "$word")"; done
    ssh -n -- "$host" "$words" >"$log" 2>&1 &
  fi
}
"""


def role_script(deployment: Deployment, role: Role) -> str:
    """Starts one node of one worker, or one process of MPI; what differs between them it
    reads from variables."""
    port, side_port = Expansion("$PORT"), Expansion("$SIDE_PORT")
    command = deployment.command(role, port, side_port)
    nodes = deployment.nodes(role)
    by_node = nodes > 1 and not deployment.is_launched(role)
    several = ['NODE_RANK=${NODE_RANK:-$SLURM_NODEID}'] if by_node else []
    lines = [
        "#!/bin/sh",
        f"# {role.name}: {deployment.engine} {deployment.version}, a worker has "
        f"{role.devices} GPUs on {nodes} node{'s' if nodes > 1 else ''}",
        "# reads PORT, SIDE_PORT, HOST"
        + (", NODE_RANK or SLURM_NODEID, MASTER_ADDR" if by_node else ""),
        "set -eu",
        *several,
        'cd "$(dirname "$0")"',
        *(f"export {name}={quoted(value)}" for name, value in command.env.items()),
    ]
    known = {"host": Expansion("$HOST"), "side_port": side_port}
    if deployment.is_disaggregated:
        for name, field in deployment.row["environment_of_roles"].items():
            lines.append(f"export {name}={quoted(known[field])}")
    return "\n".join([*lines, *exec_lines(command.args, command.later_args), ""])


def urls(seats: list[Seat]) -> dict[str, list[tuple[str, str]]]:
    """By role, the URL and the side port of each worker."""
    found: dict[str, list[tuple[str, str]]] = {}
    for seat in seats:
        if seat.rank == 0:
            url = Expansion(f"http://$HOST_{seat.host}:{seat.port}")
            found.setdefault(seat.role.name, []).append((url, str(seat.side_port)))
    return found


def script(command: list[str]) -> str:
    return f"#!/bin/sh\nexec {command_line(command)}\n"


def shared_files(deployment: Deployment, seats: list[Seat]) -> dict[str, str]:
    """The scripts of roles, router and benchmark, and the files that engines read."""
    files = {f"{role.name}.sh": role_script(deployment, role) for role in deployment.roles}
    for role in deployment.roles:
        files.update(deployment.command(role, 0).files)
    entrance = next(iter(urls(seats).values()))[0][0]
    if deployment.is_routed:
        files["router.sh"] = _router_script(deployment, seats)
        entrance = Expansion(f"http://$HOST_1:{ROUTER_PORT}")
    files["benchmark.sh"] = script(benchmark_command(deployment, entrance))
    return files


def _router_script(deployment: Deployment, seats: list[Seat]) -> str:
    """The router; files that it reads have the names of hosts, which the shell puts in."""
    lines = ["#!/bin/sh"]
    for name, text in router_files(deployment, urls(seats), ROUTER_PORT).items():
        lines += ["set -eu", f'cat > "$(dirname "$0")/{name}" <<END', f"{text}END",
                  'cd "$(dirname "$0")"']
    words = router_command(deployment, urls(seats), ROUTER_PORT)
    return "\n".join([*lines, f"exec {command_line(words)}", ""])


def variables(seat: Seat) -> list[str]:
    """What a role's script reads, as words of `env`."""
    devices = ",".join(map(str, seat.gpus))
    return [
        f"CUDA_VISIBLE_DEVICES={devices}",
        f"PORT={seat.port}",
        f"SIDE_PORT={seat.side_port}",
        f"NODE_RANK={seat.rank}",
        f'HOST="$HOST_{seat.host}"',
        f'MASTER_ADDR="$HOST_{seat.hosts[0]}"',
    ]


def started_seats(deployment: Deployment, seats: list[Seat]) -> list[Seat]:
    """Seats that a command starts: the first of a worker that MPI starts, else all."""
    return [seat for seat in seats if not (seat.rank and deployment.is_launched(seat.role))]


def _mpirun(deployment: Deployment, seat: Seat) -> str:
    """What starts the processes of a worker on its nodes, as a prefix; "" if it is a shell."""
    if not deployment.is_launched(seat.role):
        return ""
    each = deployment.devices_here(seat.role)
    hosts = ",".join(f"$HOST_{host}:{each}" for host in seat.hosts)
    passed = " ".join(f"-x {said.partition('=')[0]}" for said in variables(seat))
    return f'mpirun --allow-run-as-root -n {seat.role.devices} -H "{hosts}" {passed} '


def _kinds_of(seats: list[Seat]) -> list[str]:
    """The kind of each machine, where there are two kinds."""
    groups = groups_of(seats)
    if len(groups) == 1:
        return []
    return [
        f"# HOST_{hosts[0]} to HOST_{hosts[-1]}: {quoted(role.machine)} with "
        f"{role.devices_per_node} GPUs"
        for role, hosts in groups
    ]


def files_of(deployment: Deployment, settings: Settings) -> dict[str, str]:
    seats = seats_of(deployment)
    count = hosts_of(seats)
    names = " ".join(f"HOST_{number}" for number in range(1, count + 1))
    lines = [
        "#!/bin/sh",
        f"# Starts {deployment.name} on {count} machines that share this folder by its path.",
        f"# usage: start.sh [--dry-run] {names}; localhost is this machine",
        *_kinds_of(seats),
        "set -eu",
        "dry=; if [ \"${1-}\" = --dry-run ]; then dry=yes; shift; fi",
        f'if [ $# -ne {count} ]; then echo "usage: $0 [--dry-run] {names}" >&2; exit 2; fi',
        *(f"HOST_{number}=${{{number}}}" for number in range(1, count + 1)),
        f"export {names}",
        'here=$(cd "$(dirname "$0")" && pwd)',
        'mkdir -p "$here/logs"',
        _ON.strip("\n"),
        "trap 'kill 0' INT TERM",
    ]
    for seat in started_seats(deployment, seats):
        log = f"{seat.role.name}-{seat.worker}-{seat.rank}"
        lines.append(
            f'on "$HOST_{seat.host}" "$here/logs/{log}.log" env {" ".join(variables(seat))} '
            f'{_mpirun(deployment, seat)}sh "$here/{seat.role.name}.sh"'
        )
    if deployment.is_routed:
        hosts = " ".join(f'HOST_{n}="$HOST_{n}"' for n in range(1, count + 1))
        lines.append(
            f'on "$HOST_1" "$here/logs/router.log" env {hosts} sh "$here/router.sh"'
        )
    lines += ["wait", ""]
    return {"start.sh": "\n".join(lines), **shared_files(deployment, seats)}


def trial(deployment: Deployment, folder: str) -> list[str]:
    hosts = [f"HOST_{n}" for n in range(1, hosts_of(seats_of(deployment)) + 1)]
    return ["sh", f"{folder}/start.sh", "--dry-run", *hosts]
