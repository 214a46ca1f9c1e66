"""Data frames and tables for notebooks, out of rows; pandas is loaded when one is
asked for."""

from __future__ import annotations

import html
import math
from typing import Any, Iterable, Mapping, Protocol, Sequence

from .degrees import table, usual_of
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


def _column(frame: Any, name: str) -> "list[Any] | None":
    """The values of a column."""
    column = frame[name]
    if hasattr(column, "to_list"):
        return list(column.to_list())
    return None  # there are several of the name


def _degree(values: "list[Any] | None", default: "list[int] | int") -> "list[Any] | None":
    """A column in which values may be missing."""
    if values is None or set(map(type, values)) <= {int}:
        return values
    others = default if isinstance(default, list) else [default] * len(values)
    pairs = zip(values, others)
    return [other if _is_missing(value) else _number(value) for value, other in pairs]


def _degrees_of(
    columns: Mapping[str, "list[Any] | None"], count: int
) -> "dict[str, list[Any]] | None":
    """The number of each degree, by whole columns; None where one holds something else."""
    found: dict[str, list[Any]] = {}
    for row in sorted(table(), key=lambda row: not row.is_required):
        values = columns.get(row.name)
        if row.names:
            if set(map(type, values or ())) - {str, float, type(None)}:
                return None
            codes: dict[Any, int] = {name: code for code, name in enumerate(row.names, 1)}
            said = values or [row.default] * count
            found[row.name] = [
                codes.get(row.default if _is_missing(name) else name) for name in said
            ]
            continue
        default = row.default
        if row.is_required or default is not None:
            usual: Any = default
        else:
            names = [each.name for each in table() if each.is_required]
            rows = list(zip(*(found[name] for name in names)))
            by_row = {each: usual_of(dict(zip(names, each)))[row.name] for each in set(rows)}
            usual = [by_row[each] for each in rows]
        if values is None and not row.is_required:
            found[row.name] = usual if isinstance(usual, list) else [usual] * count
        else:
            found[row.name] = _degree(values, usual) or []
        if set(map(type, found[row.name])) - {int}:
            return None
    return found


def numbers_of(frame: Any, ops: Mapping[str, Any]) -> "list[list[int]] | None":
    """The strategies of a frame as lists of numbers, by whole columns; None where one
    of them holds something else than numbers."""
    names = [str(name) for name in frame.columns]
    lacking = {*(row.name for row in table() if row.is_required), *ops} - set(names)
    if lacking or set(names) - {*(row.name for row in table()), *ops}:
        return None
    count, columns = len(frame), {name: _column(frame, name) for name in names}
    degrees = _degrees_of(columns, count)
    if degrees is None:
        return None
    found = [degrees[row.name] for row in table()] + [columns[op] for op in ops]
    if any(column is None or set(map(type, column)) - {int} for column in found):
        return None
    if any(set(columns[op] or ()) - set(dims) for op, dims in ops.items()):
        return None
    return list(map(list, zip(*(column or () for column in found))))


def like(frame: Any, columns: Mapping[str, Sequence[Any]]) -> Any:
    """Columns as a frame of the same library, with the same index where it has one."""
    if hasattr(frame, "index"):
        return type(frame)(columns, index=frame.index)
    return type(frame)(columns)


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
