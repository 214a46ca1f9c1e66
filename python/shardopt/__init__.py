"""Plans how large language models are sharded for inference.

    import shardopt as so

    model = so.load_model("config.json", so.Decode(context=8192))
    plan = so.plan(so.Problem(model, machine="h100_sxm", devices=16))
    print(plan.table)

Nothing here needs more than the standard library; the planner itself is loaded
when it is first asked.
"""

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from . import optuna, ray, ray_tune
    from .figures import Chart, chart, charts, searched, timeline
    from .errors import (
        BudgetExhausted,
        ClusterLost,
        Contradiction,
        Infeasible,
        Inexpressible,
        ShardoptError,
        SimulatorLost,
        TooFewDevices,
        UnknownName,
        UnknownTrial,
        UnknownVersion,
        WrongPlan,
        WrongValue,
    )
    from .explanations import Difference, Explanation, diff, explain
    from .launch import Launch
    from .launches import engines, export
    from .frontier import Frontier, Offer, least_cost, min_devices, pareto
    from .checking import Check, check
    from .judgements import Judgement, judge
    from .orders import Ordered, order
    from .pages import page, report
    from .programs import Verification, lower, verify
    from .plans import Metrics, Plan, Strategy, evaluate
    from .models import Decode, Model, Prefill, load_model, machines, version
    from .problem import Problem
    from .driving import Driven
    from .processes import Process
    from .bars import progress
    from .replays import Replay, Request, read_requests, replay
    from .searching import Search
    from .trials import Failed, Trial
    from .sensitivity import Change, sweep
    from .service_parts import Latency, Role, ServiceMetrics, Slo
    from .services import (
        Service,
        evaluate_service,
        plan,
        plan_phase,
        plan_service,
        read_plan,
    )
    from .simplicity import Simplified, simplest

_HOMES = {
    "figures": ("Chart", "chart", "charts", "searched", "timeline"),
    "errors": (
        "BudgetExhausted",
        "ClusterLost",
        "Contradiction",
        "Inexpressible",
        "Infeasible",
        "ShardoptError",
        "SimulatorLost",
        "TooFewDevices",
        "UnknownName",
        "UnknownTrial",
        "UnknownVersion",
        "WrongPlan",
        "WrongValue",
    ),
    "explanations": ("Difference", "Explanation", "diff", "explain"),
    "frontier": ("Frontier", "Offer", "least_cost", "min_devices", "pareto"),
    "checking": ("Check", "check"),
    "judgements": ("Judgement", "judge"),
    "launch": ("Launch",),
    "launches": ("engines", "export"),
    "orders": ("Ordered", "order"),
    "pages": ("page", "report"),
    "plans": ("Metrics", "Plan", "Strategy", "evaluate"),
    "programs": ("Verification", "lower", "verify"),
    "models": ("Decode", "Model", "Prefill", "load_model", "machines", "version"),
    "problem": ("Problem",),
    "driving": ("Driven",),
    "processes": ("Process",),
    "bars": ("progress",),
    "replays": ("Replay", "Request", "read_requests", "replay"),
    "searching": ("Search",),
    "trace_plans": ("load_of_requests", "plan_for_requests", "plan_robust"),
    "trials": ("Failed", "Trial"),
    "sensitivity": ("Change", "sweep"),
    "service_parts": ("Latency", "Role", "ServiceMetrics", "Slo"),
    "services": (
        "Service",
        "evaluate_service",
        "plan",
        "plan_phase",
        "plan_service",
        "read_plan",
    ),
    "simplicity": ("Simplified", "simplest"),
    # What methods of plans and services call.
    "deployments": ("why_not_exported",),
    "heads": ("for_notebook",),
    "service_explanations": ("explain_service",),
    "service_figures": ("chart_of_service",),
}


#: Adapters, whose libraries are loaded with them.
_ADAPTERS = ("optuna", "ray", "ray_tune")


def __getattr__(name: str) -> Any:
    if name in _ADAPTERS:
        return importlib.import_module("." + name, __name__)
    for home, names in _HOMES.items():
        if name in names:
            value = getattr(importlib.import_module("." + home, __name__), name)
            globals()[name] = value
            return value
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return __all__


__all__ = [
    "BudgetExhausted",
    "Change",
    "Chart",
    "Check",
    "ClusterLost",
    "Contradiction",
    "Decode",
    "Difference",
    "Driven",
    "Explanation",
    "Failed",
    "Frontier",
    "Inexpressible",
    "Infeasible",
    "Judgement",
    "Latency",
    "Launch",
    "Metrics",
    "Model",
    "Offer",
    "Ordered",
    "Plan",
    "Prefill",
    "Problem",
    "Process",
    "Replay",
    "Request",
    "Role",
    "Search",
    "Service",
    "ServiceMetrics",
    "ShardoptError",
    "Simplified",
    "SimulatorLost",
    "Slo",
    "Strategy",
    "TooFewDevices",
    "Trial",
    "UnknownName",
    "UnknownTrial",
    "UnknownVersion",
    "Verification",
    "WrongPlan",
    "WrongValue",
    "chart",
    "charts",
    "check",
    "diff",
    "engines",
    "evaluate",
    "evaluate_service",
    "explain",
    "export",
    "judge",
    "least_cost",
    "load_model",
    "lower",
    "machines",
    "min_devices",
    "order",
    "page",
    "pareto",
    "plan",
    "plan_phase",
    "plan_service",
    "progress",
    "read_plan",
    "read_requests",
    "replay",
    "report",
    "searched",
    "simplest",
    "sweep",
    "timeline",
    "verify",
    "version",
]
