"""Strategies, their metrics, and plans with their file."""

from __future__ import annotations

import dataclasses
import json
import math
import os
import re
import sys
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Iterable, Mapping, NamedTuple, Sequence, overload

from ._native import native
from .errors import BudgetExhausted, Infeasible, ShardoptError, list_known
from .frames import Frame, is_frame, like, strategies_of
from .problem import (
    ASKED,
    Problem,
    _checked,
    _limit,
    _whole,
    dim_of,
    model_of_text,
    parameters_of,
    read_limits,
    version,
)

SCHEMA = 1


_PAIRS: dict[tuple[str, int], tuple[str, int]] = {}


def pairs_of(dims: Iterable[tuple[str, int]]) -> tuple[tuple[str, int], ...]:
    """Ops with their dims, of which all strategies share each: that is less to keep,
    and quicker to read."""
    return tuple(_PAIRS.setdefault(pair, pair) for pair in dims)


@dataclass(frozen=True)
class Strategy:
    """Degrees, and a dim for each op. Degrees that are not said have their
    default: dp is ep, cp 1, the exchange an all-to-all."""

    tp: int
    ep: int
    pp: int
    batch: int
    dims: tuple[tuple[str, int], ...]
    dp: int | None = None
    cp: int = 1
    exchange: str = "all_to_all"
    stages: tuple[int, ...] = ()
    """Layers of each pipeline stage; empty: they are divided evenly."""

    @classmethod
    def from_dict(
        cls, values: Mapping[str, Any], ops: Mapping[str, Mapping[int, str]]
    ) -> "Strategy":
        """Reads the form of reports: degrees, and `dims` by op or in order."""
        known = [*native().degrees, "stages", "dims"]
        for name in values:
            if name not in known:
                raise ShardoptError(
                    f"a strategy has '{name}'; " + list_known(name, known)
                )
        for name in ("tp", "ep", "pp", "batch", "dims"):
            if name not in values:
                raise ShardoptError(f"a strategy lacks '{name}'")
        dims = values["dims"]
        if not isinstance(dims, Mapping):
            if not isinstance(dims, (list, tuple)):
                raise ShardoptError(f"'dims' is {dims!r}, expected a dim for each op")
            if len(dims) != len(ops):
                raise ShardoptError(
                    f"'dims' has {len(dims)} dims, expected one for each of "
                    f"{len(ops)} ops"
                )
            dims = dict(zip(ops, dims))
        for name in dims:
            if name not in ops:
                raise ShardoptError(
                    f"'dims' has '{name}', which is no op of the model; "
                    + list_known(name, ops)
                )
        missing = [name for name in ops if name not in dims]
        if missing:
            raise ShardoptError(f"'dims' lacks '{missing[0]}'")
        degrees = {
            name: _whole(name, values[name], least=1)
            for name in ("tp", "dp", "ep", "pp", "cp", "batch")
            if name in values
        }
        exchange = values.get("exchange", "all_to_all")
        if exchange not in native().exchanges:
            raise ShardoptError(
                f"'exchange' is {exchange!r}; "
                + list_known(str(exchange), native().exchanges)
            )
        if degrees.get("dp") == degrees["ep"]:
            del degrees["dp"]
        stages = values.get("stages", ())
        if not isinstance(stages, (list, tuple)):
            raise ShardoptError(
                f"'stages' is {stages!r}, expected the layers of each stage"
            )
        layers = tuple(_whole("stages", count, least=1) for count in stages)
        cut = pairs_of((op, dim_of(op, dims[op], ops[op])) for op in ops)
        return cls(dims=cut, exchange=exchange, stages=layers, **degrees)

    def to_dict(self) -> dict[str, Any]:
        """The form of reports: what has its default is not said."""
        said: dict[str, Any] = {"tp": self.tp}
        if self.dp is not None:
            said["dp"] = self.dp
        said.update(ep=self.ep, pp=self.pp)
        if self.cp != 1:
            said["cp"] = self.cp
        if self.exchange != "all_to_all":
            said["exchange"] = self.exchange
        said["batch"] = self.batch
        if self.stages:
            said["stages"] = list(self.stages)
        said["dims"] = dict(self.dims)
        return said

    @property
    def replicas(self) -> int:
        """Groups of devices that share the sequences: dp, or ep without it."""
        return self.ep if self.dp is None else self.dp

    @property
    def devices(self) -> int:
        return self.tp * self.replicas * self.pp

    def numbers(self) -> list[int]:
        """As the planner takes it: the degrees in its order, then the dims, then
        the layers of the stages where they are said."""
        replicas = self.ep if self.dp is None else self.dp
        exchange = 1 if self.exchange == "all_to_all" else 2
        numbers = [self.tp, replicas, self.ep, self.pp, self.cp, exchange, self.batch]
        numbers += [dim for _, dim in self.dims]
        numbers += self.stages
        return numbers


