"""Writes docs/SearchComparison.md, its pages of tables, docs/Reproduction.md and the figures
from the table of results."""

import collections
import difflib
import subprocess
import sys

from . import advice, environment, groups, manifest, markdown, outside, parts, reproduction
from . import targets, verdict
from .measured import Measured
from .workloads import GROUPS

NAME = "SearchComparison.md"
#: Pages of tables: a name, a title and the groups, by their kind.
TABLES = (
    ("SearchTables.md", "Searchers on costs that can be opened",
     lambda group: not group.is_black_box and not group.is_scarce),
    ("SearchTablesScarce.md", "Searchers where almost nothing is feasible",
     lambda group: group.is_scarce),
    ("SearchTablesProcedural.md", "Searchers on the procedural simulator",
     lambda group: group.is_black_box),
)

NOTE = (
    "<!-- Generated from bench/search/results.csv.xz by ./dev bench search --page."
    " Do not edit. -->"
)

WORKLOADS = """## Workloads

A workload is a model, a phase, a context, a machine, a latency limit and a device limit. Throughput is in tokens/s per
device. The tables use these names:

| group | models | phase | machine | SLO | maximum devices | simulator |
| --- | --- | --- | --- | --- | --- | --- |
| GPT-MoE, SLO 50 ms | 1.2T and 1.6T at contexts of 16k, 32k and 64k | decode | `h100_sxm` | TPOT 50 ms | none | roofline |
| GPT-MoE, SLO 25 ms and 15 ms | the same | decode | `h100_sxm` | TPOT 25 ms, 15 ms | none | roofline |
| Published models | DeepSeek-V3, Qwen3-235B, Llama-3.1-405B at 16k | decode | `h100_sxm` | TPOT 50 ms | 64 | roofline |
| Where dims pay | held-out cells of [Where dims pay](WhereDimsPay.md): model, phase, context, machine, devices | both | several | TPOT 50 ms; TTFT 1 s or context / 8 ms | the last number of the name | roofline |
| Where dims pay, calibrated kernels | the same | both | several | the same | the same | [calibrated](Calibration.md#plan-with-it) |
| Almost nothing is feasible | nine workloads to tune on, eight held out; names as above, at most 1000 calls | both | several | less than a thousandth of the strategies meets it | the last number of the name | roofline |
| Procedural simulator, the roofline's plan is invalid | GPT-MoE at 25 ms; DeepSeek-V3 and Qwen3-235B at 50 ms with 64 devices at most | decode | `h100_sxm` | TPOT | 64 or none | procedural, `fixed` |
| GPT-MoE, procedural simulator | as at SLO 50 ms | decode | `h100_sxm` | TPOT 50 ms | none | [procedural](ProceduralSimulator.md), `runtime` and `fixed` |

The search space of a GPT-MoE model is 7 × 5 × 8 × 14 degrees times 3¹² dims, 2.1·10⁹ strategies. Without device limits, that
of Llama, with 9 operators, is 27 times smaller, and that of DeepSeek-V3, with 25, is 1.6 million times larger. *1.0 is the
optimum* that `exact` proved. On the procedural simulator, which cannot be opened, it is the best of all runs, including the long
ones of `bench/search/best_known.csv` (`./dev bench search --best-known`).

Constants were tuned on the GPT-MoE workloads and on DeepSeek-V3 with 64 devices; the joint critic was tuned on *shown* cells of
[Where dims pay](WhereDimsPay.md). The held-out cells use models without any part in tuning, with three exceptions. A seed of two
of them (Llama-3.1-405B on `h200_sxm`, Qwen3-235B on `a100_sxm` at 16k) was inspected after tuning. `patience` was chosen with an
eye on scored runs, and changed eight of them. Restarts of a black-box search without the roofline's plans were found with two scored
seeds of gpt-moe-1.6T-32k at 25 ms; six other workloads agreed. The length of a warm start was chosen on 12 other workloads of the
procedural simulator. External searchers are untuned.
"""

HOW = """## Methodology

`./dev bench search` runs every searcher of [Search and evaluation](Search.md) with a budget of {budget} calls. Each run is one
process with one thread and writes a line into `bench/search/results.csv`; an interrupted bench resumes. `n of m` are measured and
planned runs. *Version* is the commit of the measured programs. [The end](#what-is-missing) lists the missing runs.

*Every strategy asked for counts*, the default (`accounting=asked`), includes repeated and invalid ones. *Repeats and masked degrees
free* counts only new strategies with degrees that some dims can make feasible. Such a search ends after 25 strategies per call of
the budget if it proposes nothing new. A searcher that only asks for new strategies has one run for both.

`optuna-tpe` is [Optuna](https://optuna.org)'s TPE, multivariate, with 64 random trials first. `catcmawm` is CatCMAwM of
[cmaes](https://github.com/CyberAgentAILab/cmaes) with population 50. It restarts if half of a generation is one point and three
generations in a row found nothing better. Both call `shard-cost --serve` and minimize −log throughput; an invalid strategy gets a
penalty by its excess of memory and SLO. `sb3-ppo` is [Stable-Baselines3](https://github.com/DLR-RM/stable-baselines3)'s PPO with
the network, the rewards and the schedule [of `ppo-paper`](Agent.md#ppo-paper).

Brackets are 95 % intervals over at least five seeds. That of a mean is Student's t on the means of the seeds; that of a median is
the bootstrap, corrected for bias and acceleration. *Calls to 99 %* is the median number of calls until the best is at least 0.99 of
the optimum, and *q75* its 75 % quantile; *never* means that too few runs got there. *CPU s* is the median CPU time of the process,
including start-up and the proof of the optimum, for the latest measured version. A process has one thread, so this is its wall time
on an idle machine. Bands of the curves hold the middle 80 % of the runs.

Builds are release builds, except 117e121 to e72e947, which have assertions and are two to three times as slow. Commit a8a4a3b ran on a
loaded machine, which doubles CPU times, and 4bd9e2b and 60c64c3 on a slightly loaded one. The build of dd40b6ac has the assertions of
the standard library, and ran on a loaded machine. `ppo-paper` multiplies with OpenBLAS since b327c2b. Optuna's TPE takes two minutes per run, so it has few runs."""


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


def text(measured, budget):
    """The page without the groups' tables."""
    wanted = wanted_runs(budget)
    tables = "\n".join(f"- [{title}]({name})" for name, title, _ in TABLES)
    sections = [
        NOTE,
        "# The searchers compared",
        advice.lines(measured),
        f"The tables of all searchers, with curves:\n\n{tables}",
        WORKLOADS.rstrip(),
        verdict.section(measured),
        parts.section(measured),
        targets.section(measured),
        HOW.format(budget=budget),
        missing_section(measured, wanted),
    ]
    return "\n\n".join(sections) + "\n"


def tables_text(title, is_shown, measured, budget, figures):
    """A page of tables of the groups that `is_shown` holds of."""
    wanted = wanted_runs(budget)
    shown = [name for name, group in GROUPS.items() if is_shown(group)]
    sections = (groups.section(each, measured, wanted, figures.get(each)) for each in shown)
    about = f"[The searchers compared]({NAME}) has the workloads, what the columns mean, and who is ahead."
    return "\n\n".join([NOTE, f"# {title}", about, *filter(None, sections)]) + "\n"


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
    figures = figure_names(args.docs)
    pages = {
        NAME: text(measured, args.budget),
        **{
            name: tables_text(title, is_shown, measured, args.budget, figures)
            for name, title, is_shown in TABLES
        },
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
