"""What a fleet is made of: evaluations, calls, and workers, with their actors."""

from __future__ import annotations

import concurrent.futures
import math
import os
from dataclasses import dataclass, field
from typing import Any, Mapping, Sequence

from .batches import evaluate_in_turn
from .border import list_known
from .driving import Simulator
from .plans import Strategy

try:
    import ray  # type: ignore[import-not-found, unused-ignore]
except ImportError:
    pass  # `Executor.host` says so before it makes a fleet


class Hosting:
    """The actor: it holds the simulator."""

    def __init__(self, simulator: Simulator):
        self._simulator = simulator

    def greet(self) -> int:
        return os.getpid()

    def evaluate(
        self, strategies: Sequence[Strategy], within_s: float
    ) -> list[tuple[Any, float]]:
        return evaluate_in_turn(self._simulator, strategies, within_s)


@dataclass(eq=False)
class Job:
    """An evaluation."""

    strategy: Strategy
    future: "concurrent.futures.Future[tuple[Any, float]]"
    is_suspect: bool = False
    """Whether it may have been what ended a worker: then it has one to itself."""
    losses: int = 0
    """How many workers were lost that had it alone."""


@dataclass(eq=False)
class Call:
    """What an actor is asked at a time."""

    jobs: list[Job]

    @property
    def is_single(self) -> bool:
        return len(self.jobs) == 1


@dataclass(eq=False)
class Worker:
    """An actor, from before it is up."""

    actor: Any = None
    group: Any = None
    """Its placement group, where it lives for one evaluation."""
    calls: list[Call] = field(default_factory=list)
    """What it has, in order; it runs the first."""
    pid: int = 0
    """Of its process; 0 until it has greeted."""
    deadline: float = math.inf
    """Of the call that runs."""
    is_given_up: bool = False

    @property
    def takes_more(self) -> bool:
        """Whether another call may wait behind the one that runs."""
        return len(self.calls) == 1 and not self.calls[0].jobs[0].is_suspect


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


def first_line(error: Any) -> str:
    """What an error says in a line: the last one of what a worker raised."""
    lines = [line for line in str(error).splitlines() if line.strip()]
    if not lines:
        return type(error).__name__
    return lines[-1] if isinstance(error, ray.exceptions.RayTaskError) else lines[0]


def placement(resources: Mapping[str, float]) -> dict[str, Any]:
    """The options of an actor that takes `resources`."""
    rest = {key: value for key, value in resources.items() if key not in ("CPU", "GPU")}
    return {
        "num_cpus": resources.get("CPU", 0),
        "num_gpus": resources.get("GPU", 0),
        "resources": rest,
    }


def check_known(resources: Mapping[str, float], available: Mapping[str, float]) -> str:
    """What of `resources` no node of the cluster has, in words; empty if none."""
    lacking = [name for name, amount in resources.items() if amount and name not in available]
    if not lacking:
        return ""
    return f"no node has '{lacking[0]}'; " + list_known(lacking[0], available)
