"""More than one plan: the Pareto frontier of throughput against latency, and the
fewest GPUs for a load."""

from __future__ import annotations

import json
import math
from dataclasses import dataclass
from typing import Any, Callable, Iterator, Mapping, Sequence, TypeVar

from .border import real, shown
from .checks import _check_kind, _checked, _price
from .errors import Infeasible, ShardoptError, TooFewDevices, WrongValue
from .frames import frame_of, html_of
from .phase_plans import plan as plan_phase
from .plans import Plan
from .problem import FREE, Problem
from .services import Service, infeasible, settings_of


Found = TypeVar("Found")


@dataclass(frozen=True)
class Frontier(Sequence["Plan | Service"]):
    """Plans, or services, each the proved optimum under its own latency, fastest last."""

    plans: "tuple[Plan | Service, ...]"

    def __len__(self) -> int:
        return len(self.plans)

    def __getitem__(self, index: Any) -> Any:
        return self.plans[index]

    def __iter__(self) -> "Iterator[Plan | Service]":
        return iter(self.plans)

    @property
    def proved(self) -> bool:
        return all(point.proved for point in self.plans)

    def rows(self) -> list[dict[str, Any]]:
        """A row a plan: metrics, then degrees, or roles and what may be listed."""
        found = []
        for point in self.plans:
            if isinstance(point, Service):
                found.append({**point.to_row(), **_choices_of(point), "proved": point.proved})
                continue
            row = point.metrics.to_dict()
            strategy = point.strategy.to_dict()
            del strategy["dims"], row["valid"], row["reason"]
            row.update(strategy, devices=point.strategy.devices, proved=point.proved)
            found.append(row)
        return found

    def frame(self) -> Any:
        """The rows as a pandas DataFrame."""
        return frame_of(self.rows())

    def _repr_html_(self) -> str:
        return html_of(self.rows())


def _choices_of(service: Service) -> dict[str, Any]:
    """What the planner may have chosen of a list."""
    problem = service.problem
    choices = {
        "engine": service.engine, "weight_type": problem.model.weight_type,
        "kv_type": problem.model.kv_type, "chunk": problem.chunk,
        "draft_tokens": problem.draft_tokens,
    }
    return {name: value for name, value in choices.items() if value is not None}


def pareto(problem: Problem, step: float = 0.1) -> Frontier:
    """The Pareto frontier of throughput per GPU against latency: of services that of
    tokens/s per GPU against TPOT, which is one over tokens/s per user.

    Starts at the best throughput under the problem's own limit, and asks again
    for what is faster by at least `step` of the latency, down to the fastest
    plan. With `step=0` every point of a phase's frontier is found.
    """
    _check_kind(Problem, "problem", problem)
    if not 0 <= real(step) < 1:
        raise WrongValue(f"'step' is {shown(step)}, expected a number from 0 to below 1")
    if problem.is_service:
        return _frontier_of_services(problem, max(step, _LEAST_STEP))
    # Equal times may differ in the last bits.
    shorter = (1 - step) * (1 - 1e-9)
    limit = "tpot_ms" if problem.phase == "decode" else "ttft_ms"
    fastest = plan_phase(problem, objective="latency")
    point = plan_phase(problem)
    points = [point]
    while point.metrics.latency_ms * shorter > fastest.metrics.latency_ms:
        asked = {limit: point.metrics.latency_ms * shorter}
        point = plan_phase(problem.replace(**asked))
        points.append(point)
    if point.metrics.latency_ms > fastest.metrics.latency_ms * (1 + 1e-9):
        least = fastest.metrics.latency_ms * (1 + 1e-9)
        points.append(plan_phase(problem.replace(**{limit: least})))
    return Frontier(tuple(points))


#: Of a frontier of services, whose TPOT has steps as fine as requests in flight.
_LEAST_STEP = 0.01


