"""The best plan of a phase, in whatever runs it."""

from __future__ import annotations

from typing import Callable

from .checks import _check_kind
from .plans import Plan, find_plan
from .problem import Problem
from .tp_plans import best


def plan(
    problem: Problem,
    checkpoint: "str | None" = None,
    progress: "Callable[..., None] | None" = None,
    **others: object,
) -> Plan:
    """The best plan of the problem's phase. Raises `Infeasible` where there is none. A search
    that evaluates is kept in the file `checkpoint` and goes on from it, and tells
    `progress` its evaluations, and the best throughput and latency or None."""
    _check_kind(Problem, "problem", problem)
    if problem.engine == "transformers":
        return best(problem, **others)
    return find_plan(problem, checkpoint, progress, **others)
