"""What a stated service reaches, by the planner's own evaluation."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from ..deployments.service import DECODE, PREFILL
from ..errors import Infeasible
from ..launches import degrees_of
from ..plans import Plan
from ..plans import plan as find_plan
from ..problem import Problem
from .findings import Finding, illegal, note
from .meaning import Meaning
from .stated import Stated


@dataclass(frozen=True)
class Outcome:
    """A plan with the degrees of what was stated; None where nothing holds them."""

    plan: Plan | None
    findings: tuple[Finding, ...] = ()
    #: Tokens a second per GPU.
    throughput: float = field(default=0.0)

    @property
    def lines(self) -> list[str]:
        """What it means and what it reaches, for a table."""
        if self.plan is None:
            return []
        return lines_of(self.plan)


def lines_of(plan: Plan) -> list[str]:
    """Degrees, and what they reach."""
    metrics = plan.metrics
    return [
        degrees_of(plan),
        f"{metrics.throughput:.6g} tokens/s per device, {metrics.latency_ms:.4g} ms, "
        f"{metrics.memory_gb:.4g} GB",
    ]


def evaluate_stated(problem: Problem, stated: Stated) -> Outcome:
    """What the role of the problem's phase reaches."""
    wanted = DECODE if problem.phase == "decode" else PREFILL
    one = stated.role(wanted) or stated.roles[0]
    findings: list[Finding] = []
    lists = _lists_of(problem, one)
    cap = one.role.in_flight * (1 if problem.model.experts else one.role.workers)
    if not cap:
        findings.append(note("the batch is not said: the best one is taken"))
        return _planned(problem, one, lists, findings)
    found = _planned(problem, one, {**lists, "batch": str(cap)}, [])
    if found.plan is not None:
        return found
    # A cap is no promise: caches hold what they hold.
    fitting = _planned(problem, one, lists, [])
    if fitting.plan is None or fitting.plan.strategy.batch > cap:
        return found
    batch = fitting.plan.strategy.batch
    held = note(f"the cap allows {cap} sequences, and {batch} are best within memory and limits")
    return Outcome(fitting.plan, (held,), fitting.throughput)


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
        return Outcome(None, (*findings, illegal(str(error))))
    return Outcome(plan, tuple(findings), plan.metrics.throughput)
