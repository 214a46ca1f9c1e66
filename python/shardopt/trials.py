"""What a search asks for, and what it may be told."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, Mapping

from .border import list_known, real, shown
from .checks import _text
from .errors import ShardoptError, UnknownName, WrongValue
from .plans import Metrics, Strategy
from .problem import Problem


@dataclass(frozen=True)
class Trial:
    """A strategy to evaluate."""

    number: int
    strategy: Strategy


@dataclass(frozen=True)
class Failed:
    """What is told of a trial that could not be evaluated."""

    why: str = ""


def read_metrics(problem: Problem, found: Any) -> Metrics:
    """Metrics of what a simulator says: `Metrics`, `Failed`, or a mapping with
    the names of reports. Where that does not say whether the strategy is valid,
    the limits of the problem do."""
    if isinstance(found, Failed):
        _text("why", found.why)
        return Metrics(False, "failed", 0.0, 0.0, 0.0, problem.phase)
    latency = "tpot_ms" if problem.phase == "decode" else "ttft_ms"
    if isinstance(found, Metrics):
        found = found.to_dict()
    if not isinstance(found, Mapping):
        raise WrongValue(
            f"the metrics are {shown(found)}, expected Metrics, Failed, or a mapping"
        )
    known = ("throughput", latency, "memory_gb", "valid", "reason")
    for name in found:
        if name not in known:
            raise UnknownName(f"metrics have {shown(name)}; " + list_known(name, known))
    numbers = []
    for name in known[:3]:
        value = found.get(name)
        if not 0 <= real(value) < math.inf:
            raise WrongValue(
                f"'{name}' is {shown(value)}, expected a finite number of at least 0"
            )
        numbers.append(real(value))
    reason = ""
    if numbers[2] > problem.memory_gb:
        reason = "memory"
    elif numbers[1] > problem.slo_ms:
        reason = "slo"
    valid = found.get("valid", not reason)
    if not isinstance(valid, bool):
        raise WrongValue(f"'valid' is {shown(valid)}, expected true or false")
    if not valid:
        reason = found.get("reason") or reason or "structural"
        reasons = ("structural", "memory", "slo", "failed")
        if reason not in reasons:
            raise UnknownName(
                f"'reason' is {shown(reason)}; " + list_known(reason, reasons)
            )
    elif numbers[0] == 0 or numbers[1] == 0:
        raise ShardoptError(f"valid, but 'throughput' or '{latency}' is 0")
    throughput, latency_ms, memory_gb = numbers
    return Metrics(
        valid, "" if valid else reason, throughput, latency_ms, memory_gb, problem.phase
    )
