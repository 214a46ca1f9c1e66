"""A Ray Tune searcher that is one of the searchers.

    searcher = shardopt.ray_tune.Searcher(problem)

    def trainable(config):
        strategy = shardopt.Strategy.from_dict(config, problem.model.ops)
        tune.report({"throughput": throughput_of(strategy)})

    tune.Tuner(trainable, tune_config=tune.TuneConfig(search_alg=searcher, num_samples=100))

The config of a trial is its strategy in the form of reports. Of a result those
metrics are read that it has by the names of reports: the goal, and others where
they are known. What fails, and a result without a goal above 0, is a failure.
With `checkpoint` a search goes on where it was (`Search`).
"""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

from ray.tune.search import Searcher as Base  # type: ignore[import-not-found, unused-ignore]

from .errors import ShardoptError
from .problem import Problem
from .searching import Search
from .trials import Failed, Trial


class Searcher(Base):  # type: ignore[misc, unused-ignore]
    """Asks a searcher for each trial, and tells it what came of it."""

    def __init__(
        self,
        problem: Problem,
        searcher: str = "surrogate",
        seed: int = 0,
        budget: int = 4000,
        checkpoint: str | None = None,
    ):
        self._latency = "tpot_ms" if problem.phase == "decode" else "ttft_ms"
        is_latency = problem.objective == "latency"
        super().__init__(
            metric=self._latency if is_latency else "throughput",
            mode="min" if is_latency else "max",
        )
        self.search = Search(problem, searcher, seed, budget, checkpoint)
        self._asked: dict[str, Trial] = {}

    def suggest(self, trial_id: str) -> Any:
        found = self.search.ask(1)
        if not found:  # done, or it has to be told first
            is_over = self.search.done or not self.search.pending
            return Base.FINISHED if is_over else None
        self._asked[trial_id] = found[0]
        return found[0].strategy.to_dict()

    def on_trial_complete(
        self, trial_id: str, result: "dict[str, Any] | None" = None, error: bool = False
    ) -> None:
        trial = self._asked.pop(trial_id, None)
        if trial is None:
            return
        goal = (result or {}).get(self.metric)
        is_number = isinstance(goal, (int, float)) and 0 < goal < math.inf
        if error or not result or not is_number:
            self.search.tell(trial, Failed("error" if error else "no result"))
            return
        # What is not known is within its limit.
        metrics = {"throughput": 1.0, self._latency: 1.0, "memory_gb": 0.0}
        if self.metric == "throughput":
            metrics[self._latency] = min(1.0, self.search.problem.slo_ms)
        names = (*metrics, "valid", "reason")
        metrics.update({name: result[name] for name in names if name in result})
        try:
            self.search.tell(trial, metrics)
        except ShardoptError as wrong:
            self.search.tell(trial, Failed(f"nonsense: {wrong}"))

    def save(self, checkpoint_path: str) -> None:
        """Which trial is which; the rest is in the log of the search."""
        numbers = {name: trial.number for name, trial in self._asked.items()}
        Path(checkpoint_path).write_text(json.dumps(numbers), encoding="utf-8")

    def restore(self, checkpoint_path: str) -> None:
        numbers = json.loads(Path(checkpoint_path).read_text(encoding="utf-8"))
        pending = {trial.number for trial in self.search.pending}
        self._asked = {
            name: self.search.take(number) for name, number in numbers.items() if number in pending
        }
