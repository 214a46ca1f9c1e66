"""What a run is asked, from a file, the command line and `--set`."""

from __future__ import annotations

from typing import Any, Mapping, Sequence

from ._native import native
from .border import list_known, parse_json, read_text, shown
from .checks import MOST, _checked
from .engine_table import why_too_long
from .errors import Contradiction, ShardoptError, UnknownName, WrongValue
from .plan_files import is_plan_file, problem_of_file
from .former_names import current_settings
from .lengths import with_lengths
from .models import Decode, Model, Prefill, load_model, named_models
from .problem import ASKED, Problem, read_limits
from .yaml_files import parse_yaml

_TYPES = ("weight_type", "kv_type")
_WORKLOAD = ("model", "phase", "context", "dims", *_TYPES)
#: Flags that take several values, at commas.
_LISTED = (*_TYPES, "chunk")
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
    for name, value in flags.items():
        if value is not None:
            listed = name in _LISTED and isinstance(value, str)
            values[name] = parse_value(value) if listed else value
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
    values = current_settings(values)
    for name in values:
        if name not in KEYS:
            raise UnknownName(f"unknown setting '{name}'; " + list_known(name, KEYS, len(KEYS)))
    return values


def _tokens(values: Mapping[str, Any], name: str) -> int:
    value = values[name]
    if isinstance(value, bool) or not isinstance(value, int) or not 1 <= value <= MOST:
        raise WrongValue(
            f"'{name}' is {shown(value)}, expected a whole number of tokens from 1 to {MOST}"
        )
    return value


def _why_no_service(asked: Mapping[str, Any]) -> str | None:
    """Why no service can be planned: its steps are timed by measured kernels."""
    if asked.get("simulator") not in (None, "calibrated"):
        return f"'simulator' is '{asked['simulator']}'"
    if asked.get("engine") == "transformers":
        return "'engine' is transformers, which is no server"
    machine = str(asked.get("machine") or "h100_sxm")
    if _checked(native().constants_of, machine) is None:
        return f"nobody measured the kernels of '{machine}'"
    return None


def _problem_of_plan(
    path: str, values: Mapping[str, Any], allow_simulator: bool
) -> Problem:
    """The problem of a plan file, with what else is said in the place of its own."""
    problem = problem_of_file(path, allow_simulator, values.get("simulator"))
    own = () if problem.is_service else ("isl", "osl")
    for name in ("phase", "context", *own):
        if name in values:
            raise Contradiction(
                f"'{name}' does not go with the plan file '{path}', which says its workload"
            )
    changes = {name: value for name, value in values.items() if name not in _WORKLOAD}
    changes["pins"] = {**problem.pins, **changes.get("pins", {})}
    _take_lists(changes, values)
    _replace_others(changes)
    read_limits(changes)
    if types := _types(values):
        changes["model"] = problem.model.retyped(**types)
    if "dims" in values:
        changes["model"] = changes.get("model", problem.model).separated(values["dims"])
    return problem.replace(**changes)


def _replace_others(changes: dict[str, Any]) -> None:
    """What is said replaces its counterpart, and a limit the percentile of another."""
    for one, other in (("devices", "max_devices"), ("rate", "concurrency")):
        for name, instead in ((one, other), (other, one)):
            if changes.get(name) is not None:
                changes.setdefault(instead, None)
    if "isl" in changes or "osl" in changes:
        changes.setdefault("lengths", ())
    for name in ("tpot", "ttft"):
        if f"{name}_ms" in changes:
            changes.setdefault(f"{name}_percentile", None)


def _types(values: Mapping[str, Any]) -> dict[str, Any]:
    """The types that are asked for in the place of the model's own; of several, which
    are listed, none."""
    return {
        name: values[name] for name in _TYPES
        if values.get(name) is not None and not isinstance(values[name], (list, tuple))
    }


def _take_lists(common: dict[str, Any], values: Mapping[str, Any]) -> None:
    """Lists of types, from which the best is chosen."""
    for name in _TYPES:
        if isinstance(values.get(name), (list, tuple)):
            common[f"{name}s"] = tuple(values[name])


