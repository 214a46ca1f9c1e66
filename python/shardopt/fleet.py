"""The workers of a run on Ray, and what each is doing.

One thread owns all of it, and is told by a queue: what is to be evaluated, which
worker is up, which is done. An evaluation is in exactly one place: waiting, or
in one call of one worker. It leaves by its future alone.

A worker may have two calls and runs the first. Which evaluation ended it is
known where it had that one alone. Else those of the first call are suspects: each comes
again at a worker that has no other, and only what is lost there counts.
"""

from __future__ import annotations

import collections
import concurrent.futures
import math
import queue
import threading
import time
from typing import TYPE_CHECKING, Any, Callable, Sequence

from .batches import Batches
from .driving import Simulator
from .errors import ClusterLost, SimulatorLost
from .hosting import Call, Hosting, Job, Worker, check_known, first_line, is_loss, placement
from .plans import Strategy
from .trials import Failed

try:
    import ray  # type: ignore[import-not-found, unused-ignore]
    from ray.util.placement_group import (  # type: ignore[import-not-found, unused-ignore]
        placement_group,
        remove_placement_group,
    )
    from ray.util.scheduling_strategies import (  # type: ignore[import-not-found, unused-ignore]
        PlacementGroupSchedulingStrategy,
    )
except ImportError:
    pass  # `Executor.host` says so before it makes a fleet

if TYPE_CHECKING:
    from .ray import Executor

#: Workers that may fail to start one after the other before that is the end.
MOST_FAILED_STARTS = 5
#: How often clocks are looked at.
TICK_S = 0.1
#: How long the start of a run waits for a further worker.
SETTLE_S = 10.0


