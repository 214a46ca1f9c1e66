"""shard-cost --kernel and utils/calibrate give the same numbers for the same
constants, on sizes drawn over the range of each group."""

import csv
import io
import json
import pathlib
import subprocess
import sys

ROOT = pathlib.Path(sys.argv[1])
sys.path.insert(0, str(ROOT / "utils"))

import numpy as np  # noqa: E402
from calibrate.device import Device  # noqa: E402
from calibrate.families import FAMILIES  # noqa: E402
from calibrate.tables import Table  # noqa: E402

ROWS = 6  # of each group

# Columns that neither the key nor the range of a group has.
OTHERS = {
    "gemm": {},
    "attn_context": {},
    "attn_generation": {},
    "mla_context": {},
    "mla_generation": {},
    "moe": {"moe_tp": 2, "moe_ep": 4},
    "nccl": {},
    "custom_allreduce": {},
    "deepep_ll": {"experts": 256},
    "deepep_normal": {"experts": 256, "dispatch_sms": 20, "combine_sms": 20, "sms": 20},
}
GROUP = {1: 1, 16: 8, 32: 32, 128: 64}  # query heads of a kv head, by class


def draw(random, group):
    """Rows of `group`: columns by name."""
    columns = dict(OTHERS[group["kernel"]])
    for name, (least, most) in group["range"].items():
        columns[name] = np.floor(np.exp(random.uniform(np.log(least), np.log(most), ROWS)))
    columns.update(group["key"])
    if "windowed" in columns:
        columns["window"] = 128 if columns.pop("windowed") else 0
        columns["heads"] = columns["kv_heads"] * GROUP[columns.pop("heads_of_group")]
    if "between" in columns:
        columns["nodes"] = 4 if columns.pop("between") else 1
    if "experts" in columns and "topk" in columns:
        columns["topk"] = np.minimum(columns["topk"], columns["experts"])
    return {name: np.broadcast_to(value, ROWS) for name, value in columns.items()}


def predicted(system, kernel, columns):
    text = io.StringIO()
    writer = csv.writer(text)
    writer.writerow(columns)
    writer.writerows(zip(*columns.values()))
    command = ["shard-cost", f"--machine={system}", f"--kernel={kernel}"]
    run = subprocess.run(command, input=text.getvalue(), capture_output=True, text=True, check=True)
    return list(csv.DictReader(io.StringIO(run.stdout)))


def main():
    random = np.random.default_rng(14)
    ways = {(f.name, f.measured.removesuffix("_us")): f for f in FAMILIES}
    worst = 0
    for path in sorted((ROOT / "machines").glob("*.json")):
        machine = json.loads(path.read_text())
        if "calibration" not in machine:
            continue
        device = Device(machine)
        batches = {}  # rows of one kernel and set of columns go to one process
        for group in machine["calibration"]["kernels"]:
            if group["kernel"] not in OTHERS:
                continue
            way = group["key"].get("way", "latency")
            columns = draw(random, group)
            family = ways[(group["kernel"], way)]
            expected = family.predict(device, group["key"], Table(columns), group["constants"])
            batches.setdefault((group["kernel"], tuple(columns)), []).append((way, columns, expected))
        for (kernel, names), groups in batches.items():
            merged = {name: np.concatenate([columns[name] for _, columns, _ in groups]) for name in names}
            rows = iter(predicted(path.stem, kernel, merged))
            for way, columns, expected in groups:
                for number in expected:
                    row = next(rows)
                    found = row["predicted_us" if way == "latency" else f"predicted_{way}_us"]
                    assert found, row
                    away = abs(float(found) / number - 1)
                    worst = max(worst, away)
                    assert away < 0.006, (path.stem, row, number)  # three digits
    print(f"largest difference {worst:.4f}")


main()
