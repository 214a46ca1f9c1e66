"""Data frames and tables for notebooks, out of rows; pandas is loaded when one is
asked for."""

from __future__ import annotations

import html
import math
from typing import Any, Iterable, Mapping, Protocol, Sequence

from .errors import ShardoptError

Row = Mapping[str, Any]


class Frame(Protocol):
    """A data frame, of pandas, polars, or alike."""

    @property
    def columns(self) -> Any: ...


def frame_of(rows: Sequence[Row]) -> Any:
    """A pandas DataFrame of rows."""
    try:
        import pandas  # type: ignore[import-untyped, import-not-found, unused-ignore]
    except ImportError:
        raise ShardoptError(
            "frames need pandas: pip install pandas; 'rows' needs nothing"
        ) from None
    return pandas.DataFrame(list(rows))


def is_frame(value: Any) -> bool:
    """Whether `value` is a frame of pandas, or of a library that names its columns
    and gives records as it does or as polars."""
    return hasattr(value, "columns") and (
        hasattr(value, "to_dicts") or hasattr(value, "to_dict")
    )


def _is_missing(value: Any) -> bool:
    return value is None or (isinstance(value, float) and math.isnan(value))


def _number(value: Any) -> Any:
    """A whole number, where a column of them has become one of floats for those that
    are missing."""
    return int(value) if isinstance(value, float) and value.is_integer() else value


def strategies_of(frame: Any, ops: Iterable[str]) -> list[dict[str, Any]]:
    """A strategy a row: degrees by column, and dims in a column for each op, or as
    `dims`. What is missing has its default."""
    if hasattr(frame, "to_dicts"):
        records = frame.to_dicts()
    else:
        records = frame.to_dict("records")
    names, found = set(ops), []
    for record in records:
        said = {key: _number(value) for key, value in record.items() if not _is_missing(value)}
        dims = {key: said.pop(key) for key in list(said) if key in names}
        if dims:
            said["dims"] = {**said.get("dims", {}), **dims}
        found.append(said)
    return found


def like(frame: Any, rows: Sequence[Row]) -> Any:
    """Rows as a frame of the same library, with the same index where it has one."""
    if hasattr(frame, "index"):
        return type(frame)(list(rows), index=frame.index)
    return type(frame)(list(rows))


def html_of(rows: Sequence[Row]) -> str:
    """Rows as a table of HTML."""
    names = list(dict.fromkeys(name for row in rows for name in row))

    def cell(value: Any) -> str:
        return html.escape(f"{value:.4g}" if isinstance(value, float) else str(value))

    head = "".join(f"<th>{html.escape(name)}</th>" for name in names)
    body = "".join(
        "<tr>" + "".join(f"<td>{cell(row.get(name, '-'))}</td>" for name in names) + "</tr>"
        for row in rows
    )
    return f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"
