"""Simulators in processes of their own, as the searches of the passes run them."""

from __future__ import annotations

import threading
from typing import Any

from .border import check_text, shown
from .checks import _check_kind, _seconds
from .errors import ShardoptError, SimulatorLost, WrongValue
from .plans import Metrics, Strategy, evaluate
from .problem import Problem
from .trials import Failed


class Process:
    """A simulator for `Search.run` that is a program, `exec:<command>`, or a
    library, `plugin:<file>`, as docs/BlackBox.md says.

    Each thread that evaluates has a worker of its own, which is started when it
    is needed, killed where it does not answer in time, and restarted where it
    has to be. What fails is `Failed` with the kind: "crash", "timeout",
    "nonsense", "not_a_number", "error". Where no worker can be started,
    `SimulatorLost` says what it wrote.

    It can be pickled: workers are then started where it arrives.
    """

    def __init__(self, problem: Problem, simulator: str, timeout_s: float = 60.0):
        kinds = ("exec:", "plugin:")
        if not isinstance(simulator, str) or not simulator.startswith(kinds):
            raise WrongValue(
                f"the simulator is {shown(simulator)}, expected exec:<command> or "
                "plugin:<file>"
            )
        check_text("simulator", simulator)
        _check_kind(Problem, "problem", problem)
        self.problem = problem
        self.simulator = simulator
        self.timeout_s = _seconds("timeout_s", timeout_s)
        self._own = threading.local()

    def __getstate__(self) -> dict[str, Any]:
        return {key: value for key, value in self.__dict__.items() if key != "_own"}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self._own = threading.local()

    def _worker(self) -> Problem:
        if not hasattr(self._own, "worker"):
            try:
                self._own.worker = self.problem.replace(
                    simulator=self.simulator, simulator_timeout_s=self.timeout_s
                )
            except ShardoptError as error:
                raise SimulatorLost(str(error)) from None
        return self._own.worker

    def __call__(self, strategy: Strategy) -> Metrics | Failed:
        worker = self._worker()
        before = worker.handle.failures
        (found,) = evaluate(worker, [strategy])
        if found.reason != "failed":
            return found
        broken = worker.handle.breakdown
        if broken is not None:
            raise SimulatorLost(broken)
        after = worker.handle.failures
        new = [kind for kind in after if after[kind] != before.get(kind, 0)]
        # A restart that was refused and then worked costs no evaluation.
        return Failed(min(new, key=lambda kind: kind == "refused_start", default="error"))
