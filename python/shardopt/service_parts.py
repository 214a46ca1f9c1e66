"""Parts of a service: roles of workers, SLOs, latencies, and how they are read from what
the planner says, which may come from a file."""

from __future__ import annotations

import dataclasses
import math
from dataclasses import dataclass
from typing import Any, Mapping, NamedTuple

from .border import real, shown
from .checks import _checked, _whole
from .degrees import table, unsaid
from .errors import WrongPlan
from .former_names import former
from .plans import Strategy
from .problem import Problem

#: Names of roles: a service is one `SERVE`, or `PREFILL` and `DECODE`.
SERVE, PREFILL, DECODE = "serve", "prefill", "decode"
MODES = ("aggregated", "disaggregated")
ROLES = (SERVE, PREFILL, DECODE)
PERCENTILES = (50, 90, 99)


class Latency(NamedTuple):
    """Milliseconds: the mean over requests, the interval in which 80 % of measured runs
    have theirs, and percentiles over requests."""

    mean: float
    low: float
    high: float
    p50: float
    p90: float
    p99: float

    def at(self, percentile: int | None) -> float:
        """At a percentile, or the mean where that is None."""
        return float(getattr(self, f"p{percentile}")) if percentile else self.mean


@dataclass(frozen=True)
class Slo:
    """A target for a latency, and what is attained, on the mean (None) or a
    percentile."""

    name: str
    percentile: int | None
    target_ms: float
    attained: Latency

    @property
    def attained_ms(self) -> float:
        return self.attained.at(self.percentile)

    @property
    def met(self) -> bool:
        return self.attained_ms <= self.target_ms * (1 + 1e-9)

    @property
    def interval_crosses(self) -> bool:
        """Whether the target is inside the prediction interval of what it is on."""
        scale = self.attained_ms / self.attained.mean if self.attained.mean else 0.0
        return scale * self.attained.low < self.target_ms < scale * self.attained.high

    def verdict(self, missed: str = "NOT MET") -> str:
        """"met" or what one that is missed is called, and what else a reader has to know."""
        return ", ".join(filter(None, (
            "met" if self.met else missed,
            f"{' and '.join(self.above)} above it" if self.met and self.above else "",
            "interval crosses it" if self.interval_crosses else "",
        )))

    on = former("on", "statistic")

    @property
    def statistic(self) -> str:
        """"mean", or "p90"."""
        return f"p{self.percentile}" if self.percentile else "mean"

    @property
    def above(self) -> tuple[str, ...]:
        """The higher percentiles that are above the target."""
        return tuple(
            f"p{each}"
            for each in PERCENTILES
            if each > (self.percentile or 50) and self.attained.at(each) > self.target_ms
        )

    def to_dict(self) -> dict[str, Any]:
        return {
            "name": f"{self.name.lower()}_ms",
            "statistic": self.statistic,
            "target": "inf" if math.isinf(self.target_ms) else self.target_ms,
            "attained": self.attained_ms,
            "met": self.met,
            "interval_crosses": self.interval_crosses,
            "above": list(self.above),
        }


@dataclass(frozen=True)
class Role:
    """Equal workers: engine instances of one strategy, on GPUs of their own."""

    name: str
    workers: int
    strategy: Strategy
    machine: str
    in_flight: float
    """Requests in flight in one worker."""
    sequences: float
    """Of them in a step, in the mean."""
    memory: Mapping[str, float]
    """Gigabytes of the fullest GPU: `weights`, `kv_cache`, and their `capacity`."""
    step_us: Mapping[str, float]
    """Microseconds of a step by part: of one that decodes, or that prefills."""
    stages: tuple[int, ...] = ()
    """Layers of each pipeline stage, even ones too."""
    has_own_dims: bool = False
    """Whether the dims of its strategy are not those that an engine gives."""
    overlap: bool = False
    """Whether steps work on two micro-batches whose exchange overlaps compute."""
    overlap_from: tuple[int, int] = (0, 0)
    """Tokens of an attention group from which they do, where the engine has a threshold:
    of steps that decode, and that prefill; 0: none do."""

    @property
    def gpus_each(self) -> int:
        return self.strategy.devices

    @property
    def gpus(self) -> int:
        return self.workers * self.gpus_each

    def to_dict(self) -> dict[str, Any]:
        return {
            "workers": self.workers,
            "gpus_each": self.gpus_each,
            "in_flight": self.in_flight,
            "machine": self.machine,
            "memory_gb": dict(self.memory),
            "step_us": dict(self.step_us),
            "strategy": self.strategy.to_dict(),
            **({"overlap": "on"} if self.overlap else {}),
        }


