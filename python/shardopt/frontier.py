"""More than one plan: the Pareto frontier of throughput against latency, and the
fewest GPUs for a load."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, Iterator, Mapping, Sequence

from .border import real, shown
from .checks import _check_kind
from .errors import Infeasible, ShardoptError, TooFewDevices, WrongValue
from .frames import frame_of, html_of
from .plans import Plan
from .plans import plan as plan_phase
from .problem import Problem
from .services import PREFILL, Service, plan_service


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
        """A row a plan: metrics, then degrees or roles."""
        found = []
        for point in self.plans:
            if isinstance(point, Service):
                found.append({**point.to_row(), "proved": point.proved})
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


def pareto(problem: Problem, step: float = 0.1) -> Frontier:
    """The Pareto frontier of throughput per GPU against latency: of services that of
    tokens/s per GPU against TPOT, which is one over tokens/s per user.

    Starts at the best throughput under the problem's own limit, and asks again
    for what is faster by at least `step` of the latency, down to the fastest
    plan that there is. With `step=0` every point of a phase's frontier is found.
    """
    _check_kind(Problem, "problem", problem)
    if not 0 <= real(step) < 1:
        raise WrongValue(f"'step' is {shown(step)}, expected a number from 0 to below 1")
    # Equal times may differ in the last bits.
    shorter = (1 - step) * (1 - 1e-9)
    if problem.is_service:
        return _frontier_of_services(problem, shorter)
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


def _frontier_of_services(problem: Problem, shorter: float) -> Frontier:
    """Each point is the best service of a shorter TPOT than that of the one before, at
    the percentile of the SLO."""
    shorter = min(shorter, 1 - _LEAST_STEP)
    points = [plan_service(problem)]
    while True:
        tpot = points[-1].metrics.tpot.at(problem.tpot_percentile)
        try:
            points.append(plan_service(problem.replace(tpot_ms=tpot * shorter)))
        except Infeasible:
            return Frontier(tuple(points))


def min_devices(
    problem: Problem, rate: float | None = None, most: int = 4096
) -> "Plan | Service":
    """The fewest GPUs that serve `rate` output tokens a second, and their plan. Of a
    service the rate may be the problem's own, in requests a second.

    Of a phase, on n devices as many replicas of one plan work as fit. What they serve
    never falls with n, so that the number before the one returned is proved to be too
    few wherever the searches are proved. A service is planned for the fewest GPUs of
    those that there are, which is proved too.
    """
    _check_kind(Problem, "problem", problem)
    if rate is None and problem.rate is None:
        raise ShardoptError("no load to size for, expected req/s, or tokens/s as 'rate'")
    if rate is not None and not 0 < real(rate) < math.inf:
        raise WrongValue(f"'rate' is {shown(rate)}, expected tokens a second above 0")
    if problem.is_service:
        return _size(problem, rate, most)
    assert rate is not None
    return _fewest_of_phase(problem, rate, most)


def _size(problem: Problem, rate: float | None, most: int) -> Service:
    """The service of fewest GPUs at a rate, with as many GPUs as it takes."""
    requests = problem.rate if rate is None else rate / (problem.osl or 1)
    asked = problem.replace(rate=requests, concurrency=None, max_devices=None)
    domain = int(problem.machine_parameters()["domain"]["devices"])
    devices = problem.devices or problem.max_devices or domain
    while True:
        try:
            found = plan_service(asked.replace(devices=devices))
            break
        except Infeasible as error:
            kind = error.report["binding_constraint"]["kind"]
            if kind not in ("rate", "memory"):
                raise
            if devices >= most:
                raise TooFewDevices(
                    f"{requests:g} req/s need more than {most} GPUs, the most that "
                    f"are tried: {error}"
                ) from None
            fewest = (error.next_feasible or {}).get("change", {}).get("to") or 2 * devices
            devices = min(max(int(fewest), devices + 1), most)
    if problem.prefill_devices is None:
        exactly = asked.replace(devices=found.metrics.gpus)
    else:
        prefill = sum(role.gpus for role in found.roles if role.name == PREFILL)
        exactly = asked.replace(
            devices=found.metrics.gpus - prefill, prefill_devices=prefill or None
        )
    return plan_service(exactly)


def _fewest_of_phase(problem: Problem, rate: float, most: int) -> Plan:
    tried: dict[int, Plan | None] = {}

    def serving(devices: int) -> Plan | None:
        if devices not in tried:
            asked = problem.replace(devices=devices, max_devices=None)
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
    problem: Problem, rate: float | None, prices: Mapping[str, float], most: int = 4096
) -> list[Offer]:
    """What serves `rate` tokens a second, or a service's own requests, by machine, the
    cheapest first.

    `prices` are those of one device, in any unit. All devices of a machine cost
    the same, so that the fewest are the cheapest, which `min_devices` proves.
    """
    if not isinstance(prices, Mapping):
        raise WrongValue(f"'prices' is {shown(prices)}, expected numbers by machine")
    for machine, price in prices.items():
        good = isinstance(price, (int, float)) and not isinstance(price, bool)
        if not good or not 0 < price < math.inf:
            raise WrongValue(
                f"the price of '{machine}' is {shown(price)}, expected a number above 0"
            )
    if not prices:
        raise ShardoptError("no prices, expected that of a device for each machine")
    offers = []
    for machine, price in prices.items():
        try:
            found = min_devices(problem.replace(machine=machine), rate, most)
        except (TooFewDevices, Infeasible):
            offers.append(Offer(machine, None, None))
        else:
            offers.append(Offer(machine, found, price * (found.problem.devices or 0)))
    return sorted(
        offers, key=lambda offer: math.inf if offer.price is None else offer.price
    )
