"""Tables of measured latencies: reading, outliers, and what is held out."""

import csv
import gzip
import pathlib

import numpy as np

DATA_COMMIT = "ai-dynamo/aiconfigurator 095f58a51c4ca8e61b66ec108d86f223f8d559ce"


class Table:
    """Columns of equal length by name; numbers where all of a column are."""

    def __init__(self, columns):
        self.columns = columns

    def __getitem__(self, name):
        return self.columns[name]

    def __contains__(self, name):
        return name in self.columns

    def __len__(self):
        return len(next(iter(self.columns.values()), ()))

    def rows(self, chosen):
        """The rows that `chosen` (a mask, or indices) picks."""
        return Table({name: column[chosen] for name, column in self.columns.items()})


def _column(values):
    try:
        return np.array(values, float)
    except ValueError:
        return np.array(values)


def read(folder, name):
    """The table in `folder`/`name`.csv.gz, with the lines of its rows; None
    where there is no such file."""
    path = pathlib.Path(folder) / f"{name}.csv.gz"
    if not path.exists():
        return None
    with gzip.open(path, "rt") as file:
        reader = csv.reader(file)
        names = next(reader)
        columns = list(zip(*reader))
    table = {name: _column(column) for name, column in zip(names, columns)}
    table["line"] = np.arange(2, 2 + len(columns[0]))
    return Table(table)


def read_without_outliers(folder, name, reasons=("spike_kv_len", "spike_seq_len", "spike_tokens")):
    """The same without the rows that stalled once, as `outliers` lists them.
    Steps of kernel selection, which it lists too, stay."""
    table = read(folder, name)
    outliers = read(folder, "outliers")
    if table is None or outliers is None:
        return table
    bad = (outliers["file"] == f"{name}.csv.gz") & np.isin(outliers["reason"], reasons)
    return table.rows(~np.isin(table["line"], outliers["line"][bad]))


SHARE = 5  # one row in so many is held out


def held_out(table, columns, which=0):
    """Which rows are held out: all of one shape in `SHARE`, by a hash of
    `columns`, so that what is scored are shapes that the fit never saw; `which`
    counts the ways to do that."""
    hashes = np.zeros(len(table), np.uint64)
    for name in columns:
        column = table[name]
        if column.dtype.kind in "US":
            _, column = np.unique(column, return_inverse=True)
        hashes = hashes * np.uint64(1000003) + column.astype(np.uint64)
        hashes ^= hashes >> np.uint64(7)
        hashes *= np.uint64(0x9E3779B97F4A7C15)
        hashes ^= hashes >> np.uint64(29)
    return (hashes >> np.uint64(11)) % np.uint64(SHARE) == which