def _frontier_of_services(problem: Problem, step: float) -> Frontier:
    """Each point is the best service of a TPOT that is shorter by `step` than that of
    the one before, at the percentile of the SLO; of what is listed, the best."""
    variants = problem.variants()
    asked: dict[str, Any] = {**settings_of(variants[0]), "step": step / (1 - step)}
    if len(variants) > 1:
        asked["variants"] = [(each.handle, settings_of(each)) for each in variants]
    text, why = _checked(variants[0].handle.service_frontier, asked)
    report = json.loads(text)
    if why is not None:
        raise infeasible(variants[0], report["points"][0], why)
    found = []
    for point, number in zip(report["points"], report["variants"]):
        own, limit = variants[number], point["requests"].get("tpot_ms")
        under = own if limit == own.requests.get("tpot_ms") else own.replace(tpot_ms=limit)
        found.append(Service(under, point, point["mode"]))
    return Frontier(tuple(found))


def _of_variants(problem: Problem, find: "Callable[[Problem], Found]") -> "list[Found]":
    """What `find` finds for each of the values that are listed; raises the first reason
    where it finds nothing for any of them."""
    found: list[Found] = []
    reasons: list[Infeasible | TooFewDevices] = []
    for each in problem.variants():
        try:
            found.append(find(each))
        except (Infeasible, TooFewDevices) as error:
            reasons.append(error)
    if not found:
        raise reasons[0]
    return found


#: GPUs that a size may have, where none are said.
MOST_DEVICES = 4096


def min_devices(
    problem: Problem, rate: float | None = None, most: int | None = None
) -> "Plan | Service":
    """The fewest GPUs that serve `rate` output tokens a second, and their plan. Of a
    service the rate may be the problem's own, in requests a second; with prices it is
    the service of least cost. At most `most` GPUs are tried, by default the
    `max_devices` of the problem, or 4096.

    Of a phase, on n devices as many replicas of one plan work as fit. What they serve
    never falls with n, so that the number before the one returned is proved to be too
    few wherever the searches are proved. A service is planned for the fewest GPUs of
    the available ones, which is proved too.
    """
    _check_kind(Problem, "problem", problem)
    if rate is None and problem.rate is None:
        raise ShardoptError("no load to size for, expected req/s, or tokens/s as 'rate'")
    if rate is not None and not 0 < real(rate) < math.inf:
        raise WrongValue(f"'rate' is {shown(rate)}, expected tokens a second above 0")
    most = most or problem.max_devices or MOST_DEVICES
    if problem.is_service:
        return _size(problem, rate, most)
    assert rate is not None
    return _fewest_of_phase(problem, rate, most)


def _size(problem: Problem, rate: float | None, most: int) -> Service:
    """The service of fewest GPUs, or of least cost, at a rate; of what is listed, the
    best."""
    requests = problem.rate if rate is None else rate / (problem.osl or 1)
    asked = problem.replace(rate=requests, concurrency=None)
    return min(
        _of_variants(asked, lambda each: _size_of_one(each, most)),
        key=lambda one: (
            one.found.get("dollars_per_hour", one.metrics.gpus), one.metrics.tpot_ms
        ),
    )


def _size_of_one(problem: Problem, most: int) -> Service:
    settings = {**settings_of(problem), "devices": most}
    _, text, why = _checked(problem.handle.size_service, settings)
    report = json.loads(text)
    if report["mode"] is not None:
        return Service(_as_sized(problem, report), report, report["mode"])
    shortage = report["infeasible"]
    if shortage["binding"] not in ("rate", "memory"):
        raise infeasible(problem, report, why)
    raise TooFewDevices(
        f"{problem.rate:g} req/s need more than {most} GPUs, the most that are tried: {why}"
    )


def _as_sized(problem: Problem, report: Mapping[str, Any]) -> Problem:
    """The problem with the GPUs of a size, whose machines may be the other way round."""
    changes: dict[str, Any] = {"devices": report["devices"], "max_devices": None}
    if problem.prefill_machine is not None:
        changes["prefill_devices"] = report["prefill_devices"]
        if report["size"]["machines_swapped"]:
            changes.update(
                machine=problem.prefill_machine, prefill_machine=problem.machine_name,
                price=problem.prefill_price, prefill_price=problem.price,
            )
            if problem.machine is not None:
                changes["prefill_machine"] = problem.machine
    return problem.replace(**changes)


