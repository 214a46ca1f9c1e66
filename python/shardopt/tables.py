"""Rows of results as text that fits a page of `WIDTH` columns."""

from __future__ import annotations

import re
import shutil
import sys
import textwrap
from typing import Any, Iterable, Mapping, Sequence

#: Columns of what is printed; longer values continue below their first word.
WIDTH = 100
#: What a column of text that is wrapped has at least.
_LEAST = 16
#: What a page has at least, however narrow the terminal is.
_LEAST_PAGE = 40
#: What a head of several words has at least.
_HEAD = 6
_NAMED = re.compile(r"  (?:\S+ )*\S+ {2,}|  \S.{10} |  \S.{8} | {12}(?=not )")
#: A space between words that stay on one line.
_KEPT = "\u00a0"

#: Heads of columns whose names in JSON have units and underscores.
HEADS = {
    "tokens_per_s_per_gpu": "tokens/s per GPU",
    "throughput": "tokens/s per GPU",
    "tokens_per_s_per_user": "tokens/s per user",
    "requests_per_s": "req/s",
    "tpot_ms": "TPOT, ms",
    "ttft_ms": "TTFT, ms",
    "latency_ms": "latency, ms",
    "memory_gb": "GB per GPU",
    "in_flight": "in flight",
    "gpus": "GPUs",
    "devices": "GPUs",
    "gpu": "GPU",
    "workers": "workers (prefill + decode)",
    "dollars_per_hour": "$ per hour",
    "price": "$ per hour",
    "exchange": "EP dispatch",
    "eplb": "redundant experts per rank (EPLB)",
    "weight_type": "weights",
    "kv_type": "KV cache",
}


def page_width() -> int:
    """The columns of the terminal, at most `WIDTH`; `WIDTH` where there is none."""
    if not sys.stdout.isatty():
        return WIDTH
    return min(WIDTH, max(_LEAST_PAGE, shutil.get_terminal_size((WIDTH, 24)).columns))


def fitted(text: str) -> str:
    """`text` with lines of `  name  value` broken between words at the page's width. Rows
    of several values are whole up to `WIDTH`."""
    lines, width = [], page_width()
    for line in text.split("\n"):
        found = _NAMED.match(line)
        limit = WIDTH if found and "  " in line[found.end():].strip() else width
        if len(line) <= limit or not found:
            lines.append(line)
            continue
        lines += textwrap.wrap(
            line, limit, initial_indent="", subsequent_indent=" " * found.end(),
            break_long_words=False, break_on_hyphens=False, drop_whitespace=True,
        )
    return "\n".join(lines)


def counted(count: "float | str", one: str, several: str = "") -> str:
    """"1 GPU", "2 GPUs", "0.5 GPUs": a number, or its text, and what is counted."""
    return f"{count} {one if str(count) == '1' else several or one + 's'}"


def kept(text: str) -> str:
    """`text` as one word of a cell, which is broken only where it does not fit alone."""
    return text.replace(" ", _KEPT)


def _cell(value: Any) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    return f"{value:.6g}" if isinstance(value, float) else str(value)


def _is_text(cell: str) -> bool:
    return re.fullmatch(r"-|[-+]?[\d.]+(e[-+]?\d+)?[%x]?|inf|nan|yes|no|infeasible", cell) is None


def _wrapped(text: str, width: int) -> list[str]:
    return textwrap.wrap(text, width, break_on_hyphens=False) or [""]


def said_of(name: str) -> str:
    """A member of JSON in words: "tpot_ms_p90" is "TPOT, ms, p90"."""
    stem, mark, percentile = name.rpartition("_p")
    if mark and percentile.isdecimal():
        return f"{said_of(stem)}, p{percentile}"
    return HEADS.get(name, name.replace("_", " ") if name.endswith("_ms") else name)


def _head(name: str, least: int) -> list[str]:
    """A head of as few lines as a column of `least` characters gives it."""
    words = said_of(name)
    return _wrapped(words, max(least, _HEAD, *map(len, words.split())))


def rows_as_table(rows: Sequence[Mapping[str, Any]]) -> str:
    """Rows as a table of at most the page's width. Numbers are to the right, text at
    both ends to the left. A last column of text continues on lines of its own where it
    is long. The others are as wide as their values, so many long ones stay wider."""
    names = list(dict.fromkeys(name for row in rows for name in row))
    if not names:
        return ""
    cells = [[_cell(row.get(name, "-")) for name in names] for row in rows]
    ends = {i for i in (0, len(names) - 1) if any(_is_text(line[i]) for line in cells)}
    is_long, width = len(names) - 1 in ends, page_width()
    longest = [max(len(line[i]) for line in cells) for i in range(len(names))]
    heads = [
        _head(name, width if is_long and name == names[-1] else least)
        for name, least in zip(names, longest)
    ]
    widths = [max(least, *map(len, head)) for least, head in zip(longest, heads)]
    if is_long:
        rest = width - sum(widths[:-1]) - 2 * len(names)
        widths[-1] = min(widths[-1], max(rest, _LEAST))
    depth = max(map(len, heads))
    found = list(zip(*([""] * (depth - len(head)) + head for head in heads)))
    for row in cells:
        last = _wrapped(row[-1], widths[-1]) if is_long else row[-1:]
        found.append((*row[:-1], last[0]))
        found += [(*[""] * (len(names) - 1), text) for text in last[1:]]
    return "\n".join(_joined(line, widths, ends) for line in found)


def _joined(line: Sequence[str], widths: Sequence[int], to_the_left: "set[int]") -> str:
    texts = [
        text.ljust(width) if i in to_the_left else text.rjust(width)
        for i, (text, width) in enumerate(zip(line, widths))
    ]
    return ("  " + "  ".join(texts)).rstrip().replace(_KEPT, " ")


def pick(row: Mapping[str, Any], names: Iterable[str]) -> dict[str, Any]:
    """The members of a row that it has, in the order of `names`."""
    return {name: row[name] for name in names if name in row}
