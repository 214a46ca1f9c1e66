"""Words of commands: the one place where text becomes a shell's."""

from __future__ import annotations

import re
import shlex
from typing import Iterable, Sequence

from .errors import ShardoptError

# "$NODE_RANK", "$((NODE_RANK * 2))", "$MASTER_ADDR:5000", "http://$HOST_1:8100".
_NAME = r"[A-Z][A-Z_0-9]*"
_EXPANSION = re.compile(rf"(?:http://)?\$(?:{_NAME}|\(\({_NAME} [*+] [0-9]+\)\))(?::[0-9]+)?")


class Expansion(str):
    """A word whose variable the shell replaces. Only tables of ours make one: a
    word that comes from outside is a `str`, whatever it looks like."""

    def __new__(cls, text: str) -> "Expansion":
        if not _EXPANSION.fullmatch(text):
            raise ValueError(f"'{text}' is no variable with an offset or a port")
        return super().__new__(cls, text)


def quoted(word: str) -> str:
    """`word` as a shell reads it back: quoted by its type, never by its looks."""
    if isinstance(word, Expansion):
        return f'"{word}"'
    if "\0" in word:
        raise ShardoptError(f"{word!r:.60} has a zero byte, which no command can hold")
    return shlex.quote(word)


def command_line(words: Iterable[str]) -> str:
    return " ".join(map(quoted, words))


def exec_lines(words: Iterable[str], later: Sequence[str]) -> list[str]:
    """The end of a script that becomes a command, to which all nodes but the first add
    the words `later`."""
    if not later:
        return [f"exec {command_line(words)}"]
    return [
        "set --",
        f'[ "$NODE_RANK" -eq 0 ] || set -- {command_line(later)}',
        f'exec {command_line(words)} "$@"',
    ]


def as_operand(text: str, what: str) -> str:
    """`text`, where a command reads it among flags: `what` names it in the error."""
    if not text or text.startswith("-"):
        raise ShardoptError(
            f"the {what} is '{text}', expected a name that a command does not read "
            "as a flag"
        )
    return text


def as_path(text: str) -> str:
    """A path that no command reads as a flag."""
    return f"./{text}" if text.startswith("-") else text
