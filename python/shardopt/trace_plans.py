"""Services for a trace, which is replayed, and for bands of what is not known."""

from __future__ import annotations

import dataclasses
import math
from typing import Any, Callable, Mapping, NamedTuple, Sequence

from ._native import native
from .border import real, shown
from .checks import _check_kind
from .errors import Contradiction, ShardoptError, WrongValue
from .lengths import lengths_of
from .problem import Problem
from .replays import Replay, Request, replay
from .services import ANY, Service, evaluate_roles, given_roles, plan_service

#: Plans of each mode that are replayed, and requests of a trace at most.
CANDIDATES, MOST_REPLAYED = 3, 10_000
#: A share of goodput, by which a plan that is not the optimum of the search has to be better.
_TIE = 1e-3


def load_of_requests(requests: Sequence[Request]) -> dict[str, Any]:
    """What a problem is told of the requests of a trace: lengths, and the share of prompt
    tokens in the prefix cache."""
    found: dict[str, Any] = {"lengths": lengths_of(requests)}
    cached = math.fsum(request.cached for request in requests)
    if cached:
        prompts = math.fsum(request.isl for request in requests)
        found["prefix_cache_hit_rate"] = min(0.999, cached / prompts)
    return found


def _of_one_engine(problem: Problem, what: str) -> Problem:
    """The problem of the usual engine, if it names none."""
    if problem.engine == ANY or len(problem.variants()) > 1:
        raise Contradiction(f"a plan for {what} is of one engine and chooses from no lists")
    return problem if problem.engine else problem.replace(engine=native().usual_engine)


class _Tried(NamedTuple):
    service: Service
    replay: Replay

    @property
    def rank(self) -> tuple[float, float, float]:
        """Goodput, then requests per second, then the lower TPOT."""
        found = self.replay
        return found.goodput, found.requests_per_s, -found.tpot.mean

    def is_better(self, other: "_Tried") -> bool:
        for mine, others in zip(self.rank, other.rank):
            if abs(mine - others) > _TIE * abs(others):
                return mine > others
        return False

    def row(self) -> dict[str, Any]:
        row = self.service.to_row()
        names = ["mode", *[role.name for role in self.service.roles]]
        said = self.replay.to_dict()
        kept = ("goodput_requests_per_s", "within_slos", "requests_per_s", "ttft_ms", "tpot_ms")
        return {**{name: row[name] for name in names}, **{name: said[name] for name in kept}}


def _of(service: Service, mode: str, found: dict[str, Any]) -> Service:
    report = {**service.report, "mode": mode, mode: found}
    return dataclasses.replace(service, report=report, mode=mode)


def _candidates(found: Service) -> list[Service]:
    """The optimum first, then others of the search; at a rate the other mode alone."""
    report = dict(found.report)
    told = [dict(each) for each in report.pop("candidates", [])]
    best = dataclasses.replace(found, report=report)
    others = [_of(best, each.pop("mode"), each) for each in told]
    if not others and best.other is not None:
        others = [_of(best, best.other.mode, dict(best.other.found))]
    return [best, *[each for each in others if each.roles != best.roles]]


def _source_of(service: Service) -> str:
    """Which measured runs its numbers come from, which differs between plans of a search."""
    found, _ = evaluate_roles(service, given_roles(service), service.metrics.in_flight)
    return str(found["source"])


def plan_for_requests(
    problem: Problem,
    requests: Sequence[Request],
    progress: "Callable[..., None] | None" = None,
) -> Service:
    """The best service for a trace, of the problem that `load_of_requests` describes. The
    best plans of the search are replayed, and the one with the highest goodput is taken.
    `report["trace"]` says what each attains, and what the plan for mean lengths loses."""
    _check_kind(Problem, "problem", problem)
    if not problem.lengths:
        raise Contradiction("the problem has no 'lengths', expected those of the trace")
    problem = _of_one_engine(problem, "a trace")
    taken = list(requests[:MOST_REPLAYED])
    best = plan_service(problem, progress, candidates=CANDIDATES)
    tried = [_Tried(each, replay(each, taken)) for each in _candidates(best)]
    chosen = tried[0]
    for one in tried[1:]:
        if one.is_better(chosen):
            chosen = one
    trace: dict[str, Any] = {
        "requests": len(requests), "replayed": len(taken),
        "plans": [one.row() for one in tried], "chosen": tried.index(chosen),
    }
    try:
        means = plan_service(problem.replace(lengths=()))
        of_means = _Tried(means, replay(dataclasses.replace(means, problem=problem), taken))
        trace["plan_for_means"] = of_means.row()
        most = chosen.replay.goodput
        trace["plan_for_means_loses"] = 1 - of_means.replay.goodput / most if most else 0.0
    except ShardoptError as error:
        trace["plan_for_means"] = {"why": str(error)}
    report = {**chosen.service.report, "trace": trace}
    if chosen is not tried[0]:
        report["source"] = _source_of(chosen.service)
        gap = best.metrics.tokens_per_s_per_gpu / chosen.service.metrics.tokens_per_s_per_gpu - 1
        report["certificate"] = {**report["certificate"], "optimal": False, "gap": gap}
    return dataclasses.replace(chosen.service, report=report)


def plan_robust(
    problem: Problem,
    bands: Mapping[str, Sequence[float]],
    progress: "Callable[..., None] | None" = None,
) -> Service:
    """The service whose least share of the optimum is the largest, over the numbers of the
    problem and all corners of `bands`: the lowest and the highest of a number of requests, of
    a constant of the engine, or of "times", what everything takes over what the model says.
    `report["robust"]` has the scenarios."""
    _check_kind(Problem, "problem", problem)
    said = []
    for name, band in bands.items():
        if not isinstance(band, (list, tuple)) or len(band) != 2:
            raise WrongValue(f"the band of '{name}' is {shown(band)}, expected two numbers")
        said.append((name, real(band[0]), real(band[1])))
    return plan_service(_of_one_engine(problem, "bands"), progress, bands=said)
