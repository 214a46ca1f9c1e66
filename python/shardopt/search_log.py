"""The file of a search: what was asked and told, a line each."""

from __future__ import annotations

import fcntl
import json
import os
from typing import Any, Mapping

from .errors import ShardoptError

SCHEMA = 1


def first_budget(path: str) -> int | None:
    """The budget with which the search of a log began; None where there is none
    to read."""
    try:
        with open(path, encoding="utf-8") as file:
            found = json.loads(file.readline())["budget"]
    except (OSError, ValueError, KeyError, TypeError):
        return None
    return found if isinstance(found, int) and found > 0 else None


class SearchLog:
    """A log that is made, or opened for more. An unfinished last line is what a
    killed search leaves, and is dropped."""

    def __init__(self, path: str, identity: Mapping[str, Any]):
        self._path = path
        try:
            self._file = open(path, "a+", encoding="utf-8")
            fcntl.flock(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            self._file.close()
            raise ShardoptError(f"'{path}' is in use by another search") from None
        except OSError as error:
            raise ShardoptError(f"'{path}' cannot be opened: {error}") from None
        try:
            self.events = self._load(identity)
            """What was there."""
        except ShardoptError:
            self.close()
            raise

    def _load(self, identity: Mapping[str, Any]) -> list[dict[str, Any]]:
        self._file.seek(0)
        text = self._file.read()
        whole = text[: text.rfind("\n") + 1]
        if whole != text:
            os.truncate(self._path, len(whole.encode()))
        lines = whole.splitlines()
        if not lines:
            self.append({"shardopt_search": SCHEMA, **identity})
            return []
        values = [self._read(line, number) for number, line in enumerate(lines, 1)]
        self._check(values[0], identity)
        return values[1:]

    def _read(self, line: str, number: int) -> dict[str, Any]:
        try:
            value = json.loads(line)
        except ValueError as error:
            raise ShardoptError(f"{self._path}:{number}: {error}") from None
        if not isinstance(value, dict) or not (
            {"ask", "strategies"} <= set(value)
            or {"tell", "metrics"} <= set(value)
            or "shardopt_search" in value
        ):
            raise ShardoptError(f"{self._path}:{number}: is no ask and no tell")
        return value

    def _check(self, found: Mapping[str, Any], identity: Mapping[str, Any]) -> None:
        wanted = json.loads(json.dumps({"shardopt_search": SCHEMA, **identity}))
        if "shardopt_search" not in found:
            raise ShardoptError(f"'{self._path}' is no log of a search")
        for key in {**found, **wanted}:
            if found.get(key) != wanted.get(key):
                raise ShardoptError(
                    f"'{self._path}' is the log of another search: '{key}' is "
                    f"{found.get(key)!r}, expected {wanted.get(key)!r}"
                )

    def close(self) -> None:
        self._file.close()

    def append(self, event: Mapping[str, Any]) -> None:
        """A line, on its way to the disk when this returns."""
        self._file.write(json.dumps(event) + "\n")
        self._file.flush()
