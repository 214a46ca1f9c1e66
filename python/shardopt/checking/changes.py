"""Changes of one flag or two, and which of them helps most."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from typing import Any, Callable, Iterator, Sequence

from ..tables import counted
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
    """Flags of one role with their values before and after (one, or two that only help
    together), and what the service then reaches."""

    role: str
    flags: tuple[tuple[str, str, str], ...]
    outcome: Outcome
    gain: float | None
    """Share of throughput that it adds; None where nothing was reached before."""
    gpus: int | None = None
    """What it runs on, where that is more than before."""

    def __str__(self) -> str:
        of = f"{self.role}: " if self.role != "serve" else ""
        texts = []
        for flag, before, after in self.flags:
            text = f"{flag} {after}".rstrip()
            texts.append(f"{text} instead of {before}" if before else text)
        text = of + " and ".join(texts)
        text += f", on {counted(self.gpus, 'GPU')}" if self.gpus else ""
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


#: A flag with its new value; "workers" is how often its platform has the server.
Step = tuple[str, Any]


def changed(one: Meaning, steps: Sequence[Step], facts: Any, place: Place) -> Meaning:
    """What a server means with other values of flags."""
    values = {_key(flag): value for flag, value in steps if flag != "workers"}
    copies = one.role.workers // max(1, one.own_workers)
    made = one
    if values and one.invocation is not None:
        source = dataclasses.replace(
            one.source, values={**one.source.values, **values}, findings=[]
        )
        made = meaning_of_values(one.invocation, source, facts, place, one.role.name)
        copies *= made.role.workers
    else:
        copies = one.role.workers
    workers = dict(steps).get("workers", copies)
    return dataclasses.replace(made, role=dataclasses.replace(made.role, workers=workers))


def best_change(
    stated: Stated,
    before: Outcome,
    evaluate: Callable[[Stated], Outcome],
    facts: Any,
    place: Place,
) -> Change | None:
    """The change of one flag, or of a number of workers, that reaches most; where none
    adds a hundredth, of two flags of a role on as many GPUs as it has."""
    singles = list(_singles(stated, facts))
    found = _best(stated, before, evaluate, facts, place, singles)
    if found is not None:
        return found
    pairs = [
        (one, (*first, *second))
        for number, (one, first) in enumerate(singles)
        for other, second in singles[number + 1 :]
        if other is one and first[0][0] != second[0][0]
    ]
    sized = [
        (one, steps) for one, steps in pairs
        if _gpus(changed(one, steps, facts, place)) == _gpus(one)
    ]
    return _best(stated, before, evaluate, facts, place, sized)


def _gpus(one: Meaning) -> int:
    return one.role.workers * one.role.devices


def _singles(stated: Stated, facts: Any) -> Iterator[tuple[Meaning, tuple[Step, ...]]]:
    for one in stated.roles:
        if one.invocation is not None:
            for step in dict.fromkeys(_candidates(one)):
                yield one, (step,)
        for workers in (one.role.workers - 1, one.role.workers + 1):
            if workers > 0:
                yield one, (("workers", workers),)


def _best(
    stated: Stated,
    before: Outcome,
    evaluate: Callable[[Stated], Outcome],
    facts: Any,
    place: Place,
    several: Sequence[tuple[Meaning, tuple[Step, ...]]],
) -> Change | None:
    best: Change | None = None
    seen: set[Any] = set()
    for one, steps in several:
        made = changed(one, steps, facts, place)
        index = next(i for i, role in enumerate(stated.roles) if role is one)
        key = (index, made.role, made.exchange)
        if not made.is_legal or key in seen:
            continue
        seen.add(key)
        roles = (*stated.roles[:index], made, *stated.roles[index + 1 :])
        other = stated.replace(roles=roles)
        outcome = evaluate(other)
        if not outcome.is_feasible:
            continue
        if best is not None and outcome.throughput <= best.outcome.throughput:
            continue
        gain = outcome.throughput / before.throughput - 1 if before.is_feasible else None
        if gain is None or gain >= LEAST_GAIN:
            said = tuple(_said(one, flag, value, made, outcome) for flag, value in steps)
            gpus = other.devices if other.devices > stated.devices else None
            best = Change(one.role.name, said, outcome, gain, gpus)
    return best


def _said(
    one: Meaning, flag: str, value: Any, made: Meaning, outcome: Outcome
) -> tuple[str, str, str]:
    """A flag with its values before and after, as a command has them."""
    if flag == "workers":
        return flag, str(one.role.workers), str(value)
    now = one.source.values[_key(flag)]
    if isinstance(value, bool):
        return (flag, "", "") if value else (f"no {flag}", "", "")
    if flag == _CAPS[one.engine]:
        # Of all ranks in SGLang, of one in the others.
        ranks = made.role.ranks if one.engine != "sglang" else 1
        return flag, str(now), str(-(-outcome.in_flight(one.role.name) // ranks))
    return flag, str(now), str(value)
