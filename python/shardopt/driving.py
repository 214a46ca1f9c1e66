"""A search that is driven to its end by a simulator on an executor."""

from __future__ import annotations

import concurrent.futures
import queue
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Callable, Sequence

from .border import list_known, shown
from .errors import ClusterLost, ShardoptError, SimulatorLost, UnknownName, WrongValue
from .plans import Metrics, Strategy
from .problem import _seconds
from .tables import counted
from .trials import Failed, Trial, read_metrics

if TYPE_CHECKING:
    from .searching import Search

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
    """"done", "device_seconds", "callback", "simulator" where it cannot be started
    any more, "cluster" where that or the executor is gone, or "interrupted"."""
    why: str = ""
    """What ended the simulator or the cluster."""
    requeued: int = 0
    """Evaluations that went down with their worker, and were sent again."""
    pending: int = 0
    """Evaluations that were asked and not told; a run goes on with them."""
    checkpoint: str | None = None
    """The file that has all of it."""

    def __str__(self) -> str:
        evaluations = counted(self.evaluations, "evaluation")
        lines = [f"{evaluations} in {self.seconds:.3g} s, {self.busy:.0%} busy"]
        if self.failures:
            counts = (f"{count} {why}" for why, count in self.failures.items())
            lines.append("failures: " + ", ".join(counts))
        if self.requeued:
            lines.append(f"sent again, as their worker was lost: {self.requeued}")
        if self.stopped != "done":
            lines.append(f"ended early: {self.stopped}" + (f", {self.why}" if self.why else ""))
            how = "run the search again"
            if self.checkpoint:
                how += f", or open it with checkpoint={self.checkpoint!r}"
            first = counted(self.pending, "evaluation comes", "evaluations come")
            lines.append(f"to go on: {how}; {first} first")
        return "\n".join(lines)


def timed(simulator: Simulator, strategy: Strategy) -> tuple[Any, float]:
    """What the simulator says, and how long it took; runs where the executor
    puts it."""
    start = time.monotonic()
    try:
        found = simulator(strategy)
    except SimulatorLost:
        raise
    except Exception as error:
        found = Failed(f"{type(error).__name__}: {error}")
    return found, time.monotonic() - start


class _Host:
    """A simulator on an executor of `concurrent.futures`. What hosts simulators
    itself, as `shardopt.ray.Executor` does, gives the same."""

    requeued = 0

    def __init__(self, executor: Any, simulator: Simulator, parallel: int):
        self._own = None
        if executor is None:
            executor = self._own = concurrent.futures.ThreadPoolExecutor(parallel)
        self._executor = executor
        self._simulator = simulator
        self.workers = parallel

    def submit(self, strategies: Sequence[Strategy]) -> list[Any]:
        """For each a future of what `timed` gives."""
        try:
            return [
                self._executor.submit(timed, self._simulator, strategy)
                for strategy in strategies
            ]
        except Exception as error:
            raise ClusterLost(
                f"the executor takes no more work: {type(error).__name__}: {error}"
            ) from error

    def under_way(self, parallel: int, left: int) -> int:
        """How many evaluations of `left` should be under way, in any order."""
        return parallel

    def close(self) -> None:
        if self._own:
            self._own.shutdown(wait=False, cancel_futures=True)


