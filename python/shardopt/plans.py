"""Strategies, their metrics, and plans with their file."""

from __future__ import annotations

import dataclasses
import hashlib
import json
import os
from dataclasses import dataclass, field
from typing import Any, Callable, Iterable, Mapping, NamedTuple, Sequence, cast, overload

from .border import shown
from .checks import _check_kind, _checked, _path
from .errors import (
    BudgetExhausted,
    Infeasible,
    WrongPlan,
    WrongValue,
)
from .frames import Frame, is_frame, like, strategies_of
from .frames import numbers_of as numbers_of_frame
from .plan_files import (
    SCHEMA,
    asked_of,
    machines_of,
    model_of,
    of_phase_alone,
    plan_text,
    read_plan_file,
    read_problem,
)
from .models import version
from .problem import Problem
from .strategies import Strategy, _checked_strategy
from .verbs import Verbs, public

class Metrics(NamedTuple):
    """What the planner says of a strategy; the names are those of reports."""

    valid: bool
    reason: str
    throughput: float
    latency_ms: float
    memory_gb: float
    phase: str = "decode"

    @property
    def tpot_ms(self) -> float:
        return self._latency("decode")

    @property
    def ttft_ms(self) -> float:
        return self._latency("prefill")

    def _latency(self, phase: str) -> float:
        if phase != self.phase:
            raise AttributeError(f"these are metrics of {self.phase}")
        return self.latency_ms

    def to_dict(self) -> dict[str, Any]:
        latency = "tpot_ms" if self.phase == "decode" else "ttft_ms"
        return {
            "throughput": self.throughput,
            latency: self.latency_ms,
            "memory_gb": self.memory_gb,
            "valid": self.valid,
            "reason": self.reason,
        }


@overload
def evaluate(
    problem: Problem, strategies: "Iterable[Strategy | Mapping[str, Any] | list[int]]"
) -> list[Metrics]: ...


@overload
def evaluate(problem: Problem, strategies: Frame) -> Any: ...


def evaluate(problem: Problem, strategies: Any) -> Any:
    """The metrics of each strategy, in order. The quickest form of one is what
    `Strategy.numbers` gives, a list of integers; dictionaries are those of
    `Strategy.to_dict`. For a data frame, a strategy a row, it is a frame of metrics
    with the same index: degrees are columns, and so is the dim of each op."""
    _check_kind(Problem, "problem", problem)
    ops = problem.model.ops
    if is_frame(strategies):
        rows: Any = numbers_of_frame(strategies, ops)
        if rows is None:
            rows = strategies_of(strategies, ops)
        found = list(zip(*evaluate(problem, rows))) or [()] * 6
        latency = "tpot_ms" if problem.phase == "decode" else "ttft_ms"
        names = ("valid", "reason", "throughput", latency, "memory_gb")
        columns = dict(zip(names, found))
        return like(strategies, {name: columns[name] for name in (*names[2:], *names[:2])})

    def numbers_of(strategy: Any) -> list[int]:
        """Where dims have names, and where something is wrong."""
        try:
            return _checked_strategy(strategy, ops).numbers()
        except (TypeError, ValueError) as error:
            raise ValueError(str(error)) from None

    if isinstance(strategies, (Strategy, Mapping, str)):
        raise WrongValue(
            f"'strategies' is {shown(strategies)}, expected a list of strategies"
        )
    try:
        rows = list(strategies)
    except TypeError:
        raise WrongValue(
            f"'strategies' is {shown(strategies)}, expected a list of strategies"
        ) from None
    return _checked(problem.handle.evaluate, rows, Metrics, Strategy, numbers_of)


