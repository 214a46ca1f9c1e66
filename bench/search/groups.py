"""The section of one group of workloads: curves, tables, workload by workload."""

from . import markdown, searchers
from .manifest import CHARGED, FREE
from .summary import Summary
from .workloads import GROUPS

MAIN = (
    searchers.PPO,
    searchers.PPO_PAPER,
    searchers.SURROGATE,
    searchers.COORDINATE,
    searchers.TPE,
    searchers.CATCMAWM,
    searchers.CROSS_ENTROPY,
    searchers.GENETIC,
    searchers.ANNEALING,
    searchers.RANDOM,
    searchers.RANDOM_WALK,
)

HEADER = (
    "searcher",
    "runs",
    "mean",
    "median",
    "min",
    "≥ 0.99",
    "calls to 99 %",
    "q75",
    "wall s",
)

ACCOUNTING_TITLES = {
    FREE: "Repeats and masked degrees free for all",
    CHARGED: "Every draw charged for all",
}


def summary_row(label, runs, wanted):
    """The cells of one searcher; `wanted` is the number of runs of the plan."""
    if not runs:
        return [label, f"0 of {wanted}", *[markdown.NONE] * (len(HEADER) - 2)]
    s = Summary.of(runs)
    count = f"{s.runs}" if s.runs >= wanted else f"{s.runs} of {wanted}"
    return [
        label,
        count,
        markdown.ratio(s.mean) + markdown.interval(s.mean_interval, markdown.ratio),
        markdown.ratio(s.median),
        markdown.ratio(s.min),
        f"{s.near:.2f}",
        markdown.calls(s.calls) + markdown.interval(s.calls_interval, markdown.calls),
        markdown.calls(s.calls_q75),
        f"{s.wall_s:.1f}",
    ]


def summary_table(group, accounting, measured, wanted):
    """The table of a group, or None where nothing was measured.

    `wanted` maps (group, searcher, accounting) to a number of runs.
    """
    rows = []
    for searcher in (*MAIN, *searchers.MEGATRON, searchers.EXACT):
        runs = measured.of_group(group, searcher, accounting)
        count = wanted.get((group, searcher, accounting), 0)
        if runs or count:
            rows.append((bool(runs), summary_row(searcher.label, runs, count)))
    if not any(has_runs for has_runs, _ in rows):
        return None
    return markdown.table(HEADER, [row for _, row in rows])


def workload_table(group, accounting, measured):
    """Mean and min of the main searchers on each workload, or None."""
    shown = [s for s in MAIN if measured.of_group(group, s, accounting)]
    if not shown:
        return None
    rows = []
    for workload in GROUPS[group].workloads:
        cells = [workload.name]
        for searcher in shown:
            runs = measured.of(workload, searcher, accounting)
            ratios = [run.ratio for run in runs]
            if ratios:
                mean = markdown.ratio(sum(ratios) / len(ratios))
                cells.append(f"{mean} ({markdown.ratio(min(ratios))})")
            else:
                cells.append(markdown.NONE)
        rows.append(cells)
    return markdown.table(["mean (min)", *(s.label for s in shown)], rows)


def section(group, measured, wanted, figure):
    """The text of a group; `figure` is the name of its picture, or None."""
    parts = [f"## {GROUPS[group].title}"]
    if figure:
        parts.append(f"![Best so far, {GROUPS[group].title}](figures/{figure})")
    for accounting, title in ACCOUNTING_TITLES.items():
        table = summary_table(group, accounting, measured, wanted)
        parts.append(f"### {title}")
        parts.append(table or "Not measured yet.")
        by_workload = workload_table(group, accounting, measured)
        if by_workload and accounting == FREE:
            parts.append(f"By workload:\n\n{by_workload}")
    return "\n\n".join(parts)
