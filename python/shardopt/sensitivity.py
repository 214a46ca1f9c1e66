"""What changes of the problem buy."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

from ._native import native
from .checks import _check_kind
from .engine_table import table as engine_rows
from .errors import Infeasible, ShardoptError
from .plans import Plan
from .models import Decode, Prefill, machines
from .problem import Problem
from .service_advice import TYPES, retyped
from .services import DEFAULT_TARGETS, Service, headline_of, plan


@dataclass(frozen=True)
class Change:
    """One change, and the optimum after it (None: nothing fits)."""

    what: str
    plan: "Plan | Service | None"

    def row(self, base: "Plan | Service") -> dict[str, Any]:
        """The change, compared with the optimum of the problem as it was."""
        found = self.plan
        if found is None:
            name = "tokens_per_s_per_gpu" if isinstance(base, Service) else "throughput"
            return {"change": self.what, name: "infeasible"}
        gain = gain_of(found, base)
        if isinstance(found, Service):
            assert isinstance(base, Service)
            requests = found.metrics.requests_per_s / base.metrics.requests_per_s - 1
            return {
                "change": self.what,
                "gain": f"{gain:+.2%}",
                "gain_req": f"{requests:+.2%}",
                **headline_of(found.to_row()),
            }
        metrics = found.metrics.to_dict()
        del metrics["valid"], metrics["reason"]
        strategy = found.strategy.to_dict()
        del strategy["dims"]
        return {"change": self.what, "gain": f"{gain:+.2%}", **metrics, **strategy}


def gain_of(found: "Plan | Service", base: "Plan | Service") -> float:
    """The share of throughput per GPU that is gained."""
    return throughput_of(found) / throughput_of(base) - 1


def throughput_of(found: "Plan | Service") -> float:
    """Tokens a second per GPU."""
    if isinstance(found, Service):
        return found.metrics.tokens_per_s_per_gpu
    return found.metrics.throughput


def changes_of(problem: Problem) -> list[tuple[str, Problem]]:
    """Of a phase, one more device and twice as many, half and twice the context, and a
    limit that is 10 ms or a fifth longer and shorter, whichever is less. Of a service,
    the next number of GPUs and twice as many, other GPUs, other engines, SLOs that are
    a fifth longer and shorter, and half and twice the tokens of requests."""
    if problem.is_service:
        return _changes_of_service(problem)
    found: list[tuple[str, Problem]] = []
    for name in ("devices", "max_devices"):
        count = getattr(problem, name)
        if count:
            for more in (count + 1, 2 * count):
                found.append((f"{name} {more}", problem.replace(**{name: more})))
    model = problem.model
    if model.config is not None:
        for context in (max(1, model.context // 2), 2 * model.context):
            load = Decode(context) if model.phase == "decode" else Prefill(context)
            other = problem.replace(model=model.under(load))
            found.append((f"context {context}", other))
    limit = "tpot_ms" if model.phase == "decode" else "ttft_ms"
    if problem.slo_ms < math.inf:
        step = min(10.0, problem.slo_ms / 5)
        for slo in (problem.slo_ms - step, problem.slo_ms + step):
            found.append((f"{limit} {slo:g}", problem.replace(**{limit: slo})))
    return found


#: Machines that a sweep of a service is planned on too.
_MACHINES = ("h100_sxm", "h200_sxm", "b200_sxm")


def _changes_of_service(problem: Problem) -> list[tuple[str, Problem]]:
    found: list[tuple[str, Problem]] = []

    def add(name: str, value: Any) -> None:
        try:
            text = value if isinstance(value, str) else f"{value:g}"
            found.append((f"{name} {text}", problem.replace(**{name: value})))
        except ShardoptError:
            pass  # more tokens than a model may have, or a machine without constants

    domain = int(problem.machine_parameters()["domain"]["devices"])
    name = "max_devices" if problem.max_devices else "devices"
    count = getattr(problem, name) or domain
    more = 2 * count if count < domain else count + domain
    for gpus in dict.fromkeys((more, 2 * count)):
        add(name, gpus)
    for machine in _MACHINES:
        if machine != problem.machine_name and machine in machines():
            add("machine", machine)
    for name, kind in TYPES:
        other = retyped(problem, name, kind)
        if other is not None:
            found.append((f"{name} {kind}", other))
    for engine in engine_rows():
        if problem.engine != "any" and engine != (problem.engine or native().usual_engine):
            add("engine", engine)
    for slo, usual in DEFAULT_TARGETS.items():
        limit = getattr(problem, slo) or usual
        if limit < math.inf:
            for share in (0.8, 1.2):
                add(slo, float(f"{share * limit:.6g}"))
    for tokens in ("isl", "osl"):
        count = getattr(problem, tokens)
        for value in dict.fromkeys((max(1, count // 2), 2 * count)):
            if value != count:
                add(tokens, value)
    return found


def sweep(problem: Problem) -> list[Change]:
    """The optimum of the problem, then after each change."""
    _check_kind(Problem, "problem", problem)
    found = [Change("none", plan(problem))]
    for what, changed in changes_of(problem):
        try:
            found.append(Change(what, plan(changed)))
        except Infeasible:
            found.append(Change(what, None))
    return found
