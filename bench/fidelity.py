#!/usr/bin/env python3
"""How near the calibrated cost model is to measured kernels.

Predicts every row of the measured tables with `shard-cost --kernel`, prints the
errors beside those of shapes that the fit did not see and of a naive roofline,
and fails where one grew by more than 2 points and 10 % over docs/Calibration.md;
--write puts the new table there.
"""

import argparse
import csv
import gzip
import io
import json
import os
import pathlib
import re
import subprocess
import sys

import numpy as np

ROOT = pathlib.Path(__file__).resolve().parent.parent
PAGE = ROOT / "docs/Calibration.md"
MARKERS = ("<!-- fidelity -->", "<!-- end of fidelity -->")
SYSTEMS = ("h100_sxm", "h200_sxm", "b200_sxm", "a100_sxm", "gb200")


def is_dtype(name):
    return lambda row: row["dtype"] == name


def is_balanced(row):
    return row["distribution"] == "balanced" and row["dtype"] in ("bfloat16", "fp8", "fp8_block")


def is_common_group(row):
    return float(row["head_dim"]) == 128 and 2 <= float(row["heads"]) / float(row["kv_heads"]) <= 16


# Name, kernel, which rows, and which groups of the machine file they are of.
CASES = [
    ("GEMM bf16", "gemm", is_dtype("bfloat16"), is_dtype("bfloat16")),
    ("GEMM fp8", "gemm", is_dtype("fp8"), is_dtype("fp8")),
    ("GEMM fp8_block", "gemm", is_dtype("fp8_block"), is_dtype("fp8_block")),
    ("GEMM nvfp4", "gemm", is_dtype("nvfp4"), is_dtype("nvfp4")),
    (
        "decode attention, head_dim 128, group 2-16",
        "attn_generation",
        is_common_group,
        lambda key: key["head_dim"] == 128 and key["heads_of_group"] == 16,
    ),
    ("decode attention, all shapes", "attn_generation", None, None),
    ("prefill attention", "attn_context", None, None),
    ("MLA decode", "mla_generation", None, None),
    ("MLA prefill", "mla_context", None, None),
    ("MoE, balanced, bf16 and fp8", "moe", is_balanced, is_balanced),
    ("MoE, all types and loads", "moe", None, None),
    ("custom all-reduce", "custom_allreduce", None, None),
    *(
        (f"NCCL {op}", "nccl", lambda row, op=op: row["op"] == op, lambda key, op=op: key["op"] == op)
        for op in ("all_reduce", "all_gather", "reduce_scatter", "alltoall")
    ),
]


def naive(machine, kernel, row):
    """max(flops / peak, bytes / bandwidth) in microseconds; None of others."""
    compute, memory, link = machine["compute"], machine["memory"], machine["domain"]
    bandwidth = memory["bandwidth_bytes_per_s"] / 1e6
    flops = compute["bf16_flops_per_s"] / 1e6
    at = lambda name: float(row[name])
    if kernel == "gemm":
        m, n, k = at("m"), at("n"), at("k")
        weight = {"bfloat16": 2, "nvfp4": 0.5625}.get(row["dtype"], 1)
        peak = {"bfloat16": "bf16", "nvfp4": "fp4"}.get(row["dtype"], "fp8")
        rate = compute.get(f"{peak}_flops_per_s", compute["bf16_flops_per_s"]) / 1e6
        return max(2 * m * n * k / rate, (weight * n * k + 2 * m * (n + k)) / bandwidth)
    if kernel == "attn_generation":
        length = min(at("kv_len"), at("window") or at("kv_len"))
        cache = 2 * at("batch") * at("kv_heads") * length * at("head_dim")
        element = 1 if row["kv_dtype"] == "fp8" else 2
        return max(cache * element / bandwidth, 2 * cache * at("heads") / at("kv_heads") / flops)
    if kernel == "attn_context":
        tokens = at("batch") * at("seq_len")
        seen = min(at("seq_len"), 2 * at("window") or at("seq_len"))
        numbers = tokens * (at("heads") * 2 + at("kv_heads") * 2) * at("head_dim")
        return max(2 * tokens * seen * at("heads") * at("head_dim") / flops, 2 * numbers / bandwidth)
    if kernel in ("nccl", "custom_allreduce"):
        passes = 2 if row.get("op", "all_reduce") == "all_reduce" else 1
        share = (at("gpus") - 1) / at("gpus")
        return passes * at("bytes") * share / (link["bandwidth_bytes_per_s"] / 1e6)
    return None


