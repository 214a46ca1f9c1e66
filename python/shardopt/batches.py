"""How many evaluations a worker is given at a time.

A call of a worker costs its driver and the worker milliseconds of a processor,
and a worker that is done waits for its next one. Where evaluations take less
than that is worth, a call has several, and one more call waits at the worker.
"""

from __future__ import annotations

import math
import time
from typing import Any, Sequence

from .driving import Simulator, timed
from .errors import SimulatorLost
from .plans import Strategy

#: What a call takes of the driver's processor.
CALL_S = 0.002
#: The share of the driver's time that calls may take.
SHARE = 0.4
#: Evaluations that take longer do not gain by a next one that waits at the worker.
AHEAD_S = 0.25
#: Evaluations of a call at most.
MOST = 64
#: How many evaluations the mean time remembers.
MEMORY = 100
#: Workers that evaluate less of their time than this wait for calls, which grow.
BUSY = 0.93
#: How much calls grow at a time, and at most.
GROWTH, MOST_GROWTH = 1.5, 8
#: How many calls of a worker show how busy it is.
CALLS_OF_WINDOW = 4


def evaluate_in_turn(
    simulator: Simulator, strategies: Sequence[Strategy], within_s: float
) -> list[tuple[Any, float]]:
    """What `timed` says of each, in order; runs at the worker. Those that have not
    begun after `within_s` are left out, and so are the last ones where the
    simulator is lost in between: the first of them raises when it comes again."""
    found: list[tuple[Any, float]] = []
    end = time.monotonic() + within_s
    for strategy in strategies:
        if found and time.monotonic() >= end:
            break
        try:
            found.append(timed(simulator, strategy))
        except SimulatorLost:
            if not found:
                raise
            break
    return found


class Batches:
    """Chooses the size of calls from how long evaluations take.

    `seconds` is how long a call should take; 0: an evaluation a call, none ahead.
    Where it is not said, calls grow while workers wait for them: where the machines
    have other work, a call costs more than it does alone.
    """

    def __init__(self, workers: int, seconds: float | None):
        self.seconds = workers * CALL_S / SHARE if seconds is None else seconds
        self.size = 1
        """Evaluations that a call has now."""
        self.is_ahead = False
        """Whether a worker that evaluates is given a second call."""
        self._workers = workers
        self._told = 0
        self._mean = math.inf
        self._longest = self.seconds * (MOST_GROWTH if seconds is None else 1)
        self._start = math.inf
        self._evaluated = 0.0

    @property
    def within_s(self) -> float:
        """How long after a call has begun its evaluations may begin."""
        return 2 * self.seconds

    def learn(self, seconds: float) -> None:
        """An evaluation took `seconds`."""
        if not self._told:
            self._mean = seconds
        self._told = min(self._told + 1, MEMORY)
        self._mean += (seconds - self._mean) / self._told
        self._evaluated += seconds

    def adjust(self, now: float, workers: int) -> None:
        """At the time `now`, with `workers` that are up."""
        if not self.is_ahead or not workers:
            self._start = math.inf  # a next window begins with calls that are full
            return
        if self._start == math.inf:
            self._start = now + 2 * self.seconds  # until the first of them are told
        passed = now - self._start
        if passed < 0:
            self._evaluated = 0.0
        elif passed >= CALLS_OF_WINDOW * self.seconds:
            if self._evaluated < BUSY * passed * workers:
                self.seconds = min(GROWTH * self.seconds, self._longest)
            self._start, self._evaluated = now, 0.0

    def under_way(self, parallel: int, left: int) -> int:
        """How many evaluations should be under way, of `left` that are not told.

        At least `parallel`, and beyond that at most half of what is left, so that a
        search learns before it ends and the last ones are evaluated side by side.
        """
        self.size, self.is_ahead = 1, False
        longest = max(self.seconds, AHEAD_S)
        if not self.seconds or parallel < self._workers or self._mean >= longest:
            return parallel
        most = MOST
        if self._mean * MOST > self.seconds:
            most = math.ceil(self.seconds / self._mean)
        # A call that runs and one that waits for each worker.
        slots = 2 * self._workers
        wanted = max(parallel, min(slots * most, left // 2))
        self.size = max(1, min(most, wanted // slots, left // slots))
        self.is_ahead = left > slots
        return wanted
