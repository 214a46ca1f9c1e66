#!/usr/bin/env python3
"""How near the calibrated cost model is to measured kernels and serving runs.

Predicts every row of the measured tables with `shard-cost --kernel` and
`--e2e`, prints the errors beside those of shapes that the fit did not see and of
a naive roofline, and fails where one grew by more than 2 points and 10 % over
docs/Calibration.md and docs/Fidelity.md; --write puts the new tables and plots
there. --held-out chooses the constants and switches of engines again without
each model in turn, and scores that one.
"""

import argparse
import collections
import csv
import gzip
import io
import itertools
import json
import os
import pathlib
import re
import subprocess
import sys

import numpy as np

import fidelity_sizes
import serving_fidelity
import serving_held_out
from marked import with_part

ROOT = pathlib.Path(__file__).resolve().parent.parent
KERNELS = ROOT / "docs/Calibration.md"
SERVING = ROOT / "docs/Fidelity.md"
FIGURES = ROOT / "docs/figures"
MARKERS = ("<!-- fidelity -->", "<!-- end of fidelity -->")
HELD_OUT = ("<!-- held out -->", "<!-- end of held out -->")
# Configs of published shapes of models that the data has none of.
CONFIGS = ROOT / "test/Target/HuggingFace/Inputs/families"
SYSTEMS = ("h100_sxm", "h200_sxm", "b200_sxm", "a100_sxm", "gb200")


# What shapes held out shall come to: median and mean, by case and machine.
HOPPER = ("h100_sxm", "h200_sxm")
TARGETS = {
    "GEMM bf16": {**dict.fromkeys(HOPPER, (5, 8)), "b200_sxm": (7, 10), "a100_sxm": (9, 13)},
    "GEMM fp8": {**dict.fromkeys(HOPPER, (4, 6)), "b200_sxm": (5, 7)},
    "decode attention, head_dim 128, group 2-16": {
        **dict.fromkeys(HOPPER, (6, 10)),
        "b200_sxm": (4, 7),
        "a100_sxm": (7, 11),
    },
    "decode attention, all shapes": {**dict.fromkeys(HOPPER, (10, 18)), "b200_sxm": (5, 12)},
    "prefill attention": dict.fromkeys((*HOPPER, "b200_sxm"), (9, 15)),
    "MoE, balanced, bf16 and fp8": dict.fromkeys((*HOPPER, "b200_sxm"), (10, 16)),
    "custom all-reduce": {**dict.fromkeys(HOPPER, (4, 7)), "b200_sxm": (6, 8)},
    **{
        f"NCCL {op}": {**dict.fromkeys(HOPPER, (9, 13)), "b200_sxm": (10, 14)}
        for op in ("all_reduce", "all_gather", "reduce_scatter", "alltoall")
    },
}


def target(system, case):
    """The cell of a target; a dash where there is none."""
    wanted = TARGETS.get(case, {}).get(system)
    return f"{wanted[0]} / {wanted[1]}" if wanted else "–"


def is_dtype(name):
    return lambda row: row["dtype"] == name


def is_balanced(row):
    return row["distribution"] == "balanced" and row["dtype"] in ("bfloat16", "fp8", "fp8_block")


def is_common_group(row):
    return float(row["head_dim"]) == 128 and 2 <= float(row["heads"]) / float(row["kv_heads"]) <= 16


def is_across(away):
    return lambda row: (float(row["nodes"]) > 1) == away


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
    *(
        (
            f"exchange of experts, {name}, {where}",
            kernel,
            is_across(away),
            lambda key, away=away: key["between"] == away,
        )
        for name, kernel in (("low latency", "deepep_ll"), ("normal", "deepep_normal"))
        for where, away in (("one node", False), ("several", True))
    ),
]
# Both ways of an exchange count.
WAYS = {"deepep_ll": ("dispatch", "combine"), "deepep_normal": ("dispatch", "combine")}


def figures_of(kernel, row):
    """Measured, predicted, and the ends of the band, of each way."""
    for way in WAYS.get(kernel, ("",)):
        names = (f"{way or 'latency'}_us", f"predicted_{way}_us" if way else "predicted_us")
        names += (f"{way}_low_us", f"{way}_high_us") if way else ("low_us", "high_us")
        yield [float(row[name]) for name in names]


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


def lines(tool, data, points):
    """The lines of the page; `points` gets arrays of what was measured and
    predicted, in lists by kernel."""
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
            measured, predicted, low, high = np.array([f for row in rows for f in figures_of(kernel, row)]).T
            points[kernel].append((measured, predicted))
            bounds = [naive(machine, kernel, row) for row in rows]
            inside = np.mean((low <= measured) & (measured <= high))
            unseen = held_out([g for g in groups if g["kernel"] == kernel], key)
            cells = [
                system,
                name,
                str(len(rows)),
                unseen,
                percent(predicted, measured),
                f"{100 * inside:.0f}",
                percent(bounds, measured) if None not in bounds else "–",
                target(system, name),
            ]
            yield "| " + " | ".join(cells) + " |"


