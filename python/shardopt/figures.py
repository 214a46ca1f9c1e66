"""Charts of a plan, as Vega-Lite specifications: plain data, for a page, a
notebook or whatever draws them."""

from __future__ import annotations

from typing import Any, Mapping

from .errors import ShardoptError, list_known
from .frontier import Frontier
from .plans import Plan, Strategy, given

Spec = dict[str, Any]

SCHEMA = "https://vega.github.io/schema/vega-lite/v6.json"
BASELINES = {
    "megatron_classic": "Megatron classic",
    "megatron_slice": "Megatron slice",
    "megatron_sp": "Megatron SP",
}
LAYOUTS = {
    "R": "whole on every device",
    "T": "rows (tokens) cut",
    "H": "columns cut",
    "P": "partial sums",
}


def _latency_name(plan: Plan) -> str:
    return "TPOT, ms" if plan.problem.phase == "decode" else "TTFT, ms"


def compared(plan: Plan) -> dict[str, Plan]:
    """The plan, and Megatron's beside it."""
    plans = {"this plan": plan}
    ops = plan.problem.model.ops
    for key, name in BASELINES.items():
        found = plan.baselines.get(key)
        if found:
            strategy = Strategy.from_dict(found["strategy"], ops)
            plans[name] = given(plan.problem, strategy)
    return plans


def front(plan: Plan, frontier: Frontier | None, plans: Mapping[str, Plan]) -> Spec:
    """Throughput per device against latency, with the limit and Megatron's."""
    latency = _latency_name(plan)

    def point(name: str, of: Plan) -> dict[str, Any]:
        strategy = of.strategy.to_dict()
        del strategy["dims"]
        return {
            "plan": name,
            "latency": of.metrics.latency_ms,
            "throughput": of.metrics.throughput,
            "degrees": ", ".join(f"{key} {value}" for key, value in strategy.items()),
        }

    x = {"field": "latency", "type": "quantitative", "title": latency}
    y = {
        "field": "throughput",
        "type": "quantitative",
        "title": "tokens/s per device",
    }
    tooltip = [{"field": name} for name in ("plan", "degrees", "latency", "throughput")]
    layers: list[Spec] = []
    if frontier:
        values = [point("front, proved", one) for one in frontier]
        layers.append(
            {
                "data": {"values": values},
                "mark": {"type": "line", "point": True, "interpolate": "step-after"},
                "encoding": {"x": x, "y": y, "tooltip": tooltip},
            }
        )
    layers.append(
        {
            "data": {"values": [point(name, one) for name, one in plans.items()]},
            "mark": {"type": "point", "filled": True, "size": 120},
            "encoding": {
                "x": x,
                "y": y,
                "tooltip": tooltip,
                "color": {"field": "plan", "type": "nominal", "title": None},
                "shape": {"field": "plan", "type": "nominal", "title": None},
            },
        }
    )
    limit = plan.problem.slo_ms
    if limit < float("inf"):
        layers.append(
            {
                "data": {"values": [{"limit": limit}]},
                "mark": {"type": "rule", "strokeDash": [6, 4], "color": "firebrick"},
                "encoding": {"x": {"field": "limit", "type": "quantitative"}},
            }
        )
    return _spec("Throughput against latency", {"layer": layers, "height": 300})


def memory(plan: Plan, plans: Mapping[str, Plan]) -> Spec:
    """Memory of the fullest device by part, with what there is."""
    values = [
        {"plan": name, "part": part.replace("_", " "), "GB": size}
        for name, one in plans.items()
        for part, size in (one.memory or {}).items()
        if size > 0
    ]
    capacity = plan.problem.memory_gb
    return _spec(
        "Memory of the fullest device",
        {
            "layer": [
                {
                    "data": {"values": values},
                    "mark": "bar",
                    "encoding": {
                        "y": {"field": "plan", "sort": list(plans), "title": None},
                        "x": {
                            "field": "GB",
                            "type": "quantitative",
                            "aggregate": "sum",
                            "title": "GB",
                        },
                        "color": {"field": "part", "type": "nominal", "title": None},
                        "tooltip": [{"field": name} for name in ("plan", "part", "GB")],
                    },
                },
                {
                    "data": {"values": [{"capacity": capacity}]},
                    "mark": {"type": "rule", "strokeWidth": 2, "color": "firebrick"},
                    "encoding": {"x": {"field": "capacity", "type": "quantitative"}},
                },
            ],
            "height": {"step": 26},
        },
    )


