"""Searches in which the caller evaluates: asked for trials, told what they are
worth, in any order; kept in a log from which a search goes on."""

from __future__ import annotations

import hashlib
import math
from typing import Any, Mapping

from ._native import native
from .border import real, shown
from .checks import _check_kind, _checked, _text, _whole
from .errors import ShardoptError, UnknownTrial, WrongValue
from .frames import frame_of, html_of
from .plans import Metrics
from .driving import drive
from .problem import Problem
from .search_log import SearchLog, first_budget
from .strategies import Strategy
from .trials import Failed, Trial, read_metrics


class Search:
    """A searcher over the space of a problem.

    With `checkpoint`, a file, every ask and tell is kept there. A search whose
    file is there goes on from it; trials that were asked and never told come
    first again. With a larger budget than it had it goes on beyond its end.
    """

    def __init__(
        self,
        problem: Problem,
        searcher: str = "surrogate",
        seed: int = 0,
        budget: int = 4000,
        checkpoint: str | None = None,
    ):
        _check_kind(Problem, "problem", problem)
        self.problem = problem
        self.budget = _whole("budget", budget, least=1)
        self.checkpoint = checkpoint
        # A searcher's schedules are those of its first budget.
        first = first_budget(checkpoint) if checkpoint is not None else None
        if first is not None and first > self.budget:
            raise ShardoptError(
                f"'{checkpoint}' is the log of a search with a budget of {first}, "
                f"and 'budget' is {self.budget}, expected as much or more"
            )
        request = problem.request(
            searcher=_text("searcher", searcher),
            seed=_whole("seed", seed),
            budget=first or self.budget,
            threads=1,
        )
        self._handle = _checked(native().Search, problem.handle, request)
        self.searcher: str = self._handle.name
        self.history: list[tuple[Trial, Metrics]] = []
        """What was told, in the order of telling."""
        self.best: tuple[Trial, Metrics] | None = None
        """The best valid trial so far, the first of equals."""
        self.failures: dict[str, int] = {}
        """Why trials failed, and how often."""
        self.device_seconds = 0.0
        """What all that was told has cost, as far as it was said."""
        self._pending: dict[int, Trial] = {}
        self._orphans: list[Trial] = []
        self._asked = 0
        self._log: SearchLog | None = None
        if checkpoint is not None:
            identity = self._identity(request)
            log = SearchLog(checkpoint, identity)
            try:
                for number, event in enumerate(log.events, 2):
                    self._replay(event, f"{checkpoint}:{number}")
            except ShardoptError:
                log.close()
                raise
            self._orphans = list(self._pending.values())
            self._log = log

    def _identity(self, request: Mapping[str, Any]) -> dict[str, Any]:
        said = {key: value for key, value in request.items() if key != "threads"}
        said["searcher"] = self.searcher
        text = self.problem.model.mlir.encode()
        said["model"] = hashlib.sha256(text).hexdigest()
        said["machine"] = self.problem.machine_name
        said["slo_ms"] = repr(self.problem.slo_ms)
        said["devices"] = self.problem.devices or self.problem.max_devices
        said["version"] = native().version
        return said

    def _replay(self, event: Mapping[str, Any], place: str) -> None:
        try:
            self._repeat(event)
        except ShardoptError as error:
            raise ShardoptError(f"{place}: {error}") from None
        except (TypeError, ValueError, AttributeError) as error:
            raise ShardoptError(f"{place}: is no ask and no tell: {error}") from None

    def _repeat(self, event: Mapping[str, Any]) -> None:
        if "ask" in event:
            found = self._ask(event["ask"])
            if [trial.strategy.numbers() for trial in found] != event["strategies"]:
                raise ShardoptError("the searcher now asks for other strategies")
        else:
            trial = self._pending.pop(event["tell"], None)
            if trial is None:
                raise ShardoptError(f"trial {event['tell']} is not pending")
            self.device_seconds += event.get("device_seconds", 0.0)
            metrics = read_metrics(self.problem, Metrics(**event["metrics"]))
            self._learn(trial, metrics, event.get("why", ""))

    def _ask(self, n: int) -> list[Trial]:
        trials = []
        for numbers in self._handle.ask(n):
            trial = Trial(self._asked, Strategy.from_numbers(numbers, self.problem.model.ops))
            self._asked += 1
            self._pending[trial.number] = trial
            trials.append(trial)
        return trials

    def _learn(self, trial: Trial, metrics: Metrics, why: str) -> None:
        self._handle.tell(trial.strategy.numbers(), tuple(metrics[:5]))
        self.history.append((trial, metrics))
        if metrics.reason == "failed":
            self.failures[why] = self.failures.get(why, 0) + 1
        if metrics.valid and (self.best is None or self._is_better(metrics, self.best[1])):
            self.best = (trial, metrics)

    def _is_better(self, one: Metrics, other: Metrics) -> bool:
        found: bool = self._handle.better(tuple(one[:5]), tuple(other[:5]))
        return found

    def close(self) -> None:
        """Lets go of the log; nothing is asked or told afterwards."""
        if self._log:
            self._log.close()

    def __enter__(self) -> "Search":
        return self

    def __exit__(self, *_: Any) -> None:
        self.close()

    @property
    def pending(self) -> list[Trial]:
        """Trials that were asked and not yet told."""
        return list(self._pending.values())

    @property
    def done(self) -> bool:
        """Whether there is nothing more to ask."""
        return not self._orphans and (
            self._asked >= self.budget or self._handle.done
        )

    def extend(self, evaluations: int) -> None:
        """More budget, also for a search that has ended for want of it."""
        self.budget += _whole("evaluations", evaluations, least=1)

    def ask(self, n: int = 1) -> list[Trial]:
        """At most `n` trials, as many as the budget has left. Fewer, or none,
        where the searcher has to be told of pending ones first, or is done."""
        _whole("n", n, least=1)
        if self._log:
            self._log.check_open()
        if self._orphans:
            found, self._orphans = self._orphans[:n], self._orphans[n:]
            return found
        wanted = min(n, self.budget - self._asked)
        trials = self._ask(wanted) if wanted > 0 else []
        if trials and self._log:
            strategies = [trial.strategy.numbers() for trial in trials]
            self._log.append({"ask": wanted, "strategies": strategies})
        return trials

    def take(self, number: int) -> Trial:
        """A pending trial whose evaluation still goes on: it does not come again."""
        if number not in self._pending:
            raise UnknownTrial(f"trial {shown(number)} is not pending")
        trial = self._pending[number]
        self._orphans = [other for other in self._orphans if other != trial]
        return trial

    def tell(self, trial: Trial, found: Any, device_seconds: float = 0.0) -> None:
        """What an asked trial is worth: `Metrics`, a mapping, or `Failed`; and
        what it has cost."""
        known = self._pending.get(getattr(trial, "number", -1))
        if known is None or known != trial:
            raise UnknownTrial(
                f"{shown(trial)} is not pending: it was never asked, or is told already"
            )
        if self._log:
            self._log.check_open()
        metrics = read_metrics(self.problem, found)
        if not 0 <= real(device_seconds) < math.inf:
            raise WrongValue(
                f"'device_seconds' is {shown(device_seconds)}, expected a finite number of at "
                "least 0"
            )
        why = found.why if isinstance(found, Failed) else ""
        del self._pending[trial.number]
        self._orphans = [other for other in self._orphans if other != trial]
        if self._log:
            event = {"tell": trial.number, "metrics": metrics._asdict()}
            if why:
                event["why"] = why
            if device_seconds:
                event["device_seconds"] = real(device_seconds)
            self._log.append(event)
        self.device_seconds += real(device_seconds)
        self._learn(trial, metrics, why)

    def rows(self) -> list[dict[str, Any]]:
        """A row a trial in the order of telling: number, metrics, degrees, the dim of each
        op, and `best`, the objective's best value so far (None: no valid trial yet)."""
        is_latency = self.problem.objective == "latency"
        found: list[dict[str, Any]] = []
        best: Metrics | None = None
        for trial, metrics in self.history:
            if metrics.valid and (best is None or self._is_better(metrics, best)):
                best = metrics
            value = best and (best.latency_ms if is_latency else best.throughput)
            strategy = trial.strategy.to_dict()
            dims = strategy.pop("dims")
            found.append(
                {"trial": trial.number, **metrics.to_dict(), **strategy, "best": value, **dims}
            )
        return found

    def frame(self) -> Any:
        """The rows as a pandas DataFrame."""
        return frame_of(self.rows())

    def _repr_html_(self) -> str:
        told = f"{self.searcher}: {len(self.history)} of {self.budget} evaluations"
        ops = self.problem.model.ops
        rows = [
            {name: value for name, value in row.items() if name not in ops}
            for row in self.rows()
            if self.best and row["trial"] == self.best[0].number
        ]
        return f"<p>{told}</p>{html_of(rows)}"

    def run(self, simulator: Any, **options: Any) -> Any:
        """Evaluates with `simulator` until the search ends; see `driving.drive`."""
        return drive(self, simulator, **options)
