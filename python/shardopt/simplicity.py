"""The plan nearest to what serving engines run that loses little."""

from __future__ import annotations

import dataclasses
import itertools
from dataclasses import dataclass
from typing import Iterator

from .border import real, shown
from .checks import _check_kind
from .errors import WrongValue
from .plans import Plan, Strategy, evaluate, given

#: Sets of ops that are looked at for one number of departures, at most.
_MOST_SETS = 20000


@dataclass(frozen=True)
class Simplified:
    """A plan, and how far it is from an engine and from the optimum."""

    plan: Plan
    engine: str
    departures: tuple[str, ...]
    """Ops that are cut in another way than the engine cuts them; or, where it
    cannot run the degrees, the reason."""
    loss: float

    def __str__(self) -> str:
        away = f"no difference from {self.engine}, which runs the plan"
        if self.departures:
            away = f"differs from {self.engine}: {', '.join(self.departures)}"
        return f"  simplest  loses {self.loss:.2%} of the optimum\n            {away}"


def parse_share(text: str) -> float:
    """0.005 of "0.5%" or of "0.005"."""
    number = text[:-1] if text.endswith("%") else text
    try:
        share = float(number) / (100 if text.endswith("%") else 1)
    except ValueError:
        share = -1
    if not 0 <= share < 1:
        raise WrongValue(
            f"'simplest' is '{text}', expected a share such as 0.5%, from 0 to below 1"
        )
    return share


def _own_plans(plan: Plan) -> Iterator[tuple[str, Strategy]]:
    """The best plan of each engine."""
    for engine, row in (plan.report.get("engines") or {}).items():
        if row["best"]:
            ops = plan.problem.model.ops
            yield engine, Strategy.from_dict(row["best"]["strategy"], ops)


def _worth(plan: Plan, throughput: float, latency: float) -> float:
    """What is lost of the goal, as a share."""
    if plan.problem.objective == "latency":
        return latency / plan.metrics.latency_ms - 1
    return 1 - throughput / plan.metrics.throughput


def _between(
    plan: Plan, engine: str, most_loss: float, fewest: int
) -> Simplified | None:
    """The plan of the optimum's degrees with the fewest ops cut as in the
    optimum and the others as in `engine`, if they are fewer than `fewest`."""
    problem, strategy = plan.problem, plan.strategy
    own = problem.handle.engine_dims(engine, strategy.numbers())
    dims = dict(zip(problem.model.ops, own))
    base = dataclasses.replace(strategy, dims=tuple(dims.items()))
    why = problem.handle.why_not_run(engine, base.numbers())
    if why is not None:
        return None
    optimal = dict(strategy.dims)
    pinned = tuple(op for op in problem.pinned_ops if optimal[op] != dims[op])
    differing = [op for op in dims if optimal[op] != dims[op] and op not in pinned]
    for count in range(min(len(differing) + 1, fewest)):
        chosen = itertools.combinations(differing, count)
        sets = [(*pinned, *kept) for kept in itertools.islice(chosen, _MOST_SETS)]
        tried = [
            dataclasses.replace(
                strategy,
                dims=tuple((op, optimal[op] if op in kept else dims[op]) for op in dims),
            )
            for kept in sets
        ]
        found = [
            (_worth(plan, metrics.throughput, metrics.latency_ms), kept, one)
            for metrics, kept, one in zip(evaluate(problem, tried), sets, tried)
            if metrics.valid
        ]
        near = [each for each in found if each[0] <= most_loss]
        if near:
            loss, kept, best = min(near, key=lambda each: each[0])
            return Simplified(given(problem, best), engine, tuple(kept), max(0.0, loss))
    return None


def simplest(plan: Plan, most_loss: float) -> Simplified:
    """The plan nearest to what an engine runs that loses at most `most_loss`.

    A plan that an engine runs is nearest; else one of the optimum's degrees, with
    the fewest ops that are cut in another way than the engine cuts them. The
    optimum itself is what is left where no engine runs its degrees.
    """
    _check_kind(Plan, "plan", plan)
    if not 0 <= real(most_loss) < 1:
        raise WrongValue(
            f"'most_loss' is {shown(most_loss)}, expected a share from 0 to below 1"
        )
    free = plan.report.get("free_optimum")
    if free is not None and free["gain"] <= most_loss:
        runner = next(name for name, row in plan.report["engines"].items() if row["runs_plan"])
        return Simplified(plan, runner, (), free["gain"])
    run: Simplified | None = None
    for engine, strategy in _own_plans(plan):
        metrics = evaluate(plan.problem, [strategy])[0]
        loss = max(0.0, _worth(plan, metrics.throughput, metrics.latency_ms))
        if loss <= most_loss and (run is None or loss < run.loss):
            run = Simplified(given(plan.problem, strategy), engine, (), loss)
    if run:
        return run
    nearest: Simplified | None = None
    for engine in plan.report.get("engines") or {}:
        fewest = len(nearest.departures) if nearest else len(plan.strategy.dims) + 1
        nearest = _between(plan, engine, most_loss, fewest) or nearest
    if nearest:
        return nearest
    reasons = tuple(
        row["why_not"] for row in (plan.report.get("engines") or {}).values()
    )
    return Simplified(plan, "every engine", reasons[:1] or ("its space",), 0.0)
