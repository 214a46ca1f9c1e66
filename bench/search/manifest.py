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

# How calls are counted: every strategy asked for, as by default, or repeats and masked
# degrees free.
ASKED, FREE = "asked", "new"
ACCOUNTINGS = (ASKED, FREE)


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
    """Every one of `searchers` on every workload of `groups`, or the `first` of each."""

    title: str
    groups: tuple
    searchers: tuple
    accountings: tuple = (FREE,)
    seeds: range = range(10)
    first: int = None
    dealt: int = None  # each workload gets so many of the seeds, in turn, and not all
    on_request: bool = False  # measured where `--only` names its title, and not missed


ROOFLINE = ("moe-50", "moe-25", "models")
BLACK_BOXES = ("runtime", "fixed")
LEARNED = (s.SURROGATE, s.PPO)
MAIN = (*LEARNED, *s.CLASSIC, s.CATCMAWM)
CHEAP = (*s.CLASSIC, s.CATCMAWM)
UNLIKE = (s.SURROGATE, s.NO_WARM_START, s.COORDINATE, s.RANDOM_WALK)
PARTS = (*s.PPO_PARTS, *s.SURROGATE_CRITICS)
LEARNING = (s.PPO_UNTRAINED, s.PPO_TAUGHT)
TIGHT = (s.RANDOM_WALK, s.PAPER_ANNEALING, s.ANNEALING)
SCARCE = ("scarce", "scarce-kept")
SCARCELY = (s.SURROGATE, s.PPO, s.ANNEALING, s.RANDOM)
SOME, FEW = range(5), range(3)  # seeds of what takes long; of what has no interval

# What learns asks for nothing that is free, so that a run of it counts both ways.
PLAN = (
    Batch("proved optima", (*ROOFLINE, "dims"), (s.EXACT,)),
    Batch("Megatron's strategies", (*ROOFLINE, "dims", *BLACK_BOXES, "unlike"), s.MEGATRON),
    Batch("the roofline's plan is invalid", ("unlike",), UNLIKE, (ASKED,), SOME),
    Batch("the paper's annealing, SLO 50", ("moe-50",), (s.PAPER_ANNEALING,), (ASKED,)),
    Batch("random walks, SLO 50, 100 seeds", ("moe-50",), (s.RANDOM_WALK,), (ASKED,), range(100)),
    Batch("the paper's agent, SLO 50", ("moe-50",), (s.PPO_PAPER,), (ASKED,)),
    Batch("where dims pay", ("dims",), (*LEARNED, s.COORDINATE), (ASKED,)),
    Batch("random walks where dims pay", ("dims",), (s.RANDOM_WALK,), (ASKED,)),
    Batch("proved optima where almost nothing is feasible", SCARCE, (s.EXACT,)),
    Batch("almost nothing is feasible", SCARCE, SCARCELY, (ASKED,)),
    Batch("main rows, roofline", ("moe-50", "models"), MAIN, (ASKED,), SOME),
    Batch("others at SLO 25", ("moe-25",), CHEAP, (ASKED,), SOME),
    Batch("the paper's agent from outside", ("moe-50",), (s.SB3_PPO,)),
    Batch("more seeds, SLO 50", ("moe-50",), CHEAP, (ASKED,)),
    Batch("main rows, black boxes", BLACK_BOXES, LEARNED, (ASKED,)),
    Batch("repeats and masked degrees free", ROOFLINE, CHEAP),
    Batch("repeats free, black boxes", BLACK_BOXES, CHEAP),
    Batch("parts, SLO 50 and fixed", ("moe-50", "fixed"), PARTS, seeds=FEW),
    *(
        dataclasses.replace(batch, on_request=True)
        for batch in (
            Batch("constants of `ppo-paper`", ("moe-50",), s.PAPER_CONSTANTS, (ASKED,), first=1),
            Batch("proved optima at tight SLOs", ("moe-15",), (s.EXACT,)),
            Batch("Megatron's strategies at tight SLOs", ("moe-15",), s.MEGATRON),
            Batch("random walks and annealing at tight SLOs", ("moe-25", "moe-15"), TIGHT, (ASKED,)),
            Batch("the paper's agent at tight SLOs", ("moe-25", "moe-15"), (s.PPO_PAPER,), (ASKED,)),
            Batch("the paper's agent from outside, tight SLOs", ("moe-25", "moe-15"), (s.SB3_PPO,)),
            Batch("the paper's annealing where dims pay", ("dims",), (s.PAPER_ANNEALING,), (ASKED,)),
            Batch("the paper's agent where dims pay", ("dims",), (s.PPO_PAPER,), (ASKED,)),
            Batch("optima on calibrated kernels", ("dims-calibrated",), (s.EXACT, *s.MEGATRON)),
            Batch("baselines on calibrated kernels", ("dims-calibrated",), TIGHT, (ASKED,)),
            Batch("learned on calibrated kernels", ("dims-calibrated",), LEARNED, (ASKED,), SOME),
            Batch("the paper's agent on calibrated kernels", ("dims-calibrated",), (s.PPO_PAPER,), (ASKED,)),
            Batch("CatCMAwM where dims pay", ("dims",), (s.CATCMAWM,)),
            Batch("TPE where dims pay", ("dims",), (s.TPE,), seeds=SOME, dealt=1),
            Batch("other searchers where dims pay", ("dims",), s.CLASSIC, (ASKED,)),
            Batch("`surrogate` and `ppo` at tight SLOs", ("moe-25", "moe-15"), LEARNED, (ASKED,), SOME),
            Batch("what `ppo` learns", ("dims",), LEARNING, (ASKED,), SOME, dealt=2),
            Batch("`ppo` on unlike black boxes", ("unlike",), (s.PPO,), (ASKED,), SOME),
        )
    ),
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


def _is_dealt(batch, place, seed):
    """Whether the workload at a place of its group gets a seed."""
    count = len(batch.seeds)
    turns = range(batch.dealt if batch.dealt else count)
    return seed in [batch.seeds[(place + turn) % count] for turn in turns]


def _jobs_of(batch, limits, budget):
    workloads = [
        workload
        for group in batch.groups
        for workload in GROUPS[group].workloads[: limits.get(group, batch.first)]
    ]
    for seed, (place, workload), searcher in itertools.product(
        batch.seeds, enumerate(workloads), batch.searchers
    ):
        if searcher.has_seeds and not _is_dealt(batch, place, seed):
            continue
        if not searcher.has_seeds:
            if seed == batch.seeds[0]:
                yield Job(workload, searcher, (FREE,), 0, 0)
        elif searcher.is_outside:
            yield Job(workload, searcher, ACCOUNTINGS, seed, workload.budget(budget))
        else:
            for accounting in batch.accountings:
                yield Job(workload, searcher, (accounting,), seed, workload.budget(budget))


def jobs(plan=PLAN, limits={}, budget=BUDGET, only=()):
    """All jobs of a plan in order, with their batches; none comes twice. Batches on request
    are those whose title has a text of `only` in it.

    `limits` maps the name of a group to the number of its workloads to take.
    """
    seen = set()
    for batch in plan:
        if batch.on_request and not any(text in batch.title for text in only):
            continue
        for job in _jobs_of(batch, limits, budget):
            if job not in seen:
                seen.add(job)
                yield batch, job
