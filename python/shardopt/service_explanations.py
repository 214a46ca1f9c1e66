"""Why a service is as it is: what binds it, and what other roles would serve."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from typing import Any, Iterator, Mapping

from .frames import html_of
from .service_parts import Role
from .service_tables import three
from .services import Service, evaluate_roles, given_role, given_roles, spell
from .tables import fitted, rows_as_table


#: How many times the load of a plan drafts are compared to.
_MOST_IN_FLIGHT = 64


@dataclass(frozen=True)
class Alternative:
    """Roles that differ in one choice, with as many requests in flight as are best for
    them, and what they break."""

    role: str
    change: str
    service: Service | None
    """None: nothing of it can be evaluated."""
    breaks: tuple[str, ...]

    def row(self, base: Service) -> dict[str, Any]:
        row: dict[str, Any] = {"role": self.role, "change": self.change}
        if self.service is not None:
            metrics = self.service.metrics
            share = metrics.tokens_per_s_per_gpu / base.metrics.tokens_per_s_per_gpu - 1
            row.update(
                gain=f"{share:+.2%}",
                tokens_per_s_per_gpu=metrics.tokens_per_s_per_gpu,
                tpot_ms=metrics.tpot_ms, ttft_ms=metrics.ttft_ms,
                in_flight=metrics.in_flight, gpus=metrics.gpus,
            )
        row["breaks"] = "; ".join(self.breaks) or "-"
        return row


@dataclass(frozen=True)
class ServiceExplanation:
    """What binds a service, and its alternatives."""

    service: Service
    alternatives: tuple[Alternative, ...]

    def rows(self) -> list[dict[str, Any]]:
        return [each.row(self.service) for each in self.alternatives]

    def __str__(self) -> str:
        rows = [
            {name: three(value) if isinstance(value, float) else value
             for name, value in row.items()}
            for row in self.rows()
        ]
        names = list(dict.fromkeys(name for row in rows for name in row if name != "breaks"))
        rows = [{name: row.get(name, "-") for name in (*names, "breaks")} for row in rows]
        bound = fitted(f"  bound by    {self.service.binding['why']}\n\n")
        return bound + (rows_as_table(rows) if rows else "  no other roles of as many GPUs")

    def _repr_html_(self) -> str:
        return html_of(self.rows())


def explain_service(service: Service) -> ServiceExplanation:
    """What other roles would serve, one choice changed and all else kept."""
    found = []
    roles = given_roles(service)
    has_experts = bool(service.problem.model.experts)
    for role in service.roles:
        others = service.gpus_available - service.metrics.gpus + role.gpus
        for change, changed in _changes_of(role, has_experts):
            gpus = changed["workers"] * changed["tp"] * changed["dp"] * changed["pp"]
            if gpus <= others:
                found.append(_alternative(service, roles, role.name, change, changed))
    if service.problem.draft_tokens:
        found.append(_without_drafts(service, roles))
    return ServiceExplanation(service, tuple(found))


def _without_drafts(service: Service, roles: Mapping[str, dict[str, Any]]) -> Alternative:
    """The same roles without drafts, and from how many requests in flight on these have
    the lower TPOT."""
    said = dict.fromkeys(("draft_tokens", "accepted_tokens", "draft_layers", "draft_parameters"))
    plain = dataclasses.replace(service, problem=service.problem.replace(**said))

    def loses(in_flight: int) -> bool:
        times = [evaluate_roles(one, roles, in_flight)[0][service.mode] for one in (service, plain)]
        return bool(times[0]["tpot_ms"] >= times[1]["tpot_ms"])

    low, high = 0, service.roles[-1].workers
    most = _MOST_IN_FLIGHT * max(high, service.metrics.in_flight)
    while high <= most and not loses(high):
        low, high = high, 2 * high
    while high <= most and high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if loses(middle) else (middle, high)
    change = "no drafts" + (f" (faster from {high} in flight)" if high <= most else "")
    report, _ = evaluate_roles(plain, roles)
    breaks = tuple(spell(one) for one in report.get("breaks") or [])
    found = Service(plain.problem, report, service.mode)
    return Alternative(service.roles[-1].name, change, found, breaks)


def _changes_of(role: Role, has_experts: bool) -> Iterator[tuple[str, dict[str, Any]]]:
    """Names of changes, with the role after them."""
    said = given_role(role)
    tp, dp, ep, pp, workers = (said[name] for name in ("tp", "dp", "ep", "pp", "workers"))

    def changed(**values: int | str) -> tuple[str, dict[str, Any]]:
        # Dims of its own are those of its degrees.
        kept = {name: value for name, value in said.items() if name != "dims" or "workers" in values}
        return ", ".join(f"{name} {value}" for name, value in values.items()), {**kept, **values}

    if tp % 2 == 0:
        halved = {"ep": max(1, ep // 2)} if ep > 1 else {}
        yield changed(tp=tp // 2, workers=2 * workers, **halved)
        yield changed(tp=tp // 2, pp=2 * pp, **halved)
        if has_experts:
            yield changed(tp=tp // 2, dp=2 * dp)
    if workers % 2 == 0:
        yield changed(tp=2 * tp, workers=workers // 2, **({"ep": 2 * ep} if ep > 1 else {}))
        if has_experts:
            yield changed(dp=2 * dp, workers=workers // 2, ep=2 * ep if ep > 1 else 2 * tp * dp)
    if has_experts and tp * dp > 1:
        yield changed(ep=1 if ep > 1 else tp * dp)
        other = "gather" if said["exchange"] == "all_to_all" else "all_to_all"
        yield changed(exchange=other)
    if said.get("overlap") == "on":
        yield changed(overlap="off")
    yield changed(workers=workers + 1)
    if workers > 1:
        yield changed(workers=workers - 1)


def _alternative(
    service: Service, roles: Mapping[str, dict[str, Any]], name: str, change: str,
    changed: dict[str, Any],
) -> Alternative:
    report, _ = evaluate_roles(service, {**roles, name: changed})
    breaks = tuple(spell(one) for one in report.get("breaks") or [])
    found = None
    if isinstance(report.get(service.mode), dict):
        found = Service(service.problem, report, service.mode)
    return Alternative(name, change, found, breaks)
