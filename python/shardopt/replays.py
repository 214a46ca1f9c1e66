"""Traces of requests, and what a service attains on them request by request."""

from __future__ import annotations

import contextlib
import csv
import datetime
import functools
import gc
import io
import itertools
import math
import operator
import os
from dataclasses import dataclass, field
from typing import Any, Iterable, Iterator, NamedTuple, Sequence

from ._native import native
from .border import parse_json, read_text, reading, real, shown
from .checks import _check_kind, _checked, _path
from .errors import WrongValue
from .deployments.planned import longest_request_of
from .problem import FREE
from .service_parts import PERCENTILES, Slo
from .service_tables import aligned, number, target_of, three
from .services import Service, given_role, given_settings
from .tables import counted

#: Tokens of a block of a trace with hashes of prefixes.
BLOCK = 512
#: Columns of known traces: arrival, tokens in, tokens out, tokens in the prefix cache.
_COLUMNS = (
    ("arrival_s", "isl", "osl", "cached"),
    ("TIMESTAMP", "ContextTokens", "GeneratedTokens", ""),  # Azure's LLM inference traces
    ("Timestamp", "Request tokens", "Response tokens", ""),  # BurstGPT
)
_MOST_TOKENS, _MOST_SECONDS, _MOST_ROWS = 1e8, 1e9, 10_000_000


class Request(NamedTuple):
    """Arrival in seconds, tokens of the prompt and of the answer, and tokens of the prompt
    that the prefix cache has."""

    arrival_s: float
    isl: float
    osl: float
    cached: float = 0.0


class Spread(NamedTuple):
    """The mean over requests, and percentiles (of the nearest rank)."""

    mean: float
    p50: float
    p90: float
    p99: float


def read_requests(path: "str | os.PathLike[str]") -> list[Request]:
    """The requests of a trace, in order of arrival; the first arrives at 0.

    CSV has the columns `arrival_s` (s), `isl`, `osl`, and if the prefix cache has tokens of
    a prompt `cached`; or those of Azure's traces or of BurstGPT. JSONL has `timestamp`
    (ms), `input_length`, `output_length`, and maybe `hash_ids`: one for each 512 tokens of
    a prompt, as Mooncake's and AIPerf's traces have them. Leading blocks that a request
    before had are cached. Errors name the line.
    """
    text = read_text(_path(path))
    place = str(path)
    with reading(place):
        columns = _jsonl(text, place) if text.lstrip()[:1] == "{" else _csv(text, place)
    if not columns[0]:
        raise WrongValue(f"{place}: no requests, expected one in each line below the head")
    first = min(columns[0])
    arrivals = [arrival - first for arrival in columns[0]]
    with _no_collection():
        # What `Request._make` does, which is Python.
        made = functools.partial(tuple.__new__, Request)
        requests: list[Request] = [*map(made, zip(arrivals, *columns[1:]))]
    if not _is_sorted(arrivals):
        requests.sort(key=lambda request: request.arrival_s)
    return requests


@contextlib.contextmanager
def _no_collection() -> Iterator[None]:
    """No search for cycles, which takes longer than a million tuples do."""
    was_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_on:
            gc.enable()


def _is_sorted(arrivals: Sequence[float]) -> bool:
    return all(map(operator.le, arrivals, itertools.islice(arrivals, 1, None)))


def _csv(text: str, place: str) -> Sequence[Sequence[float]]:
    """The columns of a request."""
    lines = csv.reader(io.StringIO(text))
    head = [name.strip() for name in next(lines, [])]
    known = next((names for names in _COLUMNS if set(names[:3]) <= set(head)), None)
    if known is None:
        raise WrongValue(
            f"{place}:1: the columns are {shown(', '.join(head))}, expected "
            "arrival_s, isl, osl and maybe cached"
        )
    at = [head.index(name) for name in known if name in head]
    columns: Sequence[Sequence[float]] | None = native().number_columns(text, len(head), at)
    try:
        if columns is None:
            raise ValueError
        _check_columns(columns, known)
    except ValueError:  # slower, with the place of an error
        columns = [*zip(*_csv_rows(text, place, at, known))] or [()] * 3
    return [*columns, *[[0.0] * len(columns[0])] * (4 - len(columns))]


