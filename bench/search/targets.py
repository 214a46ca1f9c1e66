"""What the project aims at with its searchers, beside what was measured."""

import dataclasses

from . import markdown, searchers
from .intervals import ENOUGH
from .manifest import ASKED
from .summary import Summary
from .workloads import GROUPS


@dataclasses.dataclass(frozen=True)
class Target:
    """A limit on one number of a summary, on a group or one workload of it."""

    searcher: searchers.Searcher
    group: str
    number: str  # a field of Summary
    limit: float
    workload: str = ""

    @property
    def is_at_least(self):
        return self.number in ("mean", "min", "near")

    def runs(self, measured):
        if not self.workload:
            return measured.of_group(self.group, self.searcher, ASKED)
        named = [w for w in GROUPS[self.group].workloads if w.name == self.workload]
        return measured.of(named[0], self.searcher, ASKED)


def _seconds(searcher, limit, groups):
    """A run is one process of one thread: its processor time is its wall time where nothing
    else runs."""
    return tuple(Target(searcher, group, "cpu_s", limit) for group in groups)


def _quality(searcher, group, mean, least, calls):
    return (
        Target(searcher, group, "mean", mean),
        Target(searcher, group, "min", least),
        Target(searcher, group, "calls", calls),
    )


TARGETS = (
    *_quality(searchers.SURROGATE, "dims", 0.99, 0.97, 1000),
    *_quality(searchers.PPO, "dims", 0.99, 0.97, 1000),
    *(
        target
        for group in ("scarce", "scarce-kept")
        for searcher in (searchers.SURROGATE, searchers.PPO)
        for target in _quality(searcher, group, 0.995, 0.98, 1000)
    ),
    *_quality(searchers.PPO, "moe-50", 0.999, 0.99, 400),
    *_quality(searchers.PPO, "moe-25", 0.998, 0.98, 600),
    Target(searchers.PPO, "models", "mean", 0.995, "deepseek-v3"),
    *_quality(searchers.BLACK_BOX_DEFAULT, "runtime", 0.999, 0.99, 200),
    *_quality(searchers.BLACK_BOX_DEFAULT, "fixed", 0.999, 0.99, 200),
    *_quality(searchers.BLACK_BOX_DEFAULT, "unlike", 0.999, 0.99, 200),
    *_seconds(searchers.SURROGATE, 5, GROUPS),
    *_seconds(searchers.PPO, 10, GROUPS),
)

NAMES = {
    "mean": "mean",
    "min": "min",
    "calls": "median calls to 99 %",
    "cpu_s": "median CPU s",
}


def _row(target, measured):
    title = GROUPS[target.group].title
    where = f"{title}: {target.workload}" if target.workload else title
    what = f"{target.searcher.label}, {NAMES[target.number]}; {where}"
    sign = "≥" if target.is_at_least else "≤"
    asked = f"{sign} {target.limit:g}"
    runs = target.runs(measured)
    if not runs:
        return [what, asked, markdown.NONE, "not measured"]
    value = getattr(Summary.of(runs), target.number)
    met = value >= target.limit if target.is_at_least else value <= target.limit
    show = {"calls": markdown.calls, "cpu_s": "{:.1f}".format}
    shown = show.get(target.number, markdown.ratio)(value)
    verdict = "met" if met else "**missed**"
    if len({run.seed for run in runs}) < ENOUGH:
        verdict = "open"
    return [what, asked, shown, f"{verdict} (n = {len(runs)})"]


def section(measured):
    rows = [_row(target, measured) for target in TARGETS]
    table = markdown.table(["aim", "limit", "measured", ""], rows)
    return f"## Aims\n\n{table}"
