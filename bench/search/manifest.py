"""What is run, the most important rows first.

Batches come in the order of their importance. Within one, every row gets its
first seed before any gets its second, so that a bench that was stopped has rows
that can be compared.
"""

import dataclasses
import itertools

from . import searchers as s
from .workloads import GROUPS, Workload

BUDGET = 4000

# How calls are counted: repeats and masked degrees free, or every draw charged,
# those that a searcher rejected itself included.
FREE, CHARGED = "new", "draws"
ACCOUNTINGS = (FREE, CHARGED)


@dataclasses.dataclass(frozen=True)
class Job:
    """One process: a searcher on a workload with a seed.

    An optimiser from outside does not know how its calls are counted, so that
    one run of it gives a row for each of `accountings`.
    """

    workload: Workload
    searcher: s.Searcher
    accountings: tuple
    seed: int
    budget: int

    def keys(self):
        """What identifies its rows in a table of results, as text."""
        for accounting in self.accountings:
            yield (
                *self.workload.key,
                *self.searcher.key,
                accounting,
                str(self.seed),
                str(self.budget),
            )


@dataclasses.dataclass(frozen=True)
class Batch:
    """Every one of `searchers` on every workload of `groups`."""

    title: str
    groups: tuple
    searchers: tuple
    accountings: tuple = (FREE,)
    seeds: range = range(10)


ROOFLINE = ("moe-50", "moe-25", "models")
BLACK_BOXES = ("runtime", "fixed")
MAIN = (s.PPO, s.SURROGATE, *s.CLASSIC, s.CATCMAWM)
PARTS = (*s.PPO_PARTS, *s.SURROGATE_CRITICS)
TRANSFER = (*s.PPO_TRANSFER, *s.SURROGATE_TRANSFER)
SOME, FEW = range(5), range(3)  # seeds of what takes long, before all ten

PLAN = (
    Batch("proved optima", ROOFLINE, (s.EXACT,)),
    Batch("Megatron's strategies", (*ROOFLINE, *BLACK_BOXES), s.MEGATRON),
    Batch("main rows, SLO 50", ("moe-50",), MAIN),
    Batch("main rows, black boxes", BLACK_BOXES, MAIN),
    Batch("main rows, SLO 25 and published models", ("moe-25", "models"), MAIN),
    Batch("draws charged, SLO 50", ("moe-50",), MAIN, (CHARGED,)),
    Batch("the paper's agent, SLO 50", ("moe-50",), (s.PPO_PAPER,), (CHARGED,)),
    Batch("parts, SLO 50 and fixed, 5 seeds", ("moe-50", "fixed"), PARTS, seeds=SOME),
    Batch("transfer, 5 seeds", BLACK_BOXES, TRANSFER, seeds=SOME),
    Batch("TPE, SLO 50, 3 seeds", ("moe-50",), (s.TPE,), seeds=FEW),
    Batch("draws charged, elsewhere", ("moe-25", "models"), MAIN, (CHARGED,)),
    Batch("draws charged, black boxes", BLACK_BOXES, MAIN, (CHARGED,)),
    Batch("the paper's agent, repeats free", ("moe-50",), (s.PPO_PAPER,), seeds=SOME),
    Batch("parts, elsewhere", ("moe-25", "runtime"), PARTS, seeds=SOME),
    Batch("parts, all seeds", ("moe-50", "moe-25", *BLACK_BOXES), PARTS),
    Batch("transfer, all seeds", BLACK_BOXES, TRANSFER),
    Batch(
        "the paper's agent, everywhere",
        (*ROOFLINE, *BLACK_BOXES),
        (s.PPO_PAPER,),
        ACCOUNTINGS,
    ),
    Batch("TPE, everywhere", (*ROOFLINE, *BLACK_BOXES), (s.TPE,)),
)

QUICK_GROUPS = {"moe-50": 1, "models": 1, "fixed": 1}  # workloads of each
QUICK_SEEDS = range(2)
QUICK_PLAN = (
    Batch("proved optima", ("moe-50", "models"), (s.EXACT,)),
    Batch(
        "quick",
        tuple(QUICK_GROUPS),
        (*MAIN, s.PPO_PAPER),
        seeds=QUICK_SEEDS,
    ),
)


def _jobs_of(batch, limits, budget):
    workloads = [
        workload
        for group in batch.groups
        for workload in GROUPS[group].workloads[: limits.get(group)]
    ]
    for seed, workload, searcher in itertools.product(
        batch.seeds, workloads, batch.searchers
    ):
        if not searcher.has_seeds:
            if seed == batch.seeds[0]:
                yield Job(workload, searcher, (FREE,), 0, 0)
        elif searcher.is_outside:
            yield Job(workload, searcher, ACCOUNTINGS, seed, budget)
        else:
            for accounting in batch.accountings:
                yield Job(workload, searcher, (accounting,), seed, budget)


def jobs(plan=PLAN, limits={}, budget=BUDGET):
    """All jobs of a plan in order, with their batches; none comes twice.

    `limits` maps the name of a group to the number of its workloads to take.
    """
    seen = set()
    for batch in plan:
        for job in _jobs_of(batch, limits, budget):
            if job not in seen:
                seen.add(job)
                yield batch, job
