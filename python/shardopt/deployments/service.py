"""A service as its exporters see it: roles, load, names. A target needs nothing else."""

from __future__ import annotations

import dataclasses
import math
from dataclasses import dataclass, field
from typing import Any, Mapping

from ..engine_table import (
    ALONE,
    Names,
    find_engine,
    has_low_latency,
    overlap_names,
    nodes_of,
    value_of,
)
from ..errors import Inexpressible
from ..hardware import Hardware, hardware_of
from ..launches import Command, command_of, is_launched
from ..server_memory import ServerMemory
from ..services import DECODE, PREFILL, SERVE
from ..tables import counted
from .pairs import why_not_paired

@dataclass(frozen=True)
class Role:
    """Workers that do the same: engine instances of one layout.

    `ranks` are the data parallel ranks inside one worker, `in_flight` the requests
    that one worker has at a time, `domain` the GPUs that one NVLink domain has.
    """

    name: str
    workers: int
    tp: int
    in_flight: int
    ranks: int = 1
    ep: int = 1
    pp: int = 1
    cp: int = 1
    gathers: bool = True
    stages: tuple[int, ...] = ()
    devices_per_node: int = 8
    machine: str = ""
    domain: int = 8
    batched_tokens: int = 0
    memory: ServerMemory | None = None
    cache_type: str = ""
    quantization: str = ""
    #: Tokens of a rank from which steps that decode, and steps that prefill, work on two
    #: micro-batches; None: they never do.
    overlap: tuple[int, int] | None = None
    #: Whether experts are placed by their load, and their replicas over all ranks.
    eplb: bool = False
    redundant_experts: int = 0

    @property
    def devices(self) -> int:
        """Of one worker."""
        return self.tp * self.pp * self.ranks

    @property
    def hardware(self) -> Hardware:
        return hardware_of(self.machine)

    @property
    def cache(self) -> str:
        return self.cache_type or "the model's type"


@dataclass(frozen=True)
class Load:
    """Requests of `isl` and `osl` tokens, at a rate or with a number in flight."""

    isl: int
    osl: int
    concurrency: int
    rate: float | None = None


