"""What stages of unlike numbers of layers are worth: balanced beside even ones.

Prints a table; --page writes it into docs/Degrees.md.
"""

import argparse
import json
import os
import pathlib
import subprocess
import sys
import tempfile

import published
from marked import with_part

ROOT = pathlib.Path(__file__).resolve().parents[1]
PAGE = ROOT / "docs/Degrees.md"
BEGIN, END = "<!-- made by ./dev bench stages -->", "<!-- end -->"
STAGES = (2, 4, 8)
LIMITS = "machine=h100_sxm max-devices=64"


def best(build, module, options, folder):
    """The best plan of a search, which has to be proved; None: nothing is feasible."""
    report = pathlib.Path(folder, "report.json")
    report.unlink(missing_ok=True)
    search = f"--llm-search-sharding=simulator=roofline {LIMITS} {options} report={report}"
    command = [build / "bin/shard-opt", module, search, "-o", os.devnull]
    subprocess.run([str(word) for word in command], capture_output=True)
    found = json.loads(report.read_text())
    if not found["proved"]:
        sys.exit(f"{module}: {options}: not proved")
    return found["best"]


def spell(layers):
    """Runs of stages with as many layers: 3 x 20, 19."""
    runs = []
    for number in layers:
        if runs and runs[-1][1] == number:
            runs[-1][0] += 1
        else:
            runs.append([1, number])
    return ", ".join(f"{count} x {number}" if count > 1 else str(number) for count, number in runs)


def row(build, module, pp, folder):
    even = best(build, module, f"pp={pp}", folder)
    balanced = best(build, module, f"pp={pp} partition=balanced", folder)
    if not balanced:
        return ["-", "-", "-", "-"]
    reached = f"{even['throughput']:.4g}" if even else "does not fit"
    gain = balanced["throughput"] / even["throughput"] if even else float("inf")
    if even and gain < 1 - 1e-9:
        sys.exit(f"{module}, pp {pp}: balanced stages lose, {gain}")
    layers = balanced["strategy"].get("stages")
    gained = f"{100 * (gain - 1):.2f} %" if even else "-"
    return [reached, f"{balanced['throughput']:.4g}", gained, spell(layers) if layers else "even"]


def main():
    parser = argparse.ArgumentParser(prog="./dev bench stages", description=__doc__.splitlines()[0])
    parser.add_argument("--build", type=pathlib.Path, required=True)
    parser.add_argument("--only", default="", help="models with this in their name")
    parser.add_argument("--page", action="store_true", help="write docs/Degrees.md")
    args = parser.parse_args()
    lines = [
        "| model | pp | even | balanced | gain | layers of the stages |",
        "|---|---|---|---|---|---|",
    ]
    with tempfile.TemporaryDirectory(prefix="shardopt-stages-") as folder:
        for name, module in published.imported(args.build, folder, args.only):
            for pp in STAGES:
                cells = [name, str(pp), *row(args.build, module, pp, folder)]
                lines.append(f"| {' | '.join(cells)} |")
                print(lines[-1], flush=True)
    if args.page:
        PAGE.write_text(with_part(PAGE.read_text(), BEGIN, END, "\n".join(lines)))


if __name__ == "__main__":
    main()
