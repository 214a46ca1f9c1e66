"""Services: roles of workers for requests, the SLOs that they meet, and what they serve."""

from __future__ import annotations

import dataclasses
import json
import math
import os
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Callable, Iterable, Mapping, Sequence, cast

from .border import list_known, real, shown
from .checks import _check_kind, _checked, _path
from .engine_table import table as engine_rows
from .errors import Infeasible, UnknownName, WrongPlan
from .plan_files import (
    DIMS_SCHEMA,
    SCHEMA,
    SERVICE_SCHEMA,
    asked_of,
    machines_of,
    model_of,
    plan_text,
    read_plan_file,
    read_problem,
)
from .phase_plans import plan as plan_phase
from .plans import Plan, Strategy, given
from .models import Decode, Prefill, version
from .problem import GOODPUT, Problem
from .strategies import first_other_dim
from .service_parts import (
    DECODE,
    MODES,
    PERCENTILES,
    PREFILL,
    SERVE,
    Role,
    ServiceMetrics,
    Slo,
    latency_of,
    layout_of,
    roles_of,
)
from .service_tables import (
    facts_of,
    lines_of,
    number,
    shortage_table,
    table_of,
    three,
)
from .verbs import public

if TYPE_CHECKING:
    from .explanations import Difference
    from .service_explanations import ServiceExplanation


#: The engine that stands for the best of all.
ANY = "any"
#: A rate that grows by less is the same rate.
_MORE = 1.001


