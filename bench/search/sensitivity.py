"""What the constants of the paper's agent are worth that the paper leaves open, and how
often its early exit fires."""

from . import markdown, searchers
from .intervals import mean
from .manifest import ASKED
from .paper import WORKLOADS
from .summary import Comparison, Summary

WORKLOAD = WORKLOADS[0]

TEXT = """## The effect of open constants

The paper does not give α, β and the reward of an invalid strategy, and does not motivate the length of a rollout. The table has
`ppo-paper` on {workload} with one of them changed. The difference is paired by seed, with 95 % intervals over seeds in brackets.
Bold marks intervals without 0, with the level divided by the {comparisons} rows. An agent *ends early* when every head has a value
of probability 0.95."""

HEADER = ("variant", "runs", "of the optimum", "min", "− default", "agents", "ended early")


def exits(runs):
    """(agents, those that ended early) of all runs that say so."""
    counted = [run.counts for run in runs if "agents" in run.counts]
    return sum(c["agents"] for c in counted), sum(c["early_exits"] for c in counted)


def _row(searcher, runs, default, comparisons):
    s = Summary.of(runs)
    comparison = Comparison.of(runs, default, comparisons) if searcher.variant else None
    return [
        searcher.title or "default: α = β = 1, invalid −1000, rollout 2",
        s.runs,
        markdown.ratio(s.mean) + markdown.interval(s.mean_interval, markdown.ratio),
        markdown.ratio(s.min),
        markdown.difference(comparison.mean, markdown.ratio) if comparison else "",
        *map(str, exits(runs)),
    ]


def section(measured):
    """The text, or None where no variant was measured."""
    default = measured.of(WORKLOAD, searchers.PPO_PAPER, ASKED)
    variants = [
        (searcher, runs)
        for searcher in searchers.PAPER_CONSTANTS
        if (runs := measured.of(WORKLOAD, searcher, ASKED))
    ]
    if not variants:
        return None
    rows = [
        _row(searcher, runs, default, len(variants))
        for searcher, runs in ((searchers.PPO_PAPER, default), *variants)
        if runs
    ]
    text = TEXT.format(workload=WORKLOAD.name, comparisons=len(variants))
    return f"{text}\n\n{markdown.table(HEADER, rows)}"


def early_exits(measured):
    """One sentence on the six workloads, or None where no run says."""
    runs = [r for w in WORKLOADS for r in measured.of(w, searchers.PPO_PAPER, ASKED)]
    counted = [run for run in runs if "agents" in run.counts]
    if not counted:
        return None
    agents, early = exits(counted)
    per_run = mean([run.counts["agents"] for run in counted])
    return (
        f"Early exit: in {len(counted)} runs of `ppo-paper`, {early} of {agents} agents ended because every head had a value"
        f" of probability 0.95. So there were {per_run:.1f} agents per run instead of five."
    )