def layer(plan: Plan) -> Spec:
    """A layer op by op: when each computes, reads memory and communicates."""
    values = []
    start = 0.0
    order: list[str] = []
    for row in plan.breakdown or ():
        if row["stage"] != 0 or row["layers"] < 2:
            continue
        order.append(row["op"])
        for kind in ("compute", "memory", "collective"):
            length = row[f"{kind}_us"] / row["layers"]
            if length <= 0:
                continue
            what = row["collective"] if kind == "collective" else "kernel"
            values.append(
                {
                    "op": row["op"],
                    "bound by": kind,
                    "what": what,
                    "from": start,
                    "to": start + length,
                    "us": length,
                }
            )
            start += length
    return _spec(
        "A layer of the first stage, one micro-batch",
        {
            "data": {"values": values},
            "mark": "bar",
            "encoding": {
                "y": {"field": "op", "sort": order, "title": None},
                "x": {"field": "from", "type": "quantitative", "title": "us"},
                "x2": {"field": "to"},
                "color": {"field": "bound by", "type": "nominal", "title": None},
                "tooltip": [
                    {"field": name} for name in ("op", "what", "bound by", "us")
                ],
            },
            "height": {"step": 20},
        },
    )


def sharding(plan: Plan, plans: Mapping[str, Plan]) -> Spec:
    """What each plan cuts of every op, and the layout that results."""
    ops = plan.problem.model.ops
    values = []
    for name, one in plans.items():
        layouts = {row["op"]: row["layout"] for row in one.breakdown or ()}
        for op, dim in one.strategy.dims:
            cut = ops[op][dim]
            values.append(
                {
                    "plan": name,
                    "op": op,
                    "cut": "whole" if cut == "none" else cut,
                    "layout": LAYOUTS.get(layouts.get(op, ""), "none"),
                }
            )
    where = {
        "y": {"field": "op", "sort": list(ops), "title": None},
        "x": {
            "field": "plan",
            "sort": list(plans),
            "title": None,
            "axis": {"orient": "top", "labelAngle": 0},
        },
    }
    color = {"field": "layout", "type": "nominal", "title": "layout after it"}
    return _spec(
        "What is cut",
        {
            "data": {"values": values},
            "encoding": where,
            "layer": [
                {
                    "mark": {"type": "rect", "opacity": 0.55},
                    "encoding": {
                        "color": color,
                        "tooltip": [
                            {"field": name} for name in ("op", "plan", "cut", "layout")
                        ],
                    },
                },
                {"mark": "text", "encoding": {"text": {"field": "cut"}}},
            ],
            "height": {"step": 20},
        },
    )


def _spec(title: str, rest: Spec) -> Spec:
    return {
        "$schema": SCHEMA,
        "title": {"text": title, "anchor": "start"},
        "width": 640,
        "background": None,
        **rest,
    }


def charts(plan: Plan, frontier: Frontier | None = None) -> dict[str, Spec]:
    """All of them by name: `front`, `memory`, `layer`, `sharding`."""
    plans = compared(plan)
    return {
        "front": front(plan, frontier, plans),
        "memory": memory(plan, plans),
        "layer": layer(plan),
        "sharding": sharding(plan, plans),
    }


def chart(plan: Plan, name: str, frontier: Frontier | None = None) -> Spec:
    """One of them."""
    found = charts(plan, frontier)
    if name not in found:
        raise ShardoptError(f"unknown chart '{name}'; " + list_known(name, found))
    return found[name]
