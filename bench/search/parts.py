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


def _row(searcher, runs, default, comparisons):
    s = Summary.of(runs)
    cells = [
        searcher.label if searcher.variant else f"{searcher.label}, default",
        s.runs,
        markdown.ratio(s.mean),
        markdown.ratio(s.min),
        markdown.calls(s.calls),
    ]
    comparison = Comparison.of(runs, default, comparisons) if searcher.variant else None
    if not comparison:
        return [*cells, "", ""]
    return [
        *cells,
        f"{markdown.difference(comparison.mean, markdown.ratio)} (n = {comparison.pairs})",
        markdown.difference(comparison.calls, markdown.calls),
    ]


def _measured_rows(measured):
    """(searcher, its runs, those of the default) by group, of groups with variants."""
    found = {}
    for group in GROUPS:
        rows = []
        for default, variants in ROWS.items():
            of_default = measured.of_group(group, default, ASKED)
            for searcher in (default, *variants):
                runs = measured.of_group(group, searcher, ASKED)
                if runs:
                    rows.append((searcher, runs, of_default))
        if any(searcher.variant for searcher, *_ in rows):
            found[group] = rows
    return found


def section(measured):
    """The text, with a table for every group that has variants measured."""
    by_group = _measured_rows(measured)
    comparisons = sum(bool(row[0].variant) for rows in by_group.values() for row in rows)
    parts = [
        "## What each part is worth",
        "Differences are paired, by workload and seed; of fewer than five seeds there is"
        " no interval. In bold is a ratio whose interval leaves 0 out with its level divided by"
        f" the {comparisons} rows (Bonferroni), and calls whose interval does so. A run that never gets"
        " to 99 % counts as one call above the budget.",
    ]
    for group, rows in by_group.items():
        table = markdown.table(HEADER, [_row(*row, comparisons) for row in rows])
        parts += [f"### {GROUPS[group].title}", table]
    if not by_group:
        parts.append("Not measured yet.")
    return "\n\n".join(parts)
