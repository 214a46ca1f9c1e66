"""Runs a job and makes its rows."""

import dataclasses
import json

from . import manifest, outside, scores
from .results import KEY_FIELDS


# Members of a report that a searcher has of its own.
COUNTS = ("agents", "early_exits")


class Failed(Exception):
    """A run that gave no result; the message says why, as its tool did."""


@dataclasses.dataclass(frozen=True)
class Outcome:
    """What a run gave, under one accounting."""

    steps: list
    charged: int
    evaluations: int
    rejected: int
    stopped: str
    counts: str = ""


def run(job, module, paths, processes, **files):
    """Runs a job on its program: the rows, one an accounting, not scored yet. `files` are
    options of the pass that name one, for a searcher of shard-opt."""
    if job.searcher.is_outside:
        outcomes, finished = _run_outside(job, module, paths, processes)
    else:
        outcomes, finished = _run_inside(job, module, paths, processes, files)
    return [
        _row(key, outcome, finished) for key, outcome in zip(job.keys(), outcomes)
    ]


def _row(key, outcome, finished):
    """The fields of a row that the run itself gives."""
    return {
        **dict(zip(KEY_FIELDS, key)),
        "best": outcome.steps[-1][1] if outcome.steps else 0.0,
        "charged": outcome.charged,
        "evaluations": outcome.evaluations,
        "rejected": outcome.rejected,
        "stopped": outcome.stopped,
        "wall_s": f"{finished.wall_s:.3f}",
        "cpu_s": f"{finished.cpu_s:.3f}",
        "steps": scores.write_steps(outcome.steps),
        "counts": outcome.counts,
    }


# --- searchers of shard-opt ---------------------------------------------------


def _pass_options(job, files):
    """The options of --llm-search-sharding for a job, as text; `files` are those
    that name an output."""
    options = {**job.workload.pass_options(), "searcher": job.searcher.name}
    options["threads"] = 1
    if job.searcher.has_seeds:
        options["seed"] = job.seed
        options["budget"] = job.budget
        options["accounting"] = job.accountings[0]
    words = [f"{key}={value}" for key, value in {**options, **files}.items()]
    return " ".join([*words, *job.searcher.options.split()])


def search(job, module, paths, processes, **files):
    """Runs shard-opt; the members of its report, and how it finished."""
    report = paths.scratch / "report.json"
    options = _pass_options(job, {"report": report, **files})
    command = [
        paths.tool("shard-opt"),
        str(module),
        f"--llm-search-sharding=simulator=roofline {options}",
        "-o",
        "/dev/null",
    ]
    finished = processes.run(command, paths.scratch / "stderr.log")
    # A search that found nothing valid fails, and has a result all the same.
    if not report.exists() or finished.code not in (0, 1):
        raise Failed(finished.error)
    return json.loads(report.read_text()), finished


def _run_inside(job, module, paths, processes, files):
    trace = paths.scratch / "trace.jsonl"
    facts, finished = search(job, module, paths, processes, trace=trace, **files)
    with open(trace) as lines:
        entries = [(entry["budgeted_evaluations"], entry["best"]) for entry in map(json.loads, lines)]
    outcome = Outcome(
        scores.steps_of(entries),
        entries[-1][0] if entries else 0,
        facts["evaluations"],
        facts["rejected_draws"],
        facts["stopped"],
        " ".join(f"{name}={facts[name]}" for name in COUNTS if name in facts),
    )
    return [outcome], finished


def best_of(job, module, paths, processes):
    """The best plan that a searcher of shard-opt finds, as its report has it;
    None if it finds none."""
    facts, _ = search(job, module, paths, processes)
    return facts["best"]


# --- optimisers from outside --------------------------------------------------


def _run_outside(job, module, paths, processes):
    """The optimiser runs in the virtual environment and asks shard-cost."""
    python = paths.environment_python(job.searcher.environment)
    if not python:
        raise Failed(f"no virtual environment with '{job.searcher.name}'")
    trace = paths.scratch / "trace.jsonl"
    server = [paths.tool("shard-cost"), "--serve", str(module), "--simulator=roofline"]
    for key, value in job.workload.pass_options().items():
        server.append(f"--{key}={value}")
    command = [
        str(python),
        "-m",
        "search.outside",
        f"--optimizer={job.searcher.name}",
        f"--seed={job.seed}",
        f"--budget={job.budget}",
        f"--trace={trace}",
        f"--slo-ms={job.workload.slo_ms}",
        f"--memory-gb={job.workload.memory_gb(paths)}",
        "--",
        *server,
    ]
    finished = processes.run(
        command, paths.scratch / "stderr.log", env=outside.environment(paths.root)
    )
    if finished.code != 0:
        raise Failed(finished.error)
    with open(trace) as lines:
        entries = list(map(json.loads, lines))
    return [
        replayed(entries, accounting, job.budget) for accounting in job.accountings
    ], finished


def replayed(entries, accounting, budget):
    """What a run gave under an accounting that the optimiser knew nothing of."""
    key = "new" if accounting == manifest.FREE else "asked"
    within = [entry for entry in entries if entry[key] <= budget]
    steps = scores.steps_of((entry[key], entry["best"]) for entry in within)
    charged = within[-1][key] if within else 0
    stopped = "budget" if charged == budget else "done"
    return Outcome(steps, charged, len(within), 0, stopped)
