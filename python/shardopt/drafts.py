"""Speculative tokens by their acceptance: how many of a number of drafts are accepted."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Sequence

from .border import real, shown
from .errors import Contradiction, WrongValue

if TYPE_CHECKING:
    from .problem import Problem

#: Numbers of drafts that are tried where one chance holds for all of them.
MOST_DRAFTS = 3


def drafts_by_acceptance(problem: "Problem") -> dict[str, Any]:
    """What a problem's `acceptance` says, as lists of `draft_tokens` and
    `accepted_tokens`; nothing where there is none."""
    acceptance = problem.acceptance
    if acceptance is None:
        return {}
    accepted = problem.accepted_tokens
    if any(accepted) if isinstance(accepted, (list, tuple)) else accepted:
        raise Contradiction(
            f"'acceptance' is {shown(acceptance)} and 'accepted_tokens' {shown(accepted)}, "
            "expected one of them"
        )
    by_position = list(acceptance) if isinstance(acceptance, (list, tuple)) else None
    lengths = _lengths(problem, MOST_DRAFTS if by_position is None else len(by_position))
    most = max(lengths)
    positions = _by_position(acceptance, most) if by_position is None else by_position
    _check(positions, most)
    found = [sum(map(real, positions[:length])) for length in lengths]
    is_one = len(lengths) == 1
    return {
        "draft_tokens": lengths[0] if is_one else lengths,
        "accepted_tokens": found[0] if is_one else found,
        "acceptance": None,
    }


def _lengths(problem: "Problem", most: int) -> list[int]:
    said = problem.draft_tokens
    if said is None:
        return list(range(most + 1))
    lengths: list[Any] = list(said) if isinstance(said, (list, tuple)) else [said]
    for each in lengths:
        if not isinstance(each, int) or isinstance(each, bool) or not 0 <= each <= 64:
            raise WrongValue(f"'draft_tokens' has {shown(each)}, expected a whole number from 0 to 64")
    return lengths


def _by_position(chance: Any, most: int) -> list[float]:
    """Of a token that is accepted where all before it were."""
    if not 0 <= real(chance) <= 1:
        raise WrongValue(f"'acceptance' is {shown(chance)}, expected a share from 0 to 1")
    return [real(chance) ** (place + 1) for place in range(most)]


def _check(positions: Sequence[Any], most: int) -> None:
    before = 1.0
    for place, each in enumerate(positions):
        if not 0 <= real(each) <= before:
            than = f"{before}, that of the token before it" if place else "1"
            raise WrongValue(
                f"'acceptance' has {shown(each)} at token {place + 1}, expected a share from "
                f"0 to {than}"
            )
        before = real(each)
    if len(positions) != most:
        raise WrongValue(
            f"'acceptance' has {len(positions)} shares, expected as many as 'draft_tokens' "
            f"are at most, {most}"
        )
