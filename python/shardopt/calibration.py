"""Which measurements on a node change the plan of a service most, and what they say.

The constants of an engine on a machine are uncertain: their logarithms are normal, with
spreads that explain the prediction intervals of the plan. A layout is worth what it serves
at its best load within the SLOs. Logarithms of times and of what layouts serve are linear
in those of the constants. So what a measurement leaves of the uncertainty is known before
it is made, and with it the regret of the plan: what it serves less than the best layout.
"""

from __future__ import annotations

import dataclasses
import json
import math
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Iterator, Mapping, NamedTuple, Sequence

from . import gaussians
from ._native import native
from .border import parse_json, read_text
from .checks import _check_kind, _checked, _whole
from .deployments import Deployment, deployment_of
from .errors import Contradiction, Infeasible, ShardoptError
from .measurements import TIMES, Measurement
from .models import machines, parameters_of
from .problem import FREE, Problem
from .service_parts import PREFILL
from .services import Service, asked_of_service, given_role, plan_service

MOST = 20
#: Scenarios that are planned, and draws that regrets are means over.
SCENARIOS, DRAWS = 24, 400
_SEED = 1
#: A standard deviation, of what 80 % of runs are within.
OF_BAND = 1.2816
#: The share of the variance of a prediction that constants explain; the rest is of single
#: layouts and loads. Predicted ratios of two loads of a case are off by as much.
OF_CONSTANTS = 0.5
#: Regret that is none, and the least part that a measurement has to take off a band.
_NO_REGRET, _NARROWER = 1e-4, 0.01

#: Options of engines that are fitted, with the standard deviations of their logarithms.
#: Only ratios count: all are scaled to the prediction intervals.
OF_STEPS = {
    "compute_scale": 0.05, "memory_scale": 0.05, "link_scale": 0.15, "launch_us": 0.7,
    "rank_skew_us": 0.7, "pass_us": 0.3,
}
OF_EXPERTS = {"expert_layer_us": 0.5, "expert_spread": 0.3}
#: What the host adds to a step, where an engine waits for it.
OF_HOSTS = {"vllm": {"always_us": 0.3}, "sglang": {"step_us": 0.3}, "trtllm": {}}
OF_FIRST_TOKENS = {"first_token_ms": 0.7, "burst_share": 0.5}

#: What a benchmark's prompts do not have.
_UNMEASURED = (
    "rate", "concurrency", "prefix_cache_hit_rate", "draft_tokens", "accepted_tokens",
)

Roles = Mapping[str, Mapping[str, Any]]


def machine_of(machine: str) -> dict[str, Any]:
    """The file of a machine, in which options of engines have a place."""
    known = machine in machines()
    values: dict[str, Any] = {"name": machine, "like": machine}
    if not known:
        values = parse_json(read_text(machine), machine)
    date = (parameters_of(machine).get("constants") or {}).get("date", "")
    found = {"date": date, "data": "", "kernels": [], **(values.get("calibration") or {})}
    return {**values, "calibration": found}


def fitted(
    machine: Mapping[str, Any], engine: str, options: Mapping[str, float], data: str
) -> dict[str, Any]:
    """A file of `machine_of` with `options` of an engine, which were fitted to `data`."""
    found = dict(machine["calibration"])
    if not found["kernels"]:
        found["data"] = data
    engines = dict(found.get("engines") or {})
    engines[engine] = {**engines.get(engine, {}), **options}
    return {**machine, "calibration": {**found, "engines": engines}}


