"""Plan files: what they hold, and the problem that is read from one."""

from __future__ import annotations

import json
import math
import os
import re
from pathlib import Path
from typing import Any, Iterable, Mapping

from .border import check_text, list_known, parse_json, read_text, reading, shown, write_whole
from .errors import ShardoptError, WrongPlan
from .former_names import current_keys
from .models import model_of_text, parameters_for, parameters_of
from .problem import ASKED, Problem, read_limits

#: Versions of the form: plans of a phase, of a service, and of a service whose roles
#: have dims of their own. Files of version 1 may hold one of the phases of a service, as
#: they did before there was the other.
SCHEMA, SERVICE_SCHEMA, DIMS_SCHEMA = 1, 2, 3


def is_plan_file(path: "str | os.PathLike[str]") -> bool:
    """Whether a file is a page or says that it is a plan file."""
    place = Path(path)
    if place.suffix == ".html":
        return True
    if place.suffix != ".json" or not place.is_file():
        return False
    try:
        values = parse_json(read_text(place), f"'{place}'")
    except ShardoptError:
        return False
    return isinstance(values, dict) and "shardopt_plan" in values


def problem_of_file(
    path: "str | os.PathLike[str]", allow_simulator: bool = False, simulator: Any = None
) -> Problem:
    """What the plan of a plan file answers, with `simulator` in the place of its own
    where one is given."""
    return read_problem(read_plan_file(Path(path)), str(path), allow_simulator, simulator)


def read_plan_file(path: Path) -> dict[str, Any]:
    try:
        text = read_text(path)
    except ShardoptError as error:
        raise WrongPlan(str(error)) from None
    if path.suffix == ".html":
        found = re.search(r'<script type="application/json" id="plan">(.*?)</script>', text, re.S)
        if not found:
            raise WrongPlan(f"'{path}' is a page without a plan")
        text = found.group(1)
    try:
        values = parse_json(text, f"'{path}' is no plan file")
    except ShardoptError as error:
        raise WrongPlan(str(error)) from None
    if not isinstance(values, dict) or "shardopt_plan" not in values:
        raise WrongPlan(
            f"'{path}' is no plan file: it lacks 'shardopt_plan', expected one that "
            "`shardopt plan … --output-dir DIR` wrote"
        )
    form = values["shardopt_plan"]
    if isinstance(form, bool) or form not in (SCHEMA, SERVICE_SCHEMA, DIMS_SCHEMA):
        raise WrongPlan(
            f"'{path}': 'shardopt_plan' is {shown(form)}, expected {SCHEMA} (a phase), "
            f"{SERVICE_SCHEMA} or {DIMS_SCHEMA} (a service), the versions that this program reads"
        )
    own = "strategy" if form == SCHEMA else "report"
    for key in ("problem", "machine", own, "model"):
        if not isinstance(values.get(key), dict):
            raise WrongPlan(f"'{path}': /{key}: missing, expected an object")
    with reading(f"'{path}'"):
        return current_keys(values)


#: Simulators that are programs of whoever wrote the file.
_PROGRAMS = ("exec:", "plugin:")


