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
stops=
on() { # HOST NAME WORD...: runs the words there, in the background; the last is a script
  host=$1 name=$2 log="$here/logs/$2.log"; shift 2
  if [ -n "$dry" ]; then
    for word; do script=$word; done
    echo "$host: $name: $*"
    sed -n 's/^exec /  /p' "$script"
    sed -n 's/^.* || set -- /  "$@" is, with a NODE_RANK above 0: /p' "$script"
    return
  fi
  if [ "$host" = localhost ]; then
    "$@" >"$log" 2>&1 &
    stops="$stops kill $!;"
  else
    words=; for word in "$@"; do words="$words $(quote "$word")"; done
    pid=$(quote "$here/logs/$name.pid")
    ssh -n -- "$host" "echo \$\$ >$pid; exec$words" >"$log" 2>&1 &
    stops="$stops ssh -n -- $(quote "$host") $(quote "kill \$(cat $pid)") &"
  fi
}
stop() { # ends the servers, those of other machines too
  trap - INT TERM HUP
  eval "$stops" 2>/dev/null
  wait
  exit 130
}
"""

#: The user's own variables, read by every script on every machine: start.sh passes none on.
ENVIRONMENT = "environment.sh"
_IN_FOLDER = [
    'cd "$(dirname "$0")" || exit 1',
    f"if [ -e {ENVIRONMENT} ]; then . ./{ENVIRONMENT}; fi",
    "set -eu",
]


def waiting(further: str = "") -> list[str]:
    """The shell function `wait_for URL`: it ends when the server answers, and ends the script
    after an hour, or where the command `further` fails."""
    return [
        'command -v curl >/dev/null || { echo "$0: needs curl" >&2; exit 1; }',
        "wait_for() { # URL, an hour at most",
        "  tries=0",
        '  until curl -fs "$1/health" >/dev/null; do',
        '    tries=$((tries + 1)); [ $tries -lt 720 ] || { echo "$0: $1 does not answer" >&2; exit 1; }',
        *([f"    {further} || exit 1"] if further else []),
        "    sleep 5",
        "  done",
        "}",
    ]


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
        *_memory_comment(role),
        "# reads PORT, SIDE_PORT, HOST"
        + (", NODE_RANK or SLURM_NODEID, MASTER_ADDR" if by_node else ""),
        *_IN_FOLDER,
        *several,
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
    """The router, once all workers answer; files that it reads have the names of hosts, which
    the shell puts in."""
    workers = urls(seats)
    lines = ["#!/bin/sh", *_IN_FOLDER]
    for name, text in router_files(deployment, workers, ROUTER_PORT).items():
        lines += [f"cat > {name} <<END", f"{text}END"]
    lines += waiting()
    lines += [f"wait_for {quoted(url)}" for found in workers.values() for url, _ in found]
    words = router_command(deployment, workers, ROUTER_PORT)
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


def roles_of_hosts(deployment: Deployment) -> list[str]:
    """ "HOST_1: prefill 0, prefill 1, router"; workers of several nodes have hosts in turn."""
    names: dict[int, list[str]] = {}
    for seat in seats_of(deployment):
        node = f" node {seat.rank}" if len(seat.hosts) > 1 else ""
        names.setdefault(seat.host, []).append(f"{seat.role.name} {seat.worker}{node}")
    if deployment.is_routed:
        names[1].append("router")
    return [f"HOST_{host}: {', '.join(names[host])}" for host in sorted(names)]


def needs(deployment: Deployment) -> list[str]:
    """What machines must have in addition to the engine, as its image has it."""
    found = []
    commands = [deployment.command(role, 0).args for role in deployment.roles]
    if any("deepep" in word for words in commands for word in words):
        found.append("DeepEP, which exchanges rows of experts")
    if deployment.is_disaggregated:
        connector = deployment.row["transfer"]["connector"]
        found.append(f"{connector} between machines for KV caches, best by RDMA")
    if deployment.is_routed:
        words = deployment.router["program"]
        found.append(f"'{command_line(words[: 3 if words[0] == 'python3' else 1])}' and curl on HOST_1")
    return found


def _memory_comment(role: Role) -> list[str]:
    """Where the share of memory in the command comes from."""
    names = role.memory.names() if role.memory else {}
    if not names.get("budget_gb"):
        return []
    return [
        f"# memory of a GPU: {names['budget_gb']:.4g} GB planned for weights and KV caches, "
        f"{names['workspace_gb']:g} GB for the engine's workspace, {names['device_gb']:.4g} GB in all"
    ]


def files_of(deployment: Deployment, settings: Settings) -> dict[str, str]:
    seats = seats_of(deployment)
    count = hosts_of(seats)
    names = " ".join(f"HOST_{number}" for number in range(1, count + 1))
    lines = [
        "#!/bin/sh",
        f"# Starts {deployment.name} on {count} machines that share this folder by its path.",
        f"# usage: start.sh [--dry-run] {names}; localhost is this machine",
        "# Ctrl-C or SIGTERM ends all servers; logs/ has what each prints, by role, worker and node.",
        f"# {ENVIRONMENT}, if you write one here, is read by every script on every machine.",
        *(f"# {line}" for line in roles_of_hosts(deployment)),
        *_kinds_of(seats),
        "set -eu",
        "dry=; if [ \"${1-}\" = --dry-run ]; then dry=yes; shift; fi",
        f'if [ $# -ne {count} ]; then echo "usage: $0 [--dry-run] {names}" >&2; exit 2; fi',
        *(f"HOST_{number}=${{{number}}}" for number in range(1, count + 1)),
        f"export {names}",
        'here=$(cd "$(dirname "$0")" && pwd)',
        '[ -n "$dry" ] || mkdir -p "$here/logs"',
        _ON.strip("\n"),
        "trap stop INT TERM HUP",
    ]
    for seat in started_seats(deployment, seats):
        name = f"{seat.role.name}-{seat.worker}-{seat.rank}"
        lines.append(
            f'on "$HOST_{seat.host}" {name} env {" ".join(variables(seat))} '
            f'{_mpirun(deployment, seat)}sh "$here/{seat.role.name}.sh"'
        )
    if deployment.is_routed:
        hosts = " ".join(f'HOST_{n}="$HOST_{n}"' for n in range(1, count + 1))
        lines.append(
            f'on "$HOST_1" router env {hosts} sh "$here/router.sh"'
        )
    lines += ["wait", ""]
    return {"start.sh": "\n".join(lines), **shared_files(deployment, seats)}


def trial(deployment: Deployment, folder: str) -> list[str]:
    hosts = [f"HOST_{n}" for n in range(1, hosts_of(seats_of(deployment)) + 1)]
    return ["sh", f"{folder}/start.sh", "--dry-run", *hosts]
