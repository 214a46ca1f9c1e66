"""Where workers sit on machines that have no scheduler of their own."""

from __future__ import annotations

from dataclasses import dataclass

from .service import Deployment, Role

#: The first ports of a machine; further workers on it have the next ones.
PORT, SIDE_PORT = 8100, 5600
ROUTER_PORT = 8000


@dataclass(frozen=True)
class Seat:
    """A node's share of a worker: `hosts` are those of the worker, from 1."""

    role: Role
    worker: int
    rank: int
    hosts: tuple[int, ...]
    gpus: tuple[int, ...]
    slot: int

    @property
    def host(self) -> int:
        return self.hosts[self.rank]

    @property
    def port(self) -> int:
        return PORT + 10 * self.slot

    @property
    def side_port(self) -> int:
        return SIDE_PORT + 100 * self.slot


def seats_of(deployment: Deployment) -> list[Seat]:
    """A seat for each node of each worker. Workers of several nodes have machines that
    they share with no other such worker; the others fill machines from the first. Roles
    on different machines share none, and those of the first role come first."""
    used: list[list[int]] = []  # of each host: devices in use, workers
    found = []
    kinds = [_kind(role) for role in deployment.roles]
    widest_first = sorted(
        deployment.roles, key=lambda role: (kinds.index(_kind(role)), -deployment.nodes(role))
    )
    begin: dict[tuple[str, int], int] = {}  # of each kind, its first host
    for role in widest_first:
        here, nodes = deployment.devices_here(role), deployment.nodes(role)
        first_host = begin.setdefault(_kind(role), len(used))
        for worker in range(role.workers):
            hosts = _hosts(used, here, nodes, role.devices_per_node, first_host)
            first, slot = used[hosts[0]]
            for rank, host in enumerate(hosts):
                gpus = tuple(range(used[host][0], used[host][0] + here))
                names = tuple(one + 1 for one in hosts)
                found.append(Seat(role, worker, rank, names, gpus, slot))
            for host in hosts:
                used[host][0] += here
                used[host][1] += 1
    order = {role.name: number for number, role in enumerate(deployment.roles)}
    return sorted(found, key=lambda seat: (order[seat.role.name], seat.worker, seat.rank))


def _kind(role: Role) -> tuple[str, int]:
    return role.machine, role.devices_per_node


def _hosts(
    used: list[list[int]], here: int, nodes: int, devices: int, begin: int
) -> list[int]:
    if nodes == 1:
        for host, (taken, _) in enumerate(used[begin:], begin):
            if taken + here <= devices:
                return [host]
    first = len(used)
    used.extend([0, 0] for _ in range(nodes))
    return list(range(first, first + nodes))


def hosts_of(seats: list[Seat]) -> int:
    return max(seat.host for seat in seats)


def groups_of(seats: list[Seat]) -> list[tuple[Role, range]]:
    """Machines of one kind: a role that is on them, and the numbers of their hosts."""
    hosts: dict[tuple[str, int], tuple[Role, list[int]]] = {}
    for seat in seats:
        hosts.setdefault(_kind(seat.role), (seat.role, []))[1].append(seat.host)
    return [(role, range(min(all_), max(all_) + 1)) for role, all_ in hosts.values()]
