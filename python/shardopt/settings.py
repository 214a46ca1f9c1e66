"""What a run is asked, from a file, the command line and `--set`."""

from __future__ import annotations

from typing import Any, Mapping, Sequence

from ._native import native
from .border import parse_json, read_text, shown
from .errors import Contradiction, ShardoptError, UnknownName, WrongValue, list_known
from .plan_files import is_plan_file, problem_of_file
from .problem import (
    ASKED,
    Decode,
    Prefill,
    Problem,
    _checked,
    load_model,
    read_limits,
)
from .yaml_files import parse_yaml

_WORKLOAD = ("model", "phase", "context")
KEYS = (*_WORKLOAD, *ASKED)


def parse_value(text: str) -> Any:
    """A number where it is one, a list at commas, else the text."""
    if "," in text:
        return [parse_value(part) for part in text.split(",")]
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            continue
    return text


def read_file(path: str) -> dict[str, Any]:
    """The settings of a YAML or JSON file."""
    text = read_text(path)
    if path.endswith(".json"):
        values = parse_json(text, f"'{path}'")
    else:
        values = parse_yaml(text, path)
    if not isinstance(values, dict):
        raise ShardoptError(f"'{path}' holds no settings, expected 'name: value' lines")
    return values


def merged(
    file: str | None, flags: Mapping[str, Any], changes: Sequence[str]
) -> dict[str, Any]:
    """The settings of a file, then flags, then `path=value` changes."""
    values = read_file(file) if file else {}
    values.update({name: value for name, value in flags.items() if value is not None})
    pins = values.get("pins") or {}
    if not isinstance(pins, dict):
        raise WrongValue(f"'pins' is {shown(pins)}, expected values by name")
    values["pins"] = dict(pins)
    for change in changes:
        path, found, text = change.partition("=")
        if not found:
            raise ShardoptError(f"'--set {change}' has no '=', expected path=value")
        if path.startswith("pins."):
            if not isinstance(values["pins"], dict):
                raise WrongValue(f"'pins' is {shown(values['pins'])}, expected values by name")
            values["pins"][path[len("pins.") :]] = parse_value(text)
        else:
            values[path] = parse_value(text)
    for name in values:
        if name not in KEYS:
            raise UnknownName(f"unknown setting '{name}'; " + list_known(name, KEYS))
    return values


def _tokens(values: Mapping[str, Any], name: str) -> int:
    value = values[name]
    if isinstance(value, bool) or not isinstance(value, int) or value < 1:
        raise WrongValue(
            f"'{name}' is {shown(value)}, expected a whole number of tokens above 0"
        )
    return value


def _is_service(asked: Mapping[str, Any]) -> bool:
    """Whether the machine of the problem has constants, and nothing asks for
    strategies that are not its own."""
    if asked.get("pins") or asked.get("simulator") not in (None, "calibrated"):
        return False
    if asked.get("engine") == "transformers":  # which is no server
        return False
    machine = str(asked.get("machine") or "h100_sxm")
    return _checked(native().constants_of, machine) is not None


def _problem_of_plan(
    path: str, values: Mapping[str, Any], allow_simulator: bool
) -> Problem:
    """The problem of a plan file, with what else is said in the place of its own."""
    for name in ("phase", "context", "isl", "osl"):
        if name in values:
            raise Contradiction(
                f"'{name}' does not go with the plan file '{path}', which says its workload"
            )
    problem = problem_of_file(path, allow_simulator, values.get("simulator"))
    changes = {name: value for name, value in values.items() if name not in _WORKLOAD}
    changes["pins"] = {**problem.pins, **changes.get("pins", {})}
    for one, other in (("devices", "max_devices"), ("max_devices", "devices")):
        if one in changes:
            changes.setdefault(other, None)
    read_limits(changes)
    return problem.replace(**changes)


def problems_of(
    values: Mapping[str, Any], allow_simulator: bool = False
) -> list[Problem]:
    """One problem, of a plan file its own; or for `isl` and `osl` two, decode at the longest sequence and
    prefill of a prompt: of one service, or without constants of the machine, and
    with another simulator, each for servers of its own. A plan file that names a
    program as its simulator is an error unless `allow_simulator`."""
    if "model" not in values:
        raise ShardoptError("no model, expected a config.json, its folder or a module")
    common = {
        name: value for name, value in values.items() if name not in _WORKLOAD
    }
    read_limits(common)
    model = str(values["model"])
    if is_plan_file(model):
        return [_problem_of_plan(model, values, allow_simulator)]
    if "isl" in values or "osl" in values:
        for name in ("isl", "osl"):
            if name not in values:
                raise Contradiction(f"'isl' and 'osl' go together, and '{name}' is missing")
        for name in ("phase", "context"):
            if name in values:
                raise Contradiction(f"'{name}' does not go with 'isl' and 'osl'")
        isl, osl = _tokens(values, "isl"), _tokens(values, "osl")
        workloads: list[Decode | Prefill] = [Decode(isl + osl), Prefill(isl)]
        if not _is_service(common):
            for name in ("isl", "osl"):
                del common[name]
        return [Problem(load_model(model, load), **common) for load in workloads]
    if model.endswith(".mlir"):
        for name in ("phase", "context"):
            if name in values:
                raise Contradiction(
                    f"'{name}' does not go with a module, which says its workload"
                )
        return [Problem(load_model(model), **common)]
    phase = values.get("phase", "decode")
    if phase not in ("decode", "prefill"):
        raise UnknownName(
            f"unknown phase '{phase}'; " + list_known(str(phase), ("decode", "prefill"))
        )
    if "context" not in values:
        raise ShardoptError("no workload, expected --isl and --osl, or --context")
    context = _tokens(values, "context")
    load = Decode(context) if phase == "decode" else Prefill(context)
    return [Problem(load_model(model, load), **common)]
