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

PLAN = (
    Batch("proved optima", ROOFLINE, (s.EXACT,)),
    Batch("Megatron's strategies", (*ROOFLINE, *BLACK_BOXES), s.MEGATRON),
    Batch("main rows", ("moe-50",), (s.PPO, s.SURROGATE, *s.CLASSIC, s.CATCMAWM)),
    Batch(
        "main rows of black boxes",
        BLACK_BOXES,
        (s.PPO, s.SURROGATE, s.COORDINATE_WARM, *s.CLASSIC, s.CATCMAWM),
    ),
    Batch(
        "main rows of other roofline workloads",
        ("moe-25", "models"),
        (s.PPO, s.SURROGATE, *s.CLASSIC, s.CATCMAWM),
    ),
    Batch(
        "every draw charged",
        ROOFLINE,
        (s.PPO, s.SURROGATE, *s.CLASSIC, s.CATCMAWM),
        (CHARGED,),
    ),
    Batch("the paper's agent", ("moe-50",), (s.PPO_PAPER,), (CHARGED, FREE)),
    Batch(
        "what each part is worth, where it is worth most",
        ("moe-50", "fixed"),
        (*s.PPO_PARTS, *s.SURROGATE_CRITICS),
    ),
    Batch(
        "what the roofline is worth to a black box",
        BLACK_BOXES,
        (*s.PPO_TRANSFER, *s.SURROGATE_TRANSFER),
    ),
    Batch("TPE", ("moe-50",), (s.TPE,), ACCOUNTINGS, range(3)),
    Batch(
        "what each part is worth, elsewhere",
        ("moe-25", "runtime"),
        (*s.PPO_PARTS, *s.SURROGATE_CRITICS),
    ),
    Batch(
        "every draw charged, black boxes",
        BLACK_BOXES,
        (s.PPO, s.SURROGATE, s.COORDINATE_WARM, *s.CLASSIC, s.CATCMAWM),
        (CHARGED,),
    ),
    Batch(
        "the paper's agent elsewhere",
        ("moe-25", "models", *BLACK_BOXES),
        (s.PPO_PAPER,),
        (CHARGED, FREE),
    ),
    Batch("TPE, all seeds", ("moe-50",), (s.TPE,), ACCOUNTINGS),
    Batch(
        "TPE elsewhere",
        ("moe-25", "models", *BLACK_BOXES),
        (s.TPE,),
        ACCOUNTINGS,
    ),
)

QUICK_GROUPS = {"moe-50": 1, "models": 1, "fixed": 1}  # workloads of each
QUICK_SEEDS = range(2)
QUICK_PLAN = (
    Batch("proved optima", ("moe-50", "models"), (s.EXACT,)),
    Batch(
        "quick",
        tuple(QUICK_GROUPS),
        (s.PPO, s.SURROGATE, *s.CLASSIC, s.CATCMAWM, s.PPO_PAPER),
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
            yield Job(workload, searcher, batch.accountings, seed, budget)
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
