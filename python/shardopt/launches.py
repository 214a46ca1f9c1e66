"""A plan as the command that launches it in a serving engine."""

from __future__ import annotations

import dataclasses
import re
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Mapping

from .checks import _check_kind, _text, _whole
from .engine_table import (
    engines,
    fields_of,
    find_engine,
    known_version,
    load_of,
    value_of,
)
from .errors import Inexpressible, ShardoptError
from .launch import Launch, copies_of
from .phase_plans import plan as find_plan
from .plans import Plan, evaluate
from .problem import FREE
from .shell import Expansion, as_operand
from .strategies import other_dims
from .tp_plans import launch
from .yaml_text import document

if TYPE_CHECKING:
    from .problem import Model
    from .services import Service

__all__ = ["Launch", "engines", "export"]


def inexpressible(plan: Plan, engine: str, fields: Mapping[str, Any]) -> list[str]:
    """Every reason why `engine`, a name or "name==version", cannot run a plan."""
    row, _ = find_engine(engine)
    name, handle = row["engine"], plan.problem.handle
    numbers, ops = plan.strategy.numbers(), plan.problem.model.ops
    reasons = []
    wanted = handle.engine_dims(name, numbers)
    # Where groups are of one device, other dims are the same program.
    dims = tuple(zip(ops, wanted))
    same = evaluate(plan.problem, [dataclasses.replace(plan.strategy, dims=dims)])
    is_same = same == [plan.metrics]
    if not is_same:
        reasons += other_dims(plan.strategy, name, wanted, ops)
    fitting = dataclasses.replace(plan.strategy, dims=dims).numbers()
    degrees = handle.why_not_run(name, fitting)
    if degrees:
        reasons.insert(0, degrees)
    for limit in row.get("limits", ()):
        if not value_of(limit["holds"], fields):
            reasons.append(limit["why"].format(**fields))
    return reasons


def _nearest(plan: Plan, engine: str, devices_per_node: int | None) -> Plan | None:
    """The best that the engine runs under the same limits, if it can be exported."""
    problem = plan.problem.replace(engine=engine, space="serving", pins={})
    try:
        if engine == "transformers":
            return find_plan(problem.of_phase())
        nearest = find_plan(problem)
        fields = fields_of(nearest, find_engine(engine)[0], devices_per_node)
        return None if inexpressible(nearest, engine, fields) else nearest
    except ShardoptError:
        return None


def _refused(
    plan: Plan, engine: str, reasons: list[str], devices_per_node: int | None
) -> Inexpressible:
    """That `engine` cannot run a plan, with what it can."""
    nearest = _nearest(plan, engine, devices_per_node)
    message = f"{engine} cannot run this plan: " + "; ".join(reasons)
    if nearest:
        share = nearest.metrics.throughput / plan.metrics.throughput
        message += (
            f"; the best that it runs has {share:.1%} of the throughput: " + degrees_of(nearest)
        )
    return Inexpressible(message, reasons, nearest)


def served_name(model: Model) -> str:
    """What a model is called, without what reports say behind its name."""
    name = model.name.removesuffix(" (cost-only)")
    return as_operand(name, "name of the model")


def model_folder(plan: "Plan | Service", asked: str | None = None) -> str:
    """What an engine is told to load: what is asked for, else a folder, a Hub id, or a
    name."""
    if asked is not None:
        return _text("model", asked)
    model = plan.problem.model
    if model.hub_id is not None:
        return model.hub_id
    snapshot = Path(model.path).resolve()
    if snapshot.name == "config.json":
        return str(snapshot.parent)
    return served_name(model)


