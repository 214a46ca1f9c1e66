"""What changes of the problem buy."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

from .errors import Infeasible
from .plans import Plan, plan
from .problem import Decode, Prefill, Problem, _check_kind


@dataclass(frozen=True)
class Change:
    """One change, and the optimum after it (None: nothing fits)."""

    what: str
    plan: Plan | None

    def row(self, base: Plan) -> dict[str, Any]:
        """The change beside the optimum of the problem as it was."""
        if self.plan is None:
            return {"change": self.what, "throughput": "infeasible"}
        metrics = self.plan.metrics.to_dict()
        del metrics["valid"], metrics["reason"]
        strategy = self.plan.strategy.to_dict()
        del strategy["dims"]
        share = self.plan.metrics.throughput / base.metrics.throughput - 1
        return {"change": self.what, "gain": f"{share:+.2%}", **metrics, **strategy}


def changes_of(problem: Problem) -> list[tuple[str, Problem]]:
    """One more device and twice as many, half and twice the context, and a limit
    that is 10 ms or a fifth longer and shorter, whichever is less."""
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
