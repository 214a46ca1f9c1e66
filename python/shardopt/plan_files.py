"""Plan files: what they hold, and the problem that is read from one."""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import Any, Mapping

from .border import check_text, parse_json, read_text, shown
from .errors import ShardoptError, WrongPlan, list_known
from .problem import ASKED, Problem, model_of_text, parameters_for, parameters_of, read_limits

SCHEMA = 1


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
        raise WrongPlan(f"'{path}' is no plan file: it lacks 'shardopt_plan'")
    if values["shardopt_plan"] != SCHEMA:
        raise WrongPlan(
            f"'{path}': 'shardopt_plan' is {shown(values['shardopt_plan'])}, expected "
            f"{SCHEMA}, the version that this program reads"
        )
    for key in ("problem", "machine", "strategy", "model"):
        if not isinstance(values.get(key), dict):
            raise WrongPlan(f"'{path}': /{key}: missing, expected an object")
    return values


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
    problem = Problem(model_of_text(module, path, config), **asked)
    others = values.get("other_machines", {})
    if not isinstance(others, dict):
        raise WrongPlan(f"'{name}': /other_machines: expected an object")
    for machine in [*others, *other_machines(problem)]:
        if not isinstance(others.get(machine), dict):
            raise WrongPlan(
                f"'{name}': /other_machines/{machine}: missing, expected an object"
            )
    of_problem = problem.machine or problem.machine_name
    now = parameters_for(of_problem, simulator)
    _check_machine(name, of_problem, now, values["machine"])
    for machine, then in others.items():
        _check_machine(name, machine, parameters_of(machine), then)
    return problem


def other_machines(problem: Problem) -> list[str]:
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