@dataclass(frozen=True)
class Deployment:
    """All that a target writes files of."""

    name: str
    model: str
    served_name: str
    engine: str
    version: str
    roles: tuple[Role, ...]
    load: Load
    max_length: int
    facts: Mapping[str, Any] = field(repr=False)
    #: Where workers tell a router that they are there, for engines whose routers ask that.
    cluster: str = ""
    #: The type of weights that the checkpoint must have, where the planned config has another.
    checkpoint: str = ""

    @property
    def is_disaggregated(self) -> bool:
        return len(self.roles) > 1

    @property
    def row(self) -> dict[str, Any]:
        """The engine's row of the table."""
        return find_engine(self.engine)[0]

    @property
    def notes(self) -> list[str]:
        """What the model must be, where a plan has other weights than its config."""
        kinds = sorted({role.quantization for role in self.roles} - {""})
        made = [f"16-bit weights, which the engine makes {kind} when it loads" for kind in kinds]
        if self.checkpoint:
            made.append(f"a checkpoint of {self.checkpoint} weights, which the planned config has not")
        return made

    @property
    def router(self) -> Mapping[str, Any]:
        """The row of what routes requests to workers."""
        return self.row["pair_router" if self.is_disaggregated else "router"]

    @property
    def workers(self) -> int:
        return sum(role.workers for role in self.roles)

    @property
    def is_routed(self) -> bool:
        """Whether requests go through a router: one worker answers by itself."""
        return self.workers > 1

    def nodes(self, role: Role) -> int:
        """Nodes of one worker."""
        groups = (role.tp, role.pp, role.ranks)
        if self.row["tp_spans_ranks"]:
            groups = (role.tp * role.ranks, role.pp, 1)
        return nodes_of(*groups, role.devices_per_node)

    def is_launched(self, role: Role) -> bool:
        """Whether MPI starts a worker's processes, one a GPU, instead of one on each node."""
        return is_launched(self.row, self.nodes(role))

    def devices_here(self, role: Role) -> int:
        """Devices of a worker on each of its nodes."""
        return role.devices // self.nodes(role)

    def fields(self, role: Role, port: "int | str", side_port: "int | str" = 0) -> Names:
        """The names of a role in the expressions of the engine's row."""
        phase = self.facts["phase"] if role.name == SERVE else role.name
        return {
            **ALONE,
            **self.facts,
            "phase": phase,
            "cache_type": role.cache_type,
            "quantization": role.quantization,
            "tp": role.tp,
            "dp": role.ranks,
            "ep": role.ep,
            "pp": role.pp,
            "cp": role.cp,
            "gathers": role.gathers,
            "eplb": role.eplb,
            "redundant_experts": role.redundant_experts,
            "low_latency": has_low_latency(
                role.ep, role.ranks, role.gathers, phase, role.in_flight
            ),
            "batch": role.in_flight,
            "replicas_apart": True,
            "vendor": role.hardware.vendor,
            "ranks": role.ranks,
            "devices": role.devices,
            "devices_per_node": role.devices_per_node,
            "nodes": self.nodes(role),
            "stage_layers": list(role.stages),
            "max_length": self.max_length,
            "role": role.name,
            "port": port,
            "side_port": side_port,
            "served_name": self.served_name,
            "batched_tokens": role.batched_tokens,
            "cluster": self.cluster,
            "rank_batch": math.ceil(role.in_flight / role.ranks),
            **overlap_names(role.overlap),
            **(role.memory.names() if role.memory else {}),
        }

    def command(self, role: Role, port: "int | str", side_port: "int | str" = 0) -> Command:
        return command_of(self.row, self.fields(role, port, side_port), self.model)

    def __str__(self) -> str:
        load = self.load
        rate = f"{load.rate:g} req/s" if load.rate else f"{load.concurrency} in flight"
        lines = [f"service   {self.name}: {self.engine} {self.version}, {self.model}"]
        for role in self.roles:
            degrees = f"tp {role.tp}, dp {role.ranks}, ep {role.ep}, pp {role.pp}"
            nodes = self.nodes(role)
            spread = f" on {nodes} nodes" if nodes > 1 else ""
            # Engines are told no cap of workers that prefill.
            cap = f", at most {counted(role.in_flight, 'request')} each"
            lines.append(
                f"{role.name:9} {role.workers} x {counted(role.devices, 'GPU')}{spread} "
                f"({degrees}){cap if role.name != PREFILL else ''}"
            )
        lines.append(f"load      {load.isl} + {load.osl} tokens, {rate}")
        longest = self.facts["longest"]
        if longest is not None and self.max_length < longest:
            lines.append(
                f"longest   requests of {self.max_length} tokens are served; the model allows {longest}"
            )
        lines += [f"needs     {note}" for note in self.notes]
        return "\n".join(lines)

    def to_dict(self) -> dict[str, Any]:
        """What `plan/service.json` of an export says."""
        said = dataclasses.asdict(self)
        del said["facts"], said["cluster"]
        for role, said_role in zip(self.roles, said["roles"]):
            said_role["nodes"] = self.nodes(role)
            if role.overlap is None:
                del said_role["overlap"]
        return said

    def check(self) -> None:
        """Raises `Inexpressible` with every reason why the engine cannot run this."""
        reasons = [
            f"{role.name}: {limit['why'].format(**fields)}"
            for role in self.roles
            for fields in [self.fields(role, 8000)]
            for limit in self.row.get("limits", ())
            if not value_of(limit["holds"], fields)
        ]
        if self.is_disaggregated:
            prefill, decode = self.roles
            reasons += why_not_paired(self.row, prefill, decode, self.facts)
        if reasons:
            message = f"{self.engine} cannot run this service: " + "; ".join(reasons)
            raise Inexpressible(message, reasons, None)
