#!/usr/bin/env python3
"""Runs shard-solve on the instances of the contest, within its time limits.

Prints a Markdown table. `ratio` is the cost over that of the contest's winner;
`within 1 %` is when the cost came within 1 % of the final one.
"""

import argparse
import json
import os
import pathlib
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent

# Instance: (seconds of the contest, cost of its winner).
INSTANCES = {
    "A": (60, 6569457676),
    "B": (60, 532843),
    "C": (60, 84102445260),
    "D": (60, 313613524736),
    "G": (120, 217039),
    "K": (180, 2274276676),
    "L": (180, 1970993742),
    "M": (180, 49928460991),
    "S": (240, 1534613444),
}
COLUMNS = ["", "cost", "bound", "gap", "ratio", "seconds", "within 1 %", "memory"]


def time_within(lines, cost):
    """The seconds after which a trace was within 1 % of `cost`."""
    for line in lines:
        entry = json.loads(line)
        if entry["cost"] is not None and int(entry["cost"]) <= 1.01 * cost:
            return entry["seconds"]
    return None


def measure(tool, path, seconds, arguments):
    """The report of a run, and when it was within 1 % of its cost."""
    with tempfile.TemporaryDirectory(prefix="shardopt-bench-") as scratch:
        report, trace = f"{scratch}/report.json", f"{scratch}/trace.jsonl"
        command = [tool, path, f"--report={report}", f"--trace={trace}"]
        command += [f"--time-limit={seconds}", "--progress=none", *arguments]
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
        found = json.loads(pathlib.Path(report).read_text())
        lines = pathlib.Path(trace).read_text().splitlines()
    return found, time_within(lines, int(found["cost"]))


def row(name, found, within, winner):
    return [
        name,
        str(found["cost"]),
        str(found["bound"]) + (", proved" if found["proved"] else ""),
        f"{100 * found['gap']:.3f} %",
        f"{int(found['cost']) / winner:.4f}",
        f"{found['seconds']:.1f}",
        "-" if within is None else f"{within:.1f}",
        f"{found['peak_memory_bytes'] / 1e6:.0f} MB",
    ]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--build", type=pathlib.Path, default=ROOT / "build")
    parser.add_argument("--scale", type=float, default=1, help="of the time limits")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("names", nargs="*", metavar="instance", help="default: all")
    args = parser.parse_args()
    for name in args.names:
        if name not in INSTANCES:
            sys.exit(f"unknown instance '{name}', known are: {', '.join(INSTANCES)}")

    data = pathlib.Path(os.environ.get("SHARDOPT_DATA", ROOT / "../shared/data"))
    tool = str(args.build.resolve() / "bin/shard-solve")
    extra = [f"--threads={args.threads}", f"--seed={args.seed}"]
    print("| " + " | ".join(COLUMNS) + " |")
    print("|" + "---|" * len(COLUMNS), flush=True)
    for name in args.names or INSTANCES:
        path = data / "iopddl" / f"asplos-2025-iopddl-{name}.json.gz"
        if not path.exists():
            print(f"{path}: not there, skipped", file=sys.stderr)
            continue
        seconds, winner = INSTANCES[name]
        found, within = measure(tool, str(path), seconds * args.scale, extra)
        print("| " + " | ".join(row(name, found, within, winner)) + " |", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
