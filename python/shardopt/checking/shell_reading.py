"""Which commands a shell text would run, with their words and variables.

Nothing is run: variables are replaced where the text, the platform or a default says
what they are, conditions on them are decided, and a command whose words nobody knows
keeps them as they are written.
"""

from __future__ import annotations

import fnmatch
import re
from dataclasses import dataclass, field
from typing import Iterator, Mapping, Sequence

from .shell_words import Part, Word, lexed, statements

#: What platforms tell the first node of a worker.
FIRST_NODE = {
    "NODE_RANK": "0", "LWS_WORKER_INDEX": "0", "SLURM_NODEID": "0", "SLURM_PROCID": "0",
}

_ASSIGNED = re.compile(r"([A-Za-z_][A-Za-z_0-9]*)(\+?)=(.*)", re.S)
_NAMED = re.compile(r"(!?)([A-Za-z_][A-Za-z_0-9]*|[0-9@*#])(.*)", re.S)
_OPERATED = re.compile(r"(:?[-=+?]|[%#]{1,2})(.*)", re.S)
_DECLARES = {"export", "local", "declare", "readonly", "typeset"}
# `(` and words after which a command begins.
_SKIPPED = {"{", "}", "do", "done", "!", "time", "esac", "exec", "builtin"}
_CONDITIONS = ("if", "elif", "while", "until")
_RANGE = re.compile(r"\{([0-9]{1,4})\.\.([0-9]{1,4})\}")
_SEQUENCE = re.compile(r"(?:([0-9]{1,4}) )?([0-9]{1,4})")
_COMPARED = {
    "-eq": int.__eq__, "-ne": int.__ne__, "-lt": int.__lt__, "-le": int.__le__,
    "-gt": int.__gt__, "-ge": int.__ge__,
}
#: Values of variables grow where they hold each other.
_MOST_OF_A_VALUE = 100_000
#: Statements that are looked at, those of loops each time.
_MOST_STEPS = 20_000


@dataclass
class Said:
    """A simple command as it would be run."""

    words: list[str]
    env: dict[str, str]


@dataclass
class Shell:
    """What a text has said so far: variables, positional words, files."""

    variables: dict[str, str]
    exported: dict[str, None] = field(default_factory=dict)
    lists: dict[str, list[str]] = field(default_factory=dict)
    positional: list[str] = field(default_factory=list)
    files: dict[str, str] = field(default_factory=dict)

    def value(self, part: Part) -> str | None:
        """What stands in the place of a part; None where nobody knows."""
        if part.kind == "text":
            return part.text
        if part.kind == "sum":
            number = self._sum(part.text)
            return None if number is None else str(number)
        if part.kind == "variable":
            return self._variable(part.text)
        return None

    def _variable(self, text: str) -> str | None:
        named = _NAMED.fullmatch(text)
        if not named or named[1]:
            return None
        name, rest = named[2], named[3]
        known: str | None = self.variables.get(name)
        if name.isdigit() and name != "0":
            known = self.positional[int(name) - 1] if int(name) <= len(self.positional) else None
        elif name == "#":
            known = str(len(self.positional))
        elif name in "@*":
            known = " ".join(self.positional)
        if rest.startswith("[") and name in self.lists:
            return " ".join(self.lists[name])
        if not rest:
            return known
        found = _OPERATED.fullmatch(rest)
        if not found:
            return None
        operator, operand = found[1], found[2]
        if operator in ("-", ":-", "=", ":="):
            if known is None or known == "" and ":" in operator:
                known = self.text(operand)
            if "=" in operator:
                self.variables[name] = known
            return known
        if operator in ("+", ":+"):
            return self.text(operand) if known else ""
        if operator in ("?", ":?"):
            return known
        if known is not None and operator[0] in "%#":
            return _stripped(known, operator, self.text(operand))
        return None

    def text(self, text: str) -> str:
        """A text of the shell as one word."""
        words = [one for one in lexed(text) if isinstance(one, Word)]
        return " ".join(self.joined(word) for word in words)

    def joined(self, word: Word) -> str:
        return "".join(
            _written(part) if (found := self.value(part)) is None else found
            for part in word.parts
        )[:_MOST_OF_A_VALUE]

    def tested(self, word: Word) -> str | None:
        """A word of a condition, where variables that nothing sets are empty; None where
        nobody knows it."""
        found = [
            "" if value is None and part.kind == "variable" and re.fullmatch(r"\w+", part.text)
            else value
            for part in word.parts for value in [self.value(part)]
        ]
        return None if None in found else "".join(one or "" for one in found)

    def words(self, word: Word) -> list[str]:
        """The words that one becomes: variables without quotes are split, lists are
        all of their words."""
        found, current, is_word = [], "", False
        for part in word.parts:
            several = self._several(part)
            if several is None:
                value = self.value(part)
                is_whole = value is None or part.kind == "text" or part.is_quoted
                value = _written(part) if value is None else value
                if is_whole:
                    current, is_word = current + value, True
                    continue
                several = value.split()
                if value[:1].isspace() and is_word:
                    found.append(current)
                    current, is_word = "", False
            for number, one in enumerate(several):
                if number:
                    found.append(current)
                current, is_word = (current if number == 0 else "") + one, True
        if is_word:
            found.append(current)
        return found

    def _several(self, part: Part) -> list[str] | None:
        """The words of `"$@"` and `"${list[@]}"`."""
        if part.kind != "variable":
            return None
        if part.text in "@*" and part.text:
            return self.positional
        listed = re.fullmatch(r"([A-Za-z_]\w*)\[[@*]\]", part.text)
        if listed and listed[1] in self.lists:
            return self.lists[listed[1]]
        return None

    def _sum(self, text: str) -> int | None:
        """The value of an arithmetic expression of whole numbers."""
        named = re.sub(
            r"\$\{([^{}]*)\}|\$([A-Za-z_]\w*)", lambda m: self._variable(m[1] or m[2]) or "?", text
        )
        pieces = re.findall(r"\s*([A-Za-z_]\w*|[0-9]{1,18}|<=|>=|==|!=|[-+*/%()<>])", named)
        if len(pieces) > 99 or "".join(pieces) != re.sub(r"\s", "", named):
            return None
        for index, piece in enumerate(pieces):
            if re.match("[A-Za-z_]", piece):
                value = self.variables.get(piece, "")
                if not re.fullmatch("-?[0-9]{1,18}", value):
                    return None
                pieces[index] = f"({value.lstrip('0') or '0'})"
            elif piece == "/":
                pieces[index] = "//"
            elif piece.isdigit():
                pieces[index] = str(int(piece))
        try:
            return int(eval(" ".join(pieces), {"__builtins__": {}}, {}))
        except (SyntaxError, TypeError, ArithmeticError, ValueError):
            return None


