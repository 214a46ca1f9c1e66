"""The runs that a page is made of, beside what they are measured against."""

import dataclasses

from . import scores
from .manifest import BUDGET
from .workloads import GROUPS, Workload


@dataclasses.dataclass(frozen=True)
class Run:
    """One run; ratios are to the optimum, or to the best that is known."""

    workload: Workload
    seed: int
    steps: list
    best: float
    reference: float
    wall_s: float
    cpu_s: float
    budget: int
    version: str = ""
    counts: dict = dataclasses.field(default_factory=dict)
    number: int = 0  # in the table: what was measured later has a larger one

    @property
    def ratio(self):
        return self.best / self.reference

    @property
    def calls(self):
        """Charged calls to 99 % of the reference; inf if that was not reached."""
        return scores.calls_to(self.steps, scores.NEAR * self.reference)

    @property
    def pair(self):
        """What runs of two searchers have in common when they are paired."""
        return (self.workload.key, self.seed)

    def ratio_at(self, calls):
        return scores.best_at(self.steps, calls) / self.reference


def read_counts(text):
    """{"agents": 5} of "agents=5"."""
    pairs = (word.split("=") for word in text.split())
    return {name: int(number) for name, number in pairs}


class Measured:
    """All runs of the budget of their workload, by group, searcher and accounting."""

    def __init__(self, results, references, budget=BUDGET):
        self._references = references
        self._rows = {}
        budgets = {
            workload.key: str(workload.budget(budget))
            for group in GROUPS.values()
            for workload in group.workloads
        }
        for number, row in enumerate(results.rows.values()):
            key = (row["workload"], row["simulator"], row["slo_ms"])
            if row["budget"] in (budgets.get(key, str(budget)), "0"):
                key += (row["searcher"], row["variant"], row["accounting"])
                self._rows.setdefault(key, []).append((number, row))

    def of(self, workload, searcher, accounting):
        """The runs of a searcher on a workload, by seed.

        How calls are counted makes no difference to a searcher without seeds.
        """
        reference = self._references.of(workload)
        if not reference:
            return []
        if not searcher.has_seeds:
            accounting = "new"
        rows = self._rows.get((*workload.key, *searcher.key, accounting), [])
        runs = [
            Run(
                workload,
                int(row["seed"]),
                scores.read_steps(row["steps"]),
                float(row["best"]),
                reference,
                float(row["wall_s"]),
                float(row["cpu_s"]),
                int(row["budget"]),
                row.get("version", ""),
                read_counts(row.get("counts", "")),
                number,
            )
            for number, row in rows
        ]
        return sorted(runs, key=lambda run: run.seed)

    def of_group(self, group, searcher, accounting):
        """The runs on all workloads of a group, given by its name."""
        return [
            run
            for workload in GROUPS[group].workloads
            for run in self.of(workload, searcher, accounting)
        ]

    def reference(self, workload):
        return self._references.of(workload)
