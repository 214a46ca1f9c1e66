"""What an optimiser from outside is charged, under both accountings at once."""

import dataclasses
import math

# Above the logarithm of any quotient of two doubles, twice.
STRUCTURAL = 1e4
# Below the logarithm of any throughput, so that every valid strategy is better
# than every invalid one.
INVALID = 100.0


@dataclasses.dataclass(frozen=True)
class Limits:
    """What an evaluation is measured against."""

    slo_ms: float
    memory_gb: float


def loss(answer, limits):
    """What is minimised: -log throughput of a valid strategy, or a penalty by
    how far memory and latency exceed their limits."""
    if answer["valid"]:
        return -math.log(answer["throughput"])
    if answer.get("reason") == "structural":
        return INVALID + STRUCTURAL
    latency = answer.get("tpot_ms", answer.get("ttft_ms", 0))
    violation = _excess(answer["memory_gb"], limits.memory_gb)
    violation += _excess(latency, limits.slo_ms)
    return INVALID + (violation or 1)


def _excess(value, limit):
    return math.log(value / limit) if value > limit else 0.0


class Account:
    """Counts the strategies of one search and keeps its best.

    A search that finds nothing new any more ends at `max_asked` strategies.
    """

    def __init__(self, budget, max_asked):
        self.budget = budget
        self.max_asked = max_asked
        self.asked = 0
        self.new = 0
        self.best = None
        self._known = set()

    @property
    def is_spent(self):
        """Whether the budget is spent even if repeats and masked degrees are free."""
        return self.new >= self.budget or self.asked >= self.max_asked

    def record(self, point, answer):
        """Counts one answer; the line of a trace."""
        self.asked += 1
        if point not in self._known and not answer.get("masked"):
            self.new += 1
        self._known.add(point)
        if answer["valid"] and (self.best is None or answer["throughput"] > self.best):
            self.best = answer["throughput"]
        return {"asked": self.asked, "new": self.new, "best": self.best}