HEAD = (
    "| machine | kernel | rows | shapes held out | all rows | inside band | naive roofline | target |\n"
    "|---|---|---:|---:|---:|---:|---:|---:|\n"
)


def cells_of(line):
    return [cell.strip() for cell in line.strip("|\n ").split("|")]


def kernel_figures(line):
    """(machine, kernel) and the numbers of the two columns that may not grow."""
    cells = cells_of(line)
    return tuple(cells[:2]), [float(n) for cell in cells[3:5] for n in re.findall(r"[0-9.]+", cell)]


def serving_figures(line):
    """What a line is of, and its mean, median and p90, or its only figure."""
    cells = cells_of(line)
    return (cells[0], len(cells)), [float(n) for n in (cells[2:5] or cells[1:2])]


def serving_lines(tool, data, configs, figures):
    rows, naive, missing = serving_fidelity.measure(tool, data, ROOT / "machines", configs)
    title = ""
    for line in serving_fidelity.table(rows, naive):
        # Lines of TTFT have names of their own, as those of TPOT are the same.
        if re.match(r"\| (TPOT|TTFT|choices) \|", line):
            title = line.split()[1]
        yield line if title != "TTFT" or not re.match(r"\| [a-z]", line) else line.replace("| ", "| TTFT, ", 1)
    others = serving_fidelity.disaggregated(tool, data, configs)
    others.update(serving_fidelity.never_fitted(tool, data, configs))
    yield from serving_fidelity.other_table(others)
    if missing:
        yield ""
        yield f"{missing} more runs have no config in the folder of the data, or none that is read."
    if figures:
        for what in ("tpot", "ttft"):
            serving_fidelity.scatter(rows, what, figures / f"fidelity-{what}.svg")
        serving_fidelity.by_degree(rows, naive, figures / "fidelity-by-tp.svg")


def compare(page, table, figures, is_figure, write):
    """Prints `table`, and returns what grew over that of `page`."""
    text = page.read_text()
    before, rest = text.split(MARKERS[0])
    old, after = rest.split(MARKERS[1])
    known = dict(figures(line) for line in old.splitlines() if is_figure(line))
    lines, grown = [], []
    for line in table:
        print(line, flush=True)
        lines.append(line)
        if not is_figure(line):
            continue
        case, now = figures(line)
        for was, value in zip(known.get(case, []), now):
            if value > was + 2 and value > was * 1.1:
                grown.append(f"{' '.join(map(str, case))}: {value} %, was {was} %")
    if write:
        page.write_text(f"{before}{MARKERS[0]}\n" + "\n".join(lines) + f"\n{MARKERS[1]}{after}")
    return grown


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--build", type=pathlib.Path, default=ROOT / "build")
    parser.add_argument("--write", action="store_true", help="the tables and plots of docs")
    parser.add_argument("--only", choices=("kernels", "serving"), help="one of the two")
    parser.add_argument(
        "--configs", type=pathlib.Path, default=CONFIGS, help="configs of models that the data has none of"
    )
    parser.add_argument(
        "--held-out",
        action="store_true",
        help="serving runs of models that nothing was chosen with; nothing else, for it takes minutes",
    )
    args = parser.parse_args()
    folder = pathlib.Path(os.environ.get("SHARDOPT_DATA", ROOT / "../shared/data"))
    data = folder / "silicon"
    if not data.is_dir():
        sys.exit(f"{data}: no such folder; SHARDOPT_DATA says where its parent is")
    tool = args.build.resolve() / "bin/shard-cost"

    if args.held_out:
        lines_of = list(serving_held_out.table(tool, folder, args.configs))
        print("\n".join(lines_of))
        if args.write:
            SERVING.write_text(with_part(SERVING.read_text(), *HELD_OUT, "\n".join(lines_of)))
        return 0
    grown = []
    if args.only != "serving":
        points = collections.defaultdict(list)
        table = itertools.chain(HEAD.splitlines(), lines(tool, data, points))
        is_figure = lambda line: re.match(r"\| [a-z]+[0-9]", line)
        grown += compare(KERNELS, table, kernel_figures, is_figure, args.write)
        if args.write:
            fidelity_sizes.plot(points, FIGURES / "fidelity-by-size.svg")
    if args.only != "kernels":
        table = serving_lines(tool, folder, args.configs, FIGURES if args.write else None)
        is_figure = lambda line: re.match(r"\| [^|]+ \|", line) and re.search(r"\d \|$", line)
        grown += compare(SERVING, table, serving_figures, is_figure, args.write)
    print("\n".join(grown), file=sys.stderr)
    return 1 if grown else 0


if __name__ == "__main__":
    sys.exit(main())
