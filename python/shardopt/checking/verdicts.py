"""What a command or document means, what is wrong with it, what it reaches, how far
from the proved optimum that is, and the smallest change that helps."""

from __future__ import annotations

import math
import os
import re
from dataclasses import dataclass
from typing import Any

from ..border import shown
from ..deployments.pairs import why_not_paired
from ..deployments.planned import deployment_of, model_facts
from ..deployments.service import PREFILL, SERVE, Deployment, Role
from ..engine_table import Names, devices_per_node_of, longest_of, table
from ..errors import Infeasible, ShardoptError, WrongValue
from ..hub import is_hub_id
from ..models import Model
from ..plans import Plan
from ..problem import Problem, _check_kind, _text
from ..services import Service
from ..service_tables import requests_of, service_line
from ..services import plan as find_plan
from ..shell import command_line
from ..tables import counted
from .changes import LEAST_GAIN, Change, best_change
from .documents import read_stated
from .findings import DIFFERS, Finding, differs, illegal, note
from .meaning import Place
from .outcomes import Outcome, evaluate_stated, outcome_of, task_of
from .stated import Stated


@dataclass(frozen=True)
class Check:
    """What was stated, the plan that it means (None if it cannot be), and the best plan
    of the same problem (None without a problem)."""

    stated: Stated
    plan: Plan | None
    findings: tuple[Finding, ...]
    optimum: "Plan | Service | None"
    change: Change | None = None
    outcome: Outcome = Outcome()
    best: Outcome = Outcome()
    #: What both are held to: GPUs, load, and SLOs.
    task: Problem | None = None

    @property
    def engine(self) -> str:
        return self.stated.engine

    @property
    def share(self) -> float | None:
        """Its throughput as a share of the optimum's."""
        if not self.outcome.is_there or not self.best.is_there:
            return None
        return self.outcome.throughput / self.best.throughput

    @property
    def regret(self) -> float | None:
        """The share of the optimum's throughput that it lacks."""
        return None if self.share is None else 1 - self.share

    @property
    def commands(self) -> tuple[tuple[str, str], ...]:
        """The commands of the optimum, by role, where it is better and its engine has it."""
        if self.optimum is None or (self.share or 0) > 1 - LEAST_GAIN:
            return ()
        try:
            best = deployment_of(self.optimum, model=self.stated.model or None)
        except ShardoptError:
            return ()
        found = [(role.name, best.command(role, 0)) for role in best.roles]
        return tuple((name, command_line(said.args)) for name, said in found)

    @property
    def differences(self) -> tuple[Finding, ...]:
        """What is other than in the plan that it should be."""
        return tuple(one for one in self.findings if one.kind == DIFFERS)

    @property
    def is_legal(self) -> bool:
        """Whether the engine runs it, as far as its table says."""
        return not any(one.kind in ("illegal", "not planned") for one in self.findings)

    def to_dict(self) -> dict[str, Any]:
        return {
            "kind": self.stated.kind,
            "engine": self.engine,
            "roles": [role_dict(one.role) for one in self.stated.roles],
            "plan": self.plan and self.plan.to_dict(),
            "service": self.outcome.service,
            "findings": [{"kind": one.kind, "text": str(one)} for one in self.findings],
            "share": self.share,
            "optimum": self.optimum and self.optimum.to_dict(),
            "optimum_commands": dict(self.commands),
            "change": None if self.change is None else str(self.change),
        }

    def __str__(self) -> str:
        lines = [("engine", self.engine)]
        if self.stated.kind != f"{self.engine} command":
            lines.append(("is", f"{self.stated.kind} {self.stated.name}".rstrip()))
        lines += [] if self.task is None else task_lines(self.task)
        means = self.outcome.lines or [role_line(one.role) for one in self.stated.roles]
        for name, texts in (("means", means), ("optimum", self.best.lines)):
            lines += [("" if number else name, text) for number, text in enumerate(texts)]
        for role, command in self.commands:
            lines.append(("command", command if role == SERVE else f"{role}: {command}"))
        if self.share is not None:
            lines.append(("has", f"{self.share:.1%} of the optimum's throughput"))
        if self.change is not None:
            lines.append(("better", str(self.change)))
        lines += [(one.kind.replace("not planned", "unplanned"), str(one)) for one in self.findings]
        return "\n".join(f"{name:9} {text}" for name, text in lines)