@dataclass(frozen=True)
class Plan(Verbs):
    """A strategy, its certificate, and what there is to say of it."""

    problem: Problem = field(repr=False)
    strategy: Strategy
    report: Mapping[str, Any] = field(repr=False)
    table: str = field(repr=False)
    interrupted: bool = False
    command: Sequence[str] = field(default=(), repr=False)

    @property
    def metrics(self) -> Metrics:
        best = self.report["best"]
        latency = "tpot_ms" if self.problem.phase == "decode" else "ttft_ms"
        return Metrics(
            best["valid"],
            best["reason"],
            best["throughput"],
            best[latency],
            best["memory_gb"],
            self.problem.phase,
        )

    @property
    def mlir(self) -> str:
        """The module of the model."""
        return self.problem.model.mlir

    @property
    def proved(self) -> bool:
        return self.report["proved"]

    @property
    def bound(self) -> float | None:
        """No plan of the space is better than this."""
        return self.report["bound"]

    @property
    def gap(self) -> float | None:
        return self.report["gap"]

    @property
    def binding(self) -> Mapping[str, Any]:
        return self.report["binding_constraint"]

    @property
    def baselines(self) -> Mapping[str, Any]:
        """Megatron's plans: strategy and metrics of each, or None."""
        return self.report["baselines"]

    @property
    def memory(self) -> Mapping[str, float]:
        """Gigabytes of a device by part."""
        return self.report["best"]["memory_parts_gb"]

    @property
    def breakdown(self) -> Sequence[Mapping[str, Any]]:
        """What each op costs, a row an op and stage."""
        return self.report["best"]["breakdown"]

    def _repr_html_(self) -> str:
        return cast(str, public("for_notebook")(self))

    def to_dict(self) -> dict[str, Any]:
        """The plan file: all that is needed to evaluate the plan again."""
        return {
            "shardopt_plan": SCHEMA,
            "version": version(),
            "command": list(self.command),
            "problem": asked_of(self.problem),
            **machines_of(self.problem),
            "strategy": self.strategy.to_dict(),
            "report": self.report,
            "table": self.table,
            "model": model_of(self.problem),
        }

    def to_json(
        self, path: "str | os.PathLike[str] | None" = None, inputs: Iterable[Any] = ()
    ) -> str:
        """The text of the plan file, written to `path` where it is given: whole or
        not at all, and not where `path` is one of the files `inputs`."""
        return plan_text(self.to_dict(), path, inputs)

    @classmethod
    def from_json(
        cls, source: "str | os.PathLike[str]", allow_simulator: bool = False
    ) -> "Plan":
        """Reads a plan file, or a page that holds one, and evaluates the plan
        again: where its metrics are what they were, what the search said of it
        holds too. A file of another version, one whose machine is no longer what it
        was, and one that names a program as its simulator are errors, the last
        unless `allow_simulator`."""
        values = of_phase_alone(read_plan_file(_path(source)))
        name = str(source)
        if values["shardopt_plan"] != SCHEMA:
            raise WrongPlan(f"'{name}' holds a service, expected Service.from_json")
        problem = read_problem(values, name, allow_simulator)
        strategy = Strategy.from_dict(values["strategy"], problem.model.ops)
        command = values.get("command", [])
        if not isinstance(command, list):
            raise WrongPlan(f"'{name}': /command: expected a list of words")
        found = _evaluated(problem, strategy, [str(word) for word in command])
        report, table = values.get("report"), values.get("table")
        if isinstance(report, dict) and isinstance(table, str):
            kept = dataclasses.replace(found, report=report, table=table)
            if kept._is_like(found):
                return kept
        return found

    def _is_like(self, other: "Plan") -> bool:
        """Whether a report that was read says what `other` does."""
        engines = self.report.get("engines") or {}
        return (
            all(
                key == "engines" or key in self.report and _is_shaped(self.report[key], like)
                for key, like in other.report.items()
            )
            and self.report["best"] == other.report["best"]
            and isinstance(engines, dict)
            and all(_is_shaped(row, _ENGINE) for row in engines.values())
        )


#: What a report says of an engine.
_ENGINE = {"runs_plan": True, "best": None, "why_not": None}


def _is_shaped(value: Any, like: Any) -> bool:
    """Whether `value` has the members and types of `like`; what is None in one of
    them may be anything in the other."""
    if value is None or like is None:
        return True
    if isinstance(like, dict):
        return isinstance(value, dict) and all(
            key in value and _is_shaped(value[key], inner) for key, inner in like.items()
        )
    if isinstance(like, bool) or not isinstance(like, (int, float)):
        return isinstance(value, type(like))
    return isinstance(value, (int, float)) and not isinstance(value, bool)


def _evaluated(
    problem: Problem, strategy: Strategy, command: Sequence[str] = ()
) -> Plan:
    """`strategy` as the plan that was given."""
    table, text, why = _checked(problem.handle.describe, strategy.numbers())
    report = json.loads(text)
    if why is not None:
        raise Infeasible(why, table, report)
    return Plan(problem, strategy, report, table, False, tuple(command))


def given(problem: Problem, strategy: "Strategy | Mapping[str, Any]") -> Plan:
    """A strategy of the user's as a plan; `Infeasible` where it holds not all
    limits."""
    return _evaluated(problem, _checked_strategy(strategy, problem.model.ops))


def find_plan(
    problem: Problem,
    checkpoint: "str | None" = None,
    progress: "Callable[..., None] | None" = None,
    **others: Any,
) -> Plan:
    """What `phase_plans.plan` answers, of all that the planner itself knows."""
    asked = problem.request(**others)
    if checkpoint is not None:
        program = hashlib.sha256(problem.model.mlir.encode()).hexdigest()
        asked.update(checkpoint=os.fspath(checkpoint), program=program)
    if progress is not None:
        asked.update(progress=progress)
    return _planned(problem, *_checked(problem.handle.plan, asked))


def _planned(
    problem: Problem, table: str, text: str, why: "str | None", interrupted: bool
) -> Plan:
    """What the planner has answered."""
    report = json.loads(text)
    best = report["best"]
    if best is None:
        ended = interrupted or report["stopped"] in ("budget", "signal")
        if ended and not report["proved"]:
            raise BudgetExhausted(why or "the search ended without a plan")
        raise Infeasible(why or "nothing fits", table, report)
    strategy = Strategy.from_dict(best["strategy"], problem.model.ops)
    return Plan(problem, strategy, report, table, interrupted)
