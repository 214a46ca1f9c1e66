"""More than one plan: the front of throughput against latency, and the fewest
devices for a load."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, Iterator, Mapping, Sequence

from .border import real, shown
from .errors import Infeasible, ShardoptError, TooFewDevices, WrongValue
from .frames import frame_of, html_of
from .plans import Plan, plan
from .problem import Problem, _check_kind


@dataclass(frozen=True)
class Frontier(Sequence[Plan]):
    """Plans, each the proved optimum under its own latency, fastest last."""

    plans: tuple[Plan, ...]

    def __len__(self) -> int:
        return len(self.plans)

    def __getitem__(self, index: Any) -> Any:
        return self.plans[index]

    def __iter__(self) -> Iterator[Plan]:
        return iter(self.plans)

    @property
    def proved(self) -> bool:
        return all(point.proved for point in self.plans)

    def rows(self) -> list[dict[str, Any]]:
        """A row a plan: metrics, then degrees."""
        found = []
        for point in self.plans:
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
    """The front of throughput per device against latency.

    Starts at the best throughput under the problem's own limit, and asks again
    for what is faster by at least `step` of the latency, down to the fastest
    plan that there is. With `step=0` every point of the front is found.
    """
    _check_kind(Problem, "problem", problem)
    if not 0 <= real(step) < 1:
        raise WrongValue(f"'step' is {shown(step)}, expected a number from 0 to below 1")
    limit = "tpot_ms" if problem.phase == "decode" else "ttft_ms"
    fastest = plan(problem, objective="latency")
    point = plan(problem)
    points = [point]
    # Equal times may differ in the last bits.
    shorter = (1 - step) * (1 - 1e-9)
    while point.metrics.latency_ms * shorter > fastest.metrics.latency_ms:
        point = plan(problem.replace(**{limit: point.metrics.latency_ms * shorter}))
        points.append(point)
    if point.metrics.latency_ms > fastest.metrics.latency_ms * (1 + 1e-9):
        least = fastest.metrics.latency_ms * (1 + 1e-9)
        points.append(plan(problem.replace(**{limit: least})))
    return Frontier(tuple(points))


def min_devices(problem: Problem, rate: float, most: int = 4096) -> Plan:
    """The fewest devices that serve `rate` tokens a second, and their plan.

    On n devices as many replicas of one plan work as fit. What they serve never
    falls with n, so that the number before the one returned is proved to be too
    few wherever the searches are proved.
    """
    _check_kind(Problem, "problem", problem)
    if not 0 < real(rate) < math.inf:
        raise WrongValue(f"'rate' is {shown(rate)}, expected tokens a second above 0")
    tried: dict[int, Plan | None] = {}

    def serving(devices: int) -> Plan | None:
        if devices not in tried:
            asked = problem.replace(devices=devices, max_devices=None)
            try:
                found = plan(asked)
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
    plan: Plan | None
    """None: no number of devices that was tried serves it."""
    price: float | None
    """Of all devices, in the unit that one has; None without a plan."""


def least_cost(
    problem: Problem, rate: float, prices: Mapping[str, float], most: int = 4096
) -> list[Offer]:
    """What serves `rate` tokens a second, by machine, the cheapest first.

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
        except TooFewDevices:
            offers.append(Offer(machine, None, None))
        else:
            offers.append(Offer(machine, found, price * (found.problem.devices or 0)))
    return sorted(
        offers, key=lambda offer: math.inf if offer.price is None else offer.price
    )
