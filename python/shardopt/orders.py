"""The order of a plan's ops on the devices of its stages."""

from __future__ import annotations

import json
import os
import tempfile
from dataclasses import dataclass, field
from pathlib import Path

from ._tools import compiled
from .checks import _check_kind
from .errors import Contradiction
from .plans import Plan
from .problem import Problem
from .programs import APPLIED, write_inputs
from .tables import counted


@dataclass(frozen=True)
class Ordered:
    """A plan with the order of its ops: in decode chosen together with its dims and stages."""

    strategy_ms: float
    """A step, or the prompts of a batch, where a stage does one thing at a time."""
    planned_ms: float
    """The same in this order."""
    contended_ms: float
    """The same where transfers at one time share their link."""
    bound_ms: float
    """No order takes less; in decode no dims and stages either."""
    stages: tuple[int, ...]
    """Layers of each; empty: as the plan has them."""
    microbatches: int
    chunks: int
    module: str = field(repr=False)
    """The program with its strategy and schedule, which shard-schedule reads and draws."""

    @property
    def gap(self) -> float:
        return 1 - self.bound_ms / self.planned_ms

    def __str__(self) -> str:
        stages = f", stages of {'+'.join(map(str, self.stages))} layers" if self.stages else ""
        return (
            f"  order     {self.planned_ms:.3f} ms ({self.contended_ms:.3f} on shared links), "
            f"{self.strategy_ms:.3f} one thing at a time\n"
            f"            bound {self.bound_ms:.3f} ms, gap {100 * self.gap:.1f} %; "
            f"{counted(self.microbatches, 'micro-batch', 'micro-batches')}, "
            f"{counted(self.chunks, 'chunk')} each{stages}"
        )


#: Search steps for a number of chunks, so that every machine finds the same order.
ROUNDS = 1


def order(plan: Plan, rounds: int = ROUNDS) -> Ordered:
    """Orders the ops of a plan of several stages, by the times of its simulator. In decode
    dims and stages change with the order where that is faster (`--llm-schedule-stages`)."""
    _check_kind(Plan, "plan", plan)
    problem = plan.problem
    if plan.strategy.pp == 1:
        raise Contradiction("'pp' is 1, and an order is of several stages; expected pp above 1")
    is_joint = problem.phase == "decode"
    with tempfile.TemporaryDirectory() as folder:
        inputs = write_inputs(folder, problem.model, plan.strategy)
        words = [*_of_problem(problem), f"rounds={rounds}", "chunks=1,2", "report=report.json"]
        passes = f"--llm-schedule-stages={' '.join(['joint'] * is_joint + words)}"
        module = compiled(
            [inputs, APPLIED, passes, "-o", "-"], folder, "the plan cannot be ordered"
        )
        report = json.loads(Path(folder, "report.json").read_text(encoding="utf-8"))
    if is_joint:
        found = report["joint"]
        return Ordered(
            report["strategy_ms"], found["planned_ms"], found["contended_ms"],
            report["bound_ms"], tuple(found["stages"]), found["microbatches"],
            found["chunks"], module,
        )
    found = next(step for step in report["steps"] if step["chunks"] == report["chunks"])
    return Ordered(
        found["serial_ms"], found["makespan_ms"], found["contended_ms"],
        found["lower_bound_ms"], (), found["microbatches"], found["chunks"], module,
    )


def _of_problem(problem: Problem) -> list[str]:
    """What the pass has to know of a problem."""
    machine = problem.machine or problem.machine_name
    slo = "slo-tpot-ms" if problem.phase == "decode" else "slo-ttft-ms"
    words = [
        f"machine={os.path.abspath(machine) if Path(machine).is_file() else machine}",
        f"{slo}={problem.slo_ms:g}", f"partition={problem.partition}",
    ]
    if problem.simulator is not None:
        words.append(f"simulator={problem.simulator}")
    return words
