"""Charts of a service, as Vega-Lite specifications."""

from __future__ import annotations

from typing import Any, Sequence

from .checks import _check_kind, _text
from .border import list_known
from .errors import UnknownName
from .figures import Spec, _spec, layer, marked, sensitivity
from .frontier import Frontier
from .sensitivity import Change, sweep
from .service_tables import part_of, three
from .services import DECODE, Service


def frontier_chart(service: Service, frontier: Frontier | None) -> Spec:
    """Tokens/s per GPU against tokens/s per user: the frontier, the service, the best of
    the other mode, and the TPOT SLO."""

    def point(name: str, one: Service) -> dict[str, Any]:
        row = one.to_row()
        names = ("tokens_per_s_per_user", "tokens_per_s_per_gpu", "tpot_ms", "ttft_ms",
                 "requests_per_s", "mode")
        return {"service": name, **{key: row[key] for key in names}}

    def axis(name: str, title: str) -> dict[str, Any]:
        return {"field": name, "type": "quantitative", "title": title}

    x = axis("tokens_per_s_per_user", "tokens/s per user (1 / TPOT)")
    y = axis("tokens_per_s_per_gpu", "tokens/s per GPU")
    tooltip = [{"field": name} for name in point("", service)]
    layers: list[Spec] = []
    if frontier is not None:
        values = [point("frontier, proved", one) for one in frontier if isinstance(one, Service)]
        if service.other is not None:  # which may stand between points of the frontier
            values = _undominated([*values, point("frontier, proved", service.other)])
        layers.append({
            "data": {"values": values},
            "mark": {"type": "line", "point": True, "interpolate": "step-before"},
            "encoding": {"x": x, "y": y, "tooltip": tooltip},
        })
    points = [point(f"recommended, {service.mode}", service)]
    if service.other is not None:
        points.append(point(f"best {service.other.mode}", service.other))
    kind = {"field": "service", "type": "nominal", "title": None}
    layers.append({
        "data": {"values": points},
        "mark": {"type": "point", "filled": True, "size": 120},
        "encoding": {"x": x, "y": y, "tooltip": tooltip, "color": kind, "shape": kind},
    })
    slo = service.slos[0]
    if slo.target_ms < float("inf"):
        layers += marked(1e3 / slo.target_ms, f"TPOT SLO {slo.target_ms:g} ms", "right")
    return _spec("Throughput per GPU against speed per user", {"layer": layers, "height": 300})


def _undominated(points: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """The points that no other one exceeds in speed per user and throughput, by speed."""
    found: list[dict[str, Any]] = []
    for one in sorted(points, key=lambda one: -float(one["tokens_per_s_per_user"])):
        if not found or one["tokens_per_s_per_gpu"] > found[-1]["tokens_per_s_per_gpu"]:
            found.append(one)
    return found[::-1]


def _stacked(title: str, values: list[dict[str, Any]], unit: str) -> Spec:
    """A bar a role, in parts."""
    return {
        "data": {"values": values},
        "mark": "bar",
        "encoding": {
            "y": {"field": "role", "sort": None, "title": None},
            "x": {"field": unit, "type": "quantitative", "aggregate": "sum", "title": unit},
            "color": {"field": "part", "type": "nominal", "title": None, "sort": None},
            "tooltip": [{"field": name} for name in ("role", "part", unit)],
        },
        "height": {"step": 26},
    }


def steps_chart(service: Service) -> Spec:
    """The parts of a step of each role, as shares of its time."""
    values = [
        {"role": f"{role.name}, {three(sum(role.step_us.values()) / 1e3)} ms",
         "part": part_of(part), "share": us / sum(role.step_us.values()), "us": us}
        for role in service.roles
        for part, us in role.step_us.items()
        if us > 0
    ]
    title = "Step time of each role"
    bars = _stacked(title, values, "share")
    bars["encoding"]["x"]["axis"] = {"format": ".0%"}
    bars["encoding"]["tooltip"].append({"field": "us"})
    return _spec(title, bars)


def memory_chart(service: Service) -> Spec:
    """Memory of the fullest GPU of each role, with its budget."""
    values = [
        {"role": role.name, "part": part.replace("kv_cache", "KV cache"), "GB": role.memory[part]}
        for role in service.roles
        for part in ("weights", "kv_cache")
        if part in role.memory
    ]
    budgets = [
        {"role": role.name, "budget": role.memory["capacity"]}
        for role in service.roles
        if "capacity" in role.memory
    ]
    title = "Memory of the fullest GPU of each role"
    bars = _stacked(title, values, "GB")
    height = bars.pop("height")
    budget = {
        "data": {"values": budgets},
        "mark": {"type": "tick", "thickness": 2, "color": "firebrick", "size": 24},
        "encoding": {
            "y": {"field": "role", "sort": None, "title": None},
            "x": {"field": "budget", "type": "quantitative"},
        },
    }
    return _spec(title, {"layer": [bars, budget], "height": height})


def charts_of_service(
    service: Service,
    frontier: Frontier | None = None,
    changes: Sequence[Change] | None = None,
) -> dict[str, Spec]:
    """`front`, `steps`, `layer` and `memory`; with the `changes` of a sweep
    `sensitivity`."""
    _check_kind(Service, "service", service)
    found = {
        "front": frontier_chart(service, frontier),
        "steps": steps_chart(service),
        "layer": layer(service.phase_plan(DECODE)),
        "memory": memory_chart(service),
    }
    if changes is not None and len(changes) > 1:
        found["sensitivity"] = sensitivity(changes)
    return found


def chart_of_service(service: Service, name: str) -> Spec:
    """One of them; what a change buys is found first."""
    changes = sweep(service.problem) if name == "sensitivity" else None
    found = charts_of_service(service, None, changes)
    if _text("name", name) not in found:
        raise UnknownName(
            f"unknown chart '{name}' of a service; " + list_known(name, [*found, "sensitivity"])
        )
    return found[name]
