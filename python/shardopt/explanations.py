"""Why a plan is as it is, and how two plans differ."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from typing import Any

from .checks import _check_kind, _text
from .border import list_known
from .errors import UnknownName, WrongPlan
from .frames import html_of
from .plans import Metrics, Plan, evaluate
from .service_tables import dispatch_of, part_of
from .services import Service
from .tables import said_of


@dataclass(frozen=True)
class Explanation:
    """What each other dim of an op would do, all else kept."""

    op: str
    dim: str
    rows: tuple[tuple[str, Metrics, float], ...]
    """What is sharded, the metrics, and the throughput as a share of the plan's."""

    def __str__(self) -> str:
        lines = [f"{self.op}: {'replicated' if self.dim == 'none' else 'sharded on ' + self.dim}"]
        for cut, metrics, share in self.rows:
            name = "replicated" if cut == "none" else cut
            if metrics.reason == "structural":
                lines.append(f"  {name:<12} cannot be")
                continue
            why = "" if metrics.valid else f", infeasible: {metrics.reason}"
            lines.append(
                f"  {name:<12} {share - 1:+8.2%} throughput, latency "
                f"{metrics.latency_ms:.4g} ms, memory {metrics.memory_gb:.4g} GB{why}"
            )
        return "\n".join(lines)


def explain(plan: Plan, op: str | None = None) -> list[Explanation]:
    """What the dims of `op`, or of every op, are worth. `Service.explain` says what other
    roles are."""
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
    """Two plans or services of one model side by side."""

    summary: tuple[tuple[str, Any, Any], ...]
    ops: tuple[tuple[str, str, str, float, float], ...]
    """Op, what is cut in both, microseconds of all its layers in both; none of services."""

    def __str__(self) -> str:
        def cell(value: Any) -> str:
            return f"{value:.6g}" if isinstance(value, float) else str(value)

        said = [(said_of(name), cell(a), cell(b)) for name, a, b in self.summary]
        lines = [f"  {name:<22}{a:>14}{b:>14}" for name, a, b in said]
        if not self.ops:
            return "\n".join(
                line + ("" if a == b else " *") for line, (_, a, b) in zip(lines, self.summary)
            )
        lines += ["", f"  {'op, sharding and us':<22}{'first':>14}{'':>10}{'second':>14}"]
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
        return html_of(degrees) + (html_of(ops) if ops else "")


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
    return "replicated" if name == "none" else name


def diff(first: "Plan | Service", second: "Plan | Service") -> Difference:
    """How `second` differs from `first`; both must be of one model, and both of a phase
    or both of a service."""
    if isinstance(first, Service) and isinstance(second, Service):
        return _diff_services(first, second)
    if isinstance(first, Service) or isinstance(second, Service):
        raise WrongPlan("one is a service and the other a plan of a phase, expected two alike")
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
        (name, value, other.degrees()[name])
        for name, value in one.degrees().items()
    ]
    summary.append(("devices", one.devices, other.devices))
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


def _diff_services(first: Service, second: Service) -> Difference:
    """Modes, what is attained, roles, and the parts of a step, side by side."""
    if list(first.problem.model.ops) != list(second.problem.model.ops):
        raise WrongPlan(
            f"the services are of other models: '{first.problem.model.name}' and "
            f"'{second.problem.model.name}'"
        )
    one, other = _values_of(first), _values_of(second)
    names = list(dict.fromkeys([*one, *other]))
    return Difference(
        tuple((name, one.get(name, "-"), other.get(name, "-")) for name in names), ()
    )


#: What tables call the parts of a role's memory.
_MEMORY = {"kv_cache": "KV cache", "capacity": "budget"}


def _values_of(service: Service) -> dict[str, Any]:
    """What a service is, name by name."""
    problem = service.problem
    found: dict[str, Any] = {"mode": service.mode, "engine": service.engine}
    for slo in service.slos:
        found[f"{slo.name} SLO, ms"] = f"{slo.target_ms:g} {slo.statistic}"
    found["machine"] = problem.machine_name
    found.update({name: getattr(problem, name) for name in ("isl", "osl")})
    found.update(service.metrics.to_dict())
    for role in service.roles:
        degrees = role.strategy.degrees()
        del degrees["batch"]
        del degrees["exchange"]
        values = {
            "machine": role.machine, "workers": role.workers, "GPUs": role.gpus,
            **degrees, "EP dispatch": dispatch_of(service, role), "in flight": role.in_flight,
            **{f"{_MEMORY.get(part, part)}, GB": gb for part, gb in role.memory.items()},
        }
        found.update({f"{role.name} {name}": value for name, value in values.items()})
    found.update({f"step {part_of(part)}, us": us for part, us in service.step_us.items()})
    return found