def _written(part: Part) -> str:
    """A part that nobody knows, as it was written."""
    forms = {"variable": "${%s}", "sum": "$((%s))", "command": "$(%s)"}
    if part.kind == "variable" and re.fullmatch(r"\w+|[@*#]", part.text):
        return f"${part.text}"
    return forms.get(part.kind, "%s") % part.text


def _stripped(value: str, operator: str, pattern: str) -> str:
    """`${X%pattern}` and its kin."""
    is_longest = len(operator) == 2
    counts = range(len(value) + 1)
    for count in reversed(counts) if is_longest else counts:
        cut = value[len(value) - count :] if operator[0] == "%" else value[:count]
        if fnmatch.fnmatchcase(cut, pattern):
            return value[: len(value) - count] if operator[0] == "%" else value[count:]
    return value


def read_commands(
    text: str,
    variables: Mapping[str, str] = FIRST_NODE,
    positional: Sequence[str] = (),
    files: "dict[str, str] | None" = None,
    place: str = "the command",
) -> Iterator[Said]:
    """The commands of `text` in order. `files` learns what it writes into files."""
    shell = Shell(dict(variables), dict.fromkeys(variables), positional=list(positional))
    if files is not None:
        shell.files = files
    found = list(statements(lexed(text, place)))
    # Of each `if`: whether its branch is taken (None: nobody knows), and one was.
    branches: list[list[bool | None]] = []
    # Of each loop: where its body begins, the variable of a `for`, and the values to come.
    loops: list[tuple[int, str, list[str]]] = []
    last: bool | None = True
    index, steps, behind = 0, 0, "\n"
    while index < len(found) and steps < _MOST_STEPS:
        words, redirections, operator = found[index]
        index, steps = index + 1, steps + 1
        if words and words[0].plain == "for" and len(words) > 2:
            values = [one for word in words[3:] for one in _ranged(shell, shell.words(word))]
            name = words[1].plain or ""
            shell.variables[name] = values[0] if values else f"${name}"
            loops.append((index, name, values[1:]))
            continue
        if words and words[0].plain in ("while", "until"):  # its body is read once
            loops.append((index, "", []))
        if words and words[0].plain == "done" and loops:
            start, name, values = loops.pop()
            if not name:
                branches.pop()
            if values:
                shell.variables[name] = values[0]
                loops.append((start, name, values[1:]))
                index = start
            continue
        words, keyword = _without_keywords(words, branches, last, bool(loops and not loops[-1][1]))
        taken = branches[:-1] if keyword in _CONDITIONS else branches
        is_off = any(one is False for one, _ in taken)
        is_off = is_off or (behind == "&&" and last is False) or (behind == "||" and last is True)
        behind = operator if operator in ("&&", "||") else "\n"
        if is_off or not words and not redirections:
            continue
        said, last = _run(shell, words, redirections)
        if said is not None:
            yield said


def _ranged(shell: Shell, words: list[str]) -> list[str]:
    """Words with `{1..4}` and `$(seq 0 $((N - 1)))` as what they stand for."""
    found: list[str] = []
    for word in words:
        called = re.fullmatch(r"\$\(seq (.*)\)", word)
        ends = _SEQUENCE.fullmatch(shell.text(called[1])) if called else _RANGE.fullmatch(word)
        if ends:
            found += map(str, range(int(ends[1] or 1), int(ends[2]) + 1))
        else:
            found.append(word)
    return found