def read_problem(
    values: Mapping[str, Any], name: str, allow_simulator: bool = False, own: Any = None
) -> Problem:
    """The problem of a plan file, with the simulator `own` of the user where there is
    one. A file that names a program as its simulator is an error, before anything
    of it runs, unless `allow_simulator`."""
    asked = dict(values["problem"])
    for key in asked:
        if key not in ASKED:
            raise WrongPlan(
                f"'{name}': /problem/{key}: unknown; " + list_known(key, ASKED)
            )
    simulator = asked.get("simulator")
    is_program = isinstance(simulator, str) and simulator.startswith(_PROGRAMS)
    if is_program and not allow_simulator and own is None:
        raise WrongPlan(
            f"'{name}': /problem/simulator: {shown(simulator)} would run a program that "
            "the file names; expected --allow-simulator (allow_simulator=True), where "
            "you know what it does"
        )
    read_limits(asked)
    module = values["model"].get("module")
    if not isinstance(module, str):
        raise WrongPlan(f"'{name}': /model/module: missing, expected a text")
    path = values["model"].get("path", name)
    if not isinstance(path, str):
        raise WrongPlan(f"'{name}': /model/path: expected a text")
    check_text("/model/path", path)
    config = values["model"].get("config")
    if not isinstance(config, (dict, type(None))):
        raise WrongPlan(f"'{name}': /model/config: expected an object or null")
    if own is not None:
        asked["simulator"] = own
    types = {name: values["model"].get(name) for name in ("weight_type", "kv_type")}
    for key, value in types.items():
        if not isinstance(value, (str, type(None))):
            raise WrongPlan(f"'{name}': /model/{key}: expected a text or null")
    problem = Problem(model_of_text(module, path, config, **types), **asked)
    others = values.get("other_machines", {})
    if not isinstance(others, dict):
        raise WrongPlan(f"'{name}': /other_machines: expected an object")
    # Files of prefill workers name their own machine, and that of decode workers too.
    mine = asked.get("machine") or problem.machine or problem.machine_name
    known = {**others, mine: values["machine"]}
    wanted = [problem.machine or problem.machine_name, *other_machines(problem)]
    for machine in [*others, *wanted]:
        if not isinstance(known.get(machine), dict):
            raise WrongPlan(
                f"'{name}': /other_machines/{machine}: missing, expected an object"
            )
    for machine, then in known.items():
        now = parameters_for(machine, simulator if machine == mine else None)
        _check_machine(name, machine, now, then)
    return problem


def of_phase_alone(values: Mapping[str, Any]) -> dict[str, Any]:
    """The values of a plan file, without what it says of a service that the phase is
    part of, whose limits are not those of a step."""
    if not isinstance(values.get("service"), dict):
        return dict(values)
    kept = (*_OF_PHASES, "tpot_ms", "ttft_ms")
    asked = {name: value for name, value in values["problem"].items() if name in kept}
    asked.update(dict.fromkeys(("tpot_ms", "ttft_ms"), "inf"))
    return {**values, "problem": asked, "other_machines": {}}


#: What a problem has where it is none of a service.
_OF_PHASES = (
    "machine", "devices", "max_devices", "objective", "space", "engine", "simulator",
    "simulator_timeout_s", "partition", "pins", "searcher", "budget", "seed",
)


def other_machines(problem: Problem) -> list[str]:
    """The machine of a service other than that of the problem."""
    return [problem.prefill_machine] if problem.prefill_machine else []


def plan_text(
    values: Mapping[str, Any],
    path: "str | os.PathLike[str] | None" = None,
    inputs: Iterable[Any] = (),
) -> str:
    """The text of a plan file, written to `path` where it is given: whole or not at
    all, and not where `path` is one of the files `inputs`."""
    text = json.dumps(values, indent=1, allow_nan=False) + "\n"
    if path is not None:
        write_whole(path, text, inputs)
    return text


def asked_of(problem: Problem) -> dict[str, Any]:
    """What was asked, as plan files have it."""
    asked = {
        name: getattr(problem, name)
        for name in ASKED
        if name != "pins" and getattr(problem, name) not in (None, ())
    }
    for name, value in asked.items():
        if value == math.inf:
            asked[name] = "inf"
    asked["pins"] = dict(problem.pins)
    return asked


def machines_of(problem: Problem) -> dict[str, Any]:
    """The parameters of the machines of a problem, as plan files have them."""
    others = other_machines(problem)
    found: dict[str, Any] = {"machine": problem.machine_parameters()}
    if others:
        found["other_machines"] = {name: parameters_of(name) for name in others}
    return found


def model_of(problem: Problem) -> dict[str, Any]:
    """The model of a problem, as plan files have it."""
    model = problem.model
    return {
        "path": model.path, "module": model.mlir, "config": model.config, **model.types
    }


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
        raise WrongPlan(
            f"'{name}': the constants of measured kernels of the machine '{machine}' are "
            f"no longer those that the plan was made with: fitted {dates[1]}, now "
            f"{dates[0]}; expected a plan that is made again"
        )
    for key in {**then, **now}:
        if now.get(key) != then.get(key):
            raise WrongPlan(
                f"'{name}': the machine '{machine}' is no longer what the plan was "
                f"made for: '{key}' was {then.get(key)}, and is {now.get(key)}"
            )
