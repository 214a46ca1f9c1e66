"""Shell text as words and operators, as POSIX sh and bash read it; nothing is run.

A word keeps the parts that the shell would replace, so that whoever reads it decides
what a variable is. Texts from manuals are read as they are meant: placeholders such as
`<model>` and templates such as `{{ .Values.model }}` are words, a prompt `$ ` is none.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Iterator

from ..errors import ShardoptError

#: Of a text that is read at once.
MOST_CHARACTERS = 100_000


@dataclass(frozen=True)
class Part:
    """A piece of a word: literal text, or what stands behind a dollar."""

    text: str
    #: "text", "variable" (`$X`, `${X…}`), "sum" (`$((…))`) or "command" (`$(…)`).
    kind: str = "text"
    is_quoted: bool = False


@dataclass
class Word:
    parts: list[Part] = field(default_factory=list)

    @property
    def plain(self) -> str | None:
        """The text of a word without quotes and dollars; None of others."""
        if len(self.parts) == 1 and self.parts[0].kind == "text" and not self.parts[0].is_quoted:
            return self.parts[0].text
        return None


@dataclass(frozen=True)
class Operator:
    """`;`, `&`, `&&`, `|`, `||`, `(`, `)`, a newline, or a redirection with its text."""

    sign: str
    #: Of a here-document, `<<`: what stands in it.
    body: str = ""


_OPERATOR = re.compile(r"&&|\|\||;;|\|&|&>>|&>|[;&|()]")
_REDIRECTION = re.compile(r"[0-9]*(?:<<<|>>|>&|<&|>\||>|<)(?:[0-9]+(?![\w./])|-(?!\w))?")
_HEREDOC = re.compile(r"[0-9]*<<(-?)[ \t]*(['\"]?)([\w.]+)\2")
_PLACEHOLDER = re.compile(r"<[A-Za-z_][\w ./:-]{0,60}>")
_TEMPLATE = re.compile(r"\{\{.*?\}\}")
_VARIABLE = re.compile(r"\$(?:[A-Za-z_][A-Za-z_0-9]*|[0-9@*#?$!-])")
# A comment behind it is no shell's, and in manuals.
_CONTINUATION = re.compile(r"\\(?:[ \t]+#[^\n]*|[ \t]*)\r?\n")


class _Lexer:
    def __init__(self, text: str, place: str):
        self.text, self.place, self.at = text, place, 0
        self.heredocs: list[tuple[str, bool, int]] = []
        self.found: list[Word | Operator] = []

    def fail(self, why: str) -> ShardoptError:
        line = self.text.count("\n", 0, self.at) + 1
        return ShardoptError(f"{self.place} cannot be read: line {line}: {why}")

    def run(self) -> list[Word | Operator]:
        text = self.text
        while self.at < len(text):
            char = text[self.at]
            continued = _CONTINUATION.match(text, self.at)
            if continued:
                self.at = continued.end()
            elif char == "\n":
                self.at += 1
                self.found.append(Operator("\n"))
                self._read_heredocs()
            elif char.isspace():
                self.at += 1
            elif char == "#":
                end = text.find("\n", self.at)
                self.at = len(text) if end < 0 else end
            elif not self._read_operator():
                self.found.append(self._read_word())
        return self.found

    def _read_operator(self) -> bool:
        heredoc = _HEREDOC.match(self.text, self.at)
        if heredoc:
            self.heredocs.append((heredoc[3], bool(heredoc[1]), len(self.found)))
            self.found.append(Operator("<<"))
            self.at = heredoc.end()
            return True
        if _PLACEHOLDER.match(self.text, self.at):
            return False
        for pattern in (_REDIRECTION, _OPERATOR):
            sign = pattern.match(self.text, self.at)
            if sign:
                self.found.append(Operator(sign[0]))
                self.at = sign.end()
                return True
        return False

    def _read_heredocs(self) -> None:
        for end, strips, index in self.heredocs:
            lines = []
            while self.at < len(self.text):
                stop = self.text.find("\n", self.at)
                stop = len(self.text) if stop < 0 else stop
                line = self.text[self.at : stop].rstrip("\r")
                self.at = stop + 1
                if (line.lstrip("\t") if strips else line).strip() == end:
                    break
                lines.append(line.lstrip("\t") if strips else line)
            self.found[index] = Operator("<<", "\n".join(lines) + "\n")
        self.heredocs = []

    def _read_word(self) -> Word:
        word, text = Word(), self.text
        raw: list[str] = []

        def flush() -> None:
            if raw:
                word.parts.append(Part("".join(raw)))
                raw.clear()

        while self.at < len(text):
            char = text[self.at]
            whole = _TEMPLATE.match(text, self.at) or (
                None if raw or word.parts else _PLACEHOLDER.match(text, self.at)
            )
            if whole:
                raw.append(whole[0])
                self.at = whole.end()
            elif char == "\\":
                if _CONTINUATION.match(text, self.at):
                    break
                flush()
                word.parts.append(Part(text[self.at + 1 : self.at + 2], is_quoted=True))
                self.at += 2
            elif char == "'":
                flush()
                end = text.find("'", self.at + 1)
                if end < 0:
                    raise self.fail("a quotation has no end")
                word.parts.append(Part(text[self.at + 1 : end], is_quoted=True))
                self.at = end + 1
            elif char == '"':
                flush()
                self._read_quoted(word)
            elif char in "$`":
                flush()
                word.parts.append(self._read_dollar(False))
            elif char.isspace() or char in "<>" or _OPERATOR.match(text, self.at):
                if not (char == "(" and raw and raw[-1].endswith("=")):
                    break
                flush()  # an array: NAME=(…)
                word.parts.append(Part(self._bracketed("(", ")"), "array"))
            else:
                raw.append(char)
                self.at += 1
        flush()
        return word

    def _read_quoted(self, word: Word) -> None:
        """A part between double quotes."""
        text, literal, count = self.text, [], len(word.parts)
        self.at += 1
        while True:
            if self.at >= len(text):
                raise self.fail("a quotation has no end")
            char = text[self.at]
            if char == '"':
                break
            if char == "\\" and text[self.at + 1 : self.at + 2] in ("$", "`", '"', "\\", "\n"):
                if text[self.at + 1] != "\n":
                    literal.append(text[self.at + 1])
                self.at += 2
            elif char in "$`":
                if literal:
                    word.parts.append(Part("".join(literal), is_quoted=True))
                literal = []
                word.parts.append(self._read_dollar(True))
            else:
                literal.append(char)
                self.at += 1
        self.at += 1
        if literal or len(word.parts) == count:
            word.parts.append(Part("".join(literal), is_quoted=True))

    def _read_dollar(self, is_quoted: bool) -> Part:
        text = self.text
        if text[self.at] == "`":
            end = text.find("`", self.at + 1)
            if end < 0:
                raise self.fail("a command between backticks has no end")
            part = Part(text[self.at + 1 : end], "command", is_quoted)
            self.at = end + 1
            return part
        if text.startswith("$((", self.at):
            self.at += 1
            inner = self._bracketed("(", ")")
            return Part(inner.strip()[1:-1], "sum", is_quoted)
        if text.startswith("$(", self.at):
            self.at += 1
            return Part(self._bracketed("(", ")"), "command", is_quoted)
        if text.startswith("${", self.at):
            self.at += 1
            return Part(self._bracketed("{", "}"), "variable", is_quoted)
        named = _VARIABLE.match(text, self.at)
        if named:
            self.at = named.end()
            return Part(named[0][1:], "variable", is_quoted)
        self.at += 1
        return Part("$", is_quoted=True)

    def _bracketed(self, opening: str, closing: str) -> str:
        """The text between brackets that stand at the place."""
        depth, start, quote = 0, self.at + 1, ""
        while self.at < len(self.text):
            char = self.text[self.at]
            if quote:
                quote = "" if char == quote else quote
            elif char in "'\"" and opening == "(":
                quote = char
            elif char == opening:
                depth += 1
            elif char == closing:
                depth -= 1
            self.at += 1
            if depth == 0:
                return self.text[start : self.at - 1]
        raise self.fail(f"a '{opening}' is not closed")


def lexed(text: str, place: str = "the command") -> list[Word | Operator]:
    """The words and operators of `text`; `place` names it in errors."""
    if len(text) > MOST_CHARACTERS:
        raise ShardoptError(
            f"{place} has {len(text)} characters, expected {MOST_CHARACTERS} at most"
        )
    text = re.sub(r"(?m)^[ \t]*\$ ", "", text)  # prompts of manuals
    return _Lexer(text, place).run()


def statements(
    found: list[Word | Operator],
) -> Iterator[tuple[list[Word], list[tuple[str, Word | str]], str]]:
    """Simple commands: their words, their redirections, and the operator behind."""
    words: list[Word] = []
    redirections: list[tuple[str, Word | str]] = []
    index = 0
    while index < len(found):
        one = found[index]
        index += 1
        if isinstance(one, Word):
            words.append(one)
        elif one.sign == "<<":
            redirections.append(("<<", one.body))
        elif re.search("[<>]", one.sign):
            to = found[index] if index < len(found) else None
            if not one.sign[-1].isdigit() and one.sign[-1] != "-" and isinstance(to, Word):
                redirections.append((one.sign.lstrip("0123456789"), to))
                index += 1
        else:
            yield words, redirections, one.sign
            words, redirections = [], []
    yield words, redirections, "\n"
