"""Changes of one flag, and which of them helps most."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from typing import Any, Callable, Iterator

from .meaning import Meaning, Place, meaning_of_values
from .outcomes import Outcome
from .stated import Stated

#: Gains below this are no help.
LEAST_GAIN = 0.01

#: Flags that are changed, by engine, with how: a count, or what else it can be.
_COUNTS = {
    "vllm": ("--tensor-parallel-size", "--data-parallel-size", "--pipeline-parallel-size",
             "--decode-context-parallel-size"),
    "sglang": ("--tp-size", "--attn-dp-size", "--ep-size", "--pp-size"),
    "trtllm": ("--tp_size", "--ep_size", "--pp_size", "--cp_size"),
}
_SWITCHES = {
    "vllm": ("--enable-expert-parallel",), "sglang": (), "trtllm": ("--enable_attention_dp",),
}
_CHOICES = {
    "vllm": {"--all2all-backend": ("allgather_reducescatter", "deepep_high_throughput")},
    "sglang": {"--moe-a2a-backend": ("none", "deepep")},
    "trtllm": {},
}
_CAPS = {
    "vllm": "--max-num-seqs", "sglang": "--max-running-requests", "trtllm": "--max_batch_size",
}


@dataclass(frozen=True)
class Change:
    """One flag, its new value, and what the service then reaches."""

    role: str
    flag: str
    before: str
    after: str
    outcome: Outcome
    gain: float | None
    """Share of throughput that it adds; None where nothing was reached before."""

    def __str__(self) -> str:
        of = f"{self.role}: " if self.role != "serve" else ""
        text = f"{of}{self.flag} {self.after}".rstrip()
        if self.before:
            text += f" instead of {self.before}"
        plan = self.outcome.plan
        assert plan is not None
        if self.gain is None:
            return f"{text}: {self.outcome.throughput:.6g} tokens/s per GPU"
        return f"{text}: {self.gain:+.1%} tokens/s per GPU"


def _key(flag: str) -> str:
    return flag.lstrip("-").replace("-", "_")


def _candidates(one: Meaning) -> Iterator[tuple[str, Any]]:
    """Flags with values that they do not have."""
    values = one.source.values
    for flag in _COUNTS[one.engine]:
        now = values[_key(flag)]
        for value in (1, now * 2, now // 2, now * 4, now // 4):
            if value >= 1 and value != now and value <= 512:
                yield flag, value
    for flag in _SWITCHES[one.engine]:
        yield flag, not values[_key(flag)]
    for flag, choices in _CHOICES[one.engine].items():
        for choice in choices:
            if choice != values[_key(flag)]:
                yield flag, choice
    cap = _CAPS[one.engine]
    if values[_key(cap)]:
        yield cap, 0


def changed(one: Meaning, flag: str, value: Any, facts: Any, place: Place) -> Meaning:
    """What a server means with another value of a flag."""
    found = dataclasses.replace(
        one.source, values={**one.source.values, _key(flag): value}, findings=[]
    )
    assert one.invocation is not None
    made = meaning_of_values(one.invocation, found, facts, place, one.role.name)
    copies = one.role.workers // max(1, one.own_workers)
    return dataclasses.replace(
        made, role=dataclasses.replace(made.role, workers=made.role.workers * copies)
    )


def best_change(
    stated: Stated,
    before: Outcome,
    evaluate: Callable[[Stated], Outcome],
    facts: Any,
    place: Place,
) -> Change | None:
    """The change of one flag that reaches most; None where none adds a hundredth."""
    best: Change | None = None
    seen: set[Any] = set()
    for index, one in enumerate(stated.roles):
        if one.invocation is None:
            continue
        for flag, value in dict.fromkeys(_candidates(one)):
            made = changed(one, flag, value, facts, place)
            key = (index, made.role, made.exchange)
            if not made.is_legal or key in seen:
                continue
            seen.add(key)
            roles = [*stated.roles[:index], made, *stated.roles[index + 1 :]]
            outcome = evaluate(stated.replace(roles=tuple(roles)))
            if outcome.plan is None:
                continue
            if best is not None and outcome.throughput <= best.outcome.throughput:
                continue
            gain = outcome.throughput / before.throughput - 1 if before.plan else None
            if gain is not None and gain < LEAST_GAIN:
                continue
            best = Change(one.role.name, flag, *_said(one, flag, value, outcome), outcome, gain)
    return best


def _said(one: Meaning, flag: str, value: Any, outcome: Outcome) -> tuple[str, str]:
    """A flag's values before and after, as a command has them."""
    now = one.source.values[_key(flag)]
    if isinstance(value, bool):
        return ("", "") if value else ("it", "left out,")
    if flag == _CAPS[one.engine] and outcome.plan is not None:
        batch = outcome.plan.strategy.batch
        per_rank = one.engine != "sglang"
        ranks = one.role.ranks if per_rank else 1
        return str(now), str(-(-batch // ranks))
    return str(now), str(value)
