"""Quantiles, and 95 % intervals over seeds.

Runs of one seed on several workloads belong together: what varies is the seed, as a
user who tried another one would see it. Fewer than `ENOUGH` seeds give no interval:
none that is near 95 % can be had of them.
"""

import math
import random
import statistics

RESAMPLES = 1000
ENOUGH = 5
LEVEL = 0.05  # of an interval: what it leaves out
NORMAL = statistics.NormalDist()


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


def student(level, freedom):
    """The quantile of |t| that a share of `level` exceeds, for at least 4 degrees
    of freedom: an expansion around the normal distribution, to .001."""
    z = NORMAL.inv_cdf(1 - level / 2)
    terms = (
        z,
        (z**3 + z) / 4,
        (5 * z**5 + 16 * z**3 + 3 * z) / 96,
        (3 * z**7 + 19 * z**5 + 17 * z**3 - 15 * z) / 384,
        (79 * z**9 + 776 * z**7 + 1482 * z**5 - 1920 * z**3 - 945 * z) / 92160,
    )
    return sum(term / freedom**power for power, term in enumerate(terms))


def of_mean(by_seed, level=LEVEL):
    """The interval (low, high) of the mean of all values by Student's t on the means
    of the seeds, or None. `by_seed` maps a seed to its list of values."""
    if len(by_seed) < ENOUGH:
        return None
    centre = mean([value for values in by_seed.values() for value in values])
    deviation = statistics.stdev(mean(values) for values in by_seed.values())
    half = student(level, len(by_seed) - 1) * deviation / math.sqrt(len(by_seed))
    return centre - half, centre + half


def bca(by_seed, statistic):
    """The interval (low, high) of `statistic` of all values by the bootstrap over
    seeds, corrected for bias and acceleration, or None."""
    if len(by_seed) < ENOUGH:
        return None
    lists = [by_seed[seed] for seed in sorted(by_seed)]
    rng = random.Random(20)
    drawn = [_pooled(rng.choices(lists, k=len(lists)), statistic) for _ in range(RESAMPLES)]
    value = _pooled(lists, statistic)
    below = sum(d < value for d in drawn) + sum(d == value for d in drawn) / 2
    bias = NORMAL.inv_cdf(min(max(below / RESAMPLES, 0.5 / RESAMPLES), 1 - 0.5 / RESAMPLES))
    without = [_pooled(lists[:i] + lists[i + 1 :], statistic) for i in range(len(lists))]
    speed = _acceleration(without)

    def end(q):
        z = bias + NORMAL.inv_cdf(q)
        return quantile(drawn, NORMAL.cdf(bias + z / (1 - speed * z)))

    return end(LEVEL / 2), end(1 - LEVEL / 2)


def _pooled(lists, statistic):
    return statistic([value for values in lists for value in values])


def _acceleration(values):
    """That of the jackknife; 0 where nothing varies or a value is not finite."""
    if not all(map(math.isfinite, values)):
        return 0.0
    distances = [mean(values) - value for value in values]
    squares = math.fsum(d * d for d in distances)
    return math.fsum(d**3 for d in distances) / (6 * squares**1.5) if squares else 0.0
