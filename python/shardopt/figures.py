"""Charts of a plan, as Vega-Lite specifications: plain data, for a page, a
notebook or whatever draws them."""

from __future__ import annotations

import base64
import contextlib
import json
from typing import Any, Iterable, Mapping, Sequence

from .checks import _check_kind, _text
from .engine_table import devices_per_node_of
from .border import list_known
from .errors import ShardoptError, UnknownName
from .frontier import Frontier
from .plans import Plan, Strategy, evaluate, given
from .searching import Search
from .sensitivity import Change, gain_of, sweep

Spec = dict[str, Any]

#: Replicas of the grid of devices, and evaluations of a search, that are drawn at most.
MOST_REPLICAS, MOST_EVALUATIONS = 64, 300
SCHEMA = "https://vega.github.io/schema/vega-lite/v6.json"
BASELINES = {
    "megatron_tp": "Megatron TP",
    "megatron_tp_ep": "TP + EP slicing",
    "megatron_tp_sp": "Megatron SP",
}
LAYOUTS = {
    "R": "Replicate",
    "T": "Shard(tokens)",
    "H": "Shard(hidden)",
    "P": "Partial",
}


def _latency_name(plan: Plan) -> str:
    return "TPOT, ms" if plan.problem.phase == "decode" else "TTFT, ms"


def compared(plan: Plan) -> dict[str, Plan]:
    """The plan and Megatron's."""
    plans = {"this plan": plan}
    ops = plan.problem.model.ops
    for key, name in BASELINES.items():
        found = plan.baselines.get(key)
        if found:
            strategy = Strategy.from_dict(found["strategy"], ops)
            plans[name] = given(plan.problem, strategy)
    return plans


def marked(x: float, text: str, side: str = "left") -> list[Spec]:
    """Layers with a line at `x`, and what it is, written at the foot of its `side`, or
    "above" the chart, where bars leave no room."""
    data, where = {"values": [{"x": x}]}, {"field": "x", "type": "quantitative"}
    rule = {"type": "rule", "strokeDash": [6, 4], "color": "firebrick"}
    label = {"type": "text", "text": text, "color": "firebrick", "baseline": "bottom",
             "align": "left" if side == "right" else "right",
             "y": -2 if side == "above" else {"expr": "height - 4"},
             "dx": {"left": -4, "right": 4, "above": 0}[side]}
    return [
        {"data": data, "mark": rule, "encoding": {"x": where}},
        {"data": data, "mark": label, "encoding": {"x": where}},
    ]


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
        "title": "tokens/s per GPU",
    }
    tooltip = [{"field": name} for name in ("plan", "degrees", "latency", "throughput")]
    layers: list[Spec] = []
    if frontier:
        values = [point("frontier, proved", one) for one in frontier if isinstance(one, Plan)]
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
        layers += marked(limit, f"SLO {limit:g} ms")
    return _spec("Throughput per GPU against latency", {"layer": layers, "height": 300})


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
        "Memory of the fullest GPU",
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
                *marked(capacity, f"budget {capacity:.4g} GB", "above"),
            ],
            "height": {"step": 26},
        },
    )


def _layer_ops(plan: Plan) -> list[Mapping[str, Any]]:
    """The rows of the ops that the layers of the first stage have."""
    rows = plan.breakdown or ()
    return [row for row in rows if row["stage"] == 0 and row["layers"] > 1]


def _intervals(plan: Plan) -> list[dict[str, Any]]:
    """When each op of a layer computes, reads memory and communicates."""
    values = []
    start = 0.0
    for row in _layer_ops(plan):
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
    return values


def timeline(plan: Plan) -> dict[str, Any]:
    """A layer of the first stage for chrome://tracing and Perfetto: a lane for
    kernels and one for collectives."""
    events: list[dict[str, Any]] = [
        {"name": "thread_name", "ph": "M", "pid": 0, "tid": lane, "args": {"name": name}}
        for lane, name in enumerate(("kernels", "collectives"))
    ]
    for each in _intervals(plan):
        is_collective = each["bound by"] == "collective"
        events.append(
            {
                "name": each["op"],
                "cat": each["bound by"],
                "ph": "X",
                "pid": 0,
                "tid": int(is_collective),
                "ts": each["from"],
                "dur": each["us"],
                "args": {"what": each["what"]},
            }
        )
    return {"traceEvents": events, "displayTimeUnit": "ns"}