@dataclass(frozen=True)
class Service:
    """The plan of a service. `report` is what the planner says of both modes, and
    `mode` the one that this is."""

    problem: Problem = field(repr=False)
    report: Mapping[str, Any] = field(repr=False)
    mode: str
    command: Sequence[str] = field(default=(), repr=False)
    interrupted: bool = False
    roles: tuple[Role, ...] = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "roles", roles_of(self.problem, self.report, self.found))

    @property
    def found(self) -> Mapping[str, Any]:
        """What the report says of the mode."""
        found = self.report.get(self.mode) if self.mode in MODES else None
        if not isinstance(found, dict):
            raise WrongPlan(
                f"the service has no mode {shown(self.mode)}, expected a plan file as "
                "`shardopt plan` writes it"
            )
        return found

    def role(self, name: str) -> Role:
        """The role of a name; that of decode or prefill in one for both is `serve`."""
        for role in self.roles:
            if role.name == name or role.name == SERVE and name in (PREFILL, DECODE):
                return role
        raise UnknownName(
            f"the service has no role '{name}'; "
            + list_known(name, [role.name for role in self.roles])
        )

    @property
    def engine(self) -> str:
        return str(self.report["engine"])

    @property
    def chunk_tokens(self) -> int:
        """Tokens of prompts in one step at most."""
        return int(self.report["chunk_tokens"])

    @property
    def metrics(self) -> ServiceMetrics:
        found = self.found
        return ServiceMetrics(
            float(found["requests_per_s"]),
            float(found["tokens_per_s_per_device"]),
            float(found["tokens_per_s_per_user"]),
            latency_of(found, "tpot_ms"),
            latency_of(found, "ttft_ms"),
            float(found["concurrency"]),
            int(found["devices"]),
        )

    @property
    def slos(self) -> tuple[Slo, Slo]:
        """TPOT and TTFT with their targets, which are infinite where none is said."""
        problem, metrics = self.problem, self.metrics

        def target(name: str, asked: float | None) -> float:
            return float(DEFAULT_TARGETS[name] if asked is None else asked)

        return (
            Slo("TPOT", problem.tpot_percentile, target("tpot_ms", problem.tpot_ms), metrics.tpot),
            Slo("TTFT", problem.ttft_percentile, target("ttft_ms", problem.ttft_ms), metrics.ttft),
        )

    @property
    def step_us(self) -> Mapping[str, float]:
        """Microseconds of a step that decodes, by part."""
        return self.role(DECODE).step_us

    @property
    def kv_transfer_ms(self) -> float | None:
        """Of TTFT, the transfer of a cache between workers."""
        sent = self.found.get("kv_transfer_ms")
        return None if sent is None else float(sent)

    @property
    def binding(self) -> Mapping[str, Any]:
        """What keeps it from serving more: `kind` and `why`. One more request in flight
        in each worker that decodes breaks it."""
        return binding_of(self)

    @property
    def proof(self) -> Mapping[str, Any]:
        """What was searched, of both modes."""
        return dict(self.report.get("certificate") or {})

    @property
    def proved(self) -> bool:
        return bool(self.proof.get("optimal"))

    @property
    def bound(self) -> float | None:
        """Tokens/s per GPU that no service of the space exceeds."""
        bound = self.proof.get("bound")
        if bound is None and self.proved and self.mode == self.report.get("mode"):
            return self.metrics.tokens_per_s_per_gpu
        return None if bound is None else float(bound)

    @property
    def other(self) -> "Service | None":
        """The best of the other mode, if it has one."""
        mode = MODES[1 - MODES.index(self.mode)]
        if not isinstance(self.report.get(mode), dict):
            return None
        return dataclasses.replace(self, mode=mode)

    @property
    def prefill_elsewhere(self) -> bool:
        """Whether prefill workers are on the `prefill_machine` of the problem."""
        problem = self.problem
        if problem.prefill_machine is None or len(self.roles) < 2:
            return False
        said = self.found.get("prefill_elsewhere")
        if said is not None:
            return bool(said)
        return bool(problem.prefill_devices) or self.roles[0].machine != problem.machine_name

    @property
    def gpus_available(self) -> int:
        return int(self.report["devices"]) + int(self.report.get("prefill_devices") or 0)

    @property
    def engines(self) -> dict[str, str | None]:
        """Engines, each with why it does not run the layouts of all roles, or None."""
        return {
            engine: next(filter(None, (why_not_run(self.problem, engine, role)
                                       for role in self.roles)), None)
            for engine in engine_rows()
        }

    def phase_plan(self, phase: str) -> Plan:
        """The strategy of the role that runs `phase`, as a plan of that phase alone: the
        time of each op in a step that decodes at the mean context, or that prefills
        one prompt."""
        role, problem = self.role(phase), self.problem
        isl, osl = problem.isl or 1, problem.osl or 1
        decode = Decode(isl + osl // 2)
        model = problem.model.under(Prefill(isl) if phase == PREFILL else decode)
        alone = problem.of_phase().replace(
            model=model, devices=None, max_devices=role.gpus_each, engine=self.engine,
            tpot_ms=math.inf if phase == DECODE else None,
            ttft_ms=math.inf if phase == PREFILL else None,
        )
        if phase == PREFILL and self.prefill_elsewhere:
            alone = alone.replace(machine=problem.prefill_machine)
        strategy = role.strategy
        if phase == PREFILL:
            strategy = dataclasses.replace(strategy, batch=strategy.dp_size * strategy.pp)
        return given(alone, strategy)

    @property
    def table(self) -> str:
        return table_of(self)

    def __str__(self) -> str:
        return self.table

    def _repr_html_(self) -> str:
        return cast(str, public("for_notebook")(self))

    def diff(self, other: "Service") -> "Difference":
        return cast("Difference", public("diff")(self, other))

    def explain(self) -> "ServiceExplanation":
        return cast("ServiceExplanation", public("explain_service")(self))

    def chart(self, name: str) -> dict[str, Any]:
        return cast("dict[str, Any]", public("chart_of_service")(self, name))

    def evaluate(self) -> "Service":
        """The same, computed again."""
        return evaluate_service(self)

    def to_row(self) -> dict[str, Any]:
        """A flat row of a table of services: metrics, then roles."""
        row = self.metrics.to_dict()
        if "dollars_per_hour" in self.found:
            row["dollars_per_hour"] = float(self.found["dollars_per_hour"])
        row["mode"] = self.mode
        for role in self.roles:
            row[role.name] = f"{role.workers} x {layout_of(role.strategy)}"
        return row

    def to_dict(self) -> dict[str, Any]:
        """The plan file: all that is needed to evaluate the service again."""
        problem = self.problem
        has_dims = any(role.has_own_dims for role in self.roles)
        return {
            "shardopt_plan": DIMS_SCHEMA if has_dims else SERVICE_SCHEMA,
            "version": version(),
            "command": list(self.command),
            "problem": asked_of(problem),
            **machines_of(problem),
            "mode": self.mode,
            "metrics": self.metrics.to_dict(),
            "slos": [slo.to_dict() for slo in self.slos],
            "roles": {role.name: role.to_dict() for role in self.roles},
            "report": self.report,
            "model": model_of(problem),
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
    ) -> "Service":
        """Reads the plan file of a service, or a page that holds one; also one of
        version 1, of a phase of a service. Errors are those of `Plan.from_json`."""
        return read_service(read_plan_file(_path(source)), str(source), allow_simulator)


#: The planner's, where a problem says none.
DEFAULT_TARGETS = {"tpot_ms": 50.0, "ttft_ms": 2000.0}


def headline_of(row: Mapping[str, Any]) -> dict[str, Any]:
    """A row of `Service.to_row` without its percentiles."""
    return {name: value for name, value in row.items() if name[-4:] not in _PERCENTILE_ENDS}


_PERCENTILE_ENDS = tuple(f"_p{each}" for each in PERCENTILES)


def why_not_run(problem: Problem, engine: str, role: Role) -> str | None:
    """Why an engine does not run a role, to whose ops it gives the dims unless the role
    has its own."""
    dims = problem.handle.engine_dims(engine, role.strategy.numbers())
    own = dataclasses.replace(role.strategy, dims=tuple(zip(problem.model.ops, dims)))
    why: str | None = problem.handle.why_not_run(engine, own.numbers())
    if why is None and role.has_own_dims:
        return first_other_dim(role.strategy, engine, dims, problem.model.ops)
    return why


def plan_service(
    problem: Problem, progress: "Callable[..., None] | None" = None, **others: Any
) -> Service:
    """The best service of the problem, of its engine or of "any". Raises `Infeasible`
    where there is none. `progress` is told how many loads were evaluated, and
    the tokens/s per GPU and the TPOT of the best so far, or None."""
    _check_kind(Problem, "problem", problem)
    variants = problem.variants()
    asked = settings_of(variants[0], progress, **others)
    if len(variants) > 1:
        asked["variants"] = [(each.handle, settings_of(each)) for each in variants]
    _, text, why, number = _checked(variants[0].handle.plan_service, asked)
    report = json.loads(text)
    if report["mode"] is None:
        raise infeasible(problem, report, why)
    if len(variants) > 1:
        report["chosen_from"] = problem.lists
    found = Service(variants[number], report, report["mode"])
    return _exported(found) if problem.engine == ANY else found


def _exported(service: Service) -> Service:
    """The service, or the best of an engine that `export` can start, if that of the best
    engine cannot be started."""
    rows, best = [dict(row) for row in service.report["engines"]], service
    for row in rows:
        if row["mode"] is None:
            continue
        if row["engine"] != best.engine:
            alone = service.problem.replace(engine=row["engine"])
            best = dataclasses.replace(plan_service(alone), problem=service.problem)
        why = public("why_not_exported")(best, model=best.problem.model.name)
        if why is None:
            report = {**best.report, "engines": rows}
            return service if best is service else dataclasses.replace(best, report=report)
        row["why_not_exported"] = why
    return service


def settings_of(
    problem: Problem, progress: "Callable[..., None] | None" = None, **others: Any
) -> dict[str, Any]:
    """What the planner is asked of a service."""
    return {**problem.request(**others), **asked_of_service(problem, progress)}


def asked_of_service(
    problem: Problem, progress: "Callable[..., None] | None" = None
) -> dict[str, Any]:
    """What the planner is asked of a service, without its engine and its pins."""
    load = {} if problem.expert_load is None else {"expert_load": problem.expert_load}
    return {
        **load,
        "requests": problem.requests,
        "lengths": list(problem.lengths),
        "goodput": problem.objective == GOODPUT,
        "devices": problem.devices or problem.max_devices or 0,
        "mode": problem.mode or "best",
        "prefill_machine": problem.prefill_machine or "",
        "prefill_devices": problem.prefill_devices or 0,
        "chunk": problem.chunk or 0,
        "price": problem.price or 0.0,
        "prefill_price": problem.prefill_price or 0.0,
        "progress": progress,
    }


def infeasible(problem: Problem, report: dict[str, Any], why: str) -> Infeasible:
    shortage = report.get("infeasible") or {}
    fewest = shortage.get("fewest_devices")
    change = {"name": "devices", "from": report["devices"], "to": fewest}
    said = {
        "best": None,
        "binding_constraint": {"kind": shortage.get("binding", "slo"), "part": ""},
        "next_feasible": {"change": change} if fewest else None,
        "service": report,
    }
    return Infeasible(why + _seconds_hint(problem), shortage_table(problem, report), said)


#: Milliseconds that nothing meets, and that are a target in seconds.
_SECONDS = {"tpot_ms": 1.0, "ttft_ms": 20.0}


def _seconds_hint(problem: Problem) -> str:
    """What to say of targets that look like seconds."""
    found = ""
    for name, most in _SECONDS.items():
        target = getattr(problem, name)
        if target is not None and target <= most:
            flag = name.removesuffix("_ms")
            found += f"; --{flag} counts milliseconds: {target:g} s are --{flag} {1e3 * target:g}"
    return found


def evaluate_service(service: Service) -> Service:
    """The service of the same roles and requests in flight, computed again. What a
    search has said of it holds where its numbers are what they were."""
    _check_kind(Service, "service", service)
    roles = {role.name: given_role(role) for role in service.roles}
    report, why = evaluate_roles(service, roles, service.metrics.in_flight)
    if not isinstance(report.get(service.mode), dict):
        raise Infeasible(
            f"the service is invalid: {why}", lines_of(facts_of(service)),
            {"best": None, "binding_constraint": {"kind": "memory", "part": ""},
             "next_feasible": None, "service": report},
        )
    again = dataclasses.replace(service, report=report)
    return service if again.found == service.found else again


def most_of(service: Service) -> float:
    """Requests per second that the workers of a service serve at most within the SLOs."""
    problem = service.problem.replace(rate=None, concurrency=None)
    free = dataclasses.replace(service, problem=problem)
    report, _ = evaluate_roles(free, given_roles(service))
    row = report.get(service.mode) or service.found
    return float(row["requests_per_s"])


def evaluate_roles(
    service: Service, roles: Mapping[str, Mapping[str, Any]], in_flight: float = 0
) -> tuple[dict[str, Any], str | None]:
    """What the planner says of other roles for the problem and the engine of a service,
    and what they break. Without requests in flight, of as many as are best within the
    SLOs, or as the load has."""
    problem = service.problem
    settings = {**given_settings(service, roles), "concurrency": in_flight}
    if in_flight:  # in place of those of the load
        settings["requests"] = {
            name: value for name, value in problem.requests.items() if name != "concurrency"
        }
    _, text, why = _checked(problem.handle.evaluate_service, settings)
    return json.loads(text), why


def given_settings(
    service: Service, roles: Mapping[str, Mapping[str, Any]]
) -> dict[str, Any]:
    """What the planner is told of a given service with these roles."""
    return {
        **asked_of_service(service.problem),
        "engine": service.engine,
        "roles": dict(roles),
        "prefill_elsewhere": service.prefill_elsewhere,
    }


def given_role(role: Role) -> dict[str, Any]:
    """As the planner takes a role."""
    degrees = role.strategy.degrees()
    del degrees["batch"]
    dims = {"dims": [dim for _, dim in role.strategy.dims]} if role.has_own_dims else {}
    overlap = {"overlap": "on"} if role.overlap else {}
    return {"workers": role.workers, **degrees, **dims, **overlap}


def _role_bound(service: Service, kind: str) -> str | None:
    """The role of several whose workers a limit binds: prompts wait for prefill workers."""
    if len(service.roles) < 2:
        return None
    return {"ttft": PREFILL, "tpot": DECODE}.get(kind)


def binding_of(service: Service) -> dict[str, str]:
    """What one more request in flight in each worker that decodes would break."""
    if service.problem.rate is not None:
        return {"kind": "rate", "why": f"the request rate of {number(service.problem.rate)} req/s"}
    if service.problem.concurrency is not None:
        asked = service.problem.concurrency
        return {"kind": "concurrency", "why": f"the {asked} requests in flight that are asked for"}
    if service.problem.objective == GOODPUT:
        return {"kind": "goodput", "why": "goodput: with more in flight fewer are within the SLOs"}
    metrics = service.metrics
    more = metrics.in_flight + service.roles[-1].workers
    report, _ = evaluate_roles(service, given_roles(service), more)
    breaks = report.get("breaks") or []
    if breaks:
        first = breaks[0]
        role = _role_bound(service, str(first["kind"]))
        name = first["kind"].upper() + (f" of the {role} workers" if role else "")
        why = f"{name}: with {number(round(more, 3))} requests in flight, {spell(first)}"
        if role == PREFILL:
            rate = real(report[service.mode]["requests_per_s"])
            if rate <= metrics.requests_per_s * _MORE:
                why += f"; they prefill no more than {three(rate)} req/s"
        found = {"kind": str(first["kind"]), "why": why}
        return {**found, "role": role} if role else found
    return {"kind": "throughput", "why": "no limit: more requests in flight serve no more"}


def spell(one: Mapping[str, Any]) -> str:
    return f"{one['role']}: {one['why']}" if one["role"] else str(one["why"])


def given_roles(service: Service) -> dict[str, dict[str, Any]]:
    return {role.name: given_role(role) for role in service.roles}


def plan(
    problem: Problem,
    checkpoint: "str | None" = None,
    progress: "Callable[..., None] | None" = None,
    **others: Any,
) -> "Plan | Service":
    """The best service of a problem with `isl` and `osl`, or else the best plan of its
    phase. Raises `Infeasible` where there is none. `progress` is told the evaluations of
    the search, and the best throughput and latency or None. A search that evaluates is
    kept in the file `checkpoint` and goes on from it."""
    _check_kind(Problem, "problem", problem)
    if problem.is_service:
        return plan_service(problem, progress, **others)
    return plan_phase(problem, checkpoint, progress, **others)


def read_plan(
    source: "str | os.PathLike[str]", allow_simulator: bool = False
) -> "Plan | Service":
    """What a plan file, or a page, holds."""
    values = read_plan_file(_path(source))
    if values["shardopt_plan"] != SCHEMA or isinstance(values.get("service"), dict):
        return read_service(values, str(source), allow_simulator)
    return Plan.from_json(source, allow_simulator)


def read_service(
    values: Mapping[str, Any], name: str, allow_simulator: bool = False
) -> Service:
    """The service of the values of a plan file `name`, evaluated again: where it was
    edited, or is of another version, its numbers are today's."""
    report = values.get("service" if values["shardopt_plan"] == SCHEMA else "report")
    if not isinstance(report, dict):
        raise WrongPlan(f"'{name}' holds no service, expected a plan file of `isl` and `osl`")
    problem = read_problem(values, name, allow_simulator)
    if not problem.is_service:
        raise WrongPlan(f"'{name}': /problem: 'isl' and 'osl' are missing")
    command = values.get("command", [])
    if not isinstance(command, list):
        raise WrongPlan(f"'{name}': /command: expected a list of words")
    mode = values.get("mode", report.get("mode"))
    try:
        found = Service(problem, report, mode, tuple(str(word) for word in command))
        str(found.table)
        found = evaluate_service(found)
    except Infeasible:
        raise
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        if isinstance(error, WrongPlan):
            raise
        text = f"{error} is missing" if isinstance(error, KeyError) else str(error)
        raise WrongPlan(f"'{name}': /service: {text}") from None
    return found
