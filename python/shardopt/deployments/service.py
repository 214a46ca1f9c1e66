"""A service as its exporters see it: roles, load, names. Plans are turned into it in
one place, and a target needs nothing else."""

from __future__ import annotations

import dataclasses
import math
from dataclasses import dataclass, field
from typing import Any, Mapping

from ..border import real, shown
from ..engine_table import (
    ALONE,
    Names,
    devices_per_node_of,
    facts_of,
    find_engine,
    has_low_latency,
    load_of,
    longest_of,
    max_length_of,
    nodes_of,
    stage_layers,
    types_of,
    value_of,
)
from ..errors import Inexpressible, ShardoptError, WrongPlan
from ..launches import Command, command_of, copies_of, engine_of, model_folder
from ..plans import Plan
from ..problem import MOST, Model, _text, _whole
from ..shell import as_operand
from .names import label_of
from .pairs import why_not_paired

#: Names of roles: a service is one `SERVE`, or `PREFILL` and `DECODE`.
SERVE, PREFILL, DECODE = "serve", "prefill", "decode"


@dataclass(frozen=True)
class Role:
    """Workers that do the same: engine instances of one layout.

    `ranks` are the data parallel ranks inside one worker, `in_flight` the requests
    that one worker has at a time.
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
    batched_tokens: int = 0
    memory_share: float = 0
    cache_type: str = ""
    quantization: str = ""

    @property
    def devices(self) -> int:
        """Of one worker."""
        return self.tp * self.pp * self.ranks

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

    @property
    def is_disaggregated(self) -> bool:
        return len(self.roles) > 1

    @property
    def row(self) -> dict[str, Any]:
        """The engine's row of the table."""
        return find_engine(self.engine)[0]

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
            "low_latency": has_low_latency(
                role.ep, role.ranks, role.gathers, phase, role.in_flight
            ),
            "batch": role.in_flight,
            "replicas_apart": True,
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
            "memory_share": role.memory_share,
            "transceiver": "cache_transceiver_config:\n  backend: DEFAULT\n"
            if role.name in (PREFILL, DECODE)
            else "",
        }

    def command(self, role: Role, port: "int | str", side_port: "int | str" = 0) -> Command:
        return command_of(self.row, self.fields(role, port, side_port), self.model)

    def __str__(self) -> str:
        load = self.load
        rate = f"{load.rate:g} requests/s" if load.rate else f"{load.concurrency} in flight"
        lines = [f"service   {self.name}: {self.engine} {self.version}, {self.model}"]
        for role in self.roles:
            degrees = f"tp {role.tp}, dp {role.ranks}, ep {role.ep}, pp {role.pp}"
            nodes = self.nodes(role)
            spread = f" on {nodes} nodes" if nodes > 1 else ""
            lines.append(
                f"{role.name:9} {role.workers} x {role.devices} GPUs{spread} ({degrees}), "
                f"{role.in_flight} requests in flight each"
            )
        lines.append(f"load      {load.isl} + {load.osl} tokens, {rate}")
        return "\n".join(lines)

    def to_dict(self) -> dict[str, Any]:
        """What `plan/service.json` of an export says."""
        said = dataclasses.asdict(self)
        del said["facts"]
        for role, said_role in zip(self.roles, said["roles"]):
            said_role["nodes"] = self.nodes(role)
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


def deployment_of(
    plan: Plan,
    engine: str | None = None,
    name: str | None = None,
    model: str | None = None,
    max_length: int | None = None,
    devices_per_node: int | None = None,
) -> Deployment:
    """What `plan` means as a service: its recommended mode, or of a phase's plan the
    servers that it takes. The engine is the plan's unless another is asked for."""
    row, version = find_engine(engine_of(plan) if engine is None else _text("engine", engine))
    program = plan.problem.model
    if devices_per_node is None:
        devices_per_node = devices_per_node_of(plan.problem)
    roles, load = _roles_of(plan, _whole("devices_per_node", devices_per_node, least=1))
    longest = longest_of(program)
    length = max_length_of(plan) if max_length is None else _whole("max-length", max_length)
    loaded = model_folder(plan) if model is None else _text("model", model)
    if length < load.isl + load.osl:
        raise ShardoptError(
            f"'max-length' is {length}, expected at least {load.isl + load.osl} tokens, "
            "which a request of the plan has"
        )
    if longest is not None and length > longest:
        raise ShardoptError(
            f"'max-length' is {length}, expected at most {longest}, which is the most "
            "of the model's config"
        )
    found = Deployment(
        name=label_of(name, program.name),
        model=as_operand(loaded, "model"),
        served_name=as_operand(program.name, "name of the model"),
        engine=row["engine"],
        version=version,
        roles=tuple(roles),
        load=load,
        max_length=length,
        # Workers of a service that do both have steps of decode for the most part.
        facts={**_facts_of(program, longest), **({"phase": DECODE} if plan.service else {})},
    )
    _check_degrees(plan, found)
    found.check()
    return found


