"""The section of one group of workloads: curves, tables, workload by workload."""

import dataclasses

from . import markdown, searchers
from .manifest import ASKED, FREE
from .summary import Summary
from .workloads import GROUPS

MAIN = (
    searchers.SURROGATE,
    searchers.NO_WARM_START,
    searchers.RIDGE,
    searchers.PPO,
    searchers.PPO_RIDGE,
    searchers.PPO_PAPER,
    searchers.SB3_PPO,
    searchers.COORDINATE,
    searchers.TPE,
    searchers.CATCMAWM,
    searchers.CROSS_ENTROPY,
    searchers.GENETIC,
    searchers.ANNEALING,
    searchers.PAPER_ANNEALING,
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
    "CPU s",
    "version",
)

ACCOUNTING_TITLES = {
    ASKED: "Every strategy asked for counts",
    FREE: "Repeats and masked degrees free",
}


def summary_row(label, runs, wanted):
    """The cells of one searcher; `wanted` is the number of runs of the plan."""
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
        f"{s.cpu_s:.1f}",
        ", ".join(s.versions),
    ]


def roofline_plans(group, measured):
    """What the first call of a warm start gives on each workload of black boxes."""
    if not GROUPS[group].is_black_box:
        return []
    found = {}
    for run in measured.of_group(group, searchers.SURROGATE, ASKED):
        first = [step for step in run.steps if step[0] == 1]
        best = first[0][1] if first else 0.0
        found.setdefault(run.workload, dataclasses.replace(run, steps=first, best=best))
    return list(found.values())


def summary_table(group, accounting, measured, wanted):
    """The table of a group, a row of each searcher that was measured, or None.

    `wanted` maps (group, searcher, accounting) to a number of runs.
    """
    rows = []
    plans = roofline_plans(group, measured)
    if plans:
        rows.append(summary_row("the roofline's plan", plans, 0))
    for searcher in (*MAIN, *searchers.MEGATRON, searchers.EXACT):
        runs = measured.of_group(group, searcher, accounting)
        count = wanted.get((group, searcher, accounting), 0)
        if runs:
            rows.append(summary_row(searcher.label, runs, count))
    return markdown.table(HEADER, rows) if rows else None


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
                cells.append(f"{mean} ({markdown.ratio(min(ratios))}; {len(ratios)})")
            else:
                cells.append(markdown.NONE)
        rows.append(cells)
    return markdown.table(["mean (min; n)", *(s.label for s in shown)], rows)


def section(group, measured, wanted, figure):
    """The text of a group, or None; `figure` is the name of its picture, or None."""
    parts = [f"## {GROUPS[group].title}"]
    if figure:
        parts.append(f"![Best so far, {GROUPS[group].title}](figures/{figure})")
    for accounting, title in ACCOUNTING_TITLES.items():
        table = summary_table(group, accounting, measured, wanted)
        has_runs = any(measured.of_group(group, s, accounting) for s in MAIN)
        if not table or not has_runs:
            continue
        parts += [f"### {title}", table]
        if accounting == ASKED:
            by_workload = workload_table(group, accounting, measured)
            parts.append(f"By workload:\n\n{by_workload}")
    is_measured = len(parts) > 1 + bool(figure)
    return "\n\n".join(parts) if is_measured else None
