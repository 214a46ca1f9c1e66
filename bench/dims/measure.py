"""Optima and Megatron's best of cells, and what makes the difference."""

import concurrent.futures
import dataclasses
import itertools
import json
import pathlib
import subprocess

from .cells import find_config

STYLES = ("megatron_tp", "megatron_tp_ep", "megatron_tp_sp")


@dataclasses.dataclass(frozen=True)
class Result:
    """A cell's proved optimum and the best plan with Megatron's dims, each as in
    the report (`strategy`, `throughput`, ...); None where nothing is feasible."""

    cell: object
    best: dict
    style: str
    megatron: dict
    proved: bool

    @property
    def gain(self):
        """Throughput of the optimum over that of Megatron's best; infinite where
        Megatron's dims have no feasible plan, None where no dims have."""
        if not self.best:
            return None
        return self.best["throughput"] / self.megatron["throughput"] if self.megatron else float("inf")


class Tools:
    def __init__(self, build, scratch):
        self.binaries = pathlib.Path(build).resolve() / "bin"
        self.scratch = pathlib.Path(scratch)
        self.numbers = itertools.count()  # of reports

    def run(self, name, *arguments):
        return subprocess.run(
            [str(self.binaries / name), *map(str, arguments)], capture_output=True, text=True
        )

    def import_program(self, program):
        """The module of (model, phase, context), made once."""
        model, phase, context = program
        path = self.scratch / f"{model}-{phase}-{context}.mlir"
        options = (f"--phase={phase}", f"--context={context}", "-o", path)
        done = self.run("shard-translate", "--import-hf", find_config(model), *options)
        if done.returncode:
            raise RuntimeError(f"{model}: {done.stderr.strip()}")
        return path

    def report(self, cell, module, *options):
        """The report of an exact search, with more options than those of the cell."""
        report = self.scratch / f"{next(self.numbers)}.json"
        slo, limit = cell.limit
        cluster = f"searcher=exact machine={cell.machine} max-devices={cell.devices}"
        words = " ".join((cluster, f"{slo}={limit} report={report}", *options))
        done = self.run("shard-opt", module, f"--llm-search-sharding=simulator=roofline {words}", "-o", "/dev/null")
        if not report.exists():
            raise RuntimeError(f"{cell}: {done.stderr.strip()}")
        found = json.loads(report.read_text())
        report.unlink()
        return found

    def search(self, cell, module):
        """The cell's Result."""
        found = self.report(cell, module)
        plans = {s: found["baselines"][s] for s in STYLES if found["baselines"][s]}
        style = max(plans, key=lambda s: plans[s]["throughput"], default="")
        return Result(cell, found["best"], style, plans.get(style), found["proved"])

    def explain(self, cell, module, strategy):
        """The report's plan of a strategy: metrics and, of each op, the times."""
        report = self.scratch / "explained.json"
        slo, limit = cell.limit
        chosen = " ".join(f"{k}={v}" for k, v in strategy.items() if k != "dims")
        dims = ",".join(map(str, strategy["dims"].values()))
        done = self.run(
            "shard-opt",
            module,
            f"--llm-apply-strategy={chosen} dims={dims}",
            f"--llm-evaluate-strategy=simulator=roofline machine={cell.machine} {slo}={limit} report={report}",
            "-o",
            "/dev/null",
        )
        if not report.exists():
            raise RuntimeError(f"{cell}: {done.stderr.strip()}")
        plan = json.loads(report.read_text())["best"]
        report.unlink()
        return plan


def in_all(search, cells, tools, jobs, note):
    """`search(cell, module)` of each cell, in order, and the modules by program;
    `note` is told how many are done."""
    results, modules = [], {}
    with concurrent.futures.ThreadPoolExecutor(jobs) as pool:
        programs = list(dict.fromkeys(cell.program for cell in cells))
        modules = dict(zip(programs, pool.map(tools.import_program, programs)))
        for result in pool.map(lambda c: search(c, modules[c.program]), cells):
            results.append(result)
            note(len(results))
    return results, modules


def measure(cells, tools, jobs, note):
    """The Result of each cell, in order."""
    return in_all(tools.search, cells, tools, jobs, note)