class Node:
    """A machine whose engine has constants of its own: what is attained on it."""

    def __init__(self, problem: Problem, engine: str, machine: str):
        self.engine = engine
        self.asked = problem.replace(machine=machine, engine=engine)

    def _attained(
        self, problem: Problem, roles: Roles, in_flight: float, without: Sequence[str]
    ) -> Mapping[str, Any]:
        settings = asked_of_service(problem)
        requests = {
            name: value for name, value in settings["requests"].items() if name not in without
        }
        settings.update(
            requests=requests, mode="best", engine=self.engine, roles=dict(roles),
            prefill_elsewhere=False, concurrency=in_flight,
        )
        _, text, _ = _checked(problem.handle.evaluate_service, settings)
        found: Mapping[str, Any] = json.loads(text)
        return found

    def worker(self, at: Measurement, in_flight: float | None = None) -> Mapping[str, Any] | None:
        """What one worker that prefills and decodes attains under the load of `at`; None
        where it has no room."""
        problem = self.asked
        if (at.isl, at.osl) != (problem.isl, problem.osl):
            problem = problem.replace(isl=at.isl, osl=at.osl)
        roles = {"serve": {**dict(at.layout), "workers": 1}}
        report = self._attained(problem, roles, in_flight or at.concurrency, _UNMEASURED)
        return report if report["mode"] else None

    def log_times(self, at: Measurement) -> dict[str, float] | None:
        report = self.worker(at)
        if report is None:
            return None
        return {name: math.log(report[report["mode"]][name]) for name in TIMES}

    def worth(self, roles: Roles) -> float | None:
        """The logarithm of the most that roles serve within the SLOs; None: nothing."""
        # Whatever is asked, layouts are compared by the most that they serve.
        report = self._attained(self.asked, roles, 0, ("rate",))
        broken = {each["kind"] for each in report["breaks"]} - {"devices"}
        if not report["mode"] or broken:
            return None
        name = "tokens_per_s_per_used_device" if self.asked.rate else "tokens_per_s_per_device"
        return math.log(report[report["mode"]][name])


@dataclass(frozen=True)
class Constants:
    """Constants of an engine on a machine: values, and what is known of their
    logarithms."""

    values: Mapping[str, float]
    deviations: tuple[float, ...]

    def at(self, shifts: Sequence[float]) -> dict[str, float]:
        """The values where their logarithms are off by `shifts`."""
        return {
            name: value * math.exp(shift) for (name, value), shift in zip(self.values.items(), shifts)
        }


class Layout(NamedTuple):
    """Roles of a service, and what they serve: the logarithm and how it changes with
    those of the constants."""

    roles: Roles
    worth: float
    slope: tuple[float, ...]