def _fewest_of_phase(problem: Problem, rate: float, most: int) -> Plan:
    tried: dict[int, Plan | None] = {}

    def serving(devices: int) -> Plan | None:
        if devices not in tried:
            # What any sharding serves never falls with the number.
            asked = problem.replace(
                devices=devices, max_devices=None, engine=problem.engine or FREE
            )
            try:
                found = plan_phase(asked)
            except Infeasible:
                tried[devices] = None
            else:
                total = found.metrics.throughput * devices
                tried[devices] = found if total >= rate * (1 - 1e-12) else None
        return tried[devices]

    high = 1
    while serving(high) is None:
        if high >= most:
            raise TooFewDevices(
                f"{rate:g} tokens/s need more than {most} devices, the most that "
                "are tried"
            )
        high = min(2 * high, most)
    low = high // 2
    while high - low > 1:
        middle = (low + high) // 2
        if serving(middle) is not None:
            high = middle
        else:
            low = middle
    found = serving(high)
    assert found is not None
    if problem.engine is None:  # one that an engine runs, if it suffices
        own = plan_phase(found.problem.replace(engine=None))
        found = own if own.metrics.throughput * high >= rate * (1 - 1e-12) else found
    return found


@dataclass(frozen=True)
class Offer:
    """The fewest devices of a machine that serve a load, and their price."""

    machine: str
    plan: "Plan | Service | None"
    """None: no number of devices that was tried serves it."""
    price: float | None
    """Of all devices, in the unit that one has; None without a plan."""


def least_cost(
    problem: Problem, rate: float | None, prices: Mapping[str, float], most: int | None = None
) -> list[Offer]:
    """What serves `rate` tokens a second, or a service's own requests, by machine, the
    cheapest first.

    `prices` are dollars of one device for an hour. All devices of a machine cost the
    same, so that the fewest are the cheapest, which `min_devices` proves. Where a service
    has a `prefill_machine`, both machines need a price, and the offer is the cheapest
    of both.
    """
    if not isinstance(prices, Mapping):
        raise WrongValue(f"'prices' is {shown(prices)}, expected numbers by machine")
    for machine, price in prices.items():
        _price(f"the price of '{machine}'", price)
    if not prices:
        raise ShardoptError("no prices, expected that of a device for each machine")
    _check_kind(Problem, "problem", problem)
    if problem.prefill_machine is not None:
        asked = [_priced(problem, prices)]
    elif problem.is_service:
        asked = [problem.replace(machine=each, price=float(prices[each])) for each in prices]
    else:
        asked = [problem.replace(machine=each) for each in prices]
    offers = []
    for each in asked:
        machine = str(each.machine)
        try:
            found = min_devices(each, rate, most)
        except (TooFewDevices, Infeasible):
            offers.append(Offer(machine, None, None))
        else:
            offers.append(Offer(machine, found, _price_of(found, prices[machine])))
    return sorted(
        offers, key=lambda offer: math.inf if offer.price is None else offer.price
    )


def _price_of(found: "Plan | Service", price: float) -> float:
    if isinstance(found, Service):
        return float(found.found["dollars_per_hour"])
    return price * (found.problem.devices or 0)


def _priced(problem: Problem, prices: Mapping[str, float]) -> Problem:
    """A service on two machines with the prices of both, and of no other one."""
    names = (problem.machine or problem.machine_name, str(problem.prefill_machine))
    for name in (*names, *prices):
        if name not in prices or name not in names:
            raise WrongValue(
                f"the prices are of {', '.join(prices)}, expected one of each machine of the "
                f"service, {' and '.join(names)}"
            )
    return problem.replace(
        machine=names[0], price=float(prices[names[0]]), prefill_price=float(prices[names[1]])
    )
