"""The two plans of the paper's Figure 4, an FFN whose sums are reduced and one that gathers,
costed on two machines; bench/search/ffn.csv keeps the rows."""

import csv
import json
import pathlib
import subprocess

from . import markdown
from .bench import Modules
from .workloads import GROUPS

TABLE = pathlib.Path(__file__).with_name("ffn.csv")
FIELDS = ("machine", "plan", "throughput", "op", "collective", "us", "bytes")
WORKLOAD = GROUPS["moe-50"].workloads[0]
MACHINES = ("h100_sxm", "gb200")
# Megatron's classic plan of the workload, with one dim changed in the second.
DEGREES = {"tp": 8, "ep": 16, "pp": 3, "batch": 4096}
DIMS = {
    "embed": 0,
    "attn_norm": 2,
    "qkv_proj": 1,
    "attention": 0,
    "out_proj": 0,
    "ffn_norm": 2,
    "router": 2,
    "dispatch": 2,
    "ffn_up": 1,
    "ffn_down": 0,
    "combine": 2,
    "lm_head": 1,
}
PLANS = {
    "`ffn_down` 0, partial sums are reduced": DIMS,
    "`ffn_down` 1, activations are gathered": {**DIMS, "ffn_down": 1},
}
OPS = ("dispatch", "ffn_up", "ffn_down", "combine", "layer_exit")


def _evaluated(paths, module, machine, dims):
    """The report's plan of a strategy on a machine."""
    report = paths.scratch / "ffn.json"
    degrees = " ".join(f"{name}={value}" for name, value in DEGREES.items())
    command = [
        paths.tool("shard-opt"),
        str(module),
        f"--llm-apply-strategy={degrees} dims={','.join(map(str, dims.values()))}",
        f"--llm-evaluate-strategy=simulator=roofline machine={machine} slo-tpot-ms={WORKLOAD.slo_ms} report={report}",
        "-o",
        "/dev/null",
    ]
    subprocess.run(command, check=True, capture_output=True)
    return json.loads(report.read_text())["best"]


def measure(paths):
    """Writes the table: of each machine and plan, what the ops of a layer move."""
    module = Modules(paths).get(WORKLOAD)
    with open(TABLE, "w", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(FIELDS)
        for machine in MACHINES:
            for plan, dims in PLANS.items():
                found = _evaluated(paths, module, machine, dims)
                first = [row for row in found["breakdown"] if row["stage"] == 0]
                for row in (row for row in first if row["op"] in OPS):
                    us, moved = (row[key] / row["layers"] for key in ("collective_us", "bytes"))
                    numbers = (f"{us:.6g}", f"{moved:.6g}")
                    throughput = f"{found['throughput']:.8g}"
                    writer.writerow(
                        (machine, plan, throughput, row["op"], row["collective"], *numbers)
                    )


def _load():
    """The rows of each machine and plan, by op."""
    found = {}
    with open(TABLE, newline="") as file:
        for row in csv.DictReader(file):
            found.setdefault((row["machine"], row["plan"]), {})[row["op"]] = row
    return found


def _throughput(ops):
    return float(ops[OPS[0]]["throughput"])


def gathering_over_reducing():
    """The throughput of the second plan over that of the first, of each machine."""
    found = _load()
    reduces, gathers = PLANS
    return [_throughput(found[m, gathers]) / _throughput(found[m, reduces]) for m in MACHINES]


def section():
    """The text beside Figure 4."""
    found = _load()
    rows = []
    for (machine, plan), ops in found.items():
        throughput = _throughput(ops)
        best = max(_throughput(other) for (where, _), other in found.items() if where == machine)
        total = sum(float(row["us"]) for row in ops.values())
        rows.append(
            [
                f"`{machine}`, {plan}",
                *(_moved(ops[op]) for op in OPS),
                f"{total:.1f}",
                f"{throughput / best:.3f}",
            ]
        )
    header = ["a layer's collectives", *(f"`{op}`" for op in OPS), "together, µs", "throughput"]
    return "\n\n".join(
        (
            "## Figure 4",
            f"An expert's FFN in {WORKLOAD.name}, with Megatron's TP dims and degrees (tp 8, ep 16, pp 3, batch 4096)."
            " The second row is the plan of the paper: the second GEMM gathers its input, and no sums are left to"
            " reduce. Throughput is over the better of the two.",
            markdown.table(header, rows),
        )
    )


def _moved(row):
    us, megabytes = float(row["us"]), float(row["bytes"]) / 1e6
    return f"{row['collective']}: {us:.1f} µs, {megabytes:.1f} MB" if us else markdown.NONE
