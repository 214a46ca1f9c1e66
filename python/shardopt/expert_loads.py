"""How the load of experts is distributed: Zipf's law, or measured shares."""

from __future__ import annotations

from typing import Any

from .border import read_text, shown
from .errors import ShardoptError, WrongValue

#: Before the exponent of Zipf's law.
ZIPF = "zipf:"

#: Shares of the experts of each layer, or of all layers.
Shares = tuple[tuple[float, ...], ...]


def expert_load_of(said: Any) -> "str | Shares | None":
    """`zipf:` and an exponent as it stands; the shares of a file, whose lines are layers
    with experts (or one for all of them) and have the share of each expert, at commas; or
    rows of shares, of lists or an array."""
    if said is None or isinstance(said, str) and said.startswith(ZIPF):
        return said
    if isinstance(said, str):
        return _read(said)
    try:
        return tuple(tuple(float(share) for share in row) for row in said)
    except (TypeError, ValueError):
        raise WrongValue(
            f"'expert_load' is {shown(said)}, expected zipf: and an exponent, a file, or a "
            "row of shares for each layer with experts"
        ) from None


def _read(path: str) -> Shares:
    lines = enumerate(read_text(path).splitlines(), 1)
    return tuple(
        tuple(_share(word, f"{path}:{number}") for word in line.split(","))
        for number, line in lines
        if line.strip()
    )


def _share(word: str, place: str) -> float:
    try:
        return float(word)
    except ValueError:
        raise ShardoptError(
            f"{place}: {shown(word.strip())} is no share, expected numbers joined by commas, "
            "one for each expert"
        ) from None