def _checked_strategy(
    strategy: Any, ops: Mapping[str, Mapping[int, str]]
) -> Strategy:
    """A strategy, or what says one, with the ops in the order of the model's."""
    if isinstance(strategy, Strategy):
        _check_dims(strategy.dims)
        if not isinstance(strategy.stages, (list, tuple)):
            raise ShardoptError(
                f"'stages' is {strategy.stages!r:.60}, expected the layers of each stage"
            )
        strategy = strategy.to_dict()
    if not isinstance(strategy, Mapping):
        raise ShardoptError(
            f"{strategy!r:.60} is no strategy, expected a Strategy, a dictionary as "
            "its 'to_dict' makes them, or a list of integers as 'numbers' does"
        )
    return Strategy.from_dict(strategy, ops)


def _check_dims(dims: Any) -> None:
    """That they are pairs, each of another op."""
    named: set[str] = set()
    for pair in dims if isinstance(dims, (list, tuple)) else [dims]:
        if not isinstance(pair, (list, tuple)) or len(pair) != 2:
            raise ShardoptError(
                f"'dims' has {pair!r:.60}, expected pairs of an op and its dim"
            )
        if not isinstance(pair[0], str):
            raise ShardoptError(f"'dims' has the op {pair[0]!r:.60}, expected a name")
        if pair[0] in named:
            raise ShardoptError(f"'dims' has '{pair[0]}' twice, expected each op once")
        named.add(pair[0])


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
    ops = problem.model.ops
    if is_frame(strategies):
        found = evaluate(problem, strategies_of(strategies, ops))
        return like(strategies, [metrics.to_dict() for metrics in found])

    def numbers_of(strategy: Any) -> list[int]:
        """Where dims have names, and where something is wrong."""
        try:
            return _checked_strategy(strategy, ops).numbers()
        except (TypeError, ValueError) as error:
            raise ValueError(str(error)) from None

    if isinstance(strategies, (Strategy, Mapping, str)):
        raise ShardoptError(
            f"'strategies' is {strategies!r:.60}, expected a list of strategies"
        )
    try:
        rows = list(strategies)
    except TypeError:
        raise ShardoptError(
            f"'strategies' is {strategies!r:.60}, expected a list of strategies"
        ) from None
    return _checked(problem.handle.evaluate, rows, Metrics, Strategy, numbers_of)


