"""Measurements of loads on single workers: proposed ones, and what benchmarks answer."""

from __future__ import annotations

import csv
import io
import math
import statistics
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Iterable, Mapping, Sequence

from .border import parse_json, read_text, reading, real, shown
from .degrees import Degree, filled, table
from .errors import ShardoptError, WrongValue

_LOAD = ("isl", "osl", "concurrency")
TIMES = ("tpot_ms", "ttft_ms")
FILE, RESULTS = "measurements.csv", "results"
#: Measurements that differ so many times contradict each other.
CONTRADICTION = 10.0


def degrees() -> list[Degree]:
    """Those of a worker, which are columns of a file of measurements."""
    return [row for row in table() if row.name != "batch"]


@dataclass(frozen=True)
class Measurement:
    """Requests in flight in one worker, and milliseconds: measured ones, or none yet."""

    name: str
    layout: tuple[tuple[str, "int | str"], ...]
    isl: int
    osl: int
    concurrency: int
    tpot_ms: float | None = None
    ttft_ms: float | None = None

    @property
    def times(self) -> dict[str, float]:
        found = {name: getattr(self, name) for name in TIMES}
        return {name: value for name, value in found.items() if value is not None}

    def with_times(self, times: Mapping[str, float]) -> "Measurement":
        return replace(self, tpot_ms=times.get("tpot_ms"), ttft_ms=times.get("ttft_ms"))

    def row(self) -> dict[str, Any]:
        times = {name: getattr(self, name) for name in TIMES}
        load = {name: getattr(self, name) for name in _LOAD}
        return {"name": self.name, **dict(self.layout), **load, **times}


def text_of(measurements: Iterable[Measurement]) -> str:
    """The file of measurements, in which times that nobody measured are empty."""
    out = io.StringIO()
    writer = csv.DictWriter(out, ("name", *(each.name for each in degrees()), *_LOAD, *TIMES), lineterminator="\n")
    writer.writeheader()
    writer.writerows(each.row() for each in measurements)
    return out.getvalue()


def read_measurements(path: "str | Path", isl: int, osl: int) -> list[Measurement]:
    """Those of a CSV file, or of a folder with one and with the answers of benchmarks in
    `results`, by name. What a row does not say of its layout is 1, of its lengths `isl`
    and `osl`. Those that nobody measured are left out."""
    place = Path(path)
    file = place / FILE if place.is_dir() else place
    found = _rows(read_text(file), str(file), isl, osl)
    if place.is_dir():
        names = {each.name for each in found}
        answers = {each.stem: each for each in sorted((place / RESULTS).glob("*.json"))}
        for name, answer in answers.items():
            if name not in names:
                raise WrongValue(f"{answer}: no measurement '{name}' is in {file}")
        found = [
            each.with_times(_times_of(answers[each.name])) if each.name in answers else each
            for each in found
        ]
    return [each for each in found if each.times]


def _rows(text: str, place: str, isl: int, osl: int) -> list[Measurement]:
    with reading(place):
        lines = csv.DictReader(io.StringIO(text))
        head = lines.fieldnames or []
        missing = [name for name in ("tp", "concurrency") if name not in head]
        if missing or not set(TIMES) & set(head):
            wanted = missing[0] if missing else "tpot_ms or ttft_ms"
            raise WrongValue(f"{place}:1: the columns are {shown(', '.join(head))}, expected {wanted}")
        found = [_row(row, f"{place}:{lines.line_num}", isl, osl) for row in lines]
    known: set[str] = set()
    for each in found:
        if each.name in known:
            raise WrongValue(f"{place}: two measurements are called {shown(each.name)}")
        known.add(each.name)
    return found


def _row(row: Mapping[str, Any], place: str, isl: int, osl: int) -> Measurement:
    def whole(name: str, otherwise: int) -> int:
        text = (row.get(name) or "").strip()
        if not text:
            return otherwise
        if not text.isdecimal() or not 1 <= int(text) <= 10**9:
            raise WrongValue(f"{place}: '{name}' is {shown(text)}, expected a whole number above 0")
        return int(text)

    def ms(name: str) -> float | None:
        text = (row.get(name) or "").strip()
        try:
            value = float(text) if text else None
        except ValueError:
            value = math.nan
        if value is not None and not 0 < value < 1e9:
            raise WrongValue(f"{place}: '{name}' is {shown(text)}, expected milliseconds above 0")
        return value

    layout: dict[str, Any] = {}
    for each in degrees():
        said = (row.get(each.name) or "").strip()
        if said and each.names:
            with reading(place):
                layout[each.name] = each.read(said)
        elif said or each.is_required:
            layout[each.name] = whole(each.name, 1)
    layout = {**filled({**layout, "batch": 1})}
    del layout["batch"]
    if not (row.get("concurrency") or "").strip():
        raise WrongValue(f"{place}: 'concurrency' is '', expected requests in flight")
    name = (row.get("name") or "").strip() or f"row {place.rpartition(':')[2]}"
    return Measurement(
        name, tuple(layout.items()), whole("isl", isl), whole("osl", osl), whole("concurrency", 1),
        ms("tpot_ms"), ms("ttft_ms"),
    )


#: Where benchmarks say the mean times of requests: `vllm bench serve`, TensorRT-LLM's
#: `benchmark_serving` and `sglang.bench_serving`, then `trtllm-bench`.
_MEMBERS = (
    ((), {"tpot_ms": "mean_tpot_ms", "ttft_ms": "mean_ttft_ms"}),
    (("streaming_metrics",), {"tpot_ms": "avg_tpot_ms", "ttft_ms": "avg_ttft_ms"}),
)


def _times_of(path: Path) -> dict[str, float]:
    """The mean times that a benchmark wrote; of several lines the last counts."""
    lines = read_text(path).strip()
    try:
        values = parse_json(lines, str(path))
    except ShardoptError:
        values = parse_json(lines.rpartition("\n")[2], str(path))
    for places, names in _MEMBERS:
        found = values
        for place in places:
            found = found.get(place) if isinstance(found, dict) else None
        if not isinstance(found, dict) or not set(names.values()) & set(found):
            continue
        times = {name: real(found[member]) for name, member in names.items() if member in found}
        for name, value in times.items():
            if not 0 < value < 1e9:
                raise WrongValue(f"{path}: /{'/'.join((*places, names[name]))}: {shown(found[names[name]])}, "
                                 "expected milliseconds above 0")
        return times
    raise WrongValue(
        f"{path}: no mean times, expected mean_tpot_ms and mean_ttft_ms (vllm bench serve, "
        "sglang.bench_serving), or streaming_metrics (trtllm-bench with --streaming)"
    )


def contradictions(ratios: Sequence[float]) -> list[tuple[int, float]]:
    """Which of these measured over predicted times contradict the others, in the order
    in which they are left out, with how many times each is off. As long as two differ
    `CONTRADICTION` times, the one further from the median of the rest is left out; the
    prediction counts as one of them."""
    left = dict(enumerate(map(math.log, ratios)))
    found = []
    while len(left) > 1 and max(left.values()) - min(left.values()) >= math.log(CONTRADICTION):
        ends = (max(left, key=lambda i: left[i]), min(left, key=lambda i: left[i]))

        def off(which: int) -> float:
            rest = [value for i, value in left.items() if i != which]
            return abs(left[which] - statistics.median([*rest, 0.0]))

        worst = max(ends, key=off)
        found.append((worst, math.exp(off(worst))))
        del left[worst]
    return found
