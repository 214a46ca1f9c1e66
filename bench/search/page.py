"""Writes docs/SearchComparison.md, docs/Reproduction.md and the figures from the table
of results."""

import collections
import difflib
import subprocess
import sys

from . import advice, environment, groups, manifest, markdown, outside, parts, reproduction
from . import targets, verdict
from .measured import Measured
from .workloads import GROUPS

NAME = "SearchComparison.md"

NOTE = (
    "<!-- Generated from bench/search/results.csv by ./dev bench search --page."
    " Do not edit. -->"
)

WORKLOADS = """## Workloads

A workload is a model, a phase, a context, a machine, a limit on latency and one on devices; throughput is in tokens/s per
device. What the names of the tables say:

| group | models | phase | machine | limit | devices at most | simulator |
| --- | --- | --- | --- | --- | --- | --- |
| GPT-MoE, SLO 50 ms | 1.2T and 1.6T at contexts of 16k, 32k and 64k | decode | `h100_sxm` | TPOT 50 ms | none | roofline |
| GPT-MoE, SLO 25 ms | the same | decode | `h100_sxm` | TPOT 25 ms | none | roofline |
| Published models | DeepSeek-V3, Qwen3-235B, Llama-3.1-405B at 16k | decode | `h100_sxm` | TPOT 50 ms | 64 | roofline |
| Where dims pay | kept cells of [Where dims pay](WhereDimsPay.md): model, phase, context, machine, devices | both | several | TPOT 50 ms; TTFT 1 s or context / 8 ms | the last number of the name | roofline |
| Procedural simulator, the roofline's plan is invalid | GPT-MoE at 25 ms; DeepSeek-V3 and Qwen3-235B at 50 ms with 64 devices at most | decode | `h100_sxm` | TPOT | 64 or none | procedural, `fixed` |
| GPT-MoE, procedural simulator | as at SLO 50 ms | decode | `h100_sxm` | TPOT 50 ms | none | [procedural](ProceduralSimulator.md), `runtime` and `fixed` |

The space of a GPT-MoE model is 7 × 5 × 8 × 14 degrees times 3¹² dims, 2.1·10⁹ strategies; that of Llama, with 9 operators, 27
times smaller, and that of DeepSeek-V3, with 25, 1.6 million times larger, without their limits on devices. *1.0 is the optimum*
that `exact` proved; on the procedural simulator, which cannot be opened, it is the best that any run found, the long ones of
`bench/search/best_known.csv` (`./dev bench search --best-known`) among them.

Constants were tuned on the GPT-MoE workloads, on DeepSeek-V3 with 64 devices, and the joint critic on *shown* cells of [Where
dims pay](WhereDimsPay.md). The cells of the group "Where dims pay" are of models that served for nothing, but that a seed of two of
them (Llama-3.1-405B on `h200_sxm`, Qwen3-235B on `a100_sxm` at 16k) was looked at after tuning, and that `patience` was chosen with an
eye on the runs that are scored, eight of which it changed. The length of a warm start was chosen on 12 workloads of the procedural
simulator that serve for nothing else. That a black box's search starts anew without the roofline's plans, two seeds of
gpt-moe-1.6T-32k at 25 ms told, which are scored; six other workloads agreed. What is from outside is untuned.
"""

HOW = """## How this is measured

`./dev bench search` runs every searcher of [Search and evaluation](Search.md) with a budget of {budget} calls, one process a
run and one thread, and writes a line for every run into `bench/search/results.csv`; a stopped bench continues where it was. `n of m`
is what is measured of what the plan has. *Version* is the commit whose programs ran. What is not measured yet stands [at the
end](#what-is-missing).

*Every strategy asked for counts*, as by default (`accounting=asked`): repeated, invalid or not. *Repeats and masked degrees free*:
only what is new counts, and not of degrees that no dims can make feasible; a search that proposes nothing new any more ends after 25
strategies for each call of the budget. A searcher that only asks for what is new has one run for both.

`optuna-tpe` is [Optuna](https://optuna.org)'s TPE, multivariate, 64 random trials first; `catcmawm` is CatCMAwM of
[cmaes](https://github.com/CyberAgentAILab/cmaes), population 50, restarted when half of a generation is one point and three
generations in a row have found nothing better. Both ask `shard-cost --serve` and minimise −log throughput, or, of an invalid strategy,
a penalty by how far it exceeds memory and SLO. `sb3-ppo` is [Stable-Baselines3](https://github.com/DLR-RM/stable-baselines3)'s PPO
with the network, the rewards and the schedule [of `ppo-paper`](Agent.md#ppo-paper).

Brackets are 95 % intervals over seeds, of at least five: of a mean by Student's t on the means of the seeds, of a median by the
bootstrap, corrected for bias and acceleration. *Calls to 99 %* is the median number of charged calls after which the best is
at least 0.99 of the optimum, *q75* the 75 % quantile, *never* where fewer runs than that got there. *CPU s* is the median processor
time of the process, start and proof of the optimum among it, of the version that was measured last; a process has one thread, so that
this is its wall time where nothing else runs. Builds are release builds, but for 117e121 to e72e947, which have assertions and are two
to three times as slow; a8a4a3b ran beside much other work, which doubles processor times, and 4bd9e2b and 60c64c3 beside some.
`ppo-paper` multiplies with OpenBLAS since b327c2b. Optuna's TPE takes two minutes a run, and is run where few runs are needed. Bands
of the curves hold the middle 80 % of the runs."""


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
        advice.lines(measured),
        WORKLOADS.rstrip(),
        *filter(None, (groups.section(g, measured, wanted, figures.get(g)) for g in GROUPS)),
        verdict.section(measured),
        parts.section(measured),
        targets.section(measured),
        HOW.format(budget=budget),
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
        str(paths.environment_python()),
        "-m",
        "search.plots",
        f"--results={table}",
        f"--budget={args.budget}",
        f"--output={args.docs / 'figures'}",
    ]
    subprocess.run(command, check=True, env=outside.environment(paths.root))


def write(args, paths, results, references):
    """Writes the pages and their pictures, or compares the pages; the exit code."""
    measured = Measured(results, references, args.budget)
    if not args.check and not args.no_figures:
        draw(args, paths, results.path)
    pages = {
        NAME: text(measured, args.budget, figure_names(args.docs)),
        reproduction.NAME: reproduction.text(measured, args.docs),
    }
    is_stale = False
    for name, page in pages.items():
        path = args.docs / name
        if not args.check:
            path.write_text(page)
            continue
        there = path.read_text() if path.exists() else ""
        if there != page:
            is_stale = True
            lines = difflib.unified_diff(
                there.splitlines(), page.splitlines(), str(path), "generated", lineterm=""
            )
            print("\n".join(lines), file=sys.stderr)
    return int(is_stale)
