"""What is said of a service: each finding a text with its kind."""

from __future__ import annotations

#: The engine refuses it; it has no effect; nobody knows it; what a reader should know.
ILLEGAL, IGNORED, UNKNOWN, NOTE = "illegal", "ignored", "unknown", "note"
#: The engine runs it, and plans have no such degree; it is other than what was planned.
UNPLANNED, DIFFERS = "not planned", "differs"
#: Memory does not hold it, or an SLO is missed.
MISSED = "missed"


class Finding(str):
    """A text; `kind` is one of the above."""

    kind: str

    def __new__(cls, text: str, kind: str) -> "Finding":
        made = super().__new__(cls, text)
        made.kind = kind
        return made

    def __reduce__(self) -> "tuple[type[Finding], tuple[str, str]]":
        return Finding, (str(self), self.kind)


def illegal(text: str) -> Finding:
    return Finding(text, ILLEGAL)


def ignored(text: str) -> Finding:
    return Finding(text, IGNORED)


def unknown(text: str) -> Finding:
    return Finding(text, UNKNOWN)


def note(text: str) -> Finding:
    return Finding(text, NOTE)


def unplanned(text: str) -> Finding:
    """Of what an engine runs, and plans do not hold."""
    return Finding(text, UNPLANNED)


def differs(text: str) -> Finding:
    return Finding(text, DIFFERS)


def missed(text: str) -> Finding:
    """Of memory and SLOs."""
    return Finding(text, MISSED)
