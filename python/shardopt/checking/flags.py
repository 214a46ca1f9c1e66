"""The flags of a command, as its engine's own parser tells them apart."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass, field
from typing import Any, Iterator, Mapping, Sequence

from ..border import count_of, list_known, parse_json, shown
from ..engine_table import flags_of
from ..errors import Contradiction, ShardoptError, WrongValue
from ..checks import MOST
from ..yaml_files import parse_yaml
from .findings import Finding, illegal, note, unknown
from .programs import Invocation


@dataclass
class Values:
    """The values of the flags of an engine's table, and what is wrong with them."""

    values: dict[str, Any]
    findings: list[Finding] = field(default_factory=list)
    #: Flags of the table that the command says.
    said: set[str] = field(default_factory=set)
    #: Flags that the engine has not (any more).
    legacy: list[str] = field(default_factory=list)
    #: The mode of a worker that Dynamo starts.
    mode: str = ""
    model: str = ""


def defaults_of(row: Mapping[str, Any]) -> Values:
    """What a command has that says nothing."""
    return Values({
        **dict.fromkeys(row.get("numbers", {}).values(), 0),
        **{key_of(flag["flag"]): flag["default"] for flag in row["flags"]},
    })


def key_of(flag: str) -> str:
    return flag.lstrip("-").replace("-", "_")


def number_of(flag: str, text: str, readable: bool = False, least: int = 1) -> int:
    """A count; `readable` are "2k" (2000), "2K" (2048) and "1.5k" too."""
    count = count_of(text) if readable or text.isdigit() else None
    value = -1 if count is None else count
    if not least <= value <= MOST:
        named = re.match(r"\$\{?(\w+)", text)
        hint = f"; {named[1]}=… before the command says it" if named else ""
        raise WrongValue(
            f"'{flag}' is {shown(text)}, expected a whole number from {least} to {MOST}{hint}"
        )
    return value


class Flags:
    """The names of an engine's flags, and how it spells them."""

    def __init__(self, row: Mapping[str, Any], program: Sequence[str] = ()):
        self.spelling = row["spelling"]
        self.kinds = dict(flags_of(row["engine"]))
        self.legacy = row.get("legacy", {})
        self.prefixes = tuple(row.get("prefixed", ()))
        self.named = {
            name: flag
            for flag in row["flags"]
            for name in (flag["flag"], *flag.get("aliases", ()))
        }
        # Of a wrapper such as `dynamo.vllm`: a kind, or the engine's own flag.
        for name, kind in row.get("wrapped_flags", {}).get(" ".join(program[-1:]), {}).items():
            if kind in self.named:
                self.named[name] = self.named[kind]
                kind = self.kinds[kind]
            self.kinds[name] = kind

    def full(self, word: str) -> str:
        """The flag that `word` is, abbreviates, or spells with underscores."""
        if self.spelling["underscores"] and word.startswith("--"):
            word = word.replace("_", "-")
        if word in self.kinds or word in self.legacy or not self.spelling["abbreviations"]:
            return word
        if not word.startswith("--"):
            return word
        meant = [name for name in self.kinds if name.startswith(word)]
        # Two names of one flag are no two flags.
        meant = list({self._flag(name): name for name in meant}.values())
        return meant[0] if len(meant) == 1 else word

    def why_not_known(self, word: str) -> Finding:
        """What to say of a flag that the engine has not."""
        whole = self.full(word)
        if whole in self.legacy:
            return unknown(f"unknown flag '{word}'; in older versions it was {self.legacy[whole]}")
        meant = sorted(name for name in self.kinds if name.startswith(whole))
        if len(meant) > 1 and self.spelling["abbreviations"] and word.startswith("--"):
            return illegal(f"'{word}' abbreviates {' and '.join(meant[:4])}")
        return unknown(f"unknown flag '{word}'; {list_known(word, self.kinds, 3)}")

    def _flag(self, name: str) -> str:
        flag = self.named.get(name)
        return name if flag is None else str(flag["flag"])

    def takes(self, name: str) -> str:
        """Which values follow: "values" (one), "lists", "optional" or "switches"."""
        return self.kinds.get(name.partition(".")[0], "optional")

    def is_known(self, name: str) -> bool:
        known = name.partition(".")[0]  # --eplb-config.step 3
        is_negated = self.spelling["underscores"] and name.startswith("--no-enable-")
        return known in self.kinds or is_negated and f"--{name[5:]}" in self.kinds


def _is_flag(word: str) -> bool:
    return word.startswith("-") and not re.fullmatch(r"-[0-9.]+", word) and word != "-"


def _pairs(flags: Flags, words: Sequence[str]) -> Iterator[tuple[str, str, str]]:
    """Each flag as it is written, its full name, and its value; operands have none."""
    index = 0
    while index < len(words):
        written = words[index]
        index += 1
        if not _is_flag(written):
            yield "", "", written
            continue
        glued = next((name for name in flags.prefixes if re.match(name + r"[0-9.]", written)), "")
        if glued:  # -O3, -cc.mode=3
            continue
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