def _facts_of(model: Model, longest: int | None) -> Names:
    config = model.config or {}
    text = config.get("text_config")
    text = text if isinstance(text, dict) else config
    heads = text.get("num_key_value_heads") or text.get("num_attention_heads")
    return {
        **facts_of(model),
        "longest": longest,
        "latent": bool(text.get("kv_lora_rank")),
        # Where the config does not say them, no rule about them is broken.
        "kv_heads": heads if isinstance(heads, int) else math.inf,
        "hybrid": any(op.endswith(("mamba2", "delta_net")) for op in model.ops),
    }


def _roles_of(plan: Plan, devices_per_node: int) -> tuple[list[Role], Load]:
    problem, strategy = plan.problem, plan.strategy
    kinds = types_of(problem.model)
    isl, osl = problem.isl, problem.osl
    if plan.service and isl and osl:
        roles, total = _roles_of_service(plan, plan.service, devices_per_node, kinds)
        return roles, Load(isl, osl, max(1, math.ceil(total)), problem.rate)
    model = problem.model
    ranks = strategy.replicas if model.experts else 1
    copies = copies_of(plan) * (strategy.replicas // ranks)
    batch = strategy.batch * ranks // strategy.replicas
    role = Role(
        SERVE,
        workers=copies,
        tp=strategy.tp,
        in_flight=max(1, batch),
        ranks=ranks,
        ep=strategy.ep if model.experts else 1,
        pp=strategy.pp,
        cp=strategy.cp,
        gathers=strategy.exchange == "gather",
        stages=tuple(stage_layers(plan)),
        devices_per_node=devices_per_node,
        machine=problem.machine or "",
        **kinds,
    )
    load = load_of(plan)
    total = strategy.batch * copies_of(plan)
    return [role], Load(load["input"], load["output"], total)


_ROWS = {SERVE: "replicas", PREFILL: "readers", DECODE: "decoders"}


def _roles_of_service(
    plan: Plan, service: Mapping[str, Any], devices_per_node: int, kinds: Mapping[str, Any]
) -> tuple[list[Role], float]:
    """The roles of a plan's service, which may come from a file, and the requests that
    all workers have in flight."""
    mode = service.get("mode")
    found = service.get(str(mode))
    rows = found if isinstance(found, dict) else {}
    total = real(rows.get("concurrency"))
    named = {name: rows[key] for name, key in _ROWS.items() if isinstance(rows.get(key), dict)}
    if list(named) not in ([SERVE], [PREFILL, DECODE]) or not 0 < total < MOST:
        raise WrongPlan(
            f"the plan's service of mode {shown(mode)} has no replicas, or no readers and "
            "decoders, with a concurrency: expected a plan file as `shardopt plan` writes it"
        )
    roles = [
        _role_of(plan, name, row, total, devices_per_node, kinds) for name, row in named.items()
    ]
    return roles, total


def _role_of(
    plan: Plan, name: str, row: Mapping[str, Any], total: float,
    devices_per_node: int, kinds: Mapping[str, Any],
) -> Role:
    strategy, experts = plan.strategy, plan.problem.model.experts

    def count(key: str, default: int | None = None) -> int:
        return _whole(f"service/{name}/{key}", row.get(key, default), least=1)

    tp, dp, ep, pp = count("tp"), count("dp"), count("ep"), count("pp", 1)
    ranks = dp if experts else 1
    is_planned = (tp, pp, ep) == (strategy.tp, strategy.pp, strategy.ep)
    workers = count("count") * (1 if experts else dp)
    share = 1 if name == PREFILL else total / workers
    return Role(
        name,
        workers=workers,
        tp=tp,
        in_flight=max(ranks, math.ceil(share)),
        ranks=ranks,
        ep=ep if experts else 1,
        pp=pp,
        cp=count("cp", 1),
        gathers=row.get("exchange", "all_to_all") == "gather",
        stages=tuple(stage_layers(plan)) if is_planned else (),
        devices_per_node=devices_per_node,
        machine=str(row.get("machine", "")),
        **kinds,
    )


def _check_degrees(plan: Plan, found: Deployment) -> None:
    """That the engine has the degrees of each role, by the planner's own rules."""
    handle, reasons = plan.problem.handle, []
    for role in found.roles:
        dense = found.facts["experts"] == 0
        strategy = dataclasses.replace(
            plan.strategy,
            tp=role.tp,
            dp=None if dense else role.ranks,
            ep=1 if dense else role.ep,
            pp=role.pp,
            cp=role.cp,
            exchange="gather" if role.gathers else "all_to_all",
            batch=max(role.in_flight, role.ranks * role.pp),
            stages=role.stages if len(set(role.stages)) > 1 else (),
        )
        dims = handle.engine_dims(found.engine, strategy.numbers())
        fitting = dataclasses.replace(
            strategy, dims=tuple(zip((op for op, _ in plan.strategy.dims), dims))
        )
        why = handle.why_not_run(found.engine, fitting.numbers())
        if why:
            reasons.append(f"{role.name}: {why}")
    if reasons:
        message = f"{found.engine} cannot run this service: " + "; ".join(reasons)
        raise Inexpressible(message, reasons, None)