def export(
    plan: Plan,
    engine: str,
    devices_per_node: int | None = None,
    max_length: int | None = None,
    model: str | None = None,
) -> Launch:
    """What starts `plan` in `engine` ("vllm", "sglang==0.5.23", …).

    Raises `Inexpressible` where the engine cannot run it, with every reason and
    the nearest plan that it can. Nodes have `devices_per_node` devices: those of
    the machine's domain up to 8, else 4. Requests may have `max_length` tokens: as
    many as the model and the caches allow where it is not said. The engine loads
    `model`, a folder or a Hub id: that of the plan's config where it is not said.
    """
    _check_kind(Plan, "plan", plan)
    if devices_per_node is not None:
        _whole("devices_per_node", devices_per_node, least=1)
    if _text("engine", engine).partition("==")[0] == "transformers":
        try:
            return launch(plan, known_version(engine), model_folder(plan, model))
        except Inexpressible as error:
            raise _refused(plan, "transformers", error.reasons, None) from None
    row, version = find_engine(engine)
    name = row["engine"]
    fields = fields_of(plan, row, devices_per_node, max_length)
    reasons = inexpressible(plan, engine, fields)
    if reasons:
        raise _refused(plan, name, reasons, devices_per_node)

    folder = model_folder(plan, model)
    command = command_of(row, fields, folder)
    load = {"model": folder, **{name: str(value) for name, value in load_of(plan).items()}}
    copies = copies_of(plan)
    return Launch(
        name,
        version,
        command.args,
        command.env,
        command.files,
        tuple(part.format(**load) for part in row["benchmark"]),
        copies * (1 if fields["experts"] else plan.strategy.dp_size),
        fields["nodes"],
        command.later_args,
        fields["devices"] if is_launched(row, fields["nodes"]) else 0,
    )


@dataclass(frozen=True)
class Command:
    """What starts a server on its first node, and `later_args`, which other nodes add."""

    args: tuple[str, ...]
    later_args: tuple[str, ...]
    flags: tuple[str, ...]
    """What `args` end with: all behind the program and the model."""
    env: Mapping[str, str]
    files: Mapping[str, str]
    options: Mapping[str, Any] = field(default_factory=dict)
    """What `files` say to the engine."""


def command_of(row: Mapping[str, Any], fields: Mapping[str, Any], model: str) -> Command:
    """The command of an engine's row for the fields of a plan or a role."""
    words: dict[str, list[str]] = {"all": [], "later": []}
    for flag in row["flags"]:
        if not value_of(flag["when"], fields):
            continue
        nodes = words[flag.get("nodes", "all")]
        nodes.append(flag["flag"])
        if flag["kind"] != "bool":
            value = value_of(flag["value"], fields)
            if not isinstance(value, Expansion):
                is_variable = flag.get("expands") and "$" in value
                value = Expansion(value) if is_variable else str(value)
            nodes.append(value)
    env = {
        entry["name"]: str(value_of(entry["value"], fields))
        for entry in row["environment"]
        if value_of(entry["when"], fields)
    }
    files, options = {}, {}
    for entry in row.get("files", ()):
        for part in entry["parts"]:
            if value_of(part["when"], fields):
                options.update({key: value_of(said, fields) for key, said in part["options"].items()})
        if options:
            files[value_of(entry["name"], fields)] = document(options)
    operand = [row["model"], model] if row["model"] else [model]
    args = (*row["program"], *operand, *words["all"])
    if is_launched(row, fields["nodes"]):
        args = (*row["launcher"], *args)
        _check_words(args)
    return Command(args, tuple(words["later"]), tuple(words["all"]), env, files, options)


def is_launched(row: Mapping[str, Any], nodes: int) -> bool:
    """Whether MPI starts the command once for each GPU of a server of `nodes` nodes,
    instead of a shell once on each node."""
    return nodes > 1 and "launcher" in row


def _check_words(args: tuple[str, ...]) -> None:
    """Raises if a launcher, which puts its words together and parts them again, would
    start other words."""
    for word in args:
        if re.search(r"[\s*?\[]", word):
            why = f"{args[0]} parts words at spaces and expands patterns, and '{word:.80}' is one word"
            raise Inexpressible(f"the plan cannot be launched: {why}", [why], None)


def engine_of(plan: "Plan | Service") -> str:
    """The engine that a plan was made for."""
    engine = plan.problem.engine if isinstance(plan, Plan) else plan.engine
    if engine in (None, FREE):
        raise ShardoptError(
            "the plan names no engine, expected --engine with one of " + ", ".join(engines())
        )
    return engine


def degrees_of(plan: Plan) -> str:
    """ "tp 4, dp 16, ep 64, pp 1, batch 1232"; of a dense model, dp are the copies."""
    said = plan.strategy.to_dict()
    del said["dims"]
    if not plan.problem.model.experts:
        del said["ep"]
        said = {"tp": said.pop("tp"), "dp": plan.strategy.dp_size, **said}
    return ", ".join(f"{name} {value}" for name, value in said.items())