def read_flags(one: Invocation) -> Values:
    """The values of all flags of the table, and findings about the others."""
    row = one.row
    found = defaults_of(row)
    flags = Flags(row, one.program)
    if one.broken:
        found.findings.append(illegal(
            f"a line begins with '{one.broken:.60}': the line before it lacks its backslash"
        ))
    said: dict[str, str] = {}
    overrides: dict[str, Any] = {}
    for word, name, value in _pairs(flags, one.words):
        if not word and found.model and re.fullmatch(r"\$(\w+|\(.*\)|\{.*\})", value, re.S):
            found.findings.append(note(f"nothing says what '{value:.60}' stands for"))
            continue
        if not word and found.model:
            found.findings.append(illegal(
                f"'{value:.60}' is one word too many: the model is '{found.model:.60}'"
            ))
            continue
        if not word:
            found.model = value
            continue
        if name in ("--model", "--model-path"):
            found.model = value
        if name == "--override-engine-args":
            overrides = _overrides(value)
        if name == "--disaggregation-mode":
            found.mode = value
        elif name in ("--is-prefill-worker", "--is-decode-worker"):
            found.mode = name.split("-")[3]
        base, _, member = name.partition(".")
        flag = flags.named.get(base)
        if flag is not None and member:  # --eplb-config.step_interval 3
            options = json_of(said.get(key_of(base)) or "{}")
            if isinstance(options, dict):
                known = json_of(value)
                options[member.replace("-", "_")] = value if known is None else known
                said[key_of(base)] = json.dumps(options)
                _keep(found, flag, word, said[key_of(base)])
            continue
        negated = flags.named.get(f"--{name[5:]}") if name.startswith("--no-") else None
        if negated is not None:
            found.values[key_of(negated["flag"])] = False
        elif flag is None and not flags.is_known(name):
            found.findings.append(flags.why_not_known(word))
            found.legacy.append(name)
        if flag is None:
            continue
        key = key_of(flag["flag"])
        if key in said and said[key] != value:
            raise Contradiction(
                f"'{flag['flag']}' is given twice, '{said[key]}' and '{value}'"
            )
        said[key] = value
        _keep(found, flag, word, value)
    for variable, name in row.get("legacy_environment", {}).items():
        if variable in one.env:
            flag = flags.named[name]
            found.findings.append(unknown(
                f"the variable {variable} is of older versions: now it is {name}"
            ))
            if key_of(name) not in found.said:
                _keep(found, flag, variable, one.env[variable])
    for name in row.get("config_flags", ()):
        text = found.values.get(key_of(name)) or ""
        if text:
            _read_config(found, row, flags, one, name, str(text))
    if overrides:
        read_options(found, row, flags, overrides, "--override-engine-args")
    return found


def _overrides(value: str) -> dict[str, Any]:
    """Options as the JSON of a flag, which count before all others."""
    options = json_of(value)
    if not isinstance(options, dict):
        raise ShardoptError(
            f"'--override-engine-args' is '{value:.60}', expected an object of JSON"
        )
    return options


def _keep(found: Values, flag: Mapping[str, Any], word: str, value: str) -> None:
    """Keeps the value of a flag of the table."""
    key = key_of(flag["flag"])
    found.said.add(key)
    if flag["kind"] == "bool":
        found.values[key] = value.lower() != "false"
    elif flag["kind"] == "int":
        found.values[key] = number_of(
            word, value, flag.get("readable", False), flag.get("least", 1)
        )
    elif flag["kind"] == "choice" and value not in flag["choices"]:
        known = list_known(value, flag["choices"])
        found.findings.append(illegal(f"'{word}' is '{value:.60}'; {known}"))
    else:
        found.values[key] = value


def _read_config(
    found: Values, row: Mapping[str, Any], flags: Flags, one: Invocation, name: str, path: str
) -> None:
    """The options of a YAML file that a command names; engines prefer flags to them,
    but TensorRT-LLM, where they count before flags."""
    text = one.files.get(path, one.files.get(path.rsplit("/", 1)[-1]))
    if text is None:
        found.findings.append(
            note(f"'{name}' names '{path:.80}', whose options are not known here")
        )
        return
    values = parse_yaml(text, path, "options of the engine")
    if not isinstance(values, dict):
        raise ShardoptError(f"'{path}' has no options, expected 'name: value' lines")
    read_options(found, row, flags, values, path)


def read_options(
    found: Values, row: Mapping[str, Any], flags: Flags, values: Mapping[Any, Any], path: str
) -> None:
    """Options by name, as a file or a recipe has them."""
    is_first = bool(row.get("options"))
    for name, value in _flat(values):
        if name in row.get("numbers", {}) and isinstance(value, int):
            found.values[row["numbers"][name]] = value
        flag = flags.named.get(row.get("options", {}).get(name, ""))
        if flag is None:
            full = flags.full("--" + name) if not is_first else f"--{name}"
            flag = flags.named.get(full)
            if full in ("--model", "--model-path"):
                found.model = str(value)
            if flag is None and not is_first and not flags.is_known(full):
                known = list_known("--" + name, flags.kinds, 3)
                found.findings.append(unknown(f"'{path}': unknown option '{name:.60}'; {known}"))
        if flag is None or value is None:
            continue
        key = key_of(flag["flag"])
        if key in found.said and not is_first:
            continue
        if flag["kind"] == "bool":
            found.values[key] = bool(value)
            found.said.add(key)
        else:
            said = json.dumps(value) if isinstance(value, (dict, list)) else str(value)
            _keep(found, flag, name, said)


def _flat(values: Mapping[Any, Any], prefix: str = "") -> Iterator[tuple[str, Any]]:
    """Options with those inside of them, as "outer.inner"."""
    for name, value in values.items():
        yield f"{prefix}{name}", value
        if isinstance(value, dict):
            yield from _flat(value, f"{prefix}{name}.")


def json_of(text: object) -> Any:
    """The value of a flag that is JSON; None where it is none."""
    if isinstance(text, (dict, list)):
        return text
    try:
        return parse_json(str(text), "the value")
    except ShardoptError:
        return None
