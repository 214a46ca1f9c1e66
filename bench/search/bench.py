"""Runs the jobs of a plan that have no rows yet."""

import concurrent.futures
import dataclasses
import math
import pathlib
import subprocess
import tempfile
import threading

from . import runs, scores, searchers, tools, transfer
from .manifest import FREE, Job


def is_selected(job, only, seeds=None, batch=""):
    """Whether every text of `only` is in a word of the job or its batch, and the
    seed is one of `seeds` (None: any)."""
    words = (*job.workload.key, *job.searcher.key, *job.accountings, batch)
    has_all = all(any(text in word for word in words) for text in only)
    return has_all and (seeds is None or not job.searcher.has_seeds or job.seed in seeds)


def select(jobs, only, seeds):
    """The jobs, of (batch, job) pairs, that are selected, after the exact search
    that their workloads are measured against."""
    chosen = [job for batch, job in jobs if is_selected(job, only, seeds, batch.title)]
    proofs = [
        Job(job.workload, searchers.EXACT, (FREE,), 0, 0)
        for job in chosen
        if not job.workload.is_black_box
    ]
    return list(dict.fromkeys((*proofs, *chosen)))


def is_measured(job, results, version=None):
    """Whether every row of the job is there, and of this version if one is given."""
    rows = [results.rows.get(key) for key in job.keys()]
    return all(row and version in (None, row["version"]) for row in rows)


def scored(row, optimum):
    """A row with its fields that depend on the optimum, which may be None."""
    if not optimum:
        return {**row, "optimum": None, "ratio": None, "calls_to_99": None}
    steps = scores.read_steps(row["steps"])
    calls = scores.calls_to(steps, scores.NEAR * optimum)
    return {
        **row,
        "optimum": optimum,
        "ratio": row["best"] / optimum,
        "calls_to_99": calls if calls < math.inf else None,
    }


class Modules:
    """The programs of workloads, each imported once into the scratch folder."""

    def __init__(self, paths):
        self._paths = paths
        self._lock = threading.Lock()

    def get(self, workload):
        """The program's path, or None where the config is missing."""
        if not workload.find_config(self._paths):
            return None
        module = self._paths.scratch / f"{workload.name}.mlir"
        with self._lock:
            if not module.exists():
                command = workload.import_command(self._paths, module)
                subprocess.run(command, check=True)
        return module


class Bench:
    """Measures jobs and appends their rows as they come."""

    def __init__(self, paths, results, references):
        self._paths = paths
        self._results = results
        self._references = references
        self._modules = Modules(paths)
        self._processes = tools.Processes()
        self._teacher = transfer.Teacher(paths, self._modules, self._processes)
        self._version = tools.version()
        self._lock = threading.Lock()
        self._skipped = set()  # what failed once
        self._reasons = set()

    def run(self, jobs, processes=1):
        """Runs all jobs, so many at a time; whether none was skipped.

        An interrupt ends the runs at hand, which leave no row.
        """
        self._done, self._total = 0, len(jobs)
        with concurrent.futures.ThreadPoolExecutor(processes) as pool:
            futures = [pool.submit(self._measure, job) for job in jobs]
            try:
                for future in futures:
                    future.result()
            except BaseException:
                self._processes.stop()
                pool.shutdown(cancel_futures=True)
                raise
        return not self._skipped

    def _measure(self, job):
        # What a searcher cannot do with one seed it cannot do with another.
        kind = (*job.workload.key, *job.searcher.key)
        if kind in self._skipped:
            return
        try:
            module = self._modules.get(job.workload)
            if not module:
                raise runs.Failed(f"no {job.workload.config}")
            with tempfile.TemporaryDirectory(dir=self._paths.scratch) as scratch:
                paths = dataclasses.replace(self._paths, scratch=pathlib.Path(scratch))
                files = self._files_of(job, paths.scratch)
                rows = runs.run(job, module, paths, self._processes, **files)
        except runs.Failed as failure:
            if not self._processes.is_stopped:
                self._skip(kind, failure)
            return
        with self._lock:
            self._done += 1
            for row in rows:
                self._keep(job, row)

    def _files_of(self, job, folder):
        """What a run reads beside the program."""
        if not job.searcher.is_taught:
            return {}
        policy = self._teacher.policy_for(job.workload, job.seed, folder)
        return {"agent-pretrain": f"file:{policy}"}

    def _keep(self, job, row):
        self._references.learn(row)
        row = scored(row, self._references.of(job.workload))
        self._results.append({**row, "version": self._version})
        words = [row[key] for key in KEY_WORDS]
        shown = f"{row['ratio']:.4f}" if row["ratio"] else f"best {row['best']:.6g}"
        print(
            f"[{self._done}/{self._total}] {' '.join(filter(None, words))}: {shown}, "
            f"calls to 99 % {row['calls_to_99'] or '-'}, {row['wall_s']} s",
            flush=True,
        )

    def _skip(self, kind, why):
        """Notes it, and says it unless the same was said of another kind."""
        with self._lock:
            self._skipped.add(kind)
            if str(why) not in self._reasons:
                self._reasons.add(str(why))
                print(f"skipped {' '.join(filter(None, kind))}: {why}", flush=True)


KEY_WORDS = (
    "workload",
    "simulator",
    "slo_ms",
    "searcher",
    "variant",
    "accounting",
    "seed",
)
