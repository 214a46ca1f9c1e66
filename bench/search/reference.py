"""What a run is measured against: the optimum, or the best that is known."""

import csv
import pathlib

from .workloads import OPEN

BEST_KNOWN = pathlib.Path(__file__).with_name("best_known.csv")

FIELDS = (
    "workload",
    "simulator",
    "slo_ms",
    "best",
    "searcher",
    "seed",
    "budget",
    "strategy",
    "version",
)


def _workload_of(row):
    return (row["workload"], row["simulator"], row["slo_ms"])


def load_best_known(path):
    """The rows of a table of best known strategies, by workload."""
    if not path.exists():
        return {}
    with open(path, newline="") as file:
        return {_workload_of(row): row for row in csv.DictReader(file)}


def save_best_known(path, rows):
    """Writes such a table whole, ordered by workload."""
    with open(path, "w", newline="") as file:
        writer = csv.DictWriter(file, FIELDS, lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows[key] for key in sorted(rows))


class References:
    """The optimum of every workload, as far as it is known.

    Where costs can be opened it is what exact search proved. Of a black box it is the
    best of the long runs and of all rows: a row may be the best that is known.
    """

    def __init__(self, results, best_known):
        self._values = {key: float(row["best"]) for key, row in best_known.items()}
        for row in results.rows.values():
            self.learn(row)

    def learn(self, row):
        """Takes note of a row of results."""
        key = _workload_of(row)
        if row["searcher"] == "exact":
            self._values[key] = float(row["best"])
        elif row["simulator"] not in OPEN:
            self._values[key] = max(self._values.get(key, 0.0), float(row["best"]))

    def of(self, workload):
        """The value of a workload; None if nothing is known."""
        return self._values.get(workload.key) or None
