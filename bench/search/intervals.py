"""Quantiles, and bootstrap intervals over seeds.

Runs of one seed on several workloads are drawn together: what is resampled is
the seed, as a user who tried another one would see it.
"""

import math
import random

RESAMPLES = 1000
LOW, HIGH = 0.025, 0.975


def mean(values):
    """The arithmetic mean of a sequence that is not empty."""
    return math.fsum(values) / len(values)


def quantile(values, q):
    """The q-quantile with linear interpolation; inf where it touches an inf."""
    ordered = sorted(values)
    position = q * (len(ordered) - 1)
    low = math.floor(position)
    share = position - low
    if share == 0 or ordered[low] == ordered[low + 1]:
        return ordered[low]
    return ordered[low] + share * (ordered[low + 1] - ordered[low])


def median(values):
    return quantile(values, 0.5)


def bootstrap(by_seed, statistic):
    """The 95 % interval (low, high) of `statistic` of all values.

    `by_seed` maps a seed to its list of values. None for fewer than two seeds:
    nothing varies then, and nothing is known.
    """
    if len(by_seed) < 2:
        return None
    lists = [by_seed[seed] for seed in sorted(by_seed)]
    rng = random.Random(20)
    drawn = []
    for _ in range(RESAMPLES):
        sample = []
        for values in rng.choices(lists, k=len(lists)):
            sample.extend(values)
        drawn.append(statistic(sample))
    return quantile(drawn, LOW), quantile(drawn, HIGH)