def task_lines(task: Problem) -> list[tuple[str, str]]:
    """What a stated service and the optimum are held to, as a plan's table has it."""
    if not task.is_service:
        workload = f"{task.phase}, {task.model.context} tokens, {task.machine_name}"
        limit = "" if math.isinf(task.slo_ms) else f", {task.slo_ms:g} ms"
        return [("phase", workload + limit)]
    gpus = task.devices or task.max_devices or 0
    apart = task.prefill_devices or 0
    on = (gpus, task.machine_name, task.prefill_machine or "", apart)
    return [
        ("service", service_line(task, task.engine, *on)),
        ("requests", requests_of({"requests": task.requests})),
    ]


def role_dict(role: Role) -> dict[str, Any]:
    return {
        "name": role.name, "workers": role.workers, "gpus_each": role.devices, "tp": role.tp,
        "dp": role.ranks, "ep": role.ep, "pp": role.pp, "cp": role.cp,
        "most_in_flight": role.in_flight or None, "cache_type": role.cache_type or None,
        "weight_type": role.quantization or None,
    }


def role_line(role: Role) -> str:
    """ "prefill 3 x 4 GPUs (tp 2, dp 2, ep 4, pp 1)"."""
    degrees = f"tp {role.tp}, dp {role.ranks}, ep {role.ep}, pp {role.pp}"
    degrees += f", cp {role.cp}" if role.cp > 1 else ""
    types = "".join(
        f", {what} {kind}" for what, kind in
        (("KV cache", role.cache_type), ("weights", role.quantization)) if kind
    )
    cap = f", at most {counted(role.in_flight, 'sequence')} each" if role.in_flight else ""
    gpus = "GPU" if role.devices == 1 else "GPUs"
    return f"{role.name} {role.workers} x {role.devices} {gpus} ({degrees}{types}){cap}"


def check(
    problem: "Problem | None",
    what: "str | os.PathLike[str]",
    explain: bool = True,
    plan: "Plan | Service | None" = None,
) -> Check:
    """What `what` means: a command, or the path of a file or folder. Without a problem it
    is only read. `explain` also looks for the best change of one flag. What differs from
    `plan` is a finding each."""
    text = _text("command", os.fspath(what) if isinstance(what, os.PathLike) else what)
    if problem is None:
        stated = read_stated(text)
        return Check(stated, None, stated.all_findings, None)
    _check_kind(Problem, "problem", problem)
    facts = facts_of_problem(problem)
    place = Place(devices_per_node_of(problem.machine_parameters()))
    stated = read_stated(text, facts, place.devices_per_node)
    findings = [*stated.all_findings, *pair_findings(stated, facts)]
    if plan is not None:
        planned = deployment_of(plan, stated.engine, model=stated.model or None)
        findings += differences_of(stated, planned)
    stated = stated.replace(findings=(*stated.findings, *length_findings(stated, problem)))
    findings += stated.findings
    named = other_model(stated.model, problem.model)
    findings += [named] if named else []
    is_other = named is not None and named.kind == DIFFERS
    if stated.devices < (problem.devices or 0):
        findings.append(note(
            f"it has {stated.devices} of {problem.devices} GPUs: to check more servers, give "
            "the script that starts them all"
        ))
    task, said = task_of(problem, stated)
    findings += said
    best, optimum = Outcome(), None
    try:
        optimum = find_plan(task)
        best = outcome_of(task, optimum)
    except Infeasible as error:
        findings.append(note(str(error)))

    def evaluated(other: Stated, task: Problem = task) -> Outcome:
        if is_other or not other.is_legal or pair_findings(other, facts):
            return Outcome()
        return evaluate_stated(task, other)

    def on_more_gpus(other: Stated) -> Outcome:
        return evaluated(other, task.replace(devices=max(other.devices, task.devices or 0)))

    outcome = evaluated(stated)
    findings += outcome.findings
    change = None
    if explain and not is_other and not (outcome.is_feasible and outcome.throughput >= best.throughput > 0):
        change = best_change(stated, outcome, evaluated, facts, place)
        if change is None and task.is_service and not (problem.devices or problem.max_devices):
            change = best_change(stated, outcome, on_more_gpus, facts, place)
    return Check(
        stated, outcome.plan, tuple(dict.fromkeys(findings)), optimum, change, outcome, best,
        task,
    )


#: Fields of roles that documents say, with their names for users.
_SAID = {
    "workers": "workers", "tp": "tp", "ranks": "dp", "ep": "ep", "pp": "pp", "cp": "cp",
    "cache_type": "KV cache type", "quantization": "weight type",
    "eplb": "EPLB", "redundant_experts": "redundant experts", "overlap": "two micro-batches",
}


