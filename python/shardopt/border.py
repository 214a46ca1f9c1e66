"""The border to the outside: texts, numbers and files of users, whatever is in them.

What is wrong with them is a `ShardoptError`, and nothing is written half, or over
what was read.
"""

from __future__ import annotations

import contextlib
import csv
import itertools
import json
import math
import numbers
import os
import re
import reprlib
import stat
from pathlib import Path
from typing import Any, Iterable, Iterator

from ._native import native
from .errors import ShardoptError, WrongValue

#: What reading outside input raises.
WRONG_INPUT = (
    ValueError,  # and those of JSON and Unicode
    OverflowError,
    RecursionError,
    MemoryError,
    OSError,
    csv.Error,
)
#: Of a file that is read as a whole.
_MOST_BYTES = 256 << 20
_counter = itertools.count()
#: No name of ours is longer.
_MOST_NAME = 200


class _Shown(reprlib.Repr):
    def __init__(self, most: int):
        super().__init__()
        self.maxlevel = 3
        self.maxstring = self.maxother = most

    def repr_int(self, value: int, level: int) -> str:
        if value.bit_length() > 128:
            return f"a number of {value.bit_length()} bits"
        return repr(value)


def shown(value: object, most: int = 60) -> str:
    """`value` for a message, in a line and never long."""
    return _Shown(most).repr(value)


#: What others call what is here, too far from its name for `list_known` to find it.
_CALLED = {
    "k8s": "kubernetes", "k3s": "kubernetes", "docker": "compose", "docker-compose": "compose",
    "sbatch": "slurm", "ssh": "shell", "bash": "shell", "sh": "shell",
    "--gpus": "--devices", "--num-gpus": "--devices", "--n-gpus": "--devices",
    "--gpu": "--machine", "--gpu-type": "--machine", "--sku": "--machine", "--hardware": "--machine",
    "--qps": "--requests-per-s", "--rps": "--requests-per-s", "--request-rate": "--requests-per-s",
    "--input-len": "--isl", "--input-length": "--isl", "--output-len": "--osl",
    "--output-length": "--osl", "--itl": "--tpot", "--backend": "--engine",
    "--output": "--output-dir", "--out": "--output-dir",
}


def list_known(name: object, known: Iterable[str], most: int = 12) -> str:
    """The end of a message about an unknown name: "known: …", closest first, and which
    one may be meant."""
    text = (name if isinstance(name, str) else shown(name))[:_MOST_NAME].encode(errors="replace").decode()
    names = sorted(known)
    called = _CALLED.get(text.lower())
    return native().list_known(called if called in names else text, names, most)


@contextlib.contextmanager
def reading(place: str) -> Iterator[None]:
    """What is raised inside is a `ShardoptError` that begins with `place`."""
    try:
        yield
    except ShardoptError:
        raise
    except WRONG_INPUT as error:
        why = error.strerror if isinstance(error, OSError) else None
        text = " ".join(str(why or error or type(error).__name__).split())
        raise ShardoptError(f"{place}: {text[:300]}") from None


def real(value: object) -> float:
    """`value` as a float; NaN where it is no number, or too large for a float."""
    if isinstance(value, bool) or not isinstance(value, numbers.Real):
        return math.nan
    try:
        return float(value)
    except OverflowError:
        return math.nan


_THOUSANDS = {
    **{letter: 1000**power for power, letter in enumerate("kmgt", 1)},
    **{letter: 1024**power for power, letter in enumerate("KMGT", 1)},
}


def count_of(text: str) -> int | None:
    """The whole number of "2000", "2k" (2000), "2K" (2048) or "1.5k"; None of others."""
    said = re.fullmatch(r"([0-9]{1,9}(?:\.[0-9]+)?)([kmgtKMGT])", text)
    if said and (said[2].islower() or "." not in said[1]):
        return int(float(said[1]) * _THOUSANDS[said[2]])
    return int(text) if re.fullmatch("[0-9]{1,18}", text) else None


def check_text(name: str, text: str) -> str:
    """`text`, which can be the name of a file and be written as UTF-8."""
    if "\0" in text or not text.isascii() and re.search("[\ud800-\udfff]", text):
        raise WrongValue(
            f"'{name}' is {shown(text)}, expected a text without NUL and halves of "
            "surrogate pairs"
        )
    return text


def parse_json(text: str, place: str) -> Any:
    """The value of a JSON text, all of whose texts can be written as UTF-8."""
    with reading(place):
        value = json.loads(text)
        if re.search(r"\\u[dD][89a-fA-F]", text):
            json.dumps(value, ensure_ascii=False).encode()
    return value


def read_text(path: "str | os.PathLike[str]") -> str:
    """The text of a file or a pipe, which has an end."""
    with reading(f"'{path}' cannot be read"):
        with open(path, "rb") as file:
            data = file.read(_MOST_BYTES + 1)
        if len(data) > _MOST_BYTES:
            raise ValueError(f"it has more than {_MOST_BYTES >> 20} MB")
        return data.decode("utf-8").replace("\r\n", "\n")


def is_same(one: "str | os.PathLike[str]", other: "str | os.PathLike[str]") -> bool:
    """Whether two names are of one file, there or not: by links of any kind too."""
    try:
        return os.path.samefile(one, other)
    except FileNotFoundError:
        return os.path.realpath(one) == os.path.realpath(other)
    except (OSError, ValueError):
        return False


def check_outputs(outputs: Iterable[Any], inputs: Iterable[Any]) -> None:
    """That no output is a file that is read, or another output."""
    known = [(each, "read") for each in inputs if each and os.path.exists(each)]
    for output in outputs:
        if output is None:
            continue
        for other, how in known:
            if is_same(output, other):
                raise ShardoptError(
                    f"'{output}' would be written, and is {how} too"
                    + (f" as '{other}'" if str(other) != str(output) else "")
                    + "; expected another file"
                )
        known.append((output, "written"))


def write_whole(
    path: "str | os.PathLike[str]", text: "str | bytes", inputs: Iterable[Any] = ()
) -> None:
    """Writes `text` next to `path`, then moves it there: `path` has all of it or what
    it had; links are followed, and what is no regular file is written directly. An
    error where `path` is one of the `inputs`."""
    with reading(f"'{path}' cannot be written"):
        check_outputs([path], inputs)
        place = Path(os.path.realpath(path))
        mode = place.stat().st_mode if place.exists() else None
        data = text if isinstance(text, bytes) else text.encode("utf-8")
        if mode is not None and not stat.S_ISREG(mode):
            Path(path).write_bytes(data)
            return
        if mode is not None and not os.access(place, os.W_OK):
            raise PermissionError(0, "Permission denied")
        name = f".shardopt-{os.getpid()}-{next(_counter)}.tmp"
        beside = place.with_name(name)
        try:
            with open(beside, "xb") as file:
                if mode is not None:
                    os.fchmod(file.fileno(), stat.S_IMODE(mode))
                file.write(data)
            os.replace(beside, place)
        finally:
            beside.unlink(missing_ok=True)
