"""Writes docs/SearchComparison.md and its figures from the table of results."""

import collections
import difflib
import subprocess
import sys

from . import environment, groups, manifest, markdown, outside, paper, parts, targets
from . import verdict
from .intervals import RESAMPLES
from .measured import Measured
from .workloads import GROUPS

NAME = "SearchComparison.md"

NOTE = (
    "<!-- Generated from bench/search/results.csv by ./dev bench search --page."
    " Do not edit. -->"
)

HOW = """## How this is measured

`./dev bench search` runs every searcher of [Search and evaluation](Search.md) with
a budget of {budget} simulator calls, ten seeds a row where none is missing, one process
a run and one thread, and writes a line for every run into `bench/search/results.csv`.
Ratios are to the optimum that `exact` proved; on the procedural simulator, which
cannot be opened, to the best that any run found, with the long runs of
`bench/search/best_known.csv` among them. Invalid strategies are charged. Two ways of
counting are shown. *Free*: a strategy that was asked before, and one of degrees that
no dims can make feasible (masked), costs nothing, whoever proposes it. *Charged*: every
strategy costs a call, and so does every draw that a searcher rejects itself. A search
whose proposals are nearly all repeats ends after 25 strategies for each call of
the budget.

`optuna-tpe` is [Optuna](https://optuna.org)'s TPE, multivariate, 64 random trials
first; `catcmawm` is CatCMAwM of [cmaes](https://github.com/CyberAgentAILab/cmaes),
population 50, restarted when half of a generation is one point and three generations
in a row have found nothing better. Both ask `shard-cost --serve`
and minimise −log throughput, or, of an invalid strategy, a penalty by how far it exceeds
memory and SLO. They do not know how their calls are counted, so that one run of
theirs is counted both ways; TPE, which needs 100 s for 4000 proposals, makes no more
of them, even if repeats among them were free.

Intervals in brackets are 95 % bootstrap intervals over seeds ({resamples}
resamples). *Calls to 99 %* is the median number of charged calls after which
the best is at least 0.99 of the optimum, *q75* the 75 % quantile, *never* where
fewer runs than that got there. *Wall s* is the median time of the process; its start, the
reading of the program and, on the roofline, the proof of the optimum are in it. Bands
of the curves hold the middle 80 % of the seeds."""


def wanted_runs(budget):
    """The number of runs of the plan, by (group, searcher, accounting)."""
    group_of = {w.key: name for name, group in GROUPS.items() for w in group.workloads}
    keys = set()
    for _, job in manifest.jobs(budget=budget):
        for accounting in job.accountings:
            group = group_of[job.workload.key]
            keys.add((group, job.searcher, accounting, job.workload.key, job.seed))
    return collections.Counter(key[:3] for key in keys)


def quick_tables(measured, plan):
    """The tables of a quick bench, for a terminal."""
    wanted = collections.Counter()
    shown = {group: None for batch in plan for group in batch.groups}
    return "\n\n".join(
        f"{GROUPS[group].title}\n\n"
        + (groups.summary_table(group, manifest.FREE, measured, wanted) or "nothing")
        for group in shown
    )


def missing_section(measured, wanted):
    """What the plan has and the table of results has not."""
    lines = []
    for (group, searcher, accounting), count in sorted(
        wanted.items(), key=lambda item: (item[0][0], item[0][1].key, item[0][2])
    ):
        runs = len(measured.of_group(group, searcher, accounting))
        if runs < count:
            how = groups.ACCOUNTING_TITLES[accounting].lower()
            lines.append([searcher.label, GROUPS[group].title, how, f"{runs} of {count}"])
    if not lines:
        return "## What is missing\n\nNothing."
    table = markdown.table(["searcher", "workloads", "counting", "runs"], lines)
    return f"## What is missing\n\n{table}"


def text(measured, budget, figures):
    """The page; `figures` maps a group to the name of its picture."""
    wanted = wanted_runs(budget)
    sections = [
        NOTE,
        "# The searchers compared",
        verdict.paragraph(measured),
        targets.section(measured),
        HOW.format(budget=budget, resamples=RESAMPLES),
        *(groups.section(g, measured, wanted, figures.get(g)) for g in GROUPS),
        parts.section(measured),
        paper.table_1_section(measured),
        paper.figure_3_section(measured),
        missing_section(measured, wanted),
    ]
    return "\n\n".join(sections) + "\n"


def figure_names(docs):
    """The pictures that are there, by group."""
    names = {group: f"search-{group}.svg" for group in GROUPS}
    return {g: name for g, name in names.items() if (docs / "figures" / name).exists()}


def draw(args, paths, table):
    """Draws the pictures in the virtual environment; says so where it cannot."""
    why = environment.make(paths)
    if why:
        print(f"figures are not drawn: {why}")
        return
    command = [
        str(paths.environment_python),
        "-m",
        "search.plots",
        f"--results={table}",
        f"--budget={args.budget}",
        f"--output={args.docs / 'figures'}",
    ]
    subprocess.run(command, check=True, env=outside.environment(paths.root))


def write(args, paths, results, references):
    """Writes the page and its pictures, or compares the page; the exit code."""
    measured = Measured(results, references, args.budget)
    path = args.docs / NAME
    if not args.check and not args.no_figures:
        draw(args, paths, results.path)
    page = text(measured, args.budget, figure_names(args.docs))
    if not args.check:
        path.write_text(page)
        return 0
    there = path.read_text() if path.exists() else ""
    if there == page:
        return 0
    lines = difflib.unified_diff(
        there.splitlines(), page.splitlines(), str(path), "generated", lineterm=""
    )
    print("\n".join(lines), file=sys.stderr)
    return 1
