"""Which engine a command starts, whatever stands before it: containers, schedulers,
launchers, shells inside of shells."""

from __future__ import annotations

import re
from dataclasses import dataclass, field, replace
from typing import Any, Iterator, Mapping

from ..engine_table import table
from ..border import list_known
from ..errors import UnknownName
from .shell_reading import FIRST_NODE, Said, read_commands


@dataclass(frozen=True)
class Invocation:
    """An engine's server with the words after its program."""

    row: Mapping[str, Any]
    program: tuple[str, ...]
    words: tuple[str, ...]
    env: Mapping[str, str] = field(default_factory=dict)
    files: Mapping[str, str] = field(default_factory=dict)
    #: What it stands in: a script, a service of Compose, a role.
    label: str = ""
    image: str = ""
    #: A flag that begins a line, where the line before lacks its backslash.
    broken: str = ""

    @property
    def engine(self) -> str:
        return str(self.row["engine"])


#: What runs the words behind its own options.
_LAUNCHERS = {
    "env", "nohup", "sudo", "time", "srun", "mpirun", "mpiexec", "numactl", "uv", "uvx",
    "ray", "kubectl", "oc", "trtllm-llmapi-launch", "nsys", "setsid", "stdbuf", "timeout",
    "taskset", "apptainer", "singularity", "enroot", "exec", "on", "command", "xvfb-run",
    "accelerate", "torchrun", "conda", "micromamba", "poetry", "pixi", "pdm", "hatch", "nice",
    "ionice", "tini", "dumb-init", "coproc", "salloc", "sbatch", "flux", "jsrun", "proxychains",
}
_CONTAINERS = {"docker", "podman", "nerdctl"}
_SHELLS = {"sh", "bash", "zsh", "dash"}
# Of `docker run`: options without a value. All others take one.
_SWITCHES = {
    "-d", "-i", "-t", "-P", "--rm", "--privileged", "--init", "--detach", "--interactive",
    "--tty", "--read-only", "--publish-all", "--no-healthcheck", "--oom-kill-disable",
    "--sig-proxy", "--disable-content-trust", "--quiet", "-q", "--tls-verify",
}
# Letters of options of `ssh` that a value follows.
_WITH_VALUE = "BbcDEeFIiJLlmOoPpQRSWw"
# Of `trtllm-serve`: a router, and workers of others.
_NO_SERVERS = ("disaggregated", "disaggregated_mpi_worker", "mm_embedding_serve")
_ASSIGNED = re.compile(r"[A-Za-z_][A-Za-z_0-9]*=", re.S)
#: Shells inside of shells are followed to this depth.
_DEEPEST = 6


def _plain(word: str) -> str:
    """The name of a program without its folder and version."""
    name = word.rsplit("/", 1)[-1] if word.startswith(("/", "./", "~", "$")) else word
    return "python3" if re.fullmatch(r"python[23]?(\.[0-9]+)?", name) else name


def _started(words: list[str]) -> tuple[Mapping[str, Any], tuple[str, ...]] | None:
    """The engine whose program `words` begin with: of several the longest, as
    `trtllm-serve serve` begins like `trtllm-serve`."""
    if not words:
        return None
    first = [_plain(words[0]), *words[1:4]]
    first = [first[0], *(word for word in first[1:] if word != "-u")]
    if first[:1] == ["trtllm-serve"] and first[1:2] and first[1] in _NO_SERVERS:
        return None
    best: tuple[Mapping[str, Any], tuple[str, ...]] | None = None
    for row in table().values():
        for program in (row["program"], *row["programs"]):
            is_longer = best is None or len(program) > len(best[1])
            if first[: len(program)] == program and is_longer:
                best = row, tuple(program)
    return best


def invocations(
    text: str,
    variables: Mapping[str, str] = FIRST_NODE,
    files: "Mapping[str, str] | None" = None,
    label: str = "",
    place: str = "the command",
) -> list[Invocation]:
    """The engines that `text` starts, in order. `files` are those next to it, scripts
    among them; nothing else is read."""
    known = dict(files or {})
    found: list[Invocation] = []
    for said in read_commands(text, variables, files=known, place=place):
        if found and re.match("--?[a-z]", said.words[0]):
            before = found.pop()
            found.append(replace(before, words=(*before.words, *said.words),
                                 broken=before.broken or said.words[0]))
        found += _of(said, known, label, 0)
    return found


def one_invocation(text: str, files: "Mapping[str, str] | None" = None) -> Invocation:
    """The only engine that a command starts; an error where there is none."""
    found = invocations(text, files=files)
    if found:
        return found[0]
    said = [one.words for one in read_commands(text)]
    words = next((words for words in said if words[0] not in ("cd", "set", "export")), [])
    raise unknown_program(words)


def unknown_program(words: list[str]) -> UnknownName:
    starts = [" ".join(p) for row in table().values() for p in (row["program"], *row["programs"])]
    start = " ".join(words[:3])
    return UnknownName(f"the command starts with '{start:.80}'; " + list_known(start, starts))


