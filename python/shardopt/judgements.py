"""What a launch command means, and how far it is from the optimum."""

from __future__ import annotations

import shlex
from dataclasses import dataclass
from typing import Any

from .engine_table import facts_of, table, value_of
from .errors import (
    Contradiction,
    Infeasible,
    ShardoptError,
    UnknownName,
    WrongValue,
    list_known,
)
from .launches import degrees_of
from .plans import Plan
from .plans import plan as find_plan
from .problem import Problem, _check_kind, _text


@dataclass(frozen=True)
class Judgement:
    """The plan that a command means (None if it cannot be), what is wrong with
    it, and the best plan of the same problem."""

    engine: str
    plan: Plan | None
    findings: tuple[str, ...]
    optimum: Plan

    @property
    def share(self) -> float | None:
        """The command's throughput beside the optimum's."""
        if self.plan is None:
            return None
        return self.plan.metrics.throughput / self.optimum.metrics.throughput

    def __str__(self) -> str:
        lines = [f"engine    {self.engine}"]
        if self.plan:
            metrics = self.plan.metrics
            lines += [
                f"means     {degrees_of(self.plan)}",
                f"          {metrics.throughput:.6g} tokens/s per device, "
                f"{metrics.latency_ms:.4g} ms, {metrics.memory_gb:.4g} GB",
            ]
        best = self.optimum
        lines += [
            f"optimum   {degrees_of(best)}",
            f"          {best.metrics.throughput:.6g} tokens/s per device, "
            f"{best.metrics.latency_ms:.4g} ms, {best.metrics.memory_gb:.4g} GB",
        ]
        if self.share is not None:
            lines.append(f"has       {self.share:.1%} of the optimum's throughput")
        lines += [f"finding   {text}" for text in self.findings]
        return "\n".join(lines)


def _split(command: str) -> list[str]:
    try:
        return shlex.split(command)
    except ValueError as error:
        raise ShardoptError(f"the command cannot be read: {error}") from None


def _row_of(words: list[str]) -> tuple[dict[str, Any], list[str]]:
    """The engine that a command starts, and the words after its program."""
    for row in table().values():
        size = len(row["program"])
        if words[:size] == row["program"]:
            return row, words[size:]
        if row["program"][0] == "python3" and words[:1] == ["python"]:
            if words[1:size] == row["program"][1:]:
                return row, words[size:]
    starts = [" ".join(row["program"]) for row in table().values()]
    raise UnknownName(
        f"the command starts with '{' '.join(words[:3])}'; "
        + list_known(" ".join(words[:3]), starts)
    )


def _key(flag: str) -> str:
    return flag.lstrip("-").replace("-", "_")


def _number(flag: str, text: str) -> int:
    if not text.isdigit() or int(text) < 1:
        raise WrongValue(f"'{flag}' is '{text}', expected a whole number above 0")
    return int(text)


def _read_flags(row: dict[str, Any], words: list[str]) -> tuple[dict[str, Any], list[str]]:
    """The values of all flags of the table, and findings about the others."""
    values = {_key(flag["flag"]): flag["default"] for flag in row["flags"]}
    named = {}
    for flag in row["flags"]:
        for name in (flag["flag"], *flag.get("aliases", ())):
            named[name] = flag
    findings: list[str] = []
    said: dict[str, str] = {}
    index = 0
    while index < len(words):
        word, has_value, value = words[index].partition("=")
        index += 1
        if not word.startswith("-"):
            continue  # the model
        flag = named.get(word)
        switch = word in row["switches"] or (flag and flag["kind"] == "bool")
        if not has_value and not switch:
            if index < len(words) and not words[index].startswith("-"):
                value = words[index]
                index += 1
            elif flag:
                raise ShardoptError(f"'{word}' has no value")
        if flag is None:
            if word not in row["other_flags"]:
                known = [*named, *row["other_flags"]]
                findings.append(f"unknown flag '{word}'; " + list_known(word, known))
            continue
        key = _key(flag["flag"])
        if key in said and said[key] != value:
            raise Contradiction(
                f"'{flag['flag']}' is given twice, '{said[key]}' and '{value}'"
            )
        said[key] = value
        if flag["kind"] == "bool":
            values[key] = True
        elif flag["kind"] == "int":
            values[key] = _number(word, value)
        else:
            if flag["kind"] == "choice" and value not in flag["choices"]:
                raise UnknownName(
                    f"'{word}' is '{value}'; " + list_known(value, flag["choices"])
                )
            values[key] = value
    return values, findings


def judge(problem: Problem, command: str) -> Judgement:
    """What `command` means for the model and machine of `problem`."""
    _check_kind(Problem, "problem", problem)
    row, words = _row_of(_split(_text("command", command)))
    values, findings = _read_flags(row, words)
    names = {**facts_of(problem.model), **values, "replicas_apart": False}
    names["dp"] = names.get("data_parallel_size", 1)
    legal = True
    for rule in row["rules"]:
        if not value_of(rule["holds"], names):
            findings.append(rule["why"].format(**names))
            legal = legal and bool(rule.get("ignored"))
    optimum = find_plan(problem)
    plan = None
    if legal:
        plan = _meant(problem, row, names, findings)
    return Judgement(row["engine"], plan, tuple(findings), optimum)


def _meant(
    problem: Problem, row: dict[str, Any], names: dict[str, Any], findings: list[str]
) -> Plan | None:
    """The plan with the degrees of the flags and the engine's dims."""
    fields = {name: value_of(text, names) for name, text in row["fields"].items()}
    if not problem.model.experts:
        fields["ep"] = fields["dp"]  # replicas
    lists = {name: str(fields[name]) for name in ("tp", "dp", "ep", "pp", "cp")}
    # None: the engine decides.
    if problem.model.experts and fields["gathers"] is not None:
        lists["exchange"] = "gather" if fields["gathers"] else "all_to_all"
    if fields["batch"]:
        lists["batch"] = str(fields["batch"])
    else:
        findings.append("the batch is not said: the best one is taken")
    asked = {"lists": lists, "dims": {}, "engine": row["engine"], "space": "serving"}
    try:
        return find_plan(problem, **asked)
    except Infeasible as error:
        findings.append(str(error))
    return None
