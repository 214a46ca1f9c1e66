"""An Optuna sampler that is one of the searchers.

    sampler = shardopt.optuna.Sampler(problem)

    def objective(trial):
        strategy = sampler.suggest(trial)
        return throughput_of(strategy)

    optuna.create_study(sampler=sampler, direction="maximize").optimize(objective)

The objective returns the goal: throughput to be maximized, or with the problem's
`objective="latency"` milliseconds to be minimized. A trial that is pruned or
fails, and one whose value is no number above 0, is a failure. The study stops
when the searcher has no more to ask.
"""

from __future__ import annotations

import math
from typing import Any

import optuna  # type: ignore[import-not-found, unused-ignore]

from .checks import MOST
from .degrees import table
from .plans import Metrics, Strategy
from .problem import Problem
from .searching import Search
from .trials import Failed, Trial

_Choice = optuna.distributions.CategoricalDistribution
_Whole = optuna.distributions.IntDistribution


def distributions(problem: Problem) -> dict[str, Any]:
    """The parameters of a trial: degrees, and a dim for each op."""
    found: dict[str, Any] = {
        row.name: _Choice(list(row.names)) if row.names else _Whole(1, MOST) for row in table()
    }
    found.update((op, _Choice(list(dims))) for op, dims in problem.model.ops.items())
    return found


class Sampler(optuna.samplers.BaseSampler):  # type: ignore[misc]
    """Asks a searcher for each trial, and tells it what came of it. Other
    parameters of the study are sampled at random."""

    def __init__(
        self, problem: Problem, searcher: str = "surrogate", seed: int = 0, budget: int = 4000
    ):
        self.search = Search(problem, searcher, seed=seed, budget=budget)
        self._space = distributions(problem)
        self._others = optuna.samplers.RandomSampler(seed=seed)
        self._asked: dict[int, Trial] = {}

    def suggest(self, trial: Any) -> Strategy:
        """The strategy of a trial; where there is none any more it is pruned."""
        for name, one in self._space.items():
            if isinstance(one, _Whole):
                trial.suggest_int(name, one.low, one.high)
            else:
                trial.suggest_categorical(name, one.choices)
        asked = self._asked.get(trial.number)
        if asked is None:
            raise optuna.TrialPruned("the searcher has no more to ask")
        return asked.strategy

    def infer_relative_search_space(self, study: Any, trial: Any) -> dict[str, Any]:
        return self._space

    def sample_relative(self, study: Any, trial: Any, space: Any) -> dict[str, Any]:
        found = self.search.ask(1)
        if not found:
            study.stop()
            return {}
        self._asked[trial.number] = found[0]
        strategy = found[0].strategy
        return {**strategy.degrees(), **dict(strategy.dims)}

    def sample_independent(self, study: Any, trial: Any, name: str, one: Any) -> Any:
        return self._others.sample_independent(study, trial, name, one)

    def after_trial(self, study: Any, trial: Any, state: Any, values: Any) -> None:
        asked = self._asked.pop(trial.number, None)
        if asked is None:
            return
        value = values[0] if values else math.nan
        if state != optuna.trial.TrialState.COMPLETE or not 0 < value < math.inf:
            self.search.tell(asked, Failed(state.name.lower()))
            return
        problem = self.search.problem
        # What is not the goal is not known; 1 is as good as any number.
        is_latency = problem.objective == "latency"
        throughput, latency_ms = (1.0, value) if is_latency else (value, 1.0)
        metrics = Metrics(True, "", throughput, latency_ms, 0.0, problem.phase)
        self.search.tell(asked, metrics)