@dataclass
class _Drive:
    search: Search
    host: Any
    callbacks: Sequence[Callable[[Search, Trial, Metrics], Any]]
    device_seconds: float | None
    busy: float = 0.0
    stopped: str = ""

    def submit(self, trials: Sequence[Trial]) -> list[Any]:
        return list(self.host.submit([trial.strategy for trial in trials]))

    def tell(self, trial: Trial, future: Any) -> None:
        try:
            found, seconds = future.result()
        except (ClusterLost, SimulatorLost):
            raise
        except concurrent.futures.BrokenExecutor as error:  # and all that it had
            raise ClusterLost(
                f"the executor is broken: {type(error).__name__}: {error}"
            ) from error
        except Exception as error:  # the executor lost it
            found, seconds = Failed(f"{type(error).__name__}: {error}"), 0.0
        self.busy += seconds
        try:
            read_metrics(self.search.problem, found)
        except ShardoptError as error:
            found = Failed(f"nonsense: {error}")
        self.search.tell(trial, found, seconds * trial.strategy.devices)
        metrics = self.search.history[-1][1]
        for callback in self.callbacks:
            if callback(self.search, trial, metrics) is False:
                self.stopped = "callback"
        self.count()

    def count(self) -> None:
        """Ends the run that has spent its budget."""
        spent = self.search.device_seconds
        if self.device_seconds is not None and spent >= self.device_seconds:
            self.stopped = self.stopped or "device_seconds"

    def in_windows(self, parallel: int) -> None:
        """Windows of trials, told in the order of asking."""
        while not self.stopped and not self.search.done:
            trials = self.search.ask(parallel)
            if not trials:
                return
            for trial, future in zip(trials, self.submit(trials)):
                self.tell(trial, future)

    def left(self) -> int:
        """Evaluations that budgets leave, those under way included; of a budget of
        device-seconds by what evaluations have cost so far."""
        told, spent = len(self.search.history), self.search.device_seconds
        left = self.search.budget - told
        if self.device_seconds is not None and spent:
            left = min(left, int((self.device_seconds - spent) * told / spent))
        return max(left, 0)

    def as_they_come(self, parallel: int) -> None:
        """As many under way as there is room for, told when they are done."""
        running: dict[Any, Trial] = {}
        done: "queue.SimpleQueue[Any]" = queue.SimpleQueue()
        while True:
            room = self.host.under_way(parallel, self.left()) - len(running)
            if room > 0 and not self.stopped and not self.search.done:
                trials = self.search.ask(room)
                for trial, future in zip(trials, self.submit(trials)):
                    running[future] = trial
                    future.add_done_callback(done.put)
            if not running:
                return
            # All that are done now, so that as many are asked together.
            for _ in range(max(1, done.qsize())):
                future = done.get()
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

    `executor` is any of `concurrent.futures`, of the same interface, or
    `shardopt.ray.Executor`; threads of this process where none is given. With
    the order "deterministic" windows of `parallel` trials are asked and told
    together: the result depends on `parallel` alone. With "async" a trial is told
    as soon as it is done. What raises is a failure of its trial. A callback that
    returns False ends the run, and so does having spent `device_seconds`, those of
    runs before a checkpoint included: evaluations take as many devices as their
    strategy has. A run that is interrupted, or whose simulator or cluster is lost
    after the first tell, gives what it has; what was not told stays pending.
    """
    orders = ("deterministic", "async")
    if order not in orders:
        raise UnknownName(f"unknown order {shown(order)}; " + list_known(order, orders))
    if isinstance(parallel, bool) or not isinstance(parallel, int) or parallel < 1:
        raise WrongValue(f"'parallel' is {shown(parallel)}, expected a number above 0")
    if device_seconds is not None:
        _seconds("device_seconds", device_seconds)
    told, why = len(search.history), ""
    hosting = getattr(executor, "host", None)
    host = hosting(simulator, parallel) if hosting else _Host(executor, simulator, parallel)
    at = _Drive(search, host, callbacks, device_seconds)
    at.count()
    start = time.monotonic()
    try:
        if order == "async":
            at.as_they_come(parallel)
        else:
            at.in_windows(parallel)
    except KeyboardInterrupt:
        at.stopped = "interrupted"
    except (ClusterLost, SimulatorLost) as error:
        if len(search.history) == told:
            raise
        at.stopped = "cluster" if isinstance(error, ClusterLost) else "simulator"
        why = str(error)
    finally:
        host.close()
    seconds = time.monotonic() - start
    slots = min(parallel, host.workers)
    return Driven(
        search.best,
        len(search.history) - told,
        dict(search.failures),
        seconds,
        at.busy / (seconds * slots) if seconds else 0.0,
        search.device_seconds,
        at.stopped or "done",
        why,
        host.requeued,
        len(search.pending),
        search.checkpoint,
    )
