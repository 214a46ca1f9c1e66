"""The table of results: one row a run, appended as it is measured.

What is under version control is packed, NAME.csv.xz; new rows go to NAME.csv beside it
until `./dev bench search --pack` adds them.
"""

import csv
import dataclasses
import io
import lzma
import os

# Order is that of the file. `optimum`, `ratio` and `calls_to_99` are as known
# when the run was measured, for readers; whoever has a better optimum computes
# them anew from `steps`. `counts` is what the searcher counts of its own, "agents=5
# early_exits=0". An empty field is "none" or "never", and so is one that an older line
# does not have.
FIELDS = (
    "workload",
    "simulator",
    "slo_ms",
    "searcher",
    "variant",
    "accounting",
    "seed",
    "budget",
    "best",
    "optimum",
    "ratio",
    "calls_to_99",
    "charged",
    "evaluations",
    "rejected",
    "stopped",
    "wall_s",
    "cpu_s",
    "version",
    "steps",
    "counts",
)
KEY_FIELDS = FIELDS[:8]


def packed(path):
    """The packed file of a table."""
    return path.with_name(path.name + ".xz")


def key_of(row):
    """What identifies a row: a second row of the same key replaces the first."""
    return tuple(row[field] for field in KEY_FIELDS)


def as_asked(row):
    """The row that a search counted as "new" gives counted as "asked", if it is
    the same search: one that asked for nothing that is free. Else None."""
    is_same = row["evaluations"] and row["evaluations"] == row["charged"]
    if row["accounting"] != "new" or row["budget"] == "0" or not is_same:
        return None
    return {**row, "accounting": "asked"}


@dataclasses.dataclass
class Results:
    """The rows of a file, by key, in the order in which they were measured, the last of
    equal keys; and those that follow."""

    path: object  # pathlib.Path
    rows: dict

    @classmethod
    def load(cls, path):
        """Reads a file after its packed one; a missing one is empty, and so is a last
        line that a killed bench left without its end."""
        rows = cls._read(path)
        for twin in filter(None, map(as_asked, tuple(rows.values()))):
            rows.setdefault(key_of(twin), twin)
        return cls(path, rows)

    @staticmethod
    def _read(path):
        rows = {}
        for part, opened in ((packed(path), lzma.open), (path, open)):
            if not part.exists():
                continue
            with opened(part, "rt", newline="") as file:
                whole = [line for line in file if line.endswith("\n")]
            for row in csv.DictReader(whole, restval=""):
                rows.pop(key_of(row), None)
                rows[key_of(row)] = row
        return rows

    def pack(self):
        """Writes the rows of both files into the packed one, and drops the other."""
        text = io.StringIO()
        writer = csv.DictWriter(text, FIELDS, lineterminator="\n")
        writer.writeheader()
        writer.writerows(self._read(self.path).values())
        packed(self.path).write_bytes(lzma.compress(text.getvalue().encode(), preset=9))
        self.path.unlink(missing_ok=True)

    def append(self, row):
        """Writes a row through to the disk. Values are written as they print."""
        row = {field: _text(row[field]) for field in FIELDS}
        with open(self.path, "a+", newline="") as file:
            _drop_torn_line(file)
            writer = csv.DictWriter(file, FIELDS, lineterminator="\n")
            if file.tell() == 0:
                writer.writeheader()
            writer.writerow(row)
            file.flush()
            os.fsync(file.fileno())
        for known in filter(None, (row, as_asked(row))):
            self.rows.pop(key_of(known), None)
            self.rows[key_of(known)] = known


def _drop_torn_line(file):
    """Cuts off what follows the last line end, and stands at the file's end."""
    file.seek(0)
    text = file.read()
    whole = text[: text.rfind("\n") + 1]
    if whole != text:
        file.truncate(len(whole.encode()))
    file.seek(0, os.SEEK_END)


def _text(value):
    if value is None:
        return ""
    return f"{value:.8g}" if isinstance(value, float) else str(value)