def layer(plan: Plan) -> Spec:
    """A layer op by op."""
    order = [row["op"] for row in _layer_ops(plan)]
    values = _intervals(plan)
    return _spec(
        "Timeline of a layer, one micro-batch",
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


#: A grid of plans on a telephone, whose names stand askew and texts are small.
_IS_NARROW = "width < 320"
_NAMES_ABOVE: Spec = {
    "orient": "top", "labelOverlap": False, "labelLimit": 110,
    "labelAngle": {"expr": f"{_IS_NARROW} ? -35 : 0"},
    "labelAlign": {"expr": f"{_IS_NARROW} ? 'left' : 'center'"},
    "labelBaseline": {"expr": f"{_IS_NARROW} ? 'middle' : 'bottom'"},
}


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
                    "sharding": "replicated" if cut == "none" else cut,
                    "layout": LAYOUTS.get(layouts.get(op, ""), "none"),
                }
            )
    where = {
        "y": {"field": "op", "sort": list(ops), "title": None},
        "x": {
            "field": "plan",
            "sort": list(plans),
            "title": None,
            "axis": _NAMES_ABOVE,
        },
    }
    color = {"field": "layout", "type": "nominal", "title": "layout"}
    return _spec(
        "Op sharding",
        {
            "data": {"values": values},
            "encoding": where,
            "layer": [
                {
                    "mark": {"type": "rect", "opacity": 0.55},
                    "encoding": {
                        "color": color,
                        "tooltip": [
                            {"field": name} for name in ("op", "plan", "sharding", "layout")
                        ],
                    },
                },
                {"mark": {"type": "text", "fontSize": {"expr": f"{_IS_NARROW} ? 8 : 11"}},
                 "encoding": {"text": {"field": "sharding"}}},
            ],
            "height": {"step": 20},
        },
    )