def _without_keywords(
    words: list[Word], branches: list[list[bool | None]], last: bool | None, repeats: bool
) -> tuple[list[Word], str]:
    """What of a statement is a command, and the keyword before it. `repeats`: the
    innermost loop is one of a condition."""
    keyword = ""
    while words:
        plain = words[0].plain
        if plain in ("if", "while", "until"):
            branches.append([None, plain == "until"])
        elif plain == "do" and repeats and branches:
            branches[-1][0] = None if last is None else last != branches[-1][1]
        elif plain == "then" and branches:
            branches[-1][0] = last if not branches[-1][1] else False
            branches[-1][1] = bool(branches[-1][1]) or last is True
        elif plain == "elif" and branches:
            branches[-1][0] = None
        elif plain == "else" and branches:
            branches[-1][0] = False if branches[-1][1] else (None if last is None else not last)
        elif plain == "fi" and branches:
            branches.pop()
        elif plain not in _SKIPPED:
            break
        keyword = plain or ""
        words = words[1:]
    return words, keyword


def _run(
    shell: Shell, words: list[Word], redirections: list[tuple[str, "Word | str"]]
) -> tuple[Said | None, bool | None]:
    """What a simple command is, once the shell has done its part, and whether it
    succeeds (None: nobody knows)."""
    env: dict[str, str] = {}
    while words:
        assigned = _assignment(shell, words[0])
        if assigned is None:
            break
        env[assigned[0]] = assigned[1]
        words = words[1:]
    if not words:
        shell.variables.update(env)
        return None, True
    if words[0].plain in _DECLARES:
        for word in words[1:]:
            declared = _assignment(shell, word)
            name = declared[0] if declared else shell.joined(word)
            if declared:
                shell.variables[name] = declared[1]
            shell.exported[name] = None
        return None, True
    if words[0].plain in ("[", "[[", "test"):
        tested = [shell.tested(word) for word in words[1:]]
        return None, _holds([one for one in tested if one not in ("]", "]]")])
    said = [text for word in words for text in shell.words(word)]
    if said[:2] == ["set", "--"]:
        shell.positional = said[2:]
        return None, True
    _keep_file(shell, said, redirections)
    if not said or said[0] in ("echo", "printf", "cat", "tee", ":", "true"):
        return None, True
    exported = {name: shell.variables[name] for name in shell.exported if name in shell.variables}
    return Said(said, {**exported, **env}), None


def _assignment(shell: Shell, word: Word) -> tuple[str, str] | None:
    """The name and value of NAME=value; a list is kept by its name."""
    if not word.parts or word.parts[0].kind != "text" or word.parts[0].is_quoted:
        return None
    found = _ASSIGNED.fullmatch(word.parts[0].text)
    if not found:
        return None
    name, adds = found[1], bool(found[2])
    if len(word.parts) > 1 and word.parts[1].kind == "array":
        inner = [one for one in lexed(word.parts[1].text) if isinstance(one, Word)]
        values = [text for one in inner for text in shell.words(one)]
        shell.lists[name] = (shell.lists.get(name, []) if adds else []) + values
        return name, " ".join(shell.lists[name])
    value = shell.joined(Word([Part(found[3]), *word.parts[1:]]))
    return name, (shell.variables.get(name, "") if adds else "") + value


def _holds(words: Sequence[str | None]) -> bool | None:
    """Whether a test holds; None where one of its words is not known."""
    if any(word is None for word in words):
        return None
    words = [word or "" for word in words]
    if len(words) == 2 and words[0] in ("-z", "-n"):
        return (words[1] == "") == (words[0] == "-z")
    if len(words) != 3:
        return None
    one, operator, other = words
    if operator in ("=", "=="):
        return one == other
    if operator == "!=":
        return one != other
    numbers = [
        int(text) for text in (one, other) if text and re.fullmatch("-?[0-9]{1,18}", text)
    ]
    if operator in _COMPARED and len(numbers) == 2:
        return _COMPARED[operator](*numbers)
    return None


def _keep_file(
    shell: Shell, said: list[str], redirections: list[tuple[str, "Word | str"]]
) -> None:
    """Remembers what `cat`, `tee`, `echo` and `printf` write into a file."""
    bodies = [to for sign, to in redirections if sign == "<<" and isinstance(to, str)]
    targets = [shell.joined(to) for sign, to in redirections
               if sign in (">", ">>", ">|") and isinstance(to, Word)]
    if said[:1] == ["tee"] and len(said) > 1:
        targets.append(said[-1])
    if not targets:
        return
    if bodies:
        body = "".join(bodies)
        if body.count("$"):
            body = re.sub(
                r"\$\{?(\w+)\}?", lambda m: shell.variables.get(m[1], m[0]), body
            )
    elif said[:1] == ["echo"]:
        body = " ".join(word for word in said[1:] if word not in ("-e", "-n")) + "\n"
    elif said[:2] == ["printf", "%s"]:
        body = " ".join(said[2:])
    else:
        return
    shell.files[targets[0]] = body
