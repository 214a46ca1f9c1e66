"""The workers of a run on Ray, and what each is doing.

One thread owns all of it, and is told by a queue: what is to be evaluated, which
worker is up, which is done. An evaluation is in exactly one place: waiting, or
with one worker. It leaves by its future alone.
"""

from __future__ import annotations

import collections
import concurrent.futures
import math
import os
import queue
import threading
import time
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Callable

import ray  # type: ignore[import-not-found, unused-ignore]
from ray.util.placement_group import (  # type: ignore[import-not-found, unused-ignore]
    placement_group,
    remove_placement_group,
)
from ray.util.scheduling_strategies import (  # type: ignore[import-not-found, unused-ignore]
    PlacementGroupSchedulingStrategy,
)

from .driving import Simulator, timed
from .errors import ClusterLost, SimulatorLost
from .plans import Strategy
from .ray import check_known, placement
from .searching import Failed

if TYPE_CHECKING:
    from .ray import Executor

#: Workers that may fail to start one after the other before that is the end.
MOST_FAILED_STARTS = 5
#: How often clocks are looked at.
TICK_S = 0.1
#: How long the start of a run waits for a further worker.
SETTLE_S = 10.0


class Hosting:
    """The actor."""

    def __init__(self, simulator: Simulator):
        self._simulator = simulator

    def greet(self) -> int:
        return os.getpid()

    def evaluate(self, strategy: Strategy) -> tuple[Any, float]:
        return timed(self._simulator, strategy)


@dataclass(eq=False)
class _Job:
    strategy: Strategy
    future: "concurrent.futures.Future[tuple[Any, float]]"
    tries: int = 0


@dataclass(eq=False)
class _Worker:
    actor: Any = None
    group: Any = None
    """Its placement group, where it lives for one evaluation."""
    job: _Job | None = None
    pid: int = 0
    """Of its process; 0 until it has greeted."""
    deadline: float = math.inf
    is_given_up: bool = False


def is_loss(error: BaseException) -> bool:
    """Whether `error` says that a worker or its node went down."""
    kinds = (
        ray.exceptions.RayActorError,
        ray.exceptions.NodeDiedError,
        ray.exceptions.ObjectLostError,
        ray.exceptions.OutOfMemoryError,
        ray.exceptions.WorkerCrashedError,
    )
    return isinstance(error, kinds)