class Laboratory:
    """Nodes with given constants, as files in a folder."""

    def __init__(self, service: Service, folder: str):
        self.service, self.folder = service, Path(folder)
        self.problem, self.engine = service.problem, service.engine
        self.machine = self.problem.machine or self.problem.machine_name
        self.file = machine_of(self.machine)
        found: dict[str, float] = _checked(native().engine_constants, self.engine, self.machine)
        experts = OF_EXPERTS if self.problem.model.experts else {}
        spreads = {**OF_STEPS, **experts, **OF_HOSTS[self.engine], **OF_FIRST_TOKENS}
        values = {name: found[name] for name in spreads if found[name] > 0}
        self.constants = Constants(values, tuple(spreads[name] for name in values))
        self._nodes = {tuple(self.here): Node(self.problem, self.engine, self.machine)}

    def node(self, shifts: Sequence[float]) -> Node:
        key = tuple(shifts)
        if key not in self._nodes:
            path = self.folder / f"{len(self._nodes)}.json"
            values = fitted(self.file, self.engine, self.constants.at(key), "a scenario")
            path.write_text(json.dumps(values), encoding="utf-8")
            self._nodes[key] = Node(self.problem, self.engine, str(path))
        return self._nodes[key]

    @property
    def here(self) -> list[float]:
        return [0.0] * len(self.constants.deviations)

    def either_side(self, at: Sequence[float]) -> Iterator[tuple[float, Node, Node]]:
        """For each constant its deviation, and the nodes where it is as much less and more
        than `at`."""
        for i, step in enumerate(self.constants.deviations):
            less, more = list(at), list(at)
            less[i] -= step
            more[i] += step
            yield step, self.node(less), self.node(more)

    def slopes(self, at: Sequence[float], load: Measurement) -> dict[str, list[float]]:
        """How the logarithms of times change with those of the constants."""
        found: dict[str, list[float]] = {name: [] for name in TIMES}
        for step, less, more in self.either_side(at):
            low, high = less.log_times(load), more.log_times(load)
            for name, rows in found.items():
                rows.append((high[name] - low[name]) / (2 * step) if low and high else 0.0)
        return found

    def layout(self, roles: Roles) -> Layout | None:
        worth = self.node(self.here).worth(roles)
        if worth is None:
            return None
        slope = []
        for step, less, more in self.either_side(self.here):
            low, high = less.worth(roles), more.worth(roles)
            # Where nothing is served within the SLOs on one side, the other one says it.
            ends = (-step if low is not None else 0.0, step if high is not None else 0.0)
            rise = (worth if high is None else high) - (worth if low is None else low)
            slope.append(rise / (ends[1] - ends[0]) if ends[1] > ends[0] else 0.0)
        return Layout(roles, worth, tuple(slope))

    def scale(self, load: Measurement) -> dict[str, float]:
        """Scales the deviations so that they explain the prediction intervals of a load;
        returns the deviations of what they do not explain, by time."""
        report = self.node(self.here).worker(load)
        if report is None:
            raise ShardoptError("the workers of the plan have no room to prefill and decode")
        known = {
            name: deviation_of(report[report["mode"]][f"{name}_range"]) for name in TIMES
        }
        slopes = self.slopes(self.here, load)
        tpot, ttft = (
            [(slope * step) ** 2 for slope, step in zip(slopes[name], self.constants.deviations)]
            for name in TIMES
        )
        count = sum(name not in OF_FIRST_TOKENS for name in self.constants.values)
        of_steps = _scale(OF_CONSTANTS * known["tpot_ms"] ** 2, sum(tpot[:count]))
        wanted = OF_CONSTANTS * known["ttft_ms"] ** 2
        rest = max(wanted - of_steps**2 * sum(ttft[:count]), 0.2 * wanted)
        of_first = _scale(rest, sum(ttft[count:]))
        deviations = tuple(
            each * (of_steps if i < count else of_first)
            for i, each in enumerate(self.constants.deviations)
        )
        self.constants = dataclasses.replace(self.constants, deviations=deviations)
        return {name: math.sqrt(1 - OF_CONSTANTS) * each for name, each in known.items()}


def deviation_of(ends: Sequence[float]) -> float:
    """The standard deviation of a logarithm whose middle 80 % is between the ends."""
    return math.log(ends[1] / ends[0]) / 2 / OF_BAND


def _scale(wanted: float, found: float) -> float:
    """By how much deviations are multiplied to have a variance, within reason."""
    return min(4.0, max(0.25, math.sqrt(wanted / found))) if found > 0 else 1.0


@dataclass(frozen=True)
class Proposal:
    """A measurement, what is expected of it, and what is expected after it and those
    before it."""

    measurement: Measurement
    gpus: int
    expected: Mapping[str, float]
    regret: float
    deviation: float
    """Of what the plan serves, as a share of it."""