@dataclass(frozen=True)
class Plan:
    """A strategy, its certificate, and what there is to say of it."""

    problem: Problem = field(repr=False)
    strategy: Strategy
    report: Mapping[str, Any] = field(repr=False)
    table: str = field(repr=False)
    interrupted: bool = False
    command: Sequence[str] = field(default=(), repr=False)
    #: Of a service: its plans, aggregated and disaggregated, and as a table.
    service: "Mapping[str, Any] | None" = field(default=None, repr=False)
    service_table: str = field(default="", repr=False)

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
        import html

        return f"<pre>{html.escape(self.table)}</pre>"

    def to_dict(self) -> dict[str, Any]:
        """The plan file: all that is needed to evaluate the plan again."""
        problem = self.problem
        asked = {
            name: getattr(problem, name)
            for name in ASKED
            if name != "pins" and getattr(problem, name) is not None
        }
        for name, value in asked.items():
            if value == math.inf:
                asked[name] = "inf"
        asked["pins"] = dict(problem.pins)
        others = _other_machines(problem)
        return {
            "shardopt_plan": SCHEMA,
            "version": version(),
            "command": list(self.command),
            "problem": asked,
            "machine": problem.machine_parameters(),
            **(
                {"other_machines": {name: parameters_of(name) for name in others}}
                if others
                else {}
            ),
            "strategy": self.strategy.to_dict(),
            "report": self.report,
            "table": self.table,
            **(
                {"service": self.service, "service_table": self.service_table}
                if self.service
                else {}
            ),
            "model": {
                "path": problem.model.path,
                "module": problem.model.mlir,
                "config": problem.model.config,
            },
        }

    def to_json(self, path: "str | os.PathLike[str] | None" = None) -> str:
        """The text of the plan file, written to `path` where it is given."""
        text = json.dumps(self.to_dict(), indent=1, allow_nan=False) + "\n"
        if path is not None:
            Path(path).write_text(text, encoding="utf-8")
        return text

    @classmethod
    def from_json(cls, source: "str | os.PathLike[str]") -> "Plan":
        """Reads a plan file, or a page that holds one, and evaluates the plan
        again: where its metrics are what they were, what the search said of it
        holds too. A file of another version, and one of which a machine is no
        longer what it was, are errors."""
        values = _read_plan_file(Path(source))
        name = str(source)
        problem = _read_problem(values, name)
        strategy = Strategy.from_dict(values["strategy"], problem.model.ops)
        command = values.get("command", [])
        if not isinstance(command, list):
            raise ShardoptError(f"'{name}': /command: expected a list of words")
        found = _evaluated(problem, strategy, [str(word) for word in command])
        report, table = values.get("report"), values.get("table")
        if isinstance(report, dict) and isinstance(table, str):
            service = values.get("service")
            kept = dataclasses.replace(
                found,
                report=report,
                table=table,
                service=service if isinstance(service, dict) else None,
                service_table=str(values.get("service_table", "")),
            )
            if kept._is_like(found):
                return kept
        return found

    def _is_like(self, other: "Plan") -> bool:
        """Whether a report that was read says what `other` does."""
        try:
            return (
                set(other.report) - {"engines"} <= set(self.report)
                and self.metrics == other.metrics
                and self.report["best"]["strategy"] == other.report["best"]["strategy"]
            )
        except (KeyError, TypeError):
            return False


