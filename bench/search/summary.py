"""What many runs of a searcher come to, and how two searchers compare."""

import dataclasses
import math

from .intervals import bootstrap, mean, median, quantile
from .scores import NEAR

# Differences below are those of rounding: tables show four digits.
SMALLEST = 5e-5


def by_seed(pairs):
    """Values by seed, of (seed, value) pairs."""
    grouped = {}
    for seed, value in pairs:
        grouped.setdefault(seed, []).append(value)
    return grouped


@dataclasses.dataclass(frozen=True)
class Summary:
    """One row of a table; intervals are None for a single seed."""

    runs: int
    mean: float
    mean_interval: tuple
    median: float
    min: float
    near: float  # the share of runs at 99 % or above
    calls: float
    calls_interval: tuple
    calls_q75: float
    wall_s: float

    @classmethod
    def of(cls, runs):
        """Of a list of runs that is not empty."""
        ratios = [run.ratio for run in runs]
        calls = [run.calls for run in runs]
        return cls(
            len(runs),
            mean(ratios),
            bootstrap(by_seed((run.seed, run.ratio) for run in runs), mean),
            median(ratios),
            min(ratios),
            sum(ratio >= NEAR for ratio in ratios) / len(runs),
            median(calls),
            bootstrap(by_seed((run.seed, run.calls) for run in runs), median),
            quantile(calls, 0.75),
            median([run.wall_s for run in runs]),
        )


@dataclasses.dataclass(frozen=True)
class Difference:
    """A value of one searcher minus that of another, with its 95 % interval."""

    value: float
    interval: tuple  # None: a single seed

    @property
    def sign(self):
        """1 or -1 where the interval leaves 0 out, else 0."""
        if not self.interval or abs(self.value) < SMALLEST:
            return 0
        low, high = self.interval
        return 1 if low > 0 else -1 if high < 0 else 0


@dataclasses.dataclass(frozen=True)
class Comparison:
    """Two searchers on the runs that they have in common: same workload, same
    seed. `mean` is positive and `calls` negative where the first is better."""

    pairs: int
    mean: Difference
    calls: Difference

    @classmethod
    def of(cls, first, second):
        """None where the two have no run in common."""
        others = {run.pair: run for run in second}
        pairs = [(run, others[run.pair]) for run in first if run.pair in others]
        if not pairs:
            return None
        ratios = by_seed((a.seed, a.ratio - b.ratio) for a, b in pairs)
        calls = by_seed((a.seed, (_counted(a), _counted(b))) for a, b in pairs)
        return cls(
            len(pairs),
            _difference(ratios, mean),
            _difference(calls, _median_difference),
        )

    @property
    def first_wins(self):
        """Better in the mean or in calls, and in neither worse."""
        return self._score > 0

    @property
    def second_wins(self):
        return self._score < 0

    @property
    def _score(self):
        signs = {self.mean.sign, -self.calls.sign} - {0}
        return signs.pop() if len(signs) == 1 else 0


def _counted(run):
    """Calls, those of a run that did not get there as one above its budget."""
    return run.calls if run.calls < math.inf else run.budget + 1


def _median_difference(pairs):
    return median([a for a, _ in pairs]) - median([b for _, b in pairs])


def _difference(grouped, statistic):
    values = [value for values in grouped.values() for value in values]
    return Difference(statistic(values), bootstrap(grouped, statistic))