def _as_said(value: object) -> object:
    if isinstance(value, tuple):
        decoded, prompts = (least or "no number of" for least in value)
        return f"from {decoded} tokens that decode and {prompts} that prefill" if any(value) else "on"
    if value is None or isinstance(value, bool):
        return "on" if value else "off"
    return "auto" if value == "" else value


def differences_of(stated: Stated, deployment: Deployment) -> list[Finding]:
    """Each difference of what is stated from the service of a plan."""
    found = []
    for role in deployment.roles:
        one = stated.role(role.name)
        if one is None:
            found.append(differs(f"{role.name}: planned, and not there"))
            continue
        for field, name in _SAID.items():
            planned, said = getattr(role, field), getattr(one.role, field)
            if planned != said:
                found.append(differs(f"{role.name}: {name} planned {_as_said(planned)}, "
                                     f"stated {_as_said(said)}"))
        cap = one.role.in_flight
        if role.name != "prefill" and cap and cap < role.in_flight:
            found.append(differs(f"{role.name}: planned {role.in_flight} sequences in flight, "
                                 f"stated at most {cap}"))
    planned_names = {role.name for role in deployment.roles}
    found += [differs(f"{one.role.name}: stated, and not planned")
              for one in stated.roles if one.role.name not in planned_names]
    return found


def facts_of_problem(problem: Problem) -> Names:
    """What rules of engines ask of a problem's model."""
    return model_facts(problem.model, longest_of(problem.model))


def length_findings(stated: Stated, problem: Problem) -> list[Finding]:
    """Servers that refuse the requests of a problem for their length."""
    longest = problem.longest_request or problem.model.context
    prompts = [int(one[0]) for one in problem.lengths] or [problem.isl or longest]
    found = []
    for one in stated.roles:
        # Of workers that prefill, requests have a prompt and the first token.
        is_prompt = one.role.name == PREFILL and problem.is_service
        tokens = max(prompts) + 1 if is_prompt else longest
        if 0 < one.max_length < tokens:
            flag = next(
                each["flag"] for each in table()[one.engine]["flags"]
                if each["value"] == "max_length"
            )
            of = f"{one.role.name}: " if len(stated.roles) > 1 else ""
            found.append(illegal(
                f"{of}{flag} {one.max_length}, expected at least {tokens}: requests of the "
                "load have so many tokens, and the engine refuses them"
            ))
    return found


#: What folders of checkpoints are called, whatever is in them.
_NO_NAMES = ("model", "models", "checkpoint", "weights")


def _plain(name: str) -> str:
    """A model's name without its owner, folder, case and signs."""
    snapshot = re.search("models--[^/]*?--([^/]+)", name)
    last = snapshot[1] if snapshot else name.rstrip("/").rpartition("/")[2]
    return re.sub("[^a-z0-9]", "", last.lower())


def other_model(said: str, model: Model) -> "Finding | None":
    """That a command serves another model than the given one: where both have a Hub id it
    differs, else names alone do. Variants of a name ("-FP8", "-Instruct") are the same."""
    own = {model.path.removesuffix(".json").removesuffix("/config"), model.name, model.hub_id or ""}
    plain = _plain(said)
    if "$" in said or "{" in said or len(plain) < 3 or plain in _NO_NAMES:
        return None
    if any(name and (name in plain or plain in name) for name in map(_plain, own)):
        return None
    text = f"the command serves '{said:.80}', and the model given is '{model.hub_id or model.path:.80}'"
    if is_hub_id(said) and model.hub_id:
        return differs(f"{text}: a config.json in its place is compared all the same")
    return note(text)


def illegal_findings(stated: Stated, facts: Names) -> list[Finding]:
    """Why the engine does not run it, by its flags and its pairs."""
    own = [one for one in stated.all_findings if one.kind in ("illegal", "not planned")]
    return list(dict.fromkeys([*own, *pair_findings(stated, facts)]))


def pair_findings(stated: Stated, facts: Names) -> list[Finding]:
    """Why the prefill and decode workers cannot exchange caches."""
    prefill, decode = stated.role("prefill"), stated.role("decode")
    if prefill is None or decode is None:
        return []
    row = table()[stated.engine]
    return [illegal(why) for why in why_not_paired(row, prefill.role, decode.role, facts)]


def judge(problem: Problem, command: str) -> Check:
    """`check` of a command, under its name of before."""
    if not isinstance(command, str):
        raise WrongValue(f"'command' is {shown(command)}, expected a text")
    _check_kind(Problem, "problem", problem)
    return check(problem, command)
