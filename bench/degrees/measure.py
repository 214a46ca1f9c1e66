"""The best plans of a workload: of each space, and of each engine."""

import csv
import dataclasses
import pathlib

from .cells import Cell, all_cells

RESULTS = pathlib.Path(__file__).parent / "results.csv"
ENGINES = ("vllm", "sglang", "trtllm")
# What is compared; `shared` is the best plan that shares positions.
PLANS = ("uniform", "serving", *ENGINES, "shared")
NO_PLAN = 0.0


@dataclasses.dataclass(frozen=True)
class Row:
    """Best throughput of each of PLANS, 0 where nothing is feasible, and the
    degrees of the serving optimum as words."""

    cell: Cell
    throughput: dict
    degrees: str
    proved: bool

    def gain(self, plan="serving", over="uniform"):
        """Infinite where only `plan` is there, None where neither is."""
        if not self.throughput[plan]:
            return None
        least = self.throughput[over]
        return self.throughput[plan] / least if least else float("inf")


def degrees_text(strategy):
    return ", ".join(f"{k} {v}" for k, v in strategy.items() if k != "dims")


def value(plan):
    return plan["throughput"] if plan else NO_PLAN


def search(tools):
    """How a cell becomes a Row."""

    def row(cell, module):
        uniform = tools.report(cell, module)
        serving = tools.report(cell, module, "space=serving")
        shared = tools.report(cell, module, "space=serving", "cp=2:64:*2")
        throughput = {"uniform": value(uniform["best"]), "serving": value(serving["best"])}
        throughput["shared"] = value(shared["best"])
        engines = serving["engines"] or {}
        for engine in ENGINES:
            throughput[engine] = value(engines.get(engine, {}).get("best"))
        best = serving["best"]
        degrees = degrees_text(best["strategy"]) if best else ""
        proved = all(found["proved"] for found in (uniform, serving, shared))
        return Row(cell, throughput, degrees, proved)

    return row


def write(rows, path=RESULTS):
    with open(path, "w", newline="") as out:
        writer = csv.writer(out, lineterminator="\n")
        writer.writerow(["model", "context", "machine", "slo_ms", *PLANS, "degrees"])
        for row in rows:
            cell = row.cell
            found = (f"{row.throughput[plan]:.9g}" for plan in PLANS)
            writer.writerow([cell.model, cell.context, cell.machine, cell.slo, *found, row.degrees])


def read(path=RESULTS):
    """The rows of all cells, in their order."""
    found = {}
    with open(path, newline="") as file:
        for line in csv.DictReader(file):
            key = (line["model"], int(line["context"]), line["machine"], int(line["slo_ms"]))
            throughput = {plan: float(line[plan]) for plan in PLANS}
            found[key] = (throughput, line["degrees"])
    rows = []
    for cell in all_cells():
        throughput, degrees = found[cell.model, cell.context, cell.machine, cell.slo]
        rows.append(Row(cell, throughput, degrees, True))
    return rows