def problems_of(
    values: Mapping[str, Any], allow_simulator: bool = False, notes: "list[str] | None" = None
) -> list[Problem]:
    """One problem: of a plan file its own; of a service where `isl` and `osl` are said,
    by the values or by a module; else of a phase. Where no service can be planned,
    `isl` and `osl` are two phases, each for servers of its own: decode at the longest
    sequence, and prefill of a prompt. `notes` gets what is said twice, and which
    counts, and requests that are longer than the model's config allows. A plan file
    that names a program as its simulator is an error unless `allow_simulator`."""
    notes = [] if notes is None else notes
    found = _problems_of(with_lengths(values), allow_simulator, notes)
    if "dims" in values and found[0].is_service:
        raise Contradiction(
            "'dims' is of one phase, and 'isl' and 'osl' ask for a service; expected --context"
        )
    notes += [why for why in map(why_too_long, found) if why]
    return found


def _problems_of(
    values: Mapping[str, Any], allow_simulator: bool, notes: list[str]
) -> list[Problem]:
    if "model" not in values:
        raise ShardoptError("no model, expected a config.json, its folder, a Hub id, a module, or a name; "
            + list_known("", named_models()))
    common = {
        name: value for name, value in values.items() if name not in _WORKLOAD
    }
    read_limits(common)
    _take_lists(common, values)
    path = str(values["model"])
    if is_plan_file(path):
        return [_problem_of_plan(path, values, allow_simulator)]
    for name, other in (("isl", "osl"), ("osl", "isl")):
        if name in values and other not in values and not path.endswith(".mlir"):
            raise Contradiction(f"'isl' and 'osl' go together, and '{other}' is missing")
    for name in ("phase", "context"):
        if name in values and ("isl" in values or "osl" in values):
            raise Contradiction(f"'{name}' does not go with 'isl' and 'osl'")
    is_module = path.endswith(".mlir")
    types = _types(values)
    dims = values.get("dims", "shared")
    model = load_model(path, **types) if is_module else None
    if model is not None and "phase" not in values and "context" not in values:
        _take_module(common, model, notes)
    if "isl" in common or "osl" in common:
        model = model or load_model(path, **types)
        return _problems_of_requests(model, common, dims, notes)
    if model is not None and "phase" not in values and "context" not in values:
        return [Problem(model.separated(dims), **common)]
    phase = values.get("phase", model.phase if model else "decode")
    if phase not in ("decode", "prefill"):
        raise UnknownName(
            f"unknown phase {shown(phase)}; " + list_known(phase, ("decode", "prefill"))
        )
    if "context" not in values and model is None:
        raise ShardoptError(
            "no workload, expected the tokens of a prompt and of a completion for a service "
            "(such as --isl 2000 --osl 500), or --context for a phase"
        )
    context = _tokens(values, "context") if "context" in values else 0
    if model is not None:
        context = context or model.context
        if (phase, context) != (model.phase, model.context):
            notes.append(
                f"{phase} at {context} tokens counts; the module '{path}' says "
                f"{model.phase} at {model.context}"
            )
    load = Decode(context) if phase == "decode" else Prefill(context)
    model = model.under(load) if model else load_model(path, load, **types)
    return [Problem(model.separated(dims), **common)]


def _take_module(common: dict[str, Any], model: Model, notes: list[str]) -> None:
    """Adds what a module says of requests, unless it is said already."""
    said = model.requests
    if "isl" not in said and "isl" not in common:
        return  # a phase, whose limit the planner reads
    if any(common.get(name) is not None for name in ("rate", "concurrency")):
        said = {name: value for name, value in said.items() if name not in ("rate", "concurrency")}
    for name, value in said.items():
        of_limit = name.replace("_percentile", "_ms")
        if of_limit != name and common.get(of_limit) is not None:
            continue  # the percentile is of the module's own limit
        number = int(value) if value.is_integer() else value
        if common.get(name) is None:
            common[name] = number
        elif common[name] != number:
            notes.append(
                f"'{name}' is {common[name]}, which counts; the module '{model.path}' "
                f"says {number}"
            )


def _problems_of_requests(
    model: Model, common: dict[str, Any], dims: str, notes: list[str]
) -> list[Problem]:
    for name in ("isl", "osl"):
        if common.get(name) is None:
            raise Contradiction(f"'isl' and 'osl' go together, and '{name}' is missing")
    isl, osl = _tokens(common, "isl"), _tokens(common, "osl")
    why = _why_no_service(common)
    if why is None:
        return [Problem(model, **common)]
    notes.append(f"no service is planned, but two phases alone: {why}")
    of_phases = {name: value for name, value in common.items() if name not in ("isl", "osl")}
    loads: list[Decode | Prefill] = [Decode(isl + osl), Prefill(isl)]
    return [Problem(model.under(load).separated(dims), **of_phases) for load in loads]
