"""The section that says what each part of a searcher is worth."""

from . import markdown, searchers
from .manifest import ASKED
from .summary import Comparison, Summary
from .workloads import GROUPS

ROWS = {
    searchers.PPO: (
        searchers.PPO_UNTRAINED,
        searchers.PPO_TAUGHT,
        searchers.PPO_RIDGE,
        *searchers.PPO_PARTS,
    ),
    searchers.SURROGATE: (
        *searchers.SURROGATE_CRITICS,
        searchers.RIDGE,
    ),
}
HEADER = (
    "variant",
    "runs",
    "mean",
    "min",
    "calls to 99 %",
    "mean − default",
    "calls − default",
)


def _row(searcher, runs, default):
    s = Summary.of(runs)
    cells = [
        searcher.label if searcher.variant else f"{searcher.label}, default",
        s.runs,
        markdown.ratio(s.mean),
        markdown.ratio(s.min),
        markdown.calls(s.calls),
    ]
    comparison = Comparison.of(runs, default) if searcher.variant else None
    if not comparison:
        return [*cells, "", ""]
    return [
        *cells,
        markdown.difference(comparison.mean, markdown.ratio),
        markdown.difference(comparison.calls, markdown.calls),
    ]


def _table(group, measured):
    rows = []
    for default, variants in ROWS.items():
        of_default = measured.of_group(group, default, ASKED)
        for searcher in (default, *variants):
            runs = measured.of_group(group, searcher, ASKED)
            if runs:
                rows.append(_row(searcher, runs, of_default))
    return markdown.table(HEADER, rows) if len(rows) > 1 else None


def section(measured):
    """The text, with a table for every group that has variants measured."""
    parts = [
        "## What each part is worth",
        "Differences are paired, by workload and seed; of fewer than five seeds there is"
        " no interval, and in bold is what has one that leaves 0 out. A run that never gets"
        " to 99 % counts as one call above the budget.",
    ]
    for group in GROUPS:
        table = _table(group, measured)
        if table:
            parts += [f"### {GROUPS[group].title}", table]
    if len(parts) == 2:
        parts.append("Not measured yet.")
    return "\n\n".join(parts)