class Fleet:
    """Workers that hold a simulator; `driving.drive` submits strategies."""

    def __init__(self, options: "Executor", simulator: Simulator, workers: int):
        self.workers = workers
        self.requeued = 0
        self.calls = 0
        """How many calls workers were given."""
        self._options = options
        # With no retry there is none for those that come again on their own.
        self._batches = Batches(workers, options.batch_s if options.retries else 0)
        self._waiting: collections.deque[Job] = collections.deque()
        self._suspects: collections.deque[Job] = collections.deque()
        # Workers that are up with no call, and with one, in order.
        self._idle: dict[Worker, None] = {}
        self._at_work: dict[Worker, None] = {}
        self._all: set[Worker] = set()
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

    def submit(
        self, strategies: Sequence[Strategy]
    ) -> "list[concurrent.futures.Future[tuple[Any, float]]]":
        jobs = [Job(strategy, concurrent.futures.Future()) for strategy in strategies]
        self._events.put(lambda: self._enqueue(jobs))
        return [job.future for job in jobs]

    def under_way(self, parallel: int, left: int) -> int:
        """How many evaluations of `left` should be under way, in any order."""
        return parallel if self._is_own else self._batches.under_way(parallel, left)

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
                    self._launch(Worker())
            while not self._is_closed:
                try:
                    self._events.get(timeout=TICK_S)()
                except queue.Empty:
                    pass
                if time.monotonic() >= self._next_check:
                    # Nobody is late who has answered by now.
                    for _ in range(self._events.qsize()):
                        self._events.get()()
                    self._check_clocks()
        except ClusterLost as error:
            self._end(error)
        except Exception as error:  # Ray's own: the cluster does not answer
            self._end(ClusterLost(f"the Ray cluster is gone: {first_line(error)}"))
        for worker in list(self._all):
            self._discard(worker)

    def _stop(self) -> None:
        self._is_closed = True

    def _end(self, error: Exception) -> None:
        """Every evaluation is told that the run is over, and none is lost: they
        stay pending with the search."""
        self._error = self._error or error
        self._is_closed = True
        jobs = [*self._suspects, *self._waiting]
        self._suspects.clear()
        self._waiting.clear()
        for worker in self._all:
            jobs += [job for call in worker.calls for job in call.jobs]
            worker.calls.clear()
        for job in jobs:
            job.future.set_exception(self._error)
        self._up.release(self.workers)

    def _enqueue(self, jobs: list[Job]) -> None:
        if self._error:
            for job in jobs:
                job.future.set_exception(self._error)
            return
        self._waiting.extend(jobs)
        self._dispatch()

    def _dispatch(self) -> None:
        size = self._batches.size
        while self._waiting or self._suspects:
            if self._is_own:
                if len(self._all) >= self.workers:
                    return
                self._place((self._suspects or self._waiting).popleft())
            elif self._idle and self._suspects:
                self._give(self._idle, [self._suspects.popleft()])
            elif self._idle:
                share = math.ceil(len(self._waiting) / len(self._idle))
                self._give(self._idle, self._take_waiting(min(share, size)))
            elif self._can_go_ahead(size):
                self._give(self._at_work, self._take_waiting(size))
            else:
                return

    def _can_go_ahead(self, size: int) -> bool:
        """Whether a whole call waits, and a worker for it. Where there are suspects
        workers shall have nothing else soon."""
        is_call = self._batches.is_ahead and len(self._waiting) >= size
        return is_call and bool(self._at_work) and not self._suspects

    def _take_waiting(self, most: int) -> list[Job]:
        return [self._waiting.popleft() for _ in range(min(most, len(self._waiting)))]

    def _give(self, workers: dict[Worker, None], jobs: list[Job]) -> None:
        """A call to the first of `workers`."""
        worker, call = next(iter(workers)), Call(jobs)
        worker.calls.append(call)
        self._sort(worker)
        if len(worker.calls) == 1:
            self._start_clock(worker)
        self._send(worker, call)

    def _sort(self, worker: Worker) -> None:
        """Where it is looked for by what it has to do."""
        self._idle.pop(worker, None)
        self._at_work.pop(worker, None)
        if worker.is_given_up or self._is_own:
            return
        if not worker.calls:
            self._idle[worker] = None
        elif worker.takes_more:
            self._at_work[worker] = None

    def _start_clock(self, worker: Worker) -> None:
        """The first of its calls begins, if there is one."""
        worker.deadline = math.inf
        if worker.calls and self._options.timeout_s is not None:
            worker.deadline = time.monotonic() + self._options.timeout_s
            if not worker.calls[0].is_single:  # its last one began by then
                worker.deadline += self._batches.within_s

    def _later(self, reference: Any, then: Callable[[Any, Any], None]) -> None:
        """`then` is told what `reference` comes to: a value, or an error."""

        def told(future: Any) -> None:
            error = future.exception()
            value = None if error else future.result()
            self._events.put(lambda: then(value, error))

        reference.future().add_done_callback(told)

    def _launch(self, worker: Worker) -> None:
        self._all.add(worker)
        worker.actor = self._class.options(**self._placing).remote(self._simulator)
        self._later(
            worker.actor.greet.remote(), lambda pid, error: self._greeted(worker, pid, error)
        )

    def _greeted(self, worker: Worker, pid: int, error: Any) -> None:
        if worker.is_given_up:
            return
        if error:
            self._discard(worker)
            self._failed_starts += 1
            if self._failed_starts >= MOST_FAILED_STARTS:
                raise ClusterLost(
                    f"{self._failed_starts} workers in a row did not start: "
                    + first_line(error)
                )
            if not self._is_own:
                self._launch(Worker())
            return
        self._failed_starts = 0
        worker.pid = pid
        self._last_up = time.monotonic()
        self._up.release()
        self._sort(worker)
        if not self._is_own:
            self._dispatch()

    def _send(self, worker: Worker, call: Call) -> None:
        self.calls += 1
        strategies = [job.strategy for job in call.jobs]
        self._later(
            worker.actor.evaluate.remote(strategies, self._batches.within_s),
            lambda found, error: self._done(worker, call, found, error),
        )

    def _done(self, worker: Worker, call: Call, found: Any, error: Any) -> None:
        if call not in worker.calls:
            return
        outcomes: list[tuple[Job, Any]] = []
        try:
            if error is not None:
                self._break(worker, call, error, outcomes)
            else:
                outcomes += zip(call.jobs, found)
                self._finish(worker, call, found)
            # What waits is sent before the search hears of what is done, and thinks.
            self._dispatch()
        finally:
            for job, outcome in outcomes:
                job.future.set_result(outcome)

    def _finish(self, worker: Worker, call: Call, found: Sequence[Any]) -> None:
        self._refusals = 0
        for _, seconds in found:
            self._batches.learn(seconds)
        self._waiting.extendleft(reversed(call.jobs[len(found) :]))
        worker.calls.remove(call)
        if self._is_own:
            self._replace(worker)
        else:
            self._start_clock(worker)
            self._sort(worker)

    def _break(
        self, worker: Worker, call: Call, error: Any, outcomes: list[tuple[Job, Any]]
    ) -> None:
        """Gives up a worker that had an error in `call`, or is lost."""
        if is_loss(error):
            self._lose(worker, outcomes)
        elif isinstance(error, SimulatorLost):  # it cannot begin
            self._empty(worker, call)
            again = self._suspects if call.jobs[0].is_suspect else self._waiting
            again.extendleft(reversed(call.jobs))
            self._refusals += 1
            if self._refusals >= MOST_FAILED_STARTS:
                self._end(SimulatorLost(str(getattr(error, "cause", error))))
        else:
            self.requeued += self._empty(worker, call)
            if call.is_single:
                outcomes.append((call.jobs[0], (Failed(first_line(error)), 0.0)))
            else:
                self._suspect(call)
        self._replace(worker)

    def _lose(self, worker: Worker, outcomes: list[tuple[Job, Any]]) -> None:
        """What a lost worker had comes again, and what it had alone `retries` times.
        The answer of a first call may have gone down with what ran then."""
        call, was_alone = worker.calls[0], len(worker.calls) == 1
        self.requeued += self._empty(worker, call)
        if was_alone and call.is_single:
            call.jobs[0].losses += 1
            if call.jobs[0].losses > self._options.retries:
                outcomes.append((call.jobs[0], (Failed("lost"), 0.0)))
                return
        self._suspect(call)

    def _empty(self, worker: Worker, but: Call) -> int:
        """Leaves a worker without calls: its other calls wait again.
        Gives how many those are."""
        others = [job for call in worker.calls if call is not but for job in call.jobs]
        worker.calls, worker.deadline = [], math.inf
        self._waiting.extendleft(reversed(others))
        return len(others)

    def _suspect(self, call: Call) -> None:
        """Sends each evaluation of `call` again, to a worker of its own."""
        for job in call.jobs:
            job.is_suspect = True
        self._suspects.extend(call.jobs)
        self.requeued += len(call.jobs)

    def _replace(self, worker: Worker) -> None:
        self._discard(worker)
        if not self._is_own and not self._is_closed:
            self._launch(Worker())

    def _discard(self, worker: Worker) -> None:
        worker.is_given_up = True
        self._all.discard(worker)
        self._sort(worker)
        try:
            if worker.actor is not None:
                ray.kill(worker.actor)
            if worker.group is not None:
                remove_placement_group(worker.group)
        except Exception:  # it is gone with its cluster
            pass

    # An evaluation with a placement group of its own.

    def _place(self, job: Job) -> None:
        each = self._options.device_resources or {}
        left, bundles = job.strategy.devices, []
        while left > 0:
            devices = min(left, self._options.devices_per_node)
            bundles.append({name: amount * devices for name, amount in each.items()})
            left -= devices
        spread = "STRICT_PACK" if len(bundles) == 1 else "STRICT_SPREAD"
        group = placement_group(bundles, strategy=spread)
        worker = Worker(group=group, calls=[Call([job])])
        worker.deadline = time.monotonic() + self._options.patience_s
        self._all.add(worker)
        self._later(worker.group.ready(), lambda _, error: self._placed(worker, error))

    def _placed(self, worker: Worker, error: Any) -> None:
        if worker.is_given_up or not worker.calls:
            return
        if error:
            self._done(worker, worker.calls[0], None, error)
            return
        there = PlacementGroupSchedulingStrategy(
            worker.group,
            placement_group_bundle_index=0,
            placement_group_capture_child_tasks=True,
        )
        made = self._class.options(**{**self._placing, "scheduling_strategy": there})
        worker.actor = made.remote(self._simulator)
        self._start_clock(worker)
        self._later(
            worker.actor.greet.remote(), lambda pid, error: self._greeted_own(worker, pid, error)
        )
        self._send(worker, worker.calls[0])

    def _greeted_own(self, worker: Worker, pid: int, error: Any) -> None:
        if not error:
            worker.pid, self._last_up = pid, time.monotonic()

    def _check_clocks(self) -> None:
        now = time.monotonic()
        self._next_check = now + TICK_S
        for worker in [each for each in self._all if each.deadline <= now]:
            why = "timeout" if worker.actor is not None else "no room"
            seconds = self._options.timeout_s or 0.0 if worker.actor is not None else 0.0
            call = worker.calls[0]
            self.requeued += self._empty(worker, call)
            if call.is_single:
                call.jobs[0].future.set_result((Failed(why), seconds))
            else:  # which of them it was shows when each has the time alone
                self._suspect(call)
            self._replace(worker)
            self._dispatch()
        up = sum(1 for worker in self._all if worker.pid)
        self._batches.adjust(now, up)
        if self._is_own or up:
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
