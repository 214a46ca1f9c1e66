"""What many runs of a searcher come to, and how two searchers compare."""

import dataclasses
import math

from .intervals import LEVEL, bca, mean, median, of_mean, quantile
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
    """One row of a table; intervals are None for few seeds."""

    runs: int
    seeds: int
    mean: float
    mean_interval: tuple
    median: float
    min: float
    near: float  # the share of runs at 99 % or above
    calls: float
    calls_interval: tuple
    calls_q75: float
    wall_s: float
    cpu_s: float  # of what was measured last: builds differ
    versions: tuple  # what was measured, oldest rows first

    @classmethod
    def of(cls, runs):
        """Of a list of runs that is not empty."""
        ratios = [run.ratio for run in runs]
        calls = [run.calls for run in runs]
        newest = max(runs, key=lambda run: run.number).version
        return cls(
            len(runs),
            len({run.seed for run in runs}),
            mean(ratios),
            _within(of_mean(by_seed((run.seed, run.ratio) for run in runs))),
            median(ratios),
            min(ratios),
            sum(ratio >= NEAR for ratio in ratios) / len(runs),
            median(calls),
            bca(by_seed((run.seed, run.calls) for run in runs), median),
            quantile(calls, 0.75),
            median([run.wall_s for run in runs]),
            median([run.cpu_s for run in runs if run.version == newest]),
            tuple(dict.fromkeys(run.version for run in runs)),
        )


@dataclasses.dataclass(frozen=True)
class Difference:
    """A value of one searcher minus that of another, with its 95 % interval."""

    value: float
    interval: tuple  # None: few seeds
    corrected: tuple = None  # the interval that the sign is told by

    @property
    def sign(self):
        """1 or -1 where the corrected interval leaves 0 out, else 0."""
        if not self.corrected or abs(self.value) < SMALLEST:
            return 0
        low, high = self.corrected
        return 1 if low > 0 else -1 if high < 0 else 0


@dataclasses.dataclass(frozen=True)
class Comparison:
    """Two searchers on the runs that they have in common: same workload, same
    seed. `mean` is positive and `calls` negative where the first is better."""

    pairs: int
    mean: Difference
    calls: Difference

    @classmethod
    def of(cls, first, second, comparisons=1):
        """None where the two have no run in common. With several comparisons side by
        side, the level of each is divided by their number (Bonferroni)."""
        others = {run.pair: run for run in second}
        pairs = [(run, others[run.pair]) for run in first if run.pair in others]
        if not pairs:
            return None
        ratios = by_seed((a.seed, a.ratio - b.ratio) for a, b in pairs)
        calls = by_seed((a.seed, (_counted(a), _counted(b))) for a, b in pairs)
        values = [value for of_seed in ratios.values() for value in of_seed]
        counted = [value for of_seed in calls.values() for value in of_seed]
        level = LEVEL / comparisons
        interval = bca(calls, _median_difference)
        return cls(
            len(pairs),
            Difference(mean(values), of_mean(ratios), of_mean(ratios, level)),
            Difference(_median_difference(counted), interval, interval),
        )


def _within(interval):
    """An interval of a ratio, none of which is below 0 or above 1."""
    return interval and (max(interval[0], 0.0), min(interval[1], 1.0))


def _counted(run):
    """Calls, those of a run that did not get there as one above its budget."""
    return run.calls if run.calls < math.inf else run.budget + 1


def _median_difference(pairs):
    return median([a for a, _ in pairs]) - median([b for _, b in pairs])