def predict(tool, system, kernel, text):
    run = subprocess.run(
        [tool, f"--machine={system}", f"--kernel={kernel}"],
        input=text,
        capture_output=True,
        text=True,
        check=True,
    )
    return list(csv.DictReader(io.StringIO(run.stdout)))


def percent(predicted, measured):
    errors = np.abs(np.array(predicted) / np.array(measured) - 1) * 100
    return f"{np.median(errors):.1f} / {errors.mean():.1f}"


def held_out(groups, chosen):
    """The errors that the machine file has of rows that were held out. The mean
    is that of all rows; the median is the mean of those of the groups."""
    scores = [g["held_out"] for g in groups if "held_out" in g and (chosen is None or chosen(g["key"]))]
    if not scores:
        return "–"
    rows = [score["rows"] for score in scores]
    return " / ".join(
        f"{np.average([score[name] for score in scores], weights=rows):.1f}"
        for name in ("median_percent", "mean_percent")
    )


def lines(tool, data):
    for system in SYSTEMS:
        machine = json.loads((ROOT / f"machines/{system}.json").read_text())
        groups = machine["calibration"]["kernels"]
        tables = {}
        for name, kernel, chosen, key in CASES:
            path = data / f"{system}_{kernel}.csv.gz"
            if not path.exists():
                continue
            if kernel not in tables:
                tables = {kernel: predict(tool, system, kernel, gzip.open(path, "rt").read())}
            rows = [row for row in tables[kernel] if chosen is None or chosen(row)]
            if not rows:
                continue
            measured = [float(row["latency_us"]) for row in rows]
            bounds = [naive(machine, kernel, row) for row in rows]
            inside = np.mean([float(r["low_us"]) <= m <= float(r["high_us"]) for r, m in zip(rows, measured)])
            unseen = held_out([g for g in groups if g["kernel"] == kernel], key)
            cells = [
                system,
                name,
                str(len(rows)),
                unseen,
                percent([float(row["predicted_us"]) for row in rows], measured),
                f"{100 * inside:.0f}",
                percent(bounds, measured) if None not in bounds else "–",
            ]
            yield "| " + " | ".join(cells) + " |"


HEAD = (
    "| machine | kernel | rows | shapes held out | all rows | inside band | naive roofline |\n"
    "|---|---|---:|---:|---:|---:|---:|\n"
)


def figures(line):
    """(machine, kernel) and the numbers of the two columns that may not grow."""
    cells = [cell.strip() for cell in line.strip("|\n ").split("|")]
    return tuple(cells[:2]), [float(n) for cell in cells[3:5] for n in re.findall(r"[0-9.]+", cell)]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--build", type=pathlib.Path, default=ROOT / "build")
    parser.add_argument("--write", action="store_true", help="the table of docs/Calibration.md")
    args = parser.parse_args()
    data = pathlib.Path(os.environ.get("SHARDOPT_DATA", ROOT / "../shared/data")) / "silicon"
    if not data.is_dir():
        sys.exit(f"{data}: no such folder; SHARDOPT_DATA says where its parent is")

    page = PAGE.read_text()
    before, rest = page.split(MARKERS[0])
    old, after = rest.split(MARKERS[1])
    known = dict(figures(line) for line in old.splitlines() if re.match(r"\| [a-z]+[0-9]", line))
    print(HEAD, end="")
    table, grown = [], []
    for line in lines(args.build.resolve() / "bin/shard-cost", data):
        print(line, flush=True)
        table.append(line)
        case, now = figures(line)
        for was, value in zip(known.get(case, []), now):
            if value > was + 2 and value > was * 1.1:
                grown.append(f"{' '.join(case)}: {value} %, was {was} %")
    if args.write:
        text = HEAD + "\n".join(table) + "\n"
        PAGE.write_text(f"{before}{MARKERS[0]}\n{text}{MARKERS[1]}{after}")
    print("\n".join(grown), file=sys.stderr)
    return 1 if grown else 0


if __name__ == "__main__":
    sys.exit(main())
