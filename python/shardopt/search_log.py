"""The file of a search: what was asked and told, a line each."""

from __future__ import annotations

import fcntl
import json
import os
from pathlib import Path
from typing import Any, Mapping

from .border import parse_json, reading, shown
from .errors import ShardoptError

SCHEMA = 1


def first_budget(path: str) -> int | None:
    """The budget with which the search of a log began; None where there is none
    to read."""
    try:
        with reading(path):
            if not Path(path).is_file():
                return None
            with open(path, encoding="utf-8") as file:
                found = parse_json(file.readline(), path)["budget"]
    except (ShardoptError, KeyError, TypeError):
        return None
    return found if isinstance(found, int) and found > 0 else None


class SearchLog:
    """A log that is made, or opened for more. An unfinished last line is what a
    killed search leaves, and is dropped."""

    def __init__(self, path: str, identity: Mapping[str, Any]):
        self._path = path
        with reading(f"'{path}' cannot be opened"):
            if os.path.exists(path) and not os.path.isfile(path):
                raise ShardoptError(f"'{path}' is no file, expected the log of a search")
            self._file = open(path, "ab+")
            try:
                fcntl.flock(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                self._file.close()
                raise ShardoptError(f"'{path}' is in use by another search") from None
        try:
            self.events = self._load(identity)
            """What was there."""
        except ShardoptError:
            self.close()
            raise

    def _load(self, identity: Mapping[str, Any]) -> list[dict[str, Any]]:
        """What a log has; one that is new gets its first line. What is no log is left
        as it is."""
        first = {"shardopt_search": SCHEMA, **identity}
        self._file.seek(0)
        with reading(f"'{self._path}' is no log of a search"):
            text = self._file.read().decode("utf-8")
        whole = text[: text.rfind("\n") + 1]
        if not whole:
            if not (json.dumps(first) + "\n").startswith(text):
                raise ShardoptError(f"'{self._path}' is no log of a search")
            self._cut(0)
            self.append(first)
            return []
        lines = whole.split("\n")[:-1]
        values = [self._read(line, number) for number, line in enumerate(lines, 1)]
        self._check(values[0], first)
        self._cut(len(whole.encode()))
        return values[1:]

    def _cut(self, size: int) -> None:
        """Drops what comes after `size` bytes."""
        with reading(f"'{self._path}' cannot be written"):
            os.ftruncate(self._file.fileno(), size)

    def _read(self, line: str, number: int) -> dict[str, Any]:
        value = parse_json(line, f"{self._path}:{number}")
        if not isinstance(value, dict) or not (
            {"ask", "strategies"} <= set(value)
            or {"tell", "metrics"} <= set(value)
            or "shardopt_search" in value
        ):
            raise ShardoptError(f"{self._path}:{number}: is no ask and no tell")
        return value

    def _check(self, found: Mapping[str, Any], first: Mapping[str, Any]) -> None:
        wanted = json.loads(json.dumps(first))
        if "shardopt_search" not in found:
            raise ShardoptError(f"'{self._path}' is no log of a search")
        for key in {**found, **wanted}:
            if found.get(key) != wanted.get(key):
                raise ShardoptError(
                    f"'{self._path}' is the log of another search: '{key}' is "
                    f"{shown(found.get(key))}, expected {shown(wanted.get(key))}"
                )

    def close(self) -> None:
        self._file.close()

    def append(self, event: Mapping[str, Any]) -> None:
        """A line, on its way to the disk when this returns."""
        self.check_open()
        with reading(f"'{self._path}' cannot be written"):
            self._file.write((json.dumps(event) + "\n").encode())
            self._file.flush()

    def check_open(self) -> None:
        if self._file.closed:
            raise ShardoptError(f"the search is closed, and so is its log '{self._path}'")