def _check_columns(columns: Sequence[Sequence[float]], names: Sequence[str]) -> None:
    """Raises `ValueError` where a row is no request; least and largest values tell."""
    if not columns[0]:
        return
    for extreme in (min, max):
        arrival, isl, osl, *_ = map(extreme, columns)
        _checked_request(Request(arrival, isl, osl), names)
    if len(columns) > 3:
        margin = min(map(float.__sub__, columns[1], columns[3]))
        if not margin > 0 or min(columns[3]) < 0:
            raise ValueError


def _csv_rows(
    text: str, place: str, at: Sequence[int], names: Sequence[str]
) -> Iterator[Sequence[float]]:
    """Requests row by row; times may be dates."""
    lines = csv.reader(io.StringIO(text))
    size = len(next(lines))
    for row in lines:
        if not row:
            continue
        where = f"{place}:{lines.line_num}"
        if len(row) != size:
            raise WrongValue(f"{where}: {len(row)} fields, expected {size}")
        values = [row[i] for i in at]
        with contextlib.suppress(ValueError):
            date = datetime.datetime.fromisoformat(values[0][:26])
            values[0] = str(date.replace(tzinfo=datetime.timezone.utc).timestamp())
        try:
            numbers = [*map(float, values)]
        except ValueError:
            raise WrongValue(f"{where}: {_not_numbers(row)}") from None
        try:
            yield _checked_request(Request(*numbers), names)[: len(at)]
        except WrongValue as error:
            raise WrongValue(f"{where}: {error}") from None


def _not_numbers(row: Sequence[str]) -> str:
    return f"{shown(','.join(row))}, expected numbers"


def _checked_request(request: Request, names: Sequence[str]) -> Request:
    arrival, isl, osl, cached = request
    if not 0 <= arrival <= _MOST_SECONDS * 10:
        raise WrongValue(f"'{names[0]}' is {arrival:g}, expected seconds from 0 on")
    for name, value in zip(names[1:3], (isl, osl)):
        if not 1 <= value <= _MOST_TOKENS:
            raise WrongValue(f"'{name}' is {value:g}, expected tokens from 1 to 1e8")
    if not 0 <= cached < isl:
        raise WrongValue(
            f"'{names[3]}' is {cached:g}, expected tokens from 0 to below '{names[1]}', {isl:g}"
        )
    return request


def _jsonl(text: str, place: str) -> Sequence[Sequence[float]]:
    return [*zip(*_jsonl_rows(text, place))] or [()] * 4


def _jsonl_rows(text: str, place: str) -> Iterator[Request]:
    names = ("timestamp", "input_length", "output_length", "hash_ids")
    seen: set[Any] = set()
    for count, line in enumerate(text.splitlines(), 1):
        if not line.strip():
            continue
        where = f"{place}:{count}"
        row = parse_json(line, where)
        missing = [name for name in names[:3] if not isinstance(row, dict) or name not in row]
        if missing:
            raise WrongValue(f"{where}: no '{missing[0]}', expected {', '.join(names[:3])}")
        blocks = row.get(names[3]) or []
        if not isinstance(blocks, list) or any(isinstance(each, (list, dict)) for each in blocks):
            raise WrongValue(f"{where}: '{names[3]}' is {shown(blocks)}, expected a list of ids")
        known = next((i for i, each in enumerate(blocks) if each not in seen), len(blocks))
        seen.update(blocks)
        arrival, isl, osl = (real(row[name]) for name in names[:3])
        cached = min(float(known * BLOCK), isl - 1)
        try:
            yield _checked_request(Request(arrival / 1e3, isl, osl, max(0.0, cached)), names)
        except WrongValue as error:
            raise WrongValue(f"{where}: {error}") from None


def spread_of(values: Iterable[float]) -> Spread:
    ranked = sorted(values)
    at = [ranked[max(0, math.ceil(len(ranked) * p / 100) - 1)] for p in PERCENTILES]
    return Spread(math.fsum(ranked) / len(ranked), *at)


