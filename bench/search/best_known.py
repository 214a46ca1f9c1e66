"""Long runs on the black boxes, whose optimum nobody can prove.

Their best strategies are kept in best_known.csv; a better one replaces a row.
"""

import dataclasses
import json
import pathlib
import tempfile

from . import reference, runs, searchers, tools
from .bench import Modules
from .manifest import FREE, Job
from .workloads import GROUPS

# Other seeds than those that are compared, so that no run is measured against
# itself with a larger budget.
SEEDS = range(1000, 1001)
LONG_RUNS = (
    (searchers.SURROGATE, 12_000),
    (searchers.COORDINATE, 60_000),
)


def jobs():
    """Every long run, workload by workload."""
    for group in GROUPS.values():
        for workload in group.workloads:
            if workload.is_black_box:
                for searcher, budget in LONG_RUNS:
                    for seed in SEEDS:
                        yield Job(workload, searcher, (FREE,), seed, budget)


def search(paths, path, selected):
    """Runs `selected` jobs and writes the table `path` after every improvement."""
    known = reference.load_best_known(path)
    modules, processes = Modules(paths), tools.Processes()
    for job in selected:
        with tempfile.TemporaryDirectory(dir=paths.scratch) as scratch:
            own = dataclasses.replace(paths, scratch=pathlib.Path(scratch))
            try:
                module = modules.get(job.workload)
                found = runs.best_of(job, module, own, processes)
            except runs.Failed as failure:
                print(f"skipped {' '.join(job.workload.key)}: {failure}", flush=True)
                continue
            except BaseException:
                processes.stop()
                raise
        row = known.get(job.workload.key)
        is_better = found and (not row or found["throughput"] > float(row["best"]))
        if is_better:
            known[job.workload.key] = _row(job, found)
            reference.save_best_known(path, known)
        words = (*job.workload.key, job.searcher.name, str(job.seed))
        value = found["throughput"] if found else 0.0
        print(f"{' '.join(words)}: {value:.8g}{' (best)' * bool(is_better)}", flush=True)


def _row(job, found):
    workload, simulator, slo_ms = job.workload.key
    return {
        "workload": workload,
        "simulator": simulator,
        "slo_ms": slo_ms,
        "best": f"{found['throughput']:.8g}",
        "searcher": job.searcher.name,
        "seed": job.seed,
        "budget": job.budget,
        "strategy": json.dumps(found["strategy"], separators=(",", ":")),
        "version": tools.version(),
    }
