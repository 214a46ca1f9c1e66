"""How long requests are: a distribution of prompt and output tokens."""

from __future__ import annotations

import math
from typing import Any, Iterable, Mapping, Sequence

from ._native import native
from .border import real, shown
from .checks import _checked
from .errors import Contradiction, WrongValue

#: Prompt tokens, output tokens, and the share of the requests that have these.
Lengths = tuple[tuple[float, float, float], ...]

#: Of a trace, lengths of one interval count as their mean: so many to a factor of two.
_INTERVALS = 2


def checked_lengths(lengths: Any) -> Lengths:
    """The same as numbers; raises where it is no distribution."""
    if not isinstance(lengths, (list, tuple)) or any(
        not isinstance(each, (list, tuple)) or len(each) != 3 for each in lengths
    ):
        raise WrongValue(
            f"'lengths' is {shown(lengths)}, expected a list of [isl, osl, share]"
        )
    found = tuple((real(isl), real(osl), real(share)) for isl, osl, share in lengths)
    _checked(native().check_lengths, found)
    return found


def mean_lengths(lengths: Lengths) -> tuple[int, int]:
    """The prompt and the output tokens of a request in the mean, as whole numbers."""
    isl, osl = (math.fsum(each[i] * each[2] for each in lengths) for i in (0, 1))
    return max(1, round(isl)), max(1, round(osl))


def longest_request(lengths: Lengths) -> int:
    return math.ceil(max(isl + osl for isl, osl, _ in lengths))


def _shares_of(name: str, value: Any) -> dict[float, float]:
    """Tokens and their shares: "4096:0.3,512:0.7", also parted at commas, or a mapping."""
    if isinstance(value, Mapping):
        pairs = [(str(tokens), str(share)) for tokens, share in value.items()]
    else:
        parts = value.split(",") if isinstance(value, str) else list(value)
        pairs = [(tokens, share) for tokens, _, share in (str(part).partition(":") for part in parts)]
    found: dict[float, float] = {}
    for tokens, share in pairs:
        try:
            found[int(tokens)] = found.get(int(tokens), 0.0) + float(share)
        except ValueError:
            raise WrongValue(
                f"'{name}' has '{tokens}:{share}', expected tokens and their share of the "
                "requests, such as 4096:0.3,512:0.7"
            ) from None
    total = math.fsum(found.values())
    if not abs(total - 1) <= 1e-6:
        raise WrongValue(f"the shares of '{name}' sum to {total:.6g}, expected 1")
    return found


def _is_spread(value: Any) -> bool:
    return isinstance(value, (str, list, tuple, Mapping))


def with_lengths(values: Mapping[str, Any]) -> dict[str, Any]:
    """The settings, with `lengths` and their means where `isl` or `osl` have several. Those
    of prompts and of answers are independent."""
    taken = dict(values)
    several = [name for name in ("isl", "osl") if _is_spread(taken.get(name))]
    if not several:
        if taken.get("lengths") and taken.get("isl") is None and taken.get("osl") is None:
            taken["isl"], taken["osl"] = mean_lengths(checked_lengths(taken["lengths"]))
        return taken
    if taken.get("lengths"):
        raise Contradiction(f"'{several[0]}' has several lengths, and 'lengths' are given too")
    shares = []
    for name in ("isl", "osl"):
        value = taken.get(name)
        if value is None:
            raise Contradiction(f"'isl' and 'osl' go together, and '{name}' is missing")
        shares.append(_shares_of(name, value) if _is_spread(value) else {value: 1.0})
    prompts, answers = shares
    taken["lengths"] = checked_lengths(
        [(isl, osl, a * b) for isl, a in prompts.items() for osl, b in answers.items()]
    )
    taken["isl"], taken["osl"] = mean_lengths(taken["lengths"])
    return taken


def lengths_of(requests: Iterable[Sequence[float]]) -> Lengths:
    """The distribution of (arrival, isl, osl, …), in intervals of half an octave of either
    length, each with its means."""
    sums: dict[tuple[int, int], list[float]] = {}
    count = 0
    for _, isl, osl, *_ in requests:
        key = int(_INTERVALS * math.log2(isl)), int(_INTERVALS * math.log2(osl))
        one = sums.setdefault(key, [0.0, 0.0, 0.0])
        one[0] += isl
        one[1] += osl
        one[2] += 1
        count += 1
    return checked_lengths(
        [(isl / number, osl / number, number / count)
         for _, (isl, osl, number) in sorted(sums.items())]
    )
