"""Time to the first token of one prompt, with and without devices that share its
positions.

The search for the lowest latency of batch 1 in the serving space, and in the same
space with cp 1. An optimum shares positions where its attention has dim none and cp
is above 1.
"""

import csv
import dataclasses
import itertools
import pathlib

from dims import cells
from search.markdown import table

RESULTS = pathlib.Path(__file__).parent / "prompts.csv"
MODELS = ("DeepSeek-V3", "Qwen3-235B", "gpt-oss-120b", "Llama-3.1-70B", "Qwen3-32B")
CONTEXTS = (8192, 131072)
DEVICES = (8, 64)
MACHINE = "h100_sxm"
ANY_LATENCY = 10**9
NO_PLAN = 0.0


class Cell(cells.Cell):
    @property
    def limit(self):
        return "slo-ttft-ms", ANY_LATENCY


@dataclasses.dataclass(frozen=True)
class Row:
    cell: Cell
    plain: float  # ms, 0 where the model does not fit
    shared: float
    degrees: str


def latency(plan):
    return plan["ttft_ms"] if plan else NO_PLAN


def all_cells():
    return [
        Cell(model, "prefill", context, MACHINE, devices)
        for model, context, devices in itertools.product(MODELS, CONTEXTS, DEVICES)
    ]


def search(tools):
    """How a cell becomes a Row."""

    def row(cell, module):
        goal = ("space=serving", "objective=latency", "batch=1")
        plain = tools.report(cell, module, *goal, "cp=1")
        shared = tools.report(cell, module, *goal)
        if not (plain["proved"] and shared["proved"]):
            raise RuntimeError(f"{cell}: not proved")
        chosen = shared["best"]["strategy"] if shared["best"] else {}
        left_out = ("dims", "batch")
        degrees = ", ".join(f"{k} {v}" for k, v in chosen.items() if k not in left_out)
        return Row(cell, latency(plain["best"]), latency(shared["best"]), degrees)

    return row


def write(rows):
    with open(RESULTS, "w", newline="") as out:
        writer = csv.writer(out, lineterminator="\n")
        writer.writerow(["model", "context", "devices", "plain_ms", "shared_ms", "degrees"])
        for row in rows:
            cell = row.cell
            found = (f"{row.plain:.9g}", f"{row.shared:.9g}", row.degrees)
            writer.writerow([cell.model, cell.context, cell.devices, *found])


def read():
    with open(RESULTS, newline="") as file:
        return [
            Row(
                Cell(
                    line["model"], "prefill", int(line["context"]), MACHINE, int(line["devices"])
                ),
                float(line["plain_ms"]),
                float(line["shared_ms"]),
                line["degrees"],
            )
            for line in csv.DictReader(file)
        ]


def lines(rows):
    """A table of all cells."""
    header = ["model", "prompt", "devices", "TTFT with cp 1, ms", "TTFT, ms", "share", "optimum"]
    made = [
        [
            row.cell.model,
            f"{row.cell.context:,}".replace(",", " "),
            f"at most {row.cell.devices}",
            f"{row.plain:.4g}",
            f"{row.shared:.4g}",
            f"{row.shared / row.plain:.2f}",
            row.degrees,
        ]
        for row in rows
        if row.plain
    ]
    return table(header, made)
