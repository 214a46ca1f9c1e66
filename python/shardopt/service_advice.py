"""What would let a service serve more, or at all: looser SLOs, more GPUs, other machines,
engines and types."""

from __future__ import annotations

import dataclasses
import json
from typing import Any

from .checks import _checked
from .engine_table import precision_of
from .errors import Infeasible, ShardoptError
from .problem import Problem
from .services import Service, plan_service, settings_of

#: Types that are tried, by the name of a setting and its value.
TYPES = (("weight_type", "fp8"), ("kv_type", "fp8"))


def retyped(problem: Problem, name: str, kind: str) -> Problem | None:
    """The problem of a model with another type of weights or of KV caches; None where it
    has that type, or cannot have it, or its checkpoint is quantized anyway."""
    if name == "weight_type" and precision_of(problem.model) != "bf16":
        return None
    try:
        model = problem.model.retyped(**{name: kind})
        return problem.replace(model=model) if model.mlir != problem.model.mlir else None
    except ShardoptError:
        return None


def advise(problem: Problem) -> dict[str, Any]:
    """What the planner says: `binding`, and `options`, each with `what`, its `value` and
    what is attained under this change alone."""
    problem = problem.variants()[0]
    found: dict[str, Any] = json.loads(
        _checked(problem.handle.advise_service, settings_of(problem))
    )
    for name, kind in TYPES:
        other = retyped(problem, name, kind)
        if other is None:
            continue
        try:
            found["options"].append(_option(name, kind, plan_service(other)))
        except Infeasible:
            continue
    return found


def _option(name: str, kind: str, service: Service) -> dict[str, Any]:
    metrics = service.metrics
    return {
        "what": name, "value": kind, "mode": service.mode, "devices": metrics.gpus,
        "tokens_per_s_per_device": metrics.tokens_per_s_per_gpu,
        "requests_per_s": metrics.requests_per_s,
        "tpot_ms": metrics.tpot_ms, "ttft_ms": metrics.ttft_ms,
    }


def advised(service: Service) -> Service:
    """The service, whose table and report say what would help."""
    advice = advise(service.problem)
    return dataclasses.replace(service, report={**service.report, "advice": advice})
