"""What a stated service reaches, by the planner's own evaluation."""

from __future__ import annotations

import dataclasses
import json
from dataclasses import dataclass
from typing import Any, Mapping

from ..deployments.service import DECODE, PREFILL, SERVE, Role
from ..engine_table import eplb_of, types_of
from ..errors import Infeasible
from ..launches import degrees_of
from ..plans import Plan
from ..phase_plans import plan as find_plan
from ..problem import Problem, _checked
from ..services import Service
from .findings import Finding, illegal, missed, note
from .meaning import Meaning
from .stated import Stated


@dataclass(frozen=True)
class Outcome:
    """What the degrees of a service reach; nothing where nothing holds them.

    `plan` is of a phase, `service` what the planner says of a service in one mode.
    """

    plan: Plan | None = None
    service: Mapping[str, Any] | None = None
    findings: tuple[Finding, ...] = ()
    #: Tokens a second per GPU.
    throughput: float = 0.0
    is_feasible: bool = False

    @property
    def is_there(self) -> bool:
        return self.plan is not None or self.service is not None

    @property
    def lines(self) -> list[str]:
        """What it means and what it reaches, for a table."""
        if self.plan is not None:
            return _lines_of_plan(self.plan)
        return _lines_of_service(self.service) if self.service is not None else []

    def in_flight(self, role: str) -> int:
        """Sequences of one worker."""
        if self.plan is not None:
            return self.plan.strategy.batch
        row = (self.service or {}).get(role, {})
        return -(-int(row.get("in_flight_each", 0)) // 1)


def outcome_of(problem: Problem, found: "Plan | Service") -> Outcome:
    """The optimum of a problem as an outcome. A plan recommends aggregated workers where
    disaggregated ones are faster by a tie alone: the faster ones count."""
    if isinstance(found, Service):
        other = found.other if problem.mode is None else None
        rows = [found.found, *([other.found] if other else [])]
        row = max(rows, key=lambda row: _throughput(problem, row))
        return Outcome(None, row, (), _throughput(problem, row), True)
    return Outcome(found, None, (), found.metrics.throughput, True)


def _throughput(problem: Problem, row: Mapping[str, Any]) -> float:
    """Tokens a second per GPU: at a rate of those in use, which are what a plan saves."""
    kind = "tokens_per_s_per_used_device" if problem.rate else "tokens_per_s_per_device"
    return float(row[kind])


def _lines_of_plan(plan: Plan) -> list[str]:
    metrics = plan.metrics
    return [
        degrees_of(plan),
        f"{metrics.throughput:.6g} tokens/s per device, {metrics.latency_ms:.4g} ms, "
        f"{metrics.memory_gb:.4g} GB",
    ]


def _lines_of_service(row: Mapping[str, Any]) -> list[str]:
    lines = []
    for name in (SERVE, PREFILL, DECODE):
        if name not in row:
            continue
        role, memory = row[name], row[name]["memory_gb"]
        degrees = ", ".join(f"{key} {role[key]}" for key in ("tp", "dp", "ep", "pp"))
        degrees += f", cp {role['cp']}" if role["cp"] > 1 else ""
        held = memory["weights"] + memory["kv_cache"]
        lines.append(
            f"{name} {role['workers']} x {role['devices_each']} GPUs ({degrees}), "
            f"{role['in_flight_each']:.0f} in flight each, {held:.4g} of "
            f"{memory['capacity']:.4g} GB"
        )
    times = ", ".join(
        f"{slo['name'].removesuffix('_ms').upper()} {slo['attained']:.4g} ms {slo['statistic']}"
        for slo in row["slos"] if slo["name"].endswith("_ms")
    )
    lines.append(
        f"{row['tokens_per_s_per_used_device']:.4g} tokens/s per GPU in use, "
        f"{row['requests_per_s']:.4g} req/s, {times}"
    )
    return lines


#: Types of weights by what engines call their quantization.
_WEIGHTS = {
    "fp8": "fp8", "modelopt": "fp8", "fbgemm_fp8": "fp8", "w8a8_fp8": "fp8",
    "modelopt_fp4": "nvfp4", "nvfp4": "nvfp4", "mxfp4": "mxfp4", "w8a8_int8": "int8",
    "awq": "int4", "awq_marlin": "int4", "gptq": "int4", "gptq_marlin": "int4",
    "moe_wna16": "int4",
}


def weight_type_of(quantization: str) -> str | None:
    """The type of weights that an engine's quantization is of; None: it is not known."""
    return _WEIGHTS.get(quantization)


def task_of(problem: Problem, stated: Stated) -> tuple[Problem, tuple[Finding, ...]]:
    """The problem whose optimum a service is held against: with the types that its flags
    say, and of a service in its engine and on as many GPUs as it has, where the problem
    says nothing of these. Types that cannot be counted are findings."""
    problem, findings = _typed(problem, stated)
    if problem.is_service:
        if problem.engine is None:
            problem = problem.replace(engine=stated.engine)
        if not problem.devices and not problem.max_devices:
            problem = problem.replace(devices=stated.devices)
    return problem, findings


def _typed(problem: Problem, stated: Stated) -> tuple[Problem, tuple[Finding, ...]]:
    has = types_of(problem.model)
    role = stated.roles[-1].role
    types: dict[str, str] = {}
    findings = []
    if role.cache_type and role.cache_type != has["cache_type"]:
        types["kv_type"] = role.cache_type
    is_told = "quantization_config" in str(problem.model.config)
    if role.quantization and not is_told and role.quantization != has["quantization"]:
        kind = weight_type_of(role.quantization)
        if kind is None:
            findings.append(note(
                f"weights of '{role.quantization:.40}' are counted as the model's own"
            ))
        else:
            types["weight_type"] = kind
    if not types:
        return problem, tuple(findings)
    return problem.replace(model=problem.model.retyped(**types)), tuple(findings)


def evaluate_stated(problem: Problem, stated: Stated) -> Outcome:
    """What a service reaches under the load and the limits of a problem."""
    if problem.is_service:
        return _evaluate_service(problem, stated)
    return _evaluate_phase(problem, stated)


# Services.

#: What of a given service that breaks something is no matter of speed.
_ILLEGAL = ("structure", "engine", "transfer", "devices")


def _evaluate_service(problem: Problem, stated: Stated) -> Outcome:
    names = [one.role.name for one in stated.roles]
    if names not in ([SERVE], [PREFILL, DECODE]):
        return Outcome(None, None, (note("one side of a service is not evaluated alone"),))
    answers = [_under_caps(problem, each) for each in _exchanges(stated)]
    return max(answers, key=lambda one: (one.is_feasible, one.is_there, one.throughput))


def _exchanges(stated: Stated) -> list[Stated]:
    """The service with each exchange of experts that its engine may choose."""
    found = [stated]
    for index, one in enumerate(stated.roles):
        if one.exchange is not None or one.role.ep == 1:
            continue
        found = [
            each.replace(roles=(
                *each.roles[:index],
                dataclasses.replace(one, exchange=exchange),
                *each.roles[index + 1 :],
            ))
            for each in found for exchange in ("all_to_all", "gather")
        ]
    return found


def _under_caps(problem: Problem, stated: Stated) -> Outcome:
    """With as many requests in flight as the load has and the caps allow."""
    last = stated.roles[-1].role
    cap = last.workers * last.in_flight
    asked = problem.concurrency or 0
    if cap and asked > cap:
        waiting = note(f"{asked - cap} of the {asked} requests wait: caps allow {cap} in flight")
        found = _given(problem, stated, cap)
        return dataclasses.replace(found, findings=(*found.findings, waiting))
    found = _given(problem, stated, 0)
    row = found.service
    if cap and row is not None and row["concurrency"] > cap:
        found = _given(problem, stated, cap)
    return found


def _given(problem: Problem, stated: Stated, concurrency: float) -> Outcome:
    asked = {
        "requests": problem.requests,
        "devices": problem.devices or problem.max_devices or 0,
        "engine": stated.engine,
        "prefill_machine": problem.prefill_machine or "",
        "prefill_devices": problem.prefill_devices or 0,
        "roles": {one.role.name: _numbers(problem, one) for one in stated.roles},
        "concurrency": float(concurrency),
    }
    if concurrency:  # in place of that of the load
        asked["requests"] = {k: v for k, v in problem.requests.items() if k != "concurrency"}
    _, text, _ = _checked(problem.handle.evaluate_service, asked)
    said = json.loads(text)
    row = said.get(str(said.get("mode")))
    findings = []
    for one in said.get("breaks") or ():
        kind = illegal if one["kind"] in _ILLEGAL else missed
        text = f"{one['role']}: {one['why']}" if one["role"] else one["why"]
        findings.append(kind(text))
    if row is None:
        return Outcome(None, None, tuple(findings))
    return Outcome(None, row, tuple(findings), _throughput(problem, row), not findings)


def _numbers(problem: Problem, one: Meaning) -> dict[str, Any]:
    role = one.role
    exchange = one.exchange or ("gather" if role.ranks == 1 else "all_to_all")
    return {
        "tp": role.tp, "dp": role.ranks, "ep": role.ep, "pp": role.pp, "cp": role.cp,
        "exchange": exchange, "workers": role.workers, **_eplb(problem, role),
        **({} if role.overlap is None else {"overlap": "on"}),
    }


def _eplb(problem: Problem, role: Role) -> dict[str, str]:
    """The degree of EPLB, of experts that it places."""
    experts = problem.model.experts
    return {"eplb": eplb_of(role.redundant_experts, experts, role.ep)} if role.eplb else {}


# Phases.


def _evaluate_phase(problem: Problem, stated: Stated) -> Outcome:
    """What the role of the problem's phase reaches."""
    wanted = DECODE if problem.phase == "decode" else PREFILL
    one = stated.role(wanted) or stated.roles[0]
    lists = _lists_of(problem, one)
    cap = one.role.in_flight * (1 if problem.model.experts else one.role.workers)
    if not cap:
        unsaid = note("the batch is not said: the best one is taken")
        return _planned(problem, one, lists, [unsaid])
    found = _planned(problem, one, {**lists, "batch": str(cap)}, [])
    if found.plan is not None:
        return found
    # A cap is no promise: caches hold what they hold.
    fitting = _planned(problem, one, lists, [])
    if fitting.plan is None or fitting.plan.strategy.batch > cap:
        return found
    batch = fitting.plan.strategy.batch
    held = note(f"the cap allows {cap} sequences, and {batch} are best within memory and limits")
    return dataclasses.replace(fitting, findings=(held,))


def _lists_of(problem: Problem, one: Meaning) -> dict[str, str]:
    """Degrees as the planner is asked for them; a model without experts has its copies
    as replicas."""
    role = one.role
    replicas = role.ranks
    if not problem.model.experts:
        replicas = role.workers
    fields: dict[str, Any] = {
        "tp": role.tp, "dp": replicas, "ep": role.ep if problem.model.experts else replicas,
        "pp": role.pp, "cp": role.cp,
    }
    lists = {name: str(value) for name, value in fields.items()}
    if problem.model.experts and one.exchange is not None:  # None: the engine decides
        lists["exchange"] = one.exchange
    lists.update(_eplb(problem, role))
    return lists


def _planned(
    problem: Problem, one: Meaning, lists: dict[str, str], findings: list[Finding]
) -> Outcome:
    asked: dict[str, Any] = {
        "lists": lists, "dims": {}, "engine": one.engine, "space": "serving",
    }
    try:
        plan = find_plan(problem, **asked)
    except Infeasible as error:
        return Outcome(None, None, (*findings, illegal(str(error))))
    return Outcome(plan, None, tuple(findings), plan.metrics.throughput, True)
