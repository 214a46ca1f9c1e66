"""Plans as services: what each role has, read in one place."""

from __future__ import annotations

import dataclasses
import math
from typing import Any, Collection, Sequence

from ..checks import _text, _whole
from ..engine_table import (
    Names,
    devices_per_node_of,
    eplb_fields,
    facts_of,
    find_engine,
    load_of,
    longest_of,
    memory_of,
    precision_of,
    served_length,
    stage_layers,
    types_of,
)
from ..errors import Inexpressible
from ..launch import copies_of
from ..launches import engine_of, model_folder, served_name
from ..plans import Plan, Strategy
from ..models import Model, parameters_of
from ..server_memory import ServerMemory
from ..services import PREFILL, SERVE, Service
from ..services import Role as PlannedRole
from ..shell import as_operand
from ..strategies import first_other_dim
from .names import label_of
from .service import Deployment, Load, Role

#: What workers that do both are called where a rule depends on the phase.
BOTH = "both"


def deployment_of(
    plan: "Plan | Service",
    engine: str | None = None,
    name: str | None = None,
    model: str | None = None,
    max_length: int | None = None,
    devices_per_node: int | None = None,
) -> Deployment:
    """What `plan` means as a service: that of its mode, or of a phase's plan the
    servers that it takes. The engine is the plan's unless another is asked for."""
    row, version = find_engine(engine_of(plan) if engine is None else _text("engine", engine))
    program = plan.problem.model
    if devices_per_node is not None:
        _whole("devices_per_node", devices_per_node, least=1)
    roles, strategies, load = _roles_of(plan, devices_per_node)
    checkpoint = ""
    loaded = model_folder(plan, model)
    if model is not None:
        roles, checkpoint = _of_checkpoint(row, roles)
    found = Deployment(
        name=label_of(name, served_name(program)),
        model=as_operand(loaded, "model"),
        served_name=served_name(program),
        engine=row["engine"],
        version=version,
        roles=tuple(roles),
        load=load,
        max_length=served_length(plan, [role.memory for role in roles], max_length),
        checkpoint=checkpoint,
        facts={
            **model_facts(program, longest_of(program)),
            "draft_tokens": plan.problem.draft_tokens or 0,
            **({"phase": BOTH} if isinstance(plan, Service) else {}),
        },
    )
    planned = plan.roles if isinstance(plan, Service) else ()
    own = {role.name for role in planned if role.has_own_dims}
    _check_strategies(program, plan.problem.handle, found, strategies, own)
    found.check()
    return found


def _of_checkpoint(row: Names, roles: Sequence[Role]) -> tuple[list[Role], str]:
    """The roles where their model is given: weights that the engine does not make when it
    loads are those of the checkpoint, whose own config says so. Their type, else ""."""
    kinds = {role.quantization for role in roles} - {"", *row["made_on_load"]}
    if not kinds:
        return list(roles), ""
    return [dataclasses.replace(role, quantization="") for role in roles], kinds.pop()


def model_facts(model: Model, longest: int | None) -> Names:
    """What rules about roles and pairs ask of a model."""
    config = model.config or {}
    text = config.get("text_config")
    text = text if isinstance(text, dict) else config
    heads = text.get("num_key_value_heads") or text.get("num_attention_heads")
    return {
        **facts_of(model),
        "longest": longest,
        "precision": precision_of(model),
        "latent": bool(text.get("kv_lora_rank")),
        # Where the config does not say them, no rule about them is broken.
        "kv_heads": heads if isinstance(heads, int) else math.inf,
        "hybrid": any(op.endswith(("mamba2", "delta_net")) for op in model.ops),
    }


def _roles_of(
    plan: "Plan | Service", devices_per_node: int | None
) -> tuple[list[Role], list[Strategy], Load]:
    """The roles, the strategies of their workers, and the load."""
    if isinstance(plan, Service):
        problem = plan.problem
        isl, osl = _whole("isl", problem.isl, least=1), _whole("osl", problem.osl, least=1)
        total = max(1, math.ceil(plan.metrics.in_flight))
        roles = [_role_of_service(plan, role, devices_per_node) for role in plan.roles]
        strategies = [role.strategy for role in plan.roles]
        return roles, strategies, Load(isl, osl, total, problem.rate)
    load = load_of(plan)
    total = plan.strategy.batch * copies_of(plan)
    made = Load(load["input"], load["output"], total)
    return [_role_of_phase(plan, devices_per_node)], [plan.strategy], made