def devices(plan: Plan) -> Spec:
    """The grid of devices: stages side by side, in each a row a replica and a column
    a member of its tensor parallel group, in the colour of its node."""
    strategy = plan.strategy
    size = devices_per_node_of(plan.problem.machine_parameters())
    shown = min(strategy.dp_size, MOST_REPLICAS)
    values = []
    for stage in range(strategy.pp):
        for replica in range(shown):
            for member in range(strategy.tp):
                rank = (stage * strategy.dp_size + replica) * strategy.tp + member
                values.append(
                    {
                        "stage": stage,
                        "replica": replica,
                        "member": member,
                        "device": rank,
                        "node": rank // size,
                    }
                )
    left = strategy.dp_size - shown
    more = f", the first {shown} of {strategy.dp_size} data-parallel ranks" if left else ""
    names = ("device", "node", "stage", "replica", "member")
    where: Spec = {
        "x": {"field": "member", "type": "ordinal", "title": "tp rank",
              "axis": {"labelAngle": 0}},
        "y": {"field": "replica", "type": "ordinal", "title": "dp rank"},
        "color": {"field": "node", "type": "ordinal", "title": "node",
                  "scale": {"scheme": "tableau20"},
                  "legend": None if len(values) > 20 * size else {}},
        "tooltip": [{"field": name} for name in names],
    }
    if strategy.pp > 1:
        where["column"] = {"field": "stage", "type": "ordinal", "title": "stage (pp)"}
    width = max(4, min(24, 600 // (strategy.tp * strategy.pp)))
    return _spec(
        f"{strategy.devices} GPUs, {size} per node{more}",
        {
            "data": {"values": values},
            "mark": {"type": "rect", "stroke": "white", "strokeWidth": 1},
            "encoding": where,
            "width": {"step": width},
            "height": {"step": 14},
        },
    )


def sensitivity(changes: Sequence[Change]) -> Spec:
    """What each change of the problem buys; `sweep` finds them."""
    base = changes[0].plan
    values = []
    for change in changes[1:]:
        gain = -1.0
        if change.plan is not None and base is not None:
            gain = gain_of(change.plan, base)
        values.append(
            {
                "change": change.what + ("" if change.plan else ", infeasible"),
                "gain": gain,
            }
        )
    tooltip = [{"field": "change"}, {"field": "gain", "format": "+.2%"}]
    axis = {"format": "+.0%"}
    return _spec(
        "Gain in throughput per GPU",
        {
            "data": {"values": values},
            "mark": "bar",
            "encoding": {
                "y": {"field": "change", "sort": None, "title": None},
                "x": {"field": "gain", "type": "quantitative", "axis": axis, "title": "gain"},
                "color": {
                    "condition": {"test": "datum.gain < 0", "value": "firebrick"},
                    "value": "seagreen",
                },
                "tooltip": tooltip,
            },
            "height": {"step": 20},
        },
    )


def searched(plan: Plan) -> Search:
    """The searcher of the plan, or for an exact search one that asks a
    simulator, on the plan's problem, with its seed."""
    report = plan.report
    has_own = report["searcher"] not in (None, "exact")
    name = report["searcher"] if has_own else "annealing"
    budget = min(report["budgeted_evaluations"], MOST_EVALUATIONS) if has_own else MOST_EVALUATIONS
    search = Search(plan.problem, name, seed=report["seed"] or 0, budget=max(1, budget))
    while not search.done:
        trials = search.ask(1)
        if not trials:
            break
        (metrics,) = evaluate(plan.problem, [trials[0].strategy])
        search.tell(trials[0], metrics)
    return search


def improved(values: Iterable[float | None], is_latency: bool) -> list[tuple[int, float]]:
    """The values that are better than all before them, each with its place from 1; None
    is of an evaluation that is not valid."""
    found: list[tuple[int, float]] = []
    for number, value in enumerate(values, 1):
        if value is None:
            continue
        if not found or (value < found[-1][1] if is_latency else value > found[-1][1]):
            found.append((number, value))
    return found


def improvements_chart(found: Sequence[tuple[int, float]], count: int, goal: str) -> Spec:
    """The best so far of `count` evaluations, from what `improved` gives."""
    values = [{"evaluations": number, "best": best} for number, best in found]
    if values and found[-1][0] < count:
        values.append({"evaluations": count, "best": found[-1][1]})
    x = {"field": "evaluations", "type": "quantitative",
         "scale": {"type": "log", "nice": False}}
    y = {"field": "best", "type": "quantitative", "title": goal, "scale": {"zero": False}}
    return {
        "data": {"values": values},
        "mark": {"type": "line", "interpolate": "step-after", "point": True},
        "encoding": {"x": x, "y": y, "tooltip": [{"field": "evaluations"}, {"field": "best"}]},
    }


def convergence(plan: Plan, search: Search) -> Spec:
    """The best that a search had after each evaluation, with the bound."""
    is_latency = plan.problem.objective == "latency"
    told = [metrics for _, metrics in search.history]
    better = improved(
        ((one.latency_ms if is_latency else one.throughput) if one.valid else None for one in told),
        is_latency,
    )
    goal = _latency_name(plan) if is_latency else "tokens/s per GPU"
    found = {"evaluations": plan.report["evaluations"], "best": plan.metrics.throughput}
    if is_latency:
        found["best"] = plan.metrics.latency_ms
    line = improvements_chart(better, len(told), goal)
    point = {"type": "point", "filled": True, "size": 120, "color": "seagreen"}
    layers: list[Spec] = [line, {**line, "data": {"values": [found]}, "mark": point}]
    if plan.bound is not None:
        layers.append(
            {
                "data": {"values": [{"bound": plan.bound}]},
                "mark": {"type": "rule", "strokeDash": [6, 4], "color": "firebrick"},
                "encoding": {"y": {"field": "bound", "type": "quantitative"}},
            }
        )
    return _spec(
        f"Best of {search.searcher}, the plan, and its bound",
        {"layer": layers, "height": 220},
    )


def converter() -> Any:
    """The package that contains the chart library."""
    try:
        import vl_convert  # type: ignore[import-not-found, unused-ignore]
    except ImportError:
        raise ShardoptError(
            "charts need vl-convert-python, which contains the chart library: "
            "pip install vl-convert-python"
        ) from None
    return vl_convert


class Chart(dict[str, Any]):
    """A Vega-Lite specification, which notebooks draw: by themselves, by Altair, or as a
    picture where vl-convert is installed."""

    def _repr_mimebundle_(self, **_: Any) -> dict[str, Any]:
        bundle: dict[str, Any] = {"application/vnd.vegalite.v6+json": dict(self)}
        with contextlib.suppress(ShardoptError):
            png = converter().vegalite_to_png(json.dumps(self), scale=2)
            bundle["image/png"] = base64.b64encode(png).decode()
        with contextlib.suppress(ShardoptError):
            drawn = self.altair()._repr_mimebundle_()
            # Some Altairs answer with metadata too.
            found = drawn[0] if isinstance(drawn, tuple) else drawn
            bundle.update((key, value) for key, value in found.items() if key == "text/html")
        return bundle

    def altair(self) -> Any:
        """The chart as one of Altair, to change it."""
        try:
            import altair  # type: ignore[import-not-found, unused-ignore]
        except ImportError:
            raise ShardoptError("an Altair chart needs altair: pip install altair") from None
        return altair.Chart.from_dict(dict(self))


def _spec(title: str, rest: Spec) -> Spec:
    return Chart(
        {
            "$schema": SCHEMA,
            "title": {"text": title, "anchor": "start"},
            "width": 640,
            "background": None,
            **rest,
        }
    )


def charts(
    plan: Plan,
    frontier: Frontier | None = None,
    changes: Sequence[Change] | None = None,
    search: Search | None = None,
) -> dict[str, Spec]:
    """All of them by name: `front`, `memory`, `layer`, `sharding`, `devices`; with
    the `changes` of a sweep `sensitivity`, with a `search` `convergence`."""
    _check_kind(Plan, "plan", plan)
    plans = compared(plan)
    found = {
        "front": front(plan, frontier, plans),
        "memory": memory(plan, plans),
        "layer": layer(plan),
        "sharding": sharding(plan, plans),
        "devices": devices(plan),
    }
    if search is not None:
        found["convergence"] = convergence(plan, search)
    if changes is not None and len(changes) > 1:
        found["sensitivity"] = sensitivity(changes)
    return found


def chart(
    plan: Plan,
    name: str,
    frontier: Frontier | None = None,
    changes: Sequence[Change] | None = None,
    search: Search | None = None,
) -> Spec:
    """One of them; what else it shows is found if it is not given."""
    if name == "sensitivity" and changes is None:
        changes = sweep(plan.problem)
    if name == "convergence" and search is None:
        search = searched(plan)
    found = charts(plan, frontier, changes, search)
    if _text("name", name) not in found:
        known = dict.fromkeys([*found, "convergence", "sensitivity"])
        raise UnknownName(f"unknown chart '{name}'; " + list_known(name, known))
    return found[name]
