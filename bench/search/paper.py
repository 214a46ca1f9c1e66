"""The numbers behind docs/Reproduction.md: the runs beside the tables of "Learning to
Shard" (arXiv 2509.00217)."""

import dataclasses
import math

from . import markdown, searchers
from .intervals import ENOUGH, LEVEL, mean, student
from .manifest import ASKED
from .workloads import GROUPS

# Its Table 1, mean throughput over that of random walk: simulated annealing,
# its agent. Its Figure 3 is summarised in the text as "up to 1.06x".
TABLE_1 = {
    "gpt-moe-1.2T-16k": (1.19, 2.76),
    "gpt-moe-1.2T-32k": (0.95, 2.17),
    "gpt-moe-1.2T-64k": (0.71, 2.04),
    "gpt-moe-1.6T-16k": (0.54, 1.65),
    "gpt-moe-1.6T-32k": (0.66, 2.31),
    "gpt-moe-1.6T-64k": (0.89, 1.92),
}
WORKLOADS = GROUPS["moe-50"].workloads
SHORTEST = tuple(w for w in WORKLOADS if w.name.endswith("-16k"))  # those of Figure 3

# They by the SLO, the paper's workloads first.
BY_SLO = {50: "moe-50", 25: "moe-25", 15: "moe-15"}

WALK = searchers.RANDOM_WALK
# Rows of the table, and bars of the figure.
RIVALS = (searchers.PAPER_ANNEALING, searchers.ANNEALING, searchers.PPO_PAPER, searchers.PPO)


@dataclasses.dataclass(frozen=True)
class Sample:
    """The best throughputs of runs that differ in the seed."""

    values: tuple

    @property
    def mean(self):
        return mean(self.values)

    @property
    def relative_variance(self):
        """That of the mean, over its square."""
        distances = math.fsum((v - self.mean) ** 2 for v in self.values)
        n = len(self.values)
        return distances / (n - 1) / n / self.mean**2

    def over(self, base):
        """The ratio of the means, and its 95 % interval (None for few runs): by Student's
        t on the logarithm, with the fewer degrees of freedom of the two. `base` found
        something."""
        ratio = self.mean / base.mean
        fewer = min(len(self.values), len(base.values))
        if fewer < ENOUGH or not ratio:
            return ratio, None
        error = math.sqrt(self.relative_variance + base.relative_variance)
        factor = math.exp(student(LEVEL, fewer - 1) * error)
        return ratio, (ratio / factor, ratio * factor)


def samples(measured, searcher):
    """The Sample of each workload, by name; of those without runs, none."""
    found = {}
    for workload in WORKLOADS:
        values = tuple(run.best for run in measured.of(workload, searcher, ASKED))
        if values:
            found[workload.name] = Sample(values)
    return found


def span(values):
    """"1.20× to 1.51×", or one value."""
    low, high = markdown.times(min(values)), markdown.times(max(values))
    return low if low == high else f"{low} to {high}"


def counts(samples):
    """The number of values of each sample: "10", or "3–10"."""
    found = [len(sample) for sample in samples]
    return "–".join(map(str, sorted({min(found), max(found)})))


class Facts:
    """Everything that the page says in numbers."""

    def __init__(self, measured):
        self.measured = measured
        self.walk = samples(measured, WALK)
        found = {searcher: samples(measured, searcher) for searcher in RIVALS}
        self.of = {searcher: s for searcher, s in found.items() if len(s) == len(WORKLOADS)}
        self.optimum = {w.name: measured.reference(w) for w in WORKLOADS}
        needed = {searchers.ANNEALING, searchers.PPO_PAPER}
        self.complete = (
            len(self.walk) == len(WORKLOADS)
            and needed <= self.of.keys()
            and all(self.optimum.values())
            and all(all(self.styles(w)) for w in SHORTEST)
        )

    def ceilings_of(self, group):
        """The optimum over random walk of the workloads of `group`; nothing where one is not
        measured."""
        optima = [self.measured.reference(workload) for workload in GROUPS[group].workloads]
        walks = self.samples_of(group, WALK)
        if not all(walk and walk.mean for walk in walks) or not all(optima):
            return []
        return [optimum / walk.mean for optimum, walk in zip(optima, walks)]

    def ratios_of(self, group, searcher, base=WALK):
        """(ratio of the means to `base`, interval) of the workloads of `group`; nothing where
        one is not measured."""
        bases, own = self.samples_of(group, base), self.samples_of(group, searcher)
        if not all(one and one.mean for one in bases) or not all(own):
            return []
        return [sample.over(one) for sample, one in zip(own, bases)]

    def over_styles(self, group):
        """The optimum over the best of Megatron's plans of the workloads of `group`; nothing
        where one is not measured."""
        workloads = GROUPS[group].workloads
        best = [max(self.styles(workload)) for workload in workloads]
        optima = [self.measured.reference(workload) for workload in workloads]
        if not all(best) or not all(optima):
            return []
        return [optimum / style for optimum, style in zip(optima, best)]

    def samples_of(self, group, searcher):
        """A Sample of each workload; None where there is no run."""
        found = []
        for workload in GROUPS[group].workloads:
            values = tuple(run.best for run in self.measured.of(workload, searcher, ASKED))
            found.append(Sample(values) if values else None)
        return found

    def runs(self, searcher):
        found = self.of.get(searcher) or self.walk
        return counts([sample.values for sample in found.values()])

    def best(self, workload, searcher):
        """The best of all seeds."""
        runs = self.measured.of(workload, searcher, ASKED)
        return max((run.best for run in runs), default=0)

    def styles(self, workload):
        return [self.best(workload, style) for style in searchers.MEGATRON]

    def by_slo(self, searcher, base=WALK):
        """The ratios of `ratios_of` by the SLO, of SLOs where all are measured."""
        found = {slo: self.ratios_of(group, searcher, base) for slo, group in BY_SLO.items()}
        return {slo: [ratio for ratio, _ in ratios] for slo, ratios in found.items() if ratios}

    def runs_of(self, group, searcher):
        return counts([sample.values for sample in self.samples_of(group, searcher) if sample])

    def least_runs(self, group, searcher):
        return min(len(sample.values) for sample in self.samples_of(group, searcher))

    def share(self, searcher, group="moe-50"):
        """The mean of the share of the optimum; None where a workload is not measured."""
        found = self.samples_of(group, searcher)
        optima = [self.measured.reference(workload) for workload in GROUPS[group].workloads]
        if not all(found) or not all(optima):
            return None
        return mean([sample.mean / optimum for sample, optimum in zip(found, optima)])