def _role_of_phase(plan: Plan, devices_per_node: int | None) -> Role:
    strategy, model = plan.strategy, plan.problem.model
    ranks = strategy.dp_size if model.experts else 1
    batch = strategy.batch * ranks // strategy.dp_size
    machine = plan.problem.machine or plan.problem.machine_name
    return Role(
        SERVE,
        workers=copies_of(plan) * (strategy.dp_size // ranks),
        tp=strategy.tp,
        in_flight=max(1, batch),
        ranks=ranks,
        ep=strategy.ep if model.experts else 1,
        pp=strategy.pp,
        cp=strategy.cp,
        gathers=strategy.exchange == "gather",
        **eplb_fields(strategy, model),
        stages=tuple(stage_layers(plan)),
        memory=memory_of(plan),
        **_places(machine, devices_per_node),
        **types_of(model),
    )


def _role_of_service(
    service: Service, planned: PlannedRole, devices_per_node: int | None
) -> Role:
    strategy, problem = planned.strategy, service.problem
    experts = problem.model.experts
    dp = strategy.dp_size
    # Without experts, data parallel ranks are workers of their own.
    workers = planned.workers * (1 if experts else dp)
    ranks = dp if experts else 1
    share = 1 if planned.name == PREFILL else service.metrics.in_flight / workers
    elsewhere = planned.name == PREFILL and service.prefill_elsewhere
    machine = problem.prefill_machine if elsewhere else problem.machine
    return Role(
        planned.name,
        workers=workers,
        tp=strategy.tp,
        in_flight=max(ranks, math.ceil(share)),
        ranks=ranks,
        ep=strategy.ep if experts else 1,
        pp=strategy.pp,
        cp=strategy.cp,
        gathers=strategy.exchange == "gather",
        **eplb_fields(strategy, problem.model),
        stages=planned.stages,
        batched_tokens=service.chunk_tokens,
        memory=_memory_of_role(service, planned),
        overlap=planned.overlap_from if planned.overlap else None,
        **_places(machine or problem.machine_name, devices_per_node),
        **types_of(problem.model),
    )


def longest_request_of(service: Service) -> int:
    """The longest request, prompt and answer, that the servers of a service take."""
    return served_length(service, [_memory_of_role(service, role) for role in service.roles])


def _memory_of_role(service: Service, planned: PlannedRole) -> ServerMemory | None:
    problem, said = service.problem, planned.memory
    weights, caches, budget = (
        said.get(key, math.nan) for key in ("weights", "kv_cache", "capacity")
    )
    sequences = planned.sequences if planned.name != PREFILL else 1.0
    assert problem.isl and problem.osl
    # Requests are half way through their answers in the mean.
    tokens = problem.isl + (0 if planned.name == PREFILL else problem.osl / 2)
    if not (0 < weights < budget and caches > 0 and sequences > 0):
        return None
    return ServerMemory(weights, caches, budget, sequences * tokens)


def _places(machine: str, devices_per_node: int | None) -> Names:
    """The fields of a role that its machine has."""
    found = parameters_of(machine)
    return {
        "machine": str(found.get("name") or machine),
        "domain": int(found["domain"]["devices"]),
        "devices_per_node": devices_per_node or devices_per_node_of(found),
    }


def _check_strategies(
    model: Model, handle: Any, found: Deployment, strategies: Sequence[Strategy],
    own: Collection[str],
) -> None:
    """That the engine has the degrees of each role, and the dims of those that have their
    `own`, by the planner's own rules."""
    reasons = []
    for role, planned in zip(found.roles, strategies):
        dense = found.facts["experts"] == 0
        strategy = dataclasses.replace(
            planned,
            dp=None if dense else role.ranks,
            ep=1 if dense else role.ep,
            batch=max(role.in_flight, role.ranks * role.pp),
            stages=role.stages if len(set(role.stages)) > 1 else (),
        )
        dims = handle.engine_dims(found.engine, strategy.numbers())
        fitting = dataclasses.replace(
            strategy, dims=tuple(zip((op for op, _ in planned.dims), dims))
        )
        why = handle.why_not_run(found.engine, fitting.numbers())
        if why:
            reasons.append(f"{role.name}: {why}")
        if role.name in own:
            apart = first_other_dim(planned, found.engine, dims, model.ops)
            reasons += [f"{role.name}: {apart}"] if apart else []
    if reasons:
        message = f"{found.engine} cannot run this service: " + "; ".join(reasons)
        raise Inexpressible(message, reasons, None)