@dataclass(frozen=True)
class Replay:
    """What requests took, in the order of `requests`; times in milliseconds."""

    service: Service = field(repr=False)
    requests: Sequence[Request] = field(repr=False)
    ttft_ms: Sequence[float] = field(repr=False)
    tpot_ms: Sequence[float] = field(repr=False)
    #: Seconds from the first arrival to the last token.
    duration_s: float
    #: Requests in flight, where arrivals count for nothing.
    concurrency: int | None = None
    #: Requests that servers refuse: with more tokens than `longest`.
    refused: int = 0
    longest: int | None = None

    @functools.cached_property
    def ttft(self) -> Spread:
        return spread_of(self.ttft_ms)

    @functools.cached_property
    def tpot(self) -> Spread:
        return spread_of(self.tpot_ms)

    @property
    def requests_per_s(self) -> float:
        return len(self.requests) / self.duration_s

    @property
    def offered_requests_per_s(self) -> float | None:
        """At which requests arrive; None of one request, and where arrivals do not count."""
        last = self.requests[-1].arrival_s
        if self.concurrency is not None or not last:
            return None
        return (len(self.requests) - 1) / last

    @property
    def steady_requests_per_s(self) -> float | None:
        """At which the middle half of all answers end: without the ramp and the drain, which
        short traces have a large share of. None of one alone."""
        ends = sorted(
            one.arrival_s + (ttft + tpot * one.osl) / 1e3
            for one, ttft, tpot in zip(self.requests, self.ttft_ms, self.tpot_ms)
        )
        first, last = len(ends) // 4, 3 * len(ends) // 4
        took = ends[last] - ends[first]
        return (last - first) / took if took else None

    @property
    def tokens_per_s_per_gpu(self) -> float:
        """Output tokens, over all GPUs of the service's cluster."""
        tokens = math.fsum(request.osl for request in self.requests)
        gpus = self.service.report["devices"] + (self.service.report.get("prefill_devices") or 0)
        return tokens / self.duration_s / float(gpus)

    @property
    def within(self) -> float:
        """The share of requests within both SLOs, each on its own; refused ones are not."""
        return self._count_within / (len(self.requests) + self.refused)

    @property
    def goodput(self) -> float:
        """Requests per second within both SLOs."""
        return self._count_within / self.duration_s

    @functools.cached_property
    def _count_within(self) -> int:
        tpot, ttft = (slo.target_ms for slo in self.service.slos)
        return sum(a <= tpot and b <= ttft for a, b in zip(self.tpot_ms, self.ttft_ms))

    @property
    def slos(self) -> tuple[tuple[Slo, Spread, bool], ...]:
        """The SLOs of the plan, TTFT first: each with what requests took, and whether its
        mean or percentile is met."""
        tpot, ttft = self.service.slos
        return tuple(
            (slo, spread, bool(getattr(spread, slo.statistic) <= slo.target_ms))
            for slo, spread in ((ttft, self.ttft), (tpot, self.tpot))
        )

    @property
    def met(self) -> bool:
        """Whether all requests are served, and the SLOs are met."""
        return not self.refused and all(met for _, _, met in self.slos)

    def rows(self) -> list[dict[str, float]]:
        """A row for each request, for a frame."""
        return [
            {**request._asdict(), "ttft_ms": ttft, "tpot_ms": tpot}
            for request, ttft, tpot in zip(self.requests, self.ttft_ms, self.tpot_ms)
        ]

    def to_dict(self) -> dict[str, Any]:
        return {
            "requests": len(self.requests),
            "duration_s": self.duration_s,
            "isl": _mean(request.isl for request in self.requests),
            "osl": _mean(request.osl for request in self.requests),
            "cached": _mean(request.cached for request in self.requests),
            "offered_requests_per_s": self.offered_requests_per_s,
            "requests_per_s": self.requests_per_s,
            "steady_requests_per_s": self.steady_requests_per_s,
            "tokens_per_s_per_gpu": self.tokens_per_s_per_gpu,
            "ttft_ms": self.ttft._asdict(),
            "tpot_ms": self.tpot._asdict(),
            "within_slos": self.within,
            "met": self.met,
            "refused": self.refused,
            "longest": self.longest,
            "goodput_requests_per_s": self.goodput,
        }

    @property
    def table(self) -> str:
        said = self.to_dict()
        slos = ", ".join(f"{slo.name} {number(slo.target_ms)} ms" for slo in self.service.slos)
        offered, steady = self.offered_requests_per_s, self.steady_requests_per_s
        arrive = f", {three(offered)} req/s" if offered else ""
        ends = f" ({three(steady)} in the middle half)" if steady else ""
        facts = [
            f"  {'requests':<12}{said['requests']} in {three(said['duration_s'])} s{arrive}, in the mean "
            f"{three(said['isl'])} tokens in and {three(said['osl'])} out",
            f"  {'cached':<12}{100 * said['cached'] / said['isl']:.3g} % of the prompt tokens",
            f"  {'throughput':<12}{three(self.requests_per_s)} req/s{ends}, "
            f"{three(self.tokens_per_s_per_gpu)} tokens/s per GPU",
            f"  {'within SLOs':<12}{100 * self.within:.3g} % of the requests ({slos}), "
            f"{three(self.goodput)} req/s",
        ]
        if self.refused:
            facts.append(
                f"  {'refused':<12}{counted(self.refused, 'more request')}, which servers of at most "
                f"{self.longest} tokens refuse"
            )
        rows = [
            [f"{slo.name}, ms", target_of(slo), slo.statistic, *map(three, spread),
             "met" if met else "NOT MET"]
            for slo, spread, met in self.slos
        ]
        head = ["SLO", "target", "on", *Spread._fields]
        return "\n".join(facts) + "\n\n" + aligned([head, *rows])

    def __str__(self) -> str:
        return self.table


