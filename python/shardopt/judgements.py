"""What a launch command means, and how far it is from the optimum."""

from __future__ import annotations

import re
import shlex
from dataclasses import dataclass
from typing import Any, Iterator

from .border import reading, shown
from .engine_table import devices_per_node_of, facts_of, flags_of, table, value_of
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
from .problem import MOST, Problem, _check_kind, _text


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


#: Of a command; splitting takes the square of the longest word's.
_MOST_CHARACTERS = 100_000


def _split(command: str) -> list[str]:
    if len(command) > _MOST_CHARACTERS:
        raise WrongValue(
            f"the command has {len(command)} characters, expected {_MOST_CHARACTERS} at most"
        )
    with reading("the command cannot be read"):
        return shlex.split(command)


_ASSIGNMENT = re.compile(r"[A-Za-z_][A-Za-z_0-9]*=")


def _row_of(words: list[str]) -> tuple[dict[str, Any], list[str]]:
    """The engine that a command starts, and the words after its program: variables
    may stand before it."""
    if words[:1] == ["env"]:
        words = words[1:]
    while words and _ASSIGNMENT.match(words[0]):
        words = words[1:]
    beginning = ["python3", *words[1:]] if words[:1] == ["python"] else words
    starts = []
    # The longest first: `trtllm-serve serve` begins as `trtllm-serve` does.
    for row in table().values():
        for program in sorted([row["program"], *row["programs"]], key=len, reverse=True):
            if beginning[: len(program)] == program:
                return row, words[len(program) :]
            starts.append(" ".join(program))
    raise UnknownName(
        f"the command starts with '{' '.join(words[:3])}'; "
        + list_known(" ".join(words[:3]), starts)
    )


def _key(flag: str) -> str:
    return flag.lstrip("-").replace("-", "_")


_THOUSANDS = {
    **{letter: 1000**power for power, letter in enumerate("kmgt", 1)},
    **{letter: 1024**power for power, letter in enumerate("KMGT", 1)},
}


def _number(flag: str, text: str, readable: bool) -> int:
    """A count; `readable` are "2k" (2000), "2K" (2048) and "1.5k" too."""
    said = re.fullmatch(r"([0-9]{1,9}(?:\.[0-9]+)?)([kmgtKMGT])", text) if readable else None
    if said and (said[2].islower() or "." not in said[1]):
        value = int(float(said[1]) * _THOUSANDS[said[2]])
    else:
        value = int(text) if re.fullmatch("[0-9]{1,18}", text) else 0
    if not 1 <= value <= MOST:
        raise WrongValue(
            f"'{flag}' is {shown(text)}, expected a whole number from 1 to {MOST}"
        )
    return value


class _Flags:
    """The flags of a command, as its engine's own parser tells them apart."""

    def __init__(self, row: dict[str, Any]):
        self.spelling = row["spelling"]
        self.kinds = flags_of(row["engine"])
        self.named = {
            name: flag
            for flag in row["flags"]
            for name in (flag["flag"], *flag.get("aliases", ()))
        }

    def full(self, word: str) -> str:
        """The flag that `word` is, abbreviates, or spells with underscores."""
        if self.spelling["underscores"] and word.startswith("--"):
            word = word.replace("_", "-")
        if word in self.kinds or not self.spelling["abbreviations"]:
            return word
        if not word.startswith("--"):
            return word
        meant = [name for name in self.kinds if name.startswith(word)]
        if len(meant) > 1:
            raise ShardoptError(f"'{word}' abbreviates {' and '.join(sorted(meant)[:4])}")
        return meant[0] if meant else word

    def takes(self, name: str) -> str:
        """Which values follow: "values" (one), "lists", "optional" or "switches"."""
        return self.kinds.get(name.partition(".")[0], "optional")

    def is_known(self, name: str) -> bool:
        return name.partition(".")[0] in self.kinds  # --eplb-config.step 3


def _is_flag(word: str) -> bool:
    return word.startswith("-") and not re.fullmatch(r"-[0-9.]+", word)


def _pairs(flags: _Flags, words: list[str]) -> Iterator[tuple[str, str, str]]:
    """Each flag as it is written, its full name, and its value."""
    index = 0
    while index < len(words):
        written = words[index]
        index += 1
        if not _is_flag(written):
            continue  # the model
        word, has_value, value = written.partition("=")
        name = flags.full(word)
        takes = flags.takes(name)
        if not has_value and takes != "switches":
            end = index
            while end < len(words) and not _is_flag(words[end]):
                end += 1
                if takes != "lists":
                    break
            if end == index and takes == "values":
                raise ShardoptError(f"'{word}' has no value")
            value, index = " ".join(words[index:end]), end
        yield word, name, value


def _read_flags(row: dict[str, Any], words: list[str]) -> tuple[dict[str, Any], list[str]]:
    """The values of all flags of the table, and findings about the others."""
    values = {_key(flag["flag"]): flag["default"] for flag in row["flags"]}
    flags = _Flags(row)
    findings: list[str] = []
    said: dict[str, str] = {}
    for word, name, value in _pairs(flags, words):
        flag = flags.named.get(name)
        negated = flags.named.get(f"--{name[5:]}") if name.startswith("--no-") else None
        if negated is not None:
            values[_key(negated["flag"])] = False
        elif flag is None and not flags.is_known(name):
            findings.append(f"unknown flag '{word}'; " + list_known(word, flags.kinds))
        if flag is None:
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
            values[key] = _number(word, value, flag.get("readable", False))
        elif flag["kind"] == "choice" and value not in flag["choices"]:
            raise UnknownName(f"'{word}' is '{value}'; " + list_known(value, flag["choices"]))
        else:
            values[key] = value
    return values, findings


def judge(problem: Problem, command: str) -> Judgement:
    """What `command` means for the model and machine of `problem`."""
    _check_kind(Problem, "problem", problem)
    row, words = _row_of(_split(_text("command", command)))
    values, findings = _read_flags(row, words)
    values.update({key: value_of(text, values) for key, text in row.get("deprecated", {}).items()})
    names = {**facts_of(problem.model), **values, "replicas_apart": False}
    names["dp"] = names.get("data_parallel_size", 1)
    meant = {name: value_of(text, names) for name, text in row["fields"].items()}
    names["devices"] = meant["tp"] * meant["dp"] * meant["pp"]
    names["devices_per_node"] = devices_per_node_of(problem.machine_parameters())
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
