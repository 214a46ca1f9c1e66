"""Checks of values that users give: each error names the value and what is valid."""

from __future__ import annotations

import math
import os
import re
from pathlib import Path
from typing import Any

from .border import check_text, real, shown
from .errors import ShardoptError, UnknownName, WrongValue


def _checked(call: Any, *args: Any) -> Any:
    """What the planner answers; what it raises itself is a `ShardoptError`."""
    try:
        return call(*args)
    except ShardoptError:
        raise
    except (ValueError, TypeError, OverflowError, RuntimeError) as error:
        assert error.__traceback__
        if error.__traceback__.tb_next:  # of a function of the user's
            raise
        # The planner lists what is known of a name that is not.
        is_name = re.search("[;,] known: ", str(error))
        text = str(error) if isinstance(error, ValueError) else str(error).split("\n")[0]
        raise (UnknownName if is_name else ShardoptError)(text) from None


MOST = 2**31


def _whole(name: str, value: Any, least: int = 0) -> int:
    is_whole = isinstance(value, int) and not isinstance(value, bool)
    if not is_whole or not least <= value <= MOST:
        raise WrongValue(
            f"'{name}' is {shown(value)}, expected a whole number from {least} to {MOST}"
        )
    return int(value)


def _text(name: str, value: Any) -> str:
    if not isinstance(value, str):
        raise WrongValue(f"'{name}' is {shown(value)}, expected a text")
    return check_text(name, value)


def _check_kind(kind: "type | tuple[type, ...]", name: str, value: Any) -> None:
    """That `value` is one of ours."""
    if not isinstance(value, kind):
        kinds = kind if isinstance(kind, tuple) else (kind,)
        wanted = " or ".join(f"a {each.__name__}" for each in kinds)
        raise WrongValue(f"'{name}' is {shown(value)}, expected {wanted}")


def _path(value: Any) -> Path:
    if not isinstance(value, (str, os.PathLike)):
        raise WrongValue(f"the path is {shown(value)}, expected a text or a path")
    return Path(value)


def _name(name: str, value: Any) -> str:
    if not _text(name, value):
        raise ShardoptError(f"'{name}' is '', expected a name, or None for none")
    return str(value)


def _limit(name: str, value: Any) -> float:
    if not real(value) > 0:
        raise WrongValue(
            f"'{name}' is {shown(value)}, expected milliseconds above 0, or inf for "
            "no limit"
        )
    return real(value)


def _price(name: str, value: Any) -> float:
    if not 0 < real(value) <= 1e6:
        raise WrongValue(
            f"{name} is {shown(value)}, expected $ of a GPU for an hour, above 0 and at most 1e6"
        )
    return real(value)


def _seconds(name: str, value: Any) -> float:
    if not 0 < real(value) < math.inf:
        raise WrongValue(
            f"'{name}' is {shown(value)}, expected a finite number of seconds above 0"
        )
    return real(value)