def _mean(values: Iterable[float]) -> float:
    found = list(values)
    return math.fsum(found) / len(found)


def replay(
    service: Service, requests: Iterable[Request], concurrency: int | None = None
) -> Replay:
    """What `requests`, in order of arrival, take in the workers of a service: an event
    simulation of its engine's loop, with the step times of the plan.

    A request goes to the attention group with the fewest in flight. With a `concurrency` so
    many requests are in flight, and arrivals count for nothing. Requests that are longer
    than the engine's servers take are refused. Raises `ShardoptError` where a worker has no
    room for a request, or all are refused.
    """
    _check_kind(Service, "service", service)
    taken = [_checked_request(Request(*request), Request._fields) for request in requests]
    if not taken or len(taken) > _MOST_ROWS:
        raise WrongValue(f"{len(taken)} requests, expected 1 to {_MOST_ROWS}")
    if not _is_sorted([request.arrival_s for request in taken]):
        raise WrongValue("the requests are not in order of arrival, expected them sorted")
    longest = None if service.engine == FREE else longest_request_of(service)
    refused = len(taken)
    if longest is not None:
        taken = [request for request in taken if request.isl + request.osl <= longest]
    refused -= len(taken)
    if not taken:
        raise WrongValue(
            f"{counted(refused, 'request')}, each of more than the {longest} tokens, prompt and answer, "
            "that the servers take"
        )
    if concurrency is not None and not 1 <= real(concurrency) <= len(taken):
        raise WrongValue(
            f"'concurrency' is {shown(concurrency)}, expected a number from 1 to the "
            f"{len(taken)} requests"
        )
    settings = given_settings(
        service, {role.name: given_role(role) for role in service.roles}
    )
    times = _checked(
        service.problem.handle.replay_service, settings, taken, float(concurrency or 0)
    )
    begins = min(arrival for arrival, _, _ in times)
    return Replay(
        service,
        taken,
        [1e3 * (first - arrival) for arrival, first, _ in times],
        [1e3 * (end - first) / one.osl for one, (_, first, end) in zip(taken, times)],
        max(end for _, _, end in times) - begins,
        concurrency,
        refused,
        longest,
    )