@dataclass(frozen=True)
class Study:
    """The layouts that may be best for a service, and what is known of constants."""

    service: Service
    constants: Constants
    noise: Mapping[str, float]
    """Deviations of measured times that no constant explains."""
    layouts: tuple[Layout, ...]
    """The first is the plan."""

    def regret(self, before: gaussians.Matrix, left: gaussians.Matrix,
               means: Sequence[float] = ()) -> float:
        """The share of throughput that the plan is expected to lose, if constants are
        known as `before` now, and measurements leave `left`: what the best layouts serve
        less what those serve that are chosen by means."""
        known = [[a - b for a, b in zip(*rows)] for rows in zip(before, left)]
        best, chosen = (self._best(matrix, means) for matrix in (before, known))
        return max(0.0, best - chosen)

    def _best(self, covariance: gaussians.Matrix, means: Sequence[float]) -> float:
        size = len(covariance)
        low = gaussians.root(covariance)
        columns = list(zip(*low))
        at = means or [0.0] * size
        rows = [
            (each.worth + gaussians.dot(each.slope, at), gaussians.times(columns, each.slope))
            for each in self.layouts
        ]
        first = rows[0][0]
        drawn = gaussians.draws(size, DRAWS, _SEED)
        return sum(max(worth - first + gaussians.dot(row, one) for worth, row in rows) for one in drawn) / DRAWS

    def deviation(self, covariance: gaussians.Matrix) -> float:
        return math.sqrt(gaussians.variance(covariance, self.layouts[0].slope))


def _layout_of(role: Any, has_experts: bool) -> tuple[tuple[tuple[str, Any], ...], float]:
    """The layout of a worker, and its requests in flight. Without experts, data-parallel
    ranks are workers of their own."""
    said = given_role(role)
    for name in ("workers", "dims"):
        said.pop(name, None)
    in_flight = 8.0 if role.name == PREFILL else role.in_flight
    if not has_experts:
        in_flight /= role.strategy.dp_size
        said.update(dp=1, ep=1)
    return tuple(said.items()), max(1.0, in_flight)


def study_of(lab: Laboratory) -> tuple[Study, list[Measurement]]:
    """The study of a service, and loads that could be measured."""
    service, problem = lab.service, lab.service.problem
    assert problem.isl and problem.osl
    worker, most = _layout_of(service.roles[-1], problem.model.experts > 0)
    noise = lab.scale(Measurement("", worker, problem.isl, problem.osl, math.floor(most)))
    planned = [service]
    for shifts in gaussians.draws(len(lab.here), SCENARIOS, _SEED):
        shifts = [a * b for a, b in zip(shifts, lab.constants.deviations)]
        try:
            planned.append(plan_service(lab.node(shifts).asked))
        except Infeasible:
            continue
    roles: dict[str, Service] = {}
    for found in planned:
        for each in filter(None, (found, found.other)):
            said = {role.name: given_role(role) for role in each.roles}
            roles.setdefault(json.dumps(said, sort_keys=True), each)
    layouts, loads = [], dict[tuple[Any, int], None]()
    for text, each in roles.items():
        layout = lab.layout(json.loads(text))
        if layout is None:
            continue
        layouts.append(layout)
        for role in each.roles:
            worker, most = _layout_of(role, each.problem.model.experts > 0)
            for share in (0, 0.125, 0.5, 1):
                loads.setdefault((worker, max(1, math.floor(share * most))))
    if not layouts:
        raise ShardoptError("no layout serves anything within the SLOs on its own machine")
    known = [Measurement("", worker, problem.isl, problem.osl, count) for worker, count in loads]
    return Study(service, lab.constants, noise, tuple(layouts)), known


def started(problem: Problem) -> Service:
    """The plan that is calibrated."""
    _check_kind(Problem, "problem", problem)
    if not problem.is_service:
        raise ShardoptError("measurements are of services, expected 'isl' and 'osl'")
    if problem.prefill_machine is not None:
        raise Contradiction(
            f"'prefill_machine' is '{problem.prefill_machine}', expected none: the constants of "
            "one machine are measured at a time"
        )
    if problem.lengths:
        raise Contradiction(
            "'lengths' are given, expected one 'isl' and one 'osl', which benchmarks send"
        )
    service = plan_service(problem)
    if service.engine == FREE:
        raise ShardoptError("the plan is one that no engine runs, expected an engine such as vllm")
    return dataclasses.replace(service, problem=service.problem.replace(engine=service.engine))