def _of(said: Said, files: dict[str, str], label: str, depth: int, image: str = ""
        ) -> Iterator[Invocation]:
    words, env = list(said.words), dict(said.env)
    if not words or depth > _DEEPEST:
        return
    while words and _ASSIGNED.match(words[0]):
        name, _, value = words.pop(0).partition("=")
        env[name] = value
    started = _started(words)
    if started:
        row, program = started
        at = len(program) + ("-u" in words[:2])
        yield Invocation(row, program, tuple(words[at:]), env, dict(files), label, image)
        return
    name = _plain(words[0]) if words else ""
    if name in _CONTAINERS and "run" in words[:4]:
        yield from _of_container(words[words.index("run") + 1 :], env, files, label, depth)
    elif name in _SHELLS:
        yield from _of_shell(words[1:], env, files, label, depth, image)
    elif name == "eval":
        yield from _of_text(" ".join(words[1:]), env, files, label, depth + 1, image)
    elif name == "ssh":
        yield from _of_text(_of_ssh(words[1:]), env, files, label, depth, image)
    elif name in _LAUNCHERS or name in _CONTAINERS:
        yield from _of_launcher(words, env, files, label, depth, image)


def _of_ssh(words: list[str]) -> str:
    """The text that `ssh` runs: its words behind its options and the host."""
    while words and words[0].startswith("-"):
        option = words.pop(0)
        if option == "--":
            break
        if option[-1] in _WITH_VALUE and words:  # else the value is glued, as in -p22
            words.pop(0)
    return " ".join(words[1:])


def _of_launcher(words: list[str], env: dict[str, str], files: dict[str, str], label: str,
                 depth: int, image: str) -> Iterator[Invocation]:
    """The first words behind the options of a launcher that start something."""
    for index in range(1, len(words)):
        word = words[index]
        if _ASSIGNED.match(word) and not word.startswith("-"):
            name, _, value = word.partition("=")
            env = {**env, name: value}
            continue
        rest = words[index:]
        name = _plain(word)
        is_shell = name in _SHELLS and len(rest) > 1
        if _started(rest) or is_shell or name in _CONTAINERS or name in _LAUNCHERS:
            yield from _of(Said(rest, env), files, label, depth + 1, image)
            return


def _of_shell(words: list[str], env: dict[str, str], files: dict[str, str], label: str,
              depth: int, image: str) -> Iterator[Invocation]:
    """`sh -c TEXT` and `sh FILE`."""
    while words and words[0].startswith("-"):
        option = words.pop(0)
        if "c" in option and not option.startswith("--"):
            if words:
                yield from _of_text(words[0], env, files, label, depth, image)
            return
    name = words[0].rsplit("/", 1)[-1] if words else ""
    if name in files:
        yield from _of_text(files[name], env, files, name, depth, image)


def _of_text(text: str, env: dict[str, str], files: dict[str, str], label: str, depth: int,
             image: str) -> Iterator[Invocation]:
    variables = {**FIRST_NODE, **env}
    for said in read_commands(text, variables, files=files, place=label or "the command"):
        yield from _of(said, files, label, depth + 1, image)


def _of_container(words: list[str], env: dict[str, str], files: dict[str, str], label: str,
                  depth: int) -> Iterator[Invocation]:
    """What `docker run` starts: its words, behind the entrypoint of the image."""
    own: dict[str, str] = {}
    entrypoint: list[str] | None = None
    while words and words[0].startswith("-"):
        option, has_value, value = words.pop(0).partition("=")
        is_short = not option.startswith("--")
        takes = option not in _SWITCHES and not (
            is_short and len(option) > 2 and all(f"-{one}" in _SWITCHES for one in option[1:])
        )
        if is_short and option[:2] in ("-e", "-v", "-p", "-w", "-u") and len(option) > 2:
            value = option[2:] + has_value + value
            option, has_value = option[:2], "="
        if takes and not has_value and words:
            value = words.pop(0)
        if option in ("-e", "--env"):
            name, is_set, text = value.partition("=")
            own[name] = text if is_set else env.get(name, f"${name}")
        elif option == "--entrypoint":
            entrypoint = value.split()
    if not words:
        return
    image, words = words[0], words[1:]
    yield from of_image(image, words, entrypoint, own, files, label, depth)


def of_image(
    image: str, words: list[str], entrypoint: list[str] | None, env: dict[str, str],
    files: dict[str, str], label: str, depth: int = 0,
) -> Iterator[Invocation]:
    """What a container of `image` runs; its own entrypoint where none is given."""
    if entrypoint is None:
        entrypoint = []
        is_whole = bool(words) and (_started(words) or _plain(words[0]) in _SHELLS)
        for row in table().values():
            if not is_whole and any(name in image for name in row.get("entrypoint_of", ())):
                entrypoint = list(row["program"])
    yield from _of(Said([*entrypoint, *words], env), files, label, depth + 1, image)