def is_plan_file(path: "str | os.PathLike[str]") -> bool:
    """Whether a file is a page or says that it is a plan file."""
    place = Path(path)
    if place.suffix == ".html":
        return True
    if place.suffix != ".json" or not place.is_file():
        return False
    try:
        values = json.loads(place.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return False
    return isinstance(values, dict) and "shardopt_plan" in values


def problem_of_file(path: "str | os.PathLike[str]") -> Problem:
    """What the plan of a plan file answers."""
    return _read_problem(_read_plan_file(Path(path)), str(path))


def _read_plan_file(path: Path) -> dict[str, Any]:
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise ShardoptError(f"'{path}' cannot be read: {error}") from None
    if path.suffix == ".html":
        found = re.search(r'<script type="application/json" id="plan">(.*?)</script>', text, re.S)
        if not found:
            raise ShardoptError(f"'{path}' is a page without a plan")
        text = found.group(1)
    try:
        values = json.loads(text)
    except ValueError as error:
        raise ShardoptError(f"'{path}' is no plan file: {error}") from None
    if not isinstance(values, dict) or "shardopt_plan" not in values:
        raise ShardoptError(f"'{path}' is no plan file: it lacks 'shardopt_plan'")
    if values["shardopt_plan"] != SCHEMA:
        raise ShardoptError(
            f"'{path}': 'shardopt_plan' is {values['shardopt_plan']!r}, expected "
            f"{SCHEMA}, the version that this program reads"
        )
    for key in ("problem", "machine", "strategy", "model"):
        if not isinstance(values.get(key), dict):
            raise ShardoptError(f"'{path}': /{key}: missing, expected an object")
    return values


def _read_problem(values: Mapping[str, Any], name: str) -> Problem:
    asked = dict(values["problem"])
    for key in asked:
        if key not in ASKED:
            raise ShardoptError(
                f"'{name}': /problem/{key}: unknown; " + list_known(key, ASKED)
            )
    read_limits(asked)
    module = values["model"].get("module")
    if not isinstance(module, str):
        raise ShardoptError(f"'{name}': /model/module: missing, expected a text")
    path = values["model"].get("path", name)
    if not isinstance(path, str):
        raise ShardoptError(f"'{name}': /model/path: expected a text")
    config = values["model"].get("config")
    if not isinstance(config, (dict, type(None))):
        raise ShardoptError(f"'{name}': /model/config: expected an object or null")
    problem = Problem(model_of_text(module, path, config), **asked)
    others = values.get("other_machines", {})
    if not isinstance(others, dict):
        raise ShardoptError(f"'{name}': /other_machines: expected an object")
    for machine in [*others, *_other_machines(problem)]:
        if not isinstance(others.get(machine), dict):
            raise ShardoptError(
                f"'{name}': /other_machines/{machine}: missing, expected an object"
            )
    of_problem = problem.machine or problem.machine_name
    _check_machine(name, of_problem, problem.machine_parameters(), values["machine"])
    for machine, then in others.items():
        _check_machine(name, machine, parameters_of(machine), then)
    return problem


def _other_machines(problem: Problem) -> list[str]:
    """The machines of a service beside that of the problem's own replicas."""
    both = (problem.decode_machine, problem.prefill_machine)
    mine = problem.machine if problem.decode_machine else None
    return [machine for machine in both if machine is not None and machine != mine]


def _check_machine(
    name: str, machine: str, now: Mapping[str, Any], then: Mapping[str, Any]
) -> None:
    """That the machine of the file `name` is what it was."""
    fitted = now.get("constants"), then.get("constants")
    if fitted[0] != fitted[1]:
        dates = [
            each.get("date", "none") if isinstance(each, dict) else "none"
            for each in fitted
        ]
        raise ShardoptError(
            f"'{name}': the constants of measured kernels of the machine '{machine}' are "
            f"no longer those that the plan was made with: fitted {dates[1]}, now "
            f"{dates[0]}; expected a plan that is made again"
        )
    for key in {**then, **now}:
        if now.get(key) != then.get(key):
            raise ShardoptError(
                f"'{name}': the machine '{machine}' is no longer what the plan was "
                f"made for: '{key}' was {then.get(key)}, and is {now.get(key)}"
            )


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


def plan(problem: Problem, **others: Any) -> Plan:
    """The best plan of the problem. Raises `Infeasible` where there is none."""
    asked = problem.request(**others)
    if problem.is_service:
        return _plan_service(problem, asked)
    return _planned(problem, *_checked(problem.handle.plan, asked))


def _plan_service(problem: Problem, asked: dict[str, Any]) -> Plan:
    """The strategy of the replicas that run the problem's phase."""
    if problem.decode_machine:
        problem = problem.replace(machine=problem.decode_machine, decode_machine=None)
    asked.update(
        requests=problem.requests,
        devices=problem.devices or problem.max_devices or 0,
        mode=problem.mode or "best",
        prefill_machine=problem.prefill_machine or "",
        prefill_devices=problem.prefill_devices or 0,
    )
    service_table, text, why, found, is_elsewhere = _checked(
        problem.handle.plan_service, asked
    )
    service = json.loads(text)
    if found is None:
        report = {
            "best": None,
            "binding_constraint": {"kind": "slo", "part": ""},
            "next_feasible": None,
            "service": service,
        }
        raise Infeasible(why, service_table, report)
    if is_elsewhere:  # the workers that run its phase are on the other machine
        problem = problem.replace(
            machine=problem.prefill_machine,
            decode_machine=problem.machine or problem.machine_name,
        )
    return dataclasses.replace(
        _planned(problem, *found),
        service=service,
        service_table=service_table,
    )


def _planned(
    problem: Problem, table: str, text: str, why: "str | None", interrupted: bool
) -> Plan:
    """What the planner has answered."""
    report = json.loads(text)
    best = report["best"]
    if best is None:
        if interrupted or report["stopped"] in ("budget", "signal"):
            raise BudgetExhausted(why or "the search ended without a plan")
        raise Infeasible(why or "nothing fits", table, report)
    strategy = Strategy.from_dict(best["strategy"], problem.model.ops)
    return Plan(problem, strategy, report, table, interrupted, tuple(sys.argv))