def propose(problem: Problem, most: int = MOST) -> "Proposals":
    """At most `most` measurements, one after the other the one that lowers the expected
    regret of the plan most, and where none does, that which tells most of what it
    serves."""
    _whole("measurements", most, least=1)
    service = started(problem)
    with tempfile.TemporaryDirectory() as folder:
        lab = Laboratory(service, folder)
        study, loads = study_of(lab)
        here = lab.node(lab.here)
        known = []
        for load in loads:
            times = here.log_times(load)
            if times is None or _why_notstarted(here, load, load.concurrency) is not None:
                continue
            known.append((load, times, lab.slopes(lab.here, load)))
        if not known:
            raise ShardoptError(f"no worker of these layouts prefills and decodes in {lab.engine}")
        return Proposals(study, *_chosen(study, known, most), here)


def _chosen(study: Study, known: Any, most: int) -> tuple[float, float, tuple[Proposal, ...]]:
    """The expected regret and deviation before, and the proposals."""
    before = gaussians.diagonal(study.constants.deviations)
    left, regret, deviation = before, study.regret(before, before), study.deviation(before)
    start = regret, deviation
    found: list[Proposal] = []
    rest = list(known)
    while rest and len(found) < most:
        tried = []
        for load, times, slopes in rest:
            then = left
            for name in TIMES:
                then = gaussians.after(then, slopes[name], study.noise[name])
            # What is learned never costs; the draws may say so.
            tried.append((min(regret, study.regret(before, then)), study.deviation(then), then))
        by_regret = min(range(len(rest)), key=lambda i: tried[i][:2])
        by_band = min(range(len(rest)), key=lambda i: tried[i][1])
        decides = regret - tried[by_regret][0] > _NO_REGRET
        pick = by_regret if decides else by_band
        if not decides and tried[pick][1] > (1 - _NARROWER) * deviation:
            break
        regret, deviation, left = tried[pick]
        load, times, _ = rest.pop(pick)
        named = dataclasses.replace(load, name=f"m{len(found) + 1:02}")
        gpus = math.prod(int(dict(load.layout)[name]) for name in ("tp", "dp", "pp"))
        expected = {name: math.exp(value) for name, value in times.items()}
        found.append(Proposal(named, gpus, expected, regret, deviation))
    return *start, tuple(found)


def _server_of(node: Node, load: Measurement, in_flight: float) -> Deployment:
    """One server with the layout of a measurement, for so many requests at most."""
    report = node.worker(load, in_flight)
    if report is None:
        raise ShardoptError("the worker has no room")
    devices = report[report["mode"]]["devices"]
    problem = node.asked.replace(
        devices=devices, max_devices=None, pins={}, mode=None,
        **dict.fromkeys(_UNMEASURED),
    )
    return deployment_of(Service(problem, report, report["mode"]))


def _why_notstarted(node: Node, load: Measurement, in_flight: float) -> str | None:
    try:
        _server_of(node, load, in_flight)
    except ShardoptError as error:
        return str(error)
    return None


@dataclass(frozen=True)
class Proposals:
    """What to measure, and what is expected before anything is."""

    study: Study
    regret: float
    deviation: float
    proposals: tuple[Proposal, ...]
    node: Node

    @property
    def measurements(self) -> list[Measurement]:
        return [each.measurement for each in self.proposals]

    def servers(self) -> list[tuple[Deployment, list[Measurement]]]:
        """The servers that are measured, each with its measurements."""
        by_layout: dict[Any, list[Measurement]] = {}
        for each in self.measurements:
            by_layout.setdefault(each.layout, []).append(each)
        return [
            (_server_of(self.node, loads[0], max(each.concurrency for each in loads)), loads)
            for loads in by_layout.values()
        ]

    def rows(self) -> list[dict[str, Any]]:
        return [
            {
                **{name: value for name, value in each.measurement.row().items() if name not in TIMES},
                "gpus": each.gpus,
                **{f"expected_{name}": value for name, value in each.expected.items()},
                "regret": each.regret,
                "deviation": each.deviation,
            }
            for each in self.proposals
        ]
