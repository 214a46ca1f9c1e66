"""A plan as the command that launches it in a serving engine."""

from __future__ import annotations

import dataclasses
import os
import shlex
import shutil
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Mapping, NoReturn

from .engine_table import engines, fields_of, find_engine, known_version, value_of
from .errors import Inexpressible, ShardoptError
from .plans import Plan, evaluate
from .plans import plan as find_plan
from .problem import _check_kind, _text

__all__ = ["Launch", "engines", "export"]


@dataclass(frozen=True)
class Launch:
    """What starts a plan: the same command on every node of every server."""

    engine: str
    version: str
    args: tuple[str, ...]
    env: Mapping[str, str]
    files: Mapping[str, str]
    benchmark: tuple[str, ...]
    servers: int
    nodes: int

    @property
    def command(self) -> str:
        return " ".join(map(_quoted, self.args))

    @property
    def script(self) -> str:
        """A shell script: environment, command."""
        lines = ["#!/bin/sh", f"# {self.engine} {self.version}"]
        if self.servers > 1:
            lines.append(f"# launch {self.servers} servers like this one")
        if self.nodes > 1:
            lines.append(f"# run on {self.nodes} nodes, with NODE_RANK and MASTER_ADDR set")
        lines += [f"export {name}={value}" for name, value in self.env.items()]
        return "\n".join([*lines, f"exec {self.command}", ""])

    def write(self, folder: "str | os.PathLike[str]") -> list[Path]:
        """Writes `launch.sh`, `benchmark.sh` and the engine's files."""
        place = Path(folder)
        place.mkdir(parents=True, exist_ok=True)
        texts = {
            "launch.sh": self.script,
            "benchmark.sh": "#!/bin/sh\nexec " + shlex.join(self.benchmark) + "\n",
            **self.files,
        }
        for name, text in texts.items():
            (place / name).write_text(text, encoding="utf-8")
        return [place / name for name in texts]

    def run(self, folder: "str | os.PathLike[str]") -> NoReturn:
        """Writes `folder` and becomes the engine, in the place of this process."""
        if not shutil.which(self.args[0]):
            raise ShardoptError(
                f"'{self.args[0]}' is not in PATH: {self.engine} is not installed"
            )
        for name in ("NODE_RANK", "MASTER_ADDR"):
            if self.nodes > 1 and name not in os.environ:
                raise ShardoptError(
                    f"the plan takes {self.nodes} nodes, and '{name}' is not set"
                )
        self.write(folder)
        os.chdir(folder)
        os.execv("/bin/sh", ["sh", "launch.sh"])

    def __str__(self) -> str:
        return self.script


def _quoted(argument: str) -> str:
    """Quoted for a shell, but for its variables."""
    return argument if argument.startswith("$") else shlex.quote(argument)


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
    for (op, dim), known in zip(plan.strategy.dims, wanted):
        if dim != known and not is_same:
            cut, has = _cut(ops[op][dim]), _cut(ops[op].get(known, "none"))
            reasons.append(f"{op} is {cut}, and {name} has it {has}")
    fitting = dataclasses.replace(plan.strategy, dims=dims).numbers()
    degrees = handle.why_not_run(name, fitting)
    if degrees:
        reasons.insert(0, degrees)
    for limit in row.get("limits", ()):
        if not value_of(limit["holds"], fields):
            reasons.append(limit["why"].format(**fields))
    return reasons


def _cut(name: str) -> str:
    return "whole" if name == "none" else f"cut by {name}"


def _nearest(plan: Plan, engine: str) -> Plan | None:
    """The best that the engine runs under the same limits."""
    problem = plan.problem.replace(engine=engine, space="serving", pins={})
    try:
        return find_plan(problem.of_phase() if engine == "transformers" else problem)
    except ShardoptError:
        return None


def _refused(plan: Plan, engine: str, reasons: list[str]) -> Inexpressible:
    """That `engine` cannot run a plan, with what it can."""
    nearest = _nearest(plan, engine)
    message = f"{engine} cannot run this plan: " + "; ".join(reasons)
    if nearest:
        share = nearest.metrics.throughput / plan.metrics.throughput
        message += (
            f"; the best that it runs has {share:.1%} of the throughput: " + degrees_of(nearest)
        )
    return Inexpressible(message, reasons, nearest)


def model_folder(plan: Plan) -> str:
    """What an engine is told to load."""
    model = plan.problem.model
    snapshot = Path(model.path).resolve()
    return str(snapshot.parent if snapshot.name == "config.json" else model.name)


def export(
    plan: Plan, engine: str, devices_per_node: int | None = None
) -> Launch:
    """What starts `plan` in `engine` ("vllm", "sglang==0.5.23", …).

    Raises `Inexpressible` where the engine cannot run it, with every reason and
    the nearest plan that it can. Nodes have `devices_per_node` devices: those of
    the machine's domain up to 8, else 4.
    """
    _check_kind(Plan, "plan", plan)
    if _text("engine", engine).partition("==")[0] == "transformers":
        from .tp_plans import launch

        try:
            return launch(plan, known_version(engine), model_folder(plan))
        except Inexpressible as error:
            raise _refused(plan, "transformers", error.reasons) from None
    row, version = find_engine(engine)
    name = row["engine"]
    fields = fields_of(plan, devices_per_node)
    reasons = inexpressible(plan, engine, fields)
    if reasons:
        raise _refused(plan, name, reasons)

    model, folder = plan.problem.model, model_folder(plan)
    args = [*row["program"], *([row["model"]] if row["model"] else []), folder]
    for flag in row["flags"]:
        if not value_of(flag["when"], fields):
            continue
        args.append(flag["flag"])
        if flag["kind"] != "bool":
            args.append(str(value_of(flag["value"], fields)))
    env = {
        entry["name"]: str(value_of(entry["value"], fields))
        for entry in row["environment"]
        if value_of(entry["when"], fields)
    }
    files = {
        entry["name"]: entry["text"].format(**fields)
        for entry in row.get("files", ())
        if value_of(entry["when"], fields)
    }
    load = {
        "model": folder,
        "input": str(max(1, model.context - 1)),
        "output": "1" if model.phase == "prefill" else "128",
        "batch": str(plan.strategy.batch),
        "prompts": str(4 * plan.strategy.batch),
    }
    copies = plan.report["best"].get("replicas", 1)
    servers = copies * (1 if model.experts else plan.strategy.replicas)
    return Launch(
        name,
        version,
        tuple(args),
        env,
        files,
        tuple(part.format(**load) for part in row["benchmark"]),
        servers,
        fields["nodes"],
    )


def degrees_of(plan: Plan) -> str:
    """ "tp 4, dp 16, ep 64, pp 1, batch 1232"."""
    said = plan.strategy.to_dict()
    del said["dims"]
    return ", ".join(f"{name} {value}" for name, value in said.items())
