"""What the paper's searchers find on workloads whose best dims are not Megatron's."""

from . import markdown, searchers
from .intervals import mean, of_mean
from .manifest import ASKED
from .paper import counts, span
from .workloads import GROUPS

SHOWN = (
    searchers.RANDOM_WALK,
    searchers.PAPER_ANNEALING,
    searchers.ANNEALING,
    searchers.PPO_PAPER,
    searchers.PPO,
    searchers.SURROGATE,
)
#: The same workloads with the costs of either simulator, and what those are called.
COSTS = {"dims": "the roofline", "dims-calibrated": "calibrated kernels"}

TEXT = """## Where dims pay

The paper's agent on ten [workloads](WhereDimsPay.md) whose best dims are not Megatron's. The tables have the mean throughput over that
of Megatron's best plan, whose degrees were all tried; a run without a valid plan counts as 0. In brackets is the 95 % interval
over seeds."""


class Group:
    """The workloads of a group that have an optimum and a plan of Megatron's."""

    def __init__(self, measured, name):
        self.measured = measured
        self.styles = {}
        for workload in GROUPS[name].workloads:
            runs = [r for s in searchers.MEGATRON for r in measured.of(workload, s, ASKED)]
            best = max((run.best for run in runs), default=0)
            if best:
                self.styles[workload] = best

    @property
    def gains(self):
        """The optimum over Megatron's best of each workload."""
        return [self.measured.reference(w) / best for w, best in self.styles.items()]

    def over_style(self, workload, searcher):
        """The ratios of runs, by seed."""
        runs = self.measured.of(workload, searcher, ASKED)
        return {run.seed: [run.best / self.styles[workload]] for run in runs}

    def ratios(self, searcher):
        """The ratios of each workload, those of workloads without runs left out."""
        found = (self.over_style(workload, searcher) for workload in self.styles)
        return [[value for (value,) in seeds.values()] for seeds in found if seeds]


def below(group, searcher):
    """In how many workloads a searcher is below Megatron's best in the mean, and in how many
    no run is above it; and of how many. None where it was not run."""
    ratios = group.ratios(searcher)
    if not ratios:
        return None
    means = sum(mean(values) < 1 for values in ratios)
    return means, sum(max(values) <= 1 for values in ratios), len(ratios)


def _cell(seeds):
    if not seeds:
        return markdown.NONE
    centre = mean([value for (value,) in seeds.values()])
    return markdown.times(centre) + markdown.interval(of_mean(seeds), lambda v: f"{max(v, 0):.2f}")


def _table(group):
    shown = [searcher for searcher in SHOWN if group.ratios(searcher)]
    header = ["over Megatron's best", "optimum"]
    header += [f"{s.label} (n = {counts(group.ratios(s))})" for s in shown]
    rows = [
        [
            workload.name,
            markdown.times(gain),
            *(_cell(group.over_style(workload, searcher)) for searcher in shown),
        ]
        for workload, gain in zip(group.styles, group.gains)
    ]
    return markdown.table(header, rows)


def pays(group):
    """What dims are worth, in words."""
    gains = group.gains
    return f"the optimum is {span(gains)}, and 2 % or more above 1 in {sum(g >= 1.02 for g in gains)} of {len(gains)}"


def agent_text(group):
    """How the paper's agent stands to Megatron, in words; nothing where it was not run."""
    found = below(group, searchers.PPO_PAPER)
    if not found:
        return ""
    means, best, of = found
    seeds = counts(group.ratios(searchers.PPO_PAPER))
    return (
        f"`ppo-paper` is below Megatron's best in {means} of {of} in the mean of its seeds (n = {seeds});"
        f" with every seed it is in {best} of {of}"
    )


def section(measured):
    """The text, or None where nothing was measured."""
    parts = [TEXT]
    for name, costs in COSTS.items():
        group = Group(measured, name)
        if not group.styles:
            continue
        said = ". ".join(filter(None, (pays(group), agent_text(group))))
        parts += [f"With the costs of {costs} {said}.", _table(group)]
    return "\n\n".join(parts) if len(parts) > 1 else None
