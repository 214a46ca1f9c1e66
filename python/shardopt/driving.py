"""A search that is driven to its end by a simulator on an executor."""

from __future__ import annotations

import concurrent.futures
import time
from dataclasses import dataclass
from typing import Any, Callable, Sequence

from .errors import ShardoptError, list_known
from .plans import Metrics, Strategy
from .searching import Failed, Search, Trial, read_metrics

Simulator = Callable[[Strategy], Any]


@dataclass(frozen=True)
class Driven:
    """How a run went."""

    best: tuple[Trial, Metrics] | None
    evaluations: int
    failures: dict[str, int]
    seconds: float
    busy: float
    """The share of the time of all slots in which they evaluated."""
    device_seconds: float
    stopped: str
    """"done", "device_seconds", or "callback"."""


def _timed(simulator: Simulator, strategy: Strategy) -> tuple[Any, float]:
    """What the simulator says, and how long it took; runs where the executor
    puts it."""
    start = time.monotonic()
    try:
        found = simulator(strategy)
    except Exception as error:
        found = Failed(f"{type(error).__name__}: {error}")
    return found, time.monotonic() - start


@dataclass
class _Drive:
    search: Search
    simulator: Simulator
    executor: Any
    callbacks: Sequence[Callable[[Search, Trial, Metrics], Any]]
    device_seconds: float | None
    busy: float = 0.0
    spent: float = 0.0
    stopped: str = ""

    def submit(self, trial: Trial) -> Any:
        return self.executor.submit(_timed, self.simulator, trial.strategy)

    def tell(self, trial: Trial, future: Any) -> None:
        try:
            found, seconds = future.result()
        except Exception as error:  # the executor lost it
            found, seconds = Failed(f"{type(error).__name__}: {error}"), 0.0
        self.busy += seconds
        self.spent += seconds * trial.strategy.devices
        try:
            read_metrics(self.search.problem, found)
        except ShardoptError as error:
            found = Failed(f"nonsense: {error}")
        self.search.tell(trial, found)
        metrics = self.search.history[-1][1]
        for callback in self.callbacks:
            if callback(self.search, trial, metrics) is False:
                self.stopped = "callback"
        if self.device_seconds is not None and self.spent >= self.device_seconds:
            self.stopped = self.stopped or "device_seconds"

    def in_windows(self, parallel: int) -> None:
        """Windows of trials, told in the order of asking."""
        while not self.stopped and not self.search.done:
            trials = self.search.ask(parallel)
            if not trials:
                return
            futures = [self.submit(trial) for trial in trials]
            for trial, future in zip(trials, futures):
                self.tell(trial, future)

    def as_they_come(self, parallel: int) -> None:
        """As many under way as there is room for, told when they are done."""
        running: dict[Any, Trial] = {}
        while True:
            room = 0 if self.stopped else parallel - len(running)
            if room > 0 and not self.search.done:
                for trial in self.search.ask(room):
                    running[self.submit(trial)] = trial
            if not running:
                return
            done, _ = concurrent.futures.wait(
                running, return_when=concurrent.futures.FIRST_COMPLETED
            )
            for future in done:
                self.tell(running.pop(future), future)


def drive(
    search: Search,
    simulator: Simulator,
    executor: Any = None,
    parallel: int = 1,
    order: str = "deterministic",
    callbacks: Sequence[Callable[[Search, Trial, Metrics], Any]] = (),
    device_seconds: float | None = None,
) -> Driven:
    """Evaluates with `simulator`, a function of a strategy that gives what
    `Search.tell` takes, until the search ends.

    `executor` is any of `concurrent.futures`, or of the same interface; threads
    of this process where none is given. With the order "deterministic" windows
    of `parallel` trials are asked and told together: the result depends on
    `parallel` alone. With "async" a trial is told as soon as it is done. What
    raises is a failure of its trial. A callback that returns False ends the
    run, and so does having spent `device_seconds`: evaluations take as many
    devices as their strategy has.
    """
    orders = ("deterministic", "async")
    if order not in orders:
        raise ShardoptError(f"unknown order {order!r}; " + list_known(str(order), orders))
    if isinstance(parallel, bool) or not isinstance(parallel, int) or parallel < 1:
        raise ShardoptError(f"'parallel' is {parallel!r}, expected a number above 0")
    own = None
    if executor is None:
        executor = own = concurrent.futures.ThreadPoolExecutor(parallel)
    at = _Drive(search, simulator, executor, callbacks, device_seconds)
    start, told = time.monotonic(), len(search.history)
    try:
        if order == "async":
            at.as_they_come(parallel)
        else:
            at.in_windows(parallel)
    finally:
        if own:
            own.shutdown(wait=False, cancel_futures=True)
    seconds = time.monotonic() - start
    return Driven(
        search.best,
        len(search.history) - told,
        dict(search.failures),
        seconds,
        at.busy / (seconds * parallel) if seconds else 0.0,
        at.spent,
        at.stopped or "done",
    )