class ServiceMetrics(NamedTuple):
    """What a service serves. Tokens are those of completions; rates are a second."""

    requests_per_s: float
    tokens_per_s_per_gpu: float
    tokens_per_s_per_user: float
    tpot: Latency
    ttft: Latency
    in_flight: float
    gpus: int

    @property
    def tpot_ms(self) -> float:
        return self.tpot.mean

    @property
    def ttft_ms(self) -> float:
        return self.ttft.mean

    def to_dict(self) -> dict[str, Any]:
        """A flat row: latencies as `tpot_ms`, `tpot_ms_p90`, …"""
        row: dict[str, Any] = {
            "requests_per_s": self.requests_per_s,
            "tokens_per_s_per_gpu": self.tokens_per_s_per_gpu,
            "tokens_per_s_per_user": self.tokens_per_s_per_user,
        }
        for name, latency in (("tpot_ms", self.tpot), ("ttft_ms", self.ttft)):
            row[name] = latency.mean
            row.update({f"{name}_p{each}": latency.at(each) for each in PERCENTILES})
        row.update(in_flight=self.in_flight, gpus=self.gpus)
        return row


def layout_of(strategy: Strategy) -> str:
    """"tp 4 dp 16 ep 64", without what is 1."""
    said = grid_of(strategy)
    words = [f"{name} {value}" for name, value in said.items() if value > 1 or name == "tp"]
    return " ".join([*words, *([f"eplb {strategy.eplb}"] if strategy.eplb != "off" else [])])


def grid_of(strategy: Strategy) -> dict[str, int]:
    """The degrees that are numbers of devices: all but the batch."""
    numbers = [row.name for row in table() if not row.names and row.name != "batch"]
    degrees = strategy.degrees()
    return {name: degrees[name] for name in numbers}


def latency_of(found: Mapping[str, Any], name: str) -> Latency:
    low, high = found[f"{name}_range"]
    values = (found[name], low, high, *(found[f"{name}_p{each}"] for each in PERCENTILES))
    return Latency(*map(float, values))


def roles_of(
    problem: Problem, report: Mapping[str, Any], found: Mapping[str, Any]
) -> tuple[Role, ...]:
    """The roles of a mode of a report, which may come from a file."""
    total = real(found.get("concurrency"))
    named = {name: found[name] for name in ROLES if isinstance(found.get(name), dict)}
    if list(named) not in ([SERVE], [PREFILL, DECODE]) or not 0 < total < 2**31:
        raise WrongPlan(
            f"the service of mode {shown(report.get('mode'))} has no 'serve', or no "
            "'prefill' and 'decode', with a concurrency: expected a plan file as "
            "`shardopt plan` writes it"
        )
    engine = str(report.get("engine"))
    return tuple(
        _role_of(problem, engine, name, row, found) for name, row in named.items()
    )


def _role_of(
    problem: Problem, engine: str, name: str, row: Mapping[str, Any],
    found: Mapping[str, Any],
) -> Role:
    def count(key: str, default: int | None = None) -> int:
        return _whole(f"service/{name}/{key}", row.get(key, default), least=1)

    def tokens(key: str) -> int:
        return _whole(f"service/{name}/{key}", int(real(row.get(key, 0))))

    dp = count("dp")
    workers = count("workers")
    usual = 1 if name == PREFILL else found["concurrency"] / workers
    share = real(row.get("in_flight_each", usual))
    # Of version 1: sequences of an attention group.
    sequences = real(row.get("sequences_each", real(found.get("sequences", 1)) * dp))
    decoding = 1 if name == PREFILL else max(1, round(sequences / dp))
    defaults: dict[str, Any] = {each.name: each.default for each in table()}
    defaults.update(pp=1, batch=decoding * dp)
    degrees = {
        each.name: str(row.get(each.name, each.default))
        if each.names
        else count(each.name, defaults[each.name])
        for each in table()
        if each.is_required or each.default is not None or each.name in row
    }
    strategy = Strategy(dims=(), **unsaid(degrees))
    layers = row.get("stages")
    stages = tuple(_whole("stages", each, least=1) for each in layers or ())
    dims = row.get("dims")
    ops = problem.model.ops
    has_own_dims = isinstance(dims, dict)
    if not has_own_dims:
        base = dataclasses.replace(strategy, dims=tuple((op, 0) for op in ops))
        chosen = _checked(problem.handle.engine_dims, engine, base.numbers())
        dims = dict(zip(ops, chosen))
    strategy = Strategy.from_dict({**strategy.to_dict(), "dims": dims}, ops)
    memory = row.get("memory_gb")
    parts = memory if isinstance(memory, dict) else {}
    return Role(
        name, workers, strategy, str(row.get("machine", "")), share, sequences,
        {part: real(gb) for part, gb in parts.items()},
        _numbers_of(row.get("step_us", found.get("step_us") if name != PREFILL else None)),
        stages, has_own_dims, _overlaps(name, row),
        (tokens("overlap_decode_tokens"), tokens("overlap_prefill_tokens")),
    )


def _overlaps(name: str, row: Mapping[str, Any]) -> bool:
    said = row.get("overlap", "off")
    if said not in ("on", "off"):
        raise WrongPlan(f"'service/{name}/overlap' is {shown(said)}, expected on or off")
    return bool(said == "on")


def _numbers_of(said: Any) -> dict[str, float]:
    """Numbers by name, in which a file may have others."""
    found = said.items() if isinstance(said, dict) else ()
    return {name: real(value) for name, value in found if not math.isnan(real(value))}