class Fleet:
    """Workers that hold a simulator; `driving.drive` submits strategies."""

    def __init__(self, options: "Executor", simulator: Simulator, workers: int):
        self.workers = workers
        self.requeued = 0
        self._options = options
        self._waiting: collections.deque[_Job] = collections.deque()
        self._idle: collections.deque[_Worker] = collections.deque()
        self._all: set[_Worker] = set()
        self._events: "queue.SimpleQueue[Callable[[], None]]" = queue.SimpleQueue()
        self._failed_starts = self._refusals = 0
        self._next_check = 0.0
        self._last_up = time.monotonic()
        self._error: Exception | None = None
        self._is_closed = False
        self._up = threading.Semaphore(0)
        self._is_own = options.device_resources is not None
        self._class = ray.remote(Hosting)
        self._placing = {
            "max_restarts": 0,
            "max_task_retries": 0,
            "scheduling_strategy": "SPREAD",
            "runtime_env": options.runtime_env and dict(options.runtime_env),
            **placement({} if self._is_own else options.resources),
        }
        try:
            self._simulator = ray.put(simulator)
        except TypeError as error:
            raise SimulatorLost(f"the simulator cannot be sent to workers: {error}") from None
        self._thread = threading.Thread(target=self._serve, daemon=True)
        self._thread.start()
        if not self._is_own:
            self._await_workers()

    def _await_workers(self) -> None:
        """Until all workers are up, or no more come."""
        for number in range(self.workers):
            wait = SETTLE_S if number else self._options.patience_s + 1
            if not self._up.acquire(timeout=wait) or self._error:
                break
        if self._error:
            self.close()
            raise self._error

    def submit(self, strategy: Strategy) -> "concurrent.futures.Future[tuple[Any, float]]":
        job = _Job(strategy, concurrent.futures.Future())
        self._events.put(lambda: self._enqueue(job))
        return job.future

    def close(self) -> None:
        self._events.put(self._stop)
        self._thread.join()

    def pids(self) -> list[int]:
        """The processes of the workers that are up."""
        return [worker.pid for worker in list(self._all) if worker.pid]

    # What follows runs in the one thread.

    def _serve(self) -> None:
        try:
            if not self._is_own:
                for _ in range(self.workers):
                    self._launch(_Worker())
            while not self._is_closed:
                try:
                    self._events.get(timeout=TICK_S)()
                except queue.Empty:
                    pass
                if time.monotonic() >= self._next_check:
                    self._check_clocks()
        except ClusterLost as error:
            self._end(error)
        except Exception as error:  # Ray's own: the cluster does not answer
            self._end(ClusterLost(f"the Ray cluster is gone: {_first_line(error)}"))
        for worker in list(self._all):
            self._discard(worker)

    def _stop(self) -> None:
        self._is_closed = True

    def _end(self, error: Exception) -> None:
        """Every evaluation is told that the run is over, and none is lost: they
        stay pending with the search."""
        self._error = self._error or error
        self._is_closed = True
        jobs = [*self._waiting, *(worker.job for worker in self._all if worker.job)]
        self._waiting.clear()
        for job in jobs:
            job.future.set_exception(self._error)
        for worker in self._all:
            worker.job = None
        self._up.release(self.workers)

    def _enqueue(self, job: _Job) -> None:
        if self._error:
            job.future.set_exception(self._error)
            return
        self._waiting.append(job)
        self._dispatch()

    def _dispatch(self) -> None:
        while self._waiting and (self._idle or self._is_own):
            if self._is_own:
                if len(self._all) >= self.workers:
                    return
                self._place(self._waiting.popleft())
            else:
                self._send(self._idle.popleft(), self._waiting.popleft())

    def _later(self, reference: Any, then: Callable[[Any, Any], None]) -> None:
        """`then` is told what `reference` comes to: a value, or an error."""

        def told(future: Any) -> None:
            error = future.exception()
            value = None if error else future.result()
            self._events.put(lambda: then(value, error))

        reference.future().add_done_callback(told)

    def _launch(self, worker: _Worker) -> None:
        self._all.add(worker)
        worker.actor = self._class.options(**self._placing).remote(self._simulator)
        self._later(
            worker.actor.greet.remote(), lambda pid, error: self._greeted(worker, pid, error)
        )

    def _greeted(self, worker: _Worker, pid: int, error: Any) -> None:
        if worker.is_given_up:
            return
        if error:
            self._discard(worker)
            self._failed_starts += 1
            if self._failed_starts >= MOST_FAILED_STARTS:
                raise ClusterLost(
                    f"{self._failed_starts} workers in a row did not start: "
                    + _first_line(error)
                )
            if not self._is_own:
                self._launch(_Worker())
            return
        self._failed_starts = 0
        worker.pid = pid
        self._last_up = time.monotonic()
        self._up.release()
        if not self._is_own:
            self._idle.append(worker)
            self._dispatch()

    def _send(self, worker: _Worker, job: _Job) -> None:
        worker.job = job
        if self._options.timeout_s is not None:
            worker.deadline = time.monotonic() + self._options.timeout_s
        self._later(
            worker.actor.evaluate.remote(job.strategy),
            lambda found, error: self._done(worker, found, error),
        )

    def _done(self, worker: _Worker, found: Any, error: Any) -> None:
        job, worker.job, worker.deadline = worker.job, None, math.inf
        if job is None:
            return
        outcome = None
        if error is None:
            self._refusals = 0
            outcome = found
        elif is_loss(error) or isinstance(error, SimulatorLost):
            self._retry(job, error)
        else:
            outcome = (Failed(_first_line(error)), 0.0)
        try:
            if error is not None or self._is_own:
                self._replace(worker)
            elif not worker.is_given_up:
                self._idle.append(worker)
            # What waits is sent before the search hears of what is done, and thinks.
            self._dispatch()
        finally:
            if outcome is not None:
                job.future.set_result(outcome)

    def _retry(self, job: _Job, error: Any) -> None:
        job.tries += 1
        if isinstance(error, SimulatorLost):
            self._waiting.appendleft(job)
            self._refusals += 1
            if self._refusals >= MOST_FAILED_STARTS:
                self._end(SimulatorLost(str(getattr(error, "cause", error))))
        elif job.tries <= self._options.retries:
            self.requeued += 1
            self._waiting.appendleft(job)
        else:
            job.future.set_result((Failed("lost"), 0.0))

    def _replace(self, worker: _Worker) -> None:
        self._discard(worker)
        if not self._is_own and not self._is_closed:
            self._launch(_Worker())

    def _discard(self, worker: _Worker) -> None:
        worker.is_given_up = True
        self._all.discard(worker)
        if worker in self._idle:
            self._idle.remove(worker)
        try:
            if worker.actor is not None:
                ray.kill(worker.actor)
            if worker.group is not None:
                remove_placement_group(worker.group)
        except Exception:  # it is gone with its cluster
            pass

    # An evaluation with a placement group of its own.

    def _place(self, job: _Job) -> None:
        each = self._options.device_resources or {}
        left, bundles = job.strategy.devices, []
        while left > 0:
            devices = min(left, self._options.devices_per_node)
            bundles.append({name: amount * devices for name, amount in each.items()})
            left -= devices
        spread = "STRICT_PACK" if len(bundles) == 1 else "STRICT_SPREAD"
        worker = _Worker(group=placement_group(bundles, strategy=spread), job=job)
        worker.deadline = time.monotonic() + self._options.patience_s
        self._all.add(worker)
        self._later(worker.group.ready(), lambda _, error: self._placed(worker, error))

    def _placed(self, worker: _Worker, error: Any) -> None:
        if worker.is_given_up or worker.job is None:
            return
        if error:
            self._done(worker, None, error)
            return
        there = PlacementGroupSchedulingStrategy(
            worker.group,
            placement_group_bundle_index=0,
            placement_group_capture_child_tasks=True,
        )
        made = self._class.options(**{**self._placing, "scheduling_strategy": there})
        worker.actor = made.remote(self._simulator)
        worker.deadline = math.inf
        self._later(
            worker.actor.greet.remote(), lambda pid, error: self._greeted_own(worker, pid, error)
        )
        self._send(worker, worker.job)

    def _greeted_own(self, worker: _Worker, pid: int, error: Any) -> None:
        if not error:
            worker.pid, self._last_up = pid, time.monotonic()

    def _check_clocks(self) -> None:
        now = time.monotonic()
        self._next_check = now + TICK_S
        for worker in [each for each in self._all if each.deadline <= now]:
            job, worker.job = worker.job, None
            why = "timeout" if worker.actor is not None else "no room"
            if job:
                seconds = self._options.timeout_s or 0.0 if worker.actor is not None else 0.0
                job.future.set_result((Failed(why), seconds))
            self._replace(worker)
            self._dispatch()
        if self._is_own or any(worker.pid for worker in self._all):
            self._last_up = now
        elif now - self._last_up > self._options.patience_s and not self._is_closed:
            wanted = self._options.resources
            why = check_known(wanted, ray.cluster_resources())
            self._end(
                ClusterLost(
                    f"no worker is up after {self._options.patience_s:g} s, each wants "
                    f"{dict(wanted)}" + (f": {why}" if why else "")
                )
            )


def _first_line(error: Any) -> str:
    """What an error says in a line: the last one of what a worker raised."""
    lines = [line for line in str(error).splitlines() if line.strip()]
    if not lines:
        return type(error).__name__
    return lines[-1] if isinstance(error, ray.exceptions.RayTaskError) else lines[0]
