"""Plans as services: what each role has, read in one place."""

from __future__ import annotations

import dataclasses
import math
from typing import Any, Mapping

from ..border import real, shown
from ..engine_table import (
    Names,
    checked_length,
    devices_per_node_of,
    facts_of,
    find_engine,
    load_of,
    longest_of,
    max_length_of,
    memory_of,
    precision_of,
    request_length_of,
    stage_layers,
    types_of,
)
from ..errors import Inexpressible, WrongPlan
from ..launches import copies_of, engine_of, model_folder
from ..plans import Plan
from ..problem import MOST, Model, Problem, _text, _whole, parameters_of
from ..server_memory import ServerMemory
from ..shell import as_operand
from .names import label_of
from .service import DECODE, PREFILL, SERVE, Deployment, Load, Role

#: What workers that do both are called where a rule depends on the phase.
BOTH = "both"


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
    if devices_per_node is not None:
        _whole("devices_per_node", devices_per_node, least=1)
    roles, load = _roles_of(plan, devices_per_node)
    loaded = model_folder(plan) if model is None else _text("model", model)
    longest = longest_of(program)
    memories = [role.memory for role in roles]
    length = max_length_of(longest, request_length_of(plan), memories)
    if max_length is not None:
        length = checked_length(max_length, request_length_of(plan), longest, memories)
    found = Deployment(
        name=label_of(name, program.name),
        model=as_operand(loaded, "model"),
        served_name=as_operand(program.name, "name of the model"),
        engine=row["engine"],
        version=version,
        roles=tuple(roles),
        load=load,
        max_length=length,
        facts={**model_facts(program, longest), **({"phase": BOTH} if plan.service else {})},
    )
    _check_degrees(plan, found)
    found.check()
    return found


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


def _roles_of(plan: Plan, devices_per_node: int | None) -> tuple[list[Role], Load]:
    problem = plan.problem
    if plan.service and problem.isl and problem.osl:
        roles, total = _roles_of_service(plan, plan.service, devices_per_node)
        return roles, Load(problem.isl, problem.osl, max(1, math.ceil(total)), problem.rate)
    load = load_of(plan)
    total = plan.strategy.batch * copies_of(plan)
    return [_role_of_phase(plan, devices_per_node)], Load(load["input"], load["output"], total)


def _role_of_phase(plan: Plan, devices_per_node: int | None) -> Role:
    strategy, model = plan.strategy, plan.problem.model
    ranks = strategy.replicas if model.experts else 1
    batch = strategy.batch * ranks // strategy.replicas
    machine = plan.problem.machine or plan.problem.machine_name
    return Role(
        SERVE,
        workers=copies_of(plan) * (strategy.replicas // ranks),
        tp=strategy.tp,
        in_flight=max(1, batch),
        ranks=ranks,
        ep=strategy.ep if model.experts else 1,
        pp=strategy.pp,
        cp=strategy.cp,
        gathers=strategy.exchange == "gather",
        stages=tuple(stage_layers(plan)),
        memory=memory_of(plan),
        **_places(machine, devices_per_node),
        **types_of(model),
    )


def _roles_of_service(
    plan: Plan, service: Mapping[str, Any], devices_per_node: int | None
) -> tuple[list[Role], float]:
    """The roles of a plan's service, which may come from a file, and the requests that
    all workers have in flight."""
    mode = service.get("mode")
    found = service.get(str(mode))
    rows = found if isinstance(found, dict) else {}
    total = real(rows.get("concurrency"))
    names = (SERVE, PREFILL, DECODE)
    named = {name: rows[name] for name in names if isinstance(rows.get(name), dict)}
    if list(named) not in ([SERVE], [PREFILL, DECODE]) or not 0 < total < MOST:
        raise WrongPlan(
            f"the plan's service of mode {shown(mode)} has no 'serve', or no 'prefill' "
            "and 'decode', with a concurrency: expected a plan file as `shardopt plan` writes it"
        )
    roles = [
        _role_of_service(plan, name, row, rows, devices_per_node) for name, row in named.items()
    ]
    return roles, total


def _role_of_service(
    plan: Plan,
    name: str,
    row: Mapping[str, Any],
    rows: Mapping[str, Any],
    devices_per_node: int | None,
) -> Role:
    strategy, problem = plan.strategy, plan.problem
    experts = problem.model.experts

    def count(key: str, default: int | None = None) -> int:
        return _whole(f"service/{name}/{key}", row.get(key, default), least=1)

    tp, dp, ep, pp = count("tp"), count("dp"), count("ep"), count("pp", 1)
    ranks = dp if experts else 1
    is_planned = (tp, pp, ep) == (strategy.tp, strategy.pp, strategy.ep)
    workers = count("workers") * (1 if experts else dp)
    share = 1 if name == PREFILL else real(rows["concurrency"]) / workers
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
        batched_tokens=CHUNK_TOKENS,
        memory=_memory_of_role(problem, name, row, rows),
        **_places(_machine_of(problem, str(row.get("machine", ""))), devices_per_node),
        **types_of(problem.model),
    )


#: Tokens of prompts in one step, ServingEngine::chunkTokens.
CHUNK_TOKENS = 8192


def _memory_of_role(
    problem: Problem, name: str, row: Mapping[str, Any], rows: Mapping[str, Any]
) -> ServerMemory | None:
    said = row.get("memory_gb")
    said = said if isinstance(said, dict) else {}
    weights, caches, budget = (
        real(said.get(key)) for key in ("weights", "kv_cache", "capacity")
    )
    sequences = real(rows.get("sequences")) if name != PREFILL else 1.0
    assert problem.isl and problem.osl
    # Requests are half way through their answers in the mean.
    tokens = problem.isl + (0 if name == PREFILL else problem.osl / 2)
    if not (0 < weights < budget and caches > 0 and sequences > 0):
        return None
    return ServerMemory(weights, caches, budget, sequences * tokens)


def _machine_of(problem: Problem, name: str) -> str:
    """The machine of a role, as the user named it."""
    given = (problem.machine, problem.decode_machine, problem.prefill_machine)
    for machine in given:
        if machine and name in (machine, parameters_of(machine).get("name")):
            return machine
    return problem.machine or problem.machine_name


def _places(machine: str, devices_per_node: int | None) -> Names:
    """The fields of a role that its machine has."""
    found = parameters_of(machine)
    return {
        "machine": str(found.get("name") or machine),
        "domain": int(found["domain"]["devices"]),
        "devices_per_node": devices_per_node or devices_per_node_of(found),
    }


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
