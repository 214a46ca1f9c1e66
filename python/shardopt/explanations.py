"""Why a plan is as it is, and how two plans differ."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from typing import Any

from .errors import UnknownName, WrongPlan, list_known
from .frames import html_of
from .plans import Metrics, Plan, evaluate
from .problem import _check_kind, _text


@dataclass(frozen=True)
class Explanation:
    """What each other dim of an op would do, all else kept."""

    op: str
    dim: str
    rows: tuple[tuple[str, Metrics, float], ...]
    """What is cut, its metrics, and its throughput beside the plan's."""

    def __str__(self) -> str:
        lines = [f"{self.op}: {'whole' if self.dim == 'none' else 'cut by ' + self.dim}"]
        for cut, metrics, share in self.rows:
            name = "whole" if cut == "none" else cut
            if metrics.reason == "structural":
                lines.append(f"  {name:<12} cannot be")
                continue
            why = "" if metrics.valid else f", breaks the limit of {metrics.reason}"
            lines.append(
                f"  {name:<12} {share - 1:+8.2%} throughput, latency "
                f"{metrics.latency_ms:.4g} ms, memory {metrics.memory_gb:.4g} GB{why}"
            )
        return "\n".join(lines)


def explain(plan: Plan, op: str | None = None) -> list[Explanation]:
    """What the dims of `op`, or of every op, are worth."""
    _check_kind(Plan, "plan", plan)
    ops = plan.problem.model.ops
    if op is not None and _text("op", op) not in ops:
        raise UnknownName(f"the plan has no op '{op}'; " + list_known(op, ops))
    best = plan.metrics.throughput
    found = []
    for name, chosen in plan.strategy.dims:
        if op is not None and name != op:
            continue
        others = [dim for dim in ops[name] if dim != chosen]
        tried = [
            dataclasses.replace(
                plan.strategy,
                dims=tuple(
                    (known, dim if known == name else kept)
                    for known, kept in plan.strategy.dims
                ),
            )
            for dim in others
        ]
        rows = tuple(
            (ops[name][dim], metrics, metrics.throughput / best)
            for dim, metrics in zip(others, evaluate(plan.problem, tried))
        )
        found.append(Explanation(name, ops[name][chosen], rows))
    return found


@dataclass(frozen=True)
class Difference:
    """Two plans of one model side by side."""

    summary: tuple[tuple[str, Any, Any], ...]
    ops: tuple[tuple[str, str, str, float, float], ...]
    """Op, what is cut in both, microseconds of all its layers in both."""

    def __str__(self) -> str:
        def cell(value: Any) -> str:
            return f"{value:.6g}" if isinstance(value, float) else str(value)

        lines = [f"  {name:<22}{cell(a):>14}{cell(b):>14}" for name, a, b in self.summary]
        lines += ["", f"  {'op, cut and us':<22}{'first':>14}{'':>10}{'second':>14}"]
        for op, cut, other, us, them in self.ops:
            mark = " *" if cut != other else ""
            lines.append(f"  {op:<22}{cut:>14}{us:>10.1f}{other:>14}{them:>10.1f}{mark}")
        return "\n".join(lines)

    def _repr_html_(self) -> str:
        degrees = [{"": name, "first": a, "second": b} for name, a, b in self.summary]
        ops = [
            {"op": op, "first": cut, "us": us, "second": other, "us of it": them}
            for op, cut, other, us, them in self.ops
        ]
        return html_of(degrees) + html_of(ops)


def _microseconds(plan: Plan) -> dict[str, float]:
    total: dict[str, float] = {}
    for row in plan.breakdown or ():
        us = row["compute_us"] + row["memory_us"] + row["collective_us"]
        total[row["op"]] = total.get(row["op"], 0.0) + us
    return total


def _cut(ops: Any, op: str, dims: dict[str, int]) -> str:
    if op not in ops:
        return "-"
    name = ops[op][dims[op]]
    return "whole" if name == "none" else name


def diff(first: Plan, second: Plan) -> Difference:
    """How `second` differs from `first`; both must be of one model."""
    for name, plan in (("first", first), ("second", second)):
        _check_kind(Plan, name, plan)
    ops = first.problem.model.ops
    if list(ops) != list(second.problem.model.ops):
        raise WrongPlan(
            f"the plans are of other models: '{first.problem.model.name}' and "
            f"'{second.problem.model.name}'"
        )
    if first.problem.phase != second.problem.phase:
        raise WrongPlan(
            f"the plans are of other phases: {first.problem.phase} and "
            f"{second.problem.phase}"
        )
    one, other = first.strategy, second.strategy
    summary: list[tuple[str, Any, Any]] = [
        (name, getattr(one, name), getattr(other, name))
        for name in ("tp", "replicas", "ep", "pp", "cp", "exchange", "batch", "devices")
    ]
    a, b = first.metrics.to_dict(), second.metrics.to_dict()
    summary += [(key, a[key], b[key]) for key in a if key not in ("valid", "reason")]
    us, them = _microseconds(first), _microseconds(second)
    cuts, others = dict(one.dims), dict(other.dims)
    rows = []
    for name in dict.fromkeys([*ops, *us, *them]):
        cut = _cut(ops, name, cuts)
        new = _cut(ops, name, others)
        rows.append((name, cut, new, us.get(name, 0.0), them.get(name, 0.0)))
    return Difference(tuple(summary), tuple(rows))
