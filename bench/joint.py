"""Dims, stages and order chosen together, beside one after the other.

For each model and machine the search says which degrees are best with so many
stages; with these, `shard-schedule --joint` compares. Prints a table; --page
writes it into docs/Schedule.md.
"""

import argparse
import json
import pathlib
import subprocess
import sys
import tempfile

import published
from marked import with_part

ROOT = pathlib.Path(__file__).resolve().parents[1]
PAGE = ROOT / "docs/Schedule.md"
BEGIN, END = "<!-- made by ./dev bench joint -->", "<!-- end of joint -->"
MACHINES = ("h100_sxm", "b200_sxm", "mi300x")
LIMITS = "pp=2 max-devices=32 threads=1"


def run(*command):
    return subprocess.run([str(word) for word in command], capture_output=True, text=True)


def spell(choice):
    """Its layers and chunks: "60 + 34, 2 chunks"."""
    layers = " + ".join(str(n) for n in choice["stages"]) or "even"
    return f"{layers}, {choice['chunks']} chunk{'s' if choice['chunks'] > 1 else ''}"


def row(build, module, machine, seconds, folder):
    """Cells of the table; None where no plan fits."""
    planned = pathlib.Path(folder, "planned.mlir")
    report = pathlib.Path(folder, "joint.json")
    search = f"--llm-search-sharding=simulator=roofline machine={machine} {LIMITS}"
    if run(build / "bin/shard-opt", module, search, "-o", planned).returncode:
        return None
    found = run(
        build / "bin/shard-schedule",
        planned,
        f"--machine={machine}",
        "--joint",
        "--chunks=1,2",
        "--rounds=1",
        f"--time-limit={seconds}",
        f"--report={report}",
    )
    if found.returncode:
        sys.exit(found.stderr)
    result = json.loads(report.read_text())
    one, joint, bound = result["sequential"], result["joint"], result["bound_ms"]
    if not bound <= joint["planned_ms"] or joint["contended_ms"] > one["contended_ms"]:
        sys.exit(f"{module}, {machine}: {result} contradicts itself")
    gain = one["contended_ms"] / joint["contended_ms"] - 1
    return [
        f"{one['contended_ms']:.2f}",
        f"{joint['contended_ms']:.2f}" + ("" if result["settled"] else " …"),
        f"{100 * gain:.2f} %",
        f"{bound:.2f}",
        spell(one),
        spell(joint),
    ]


def main():
    parser = argparse.ArgumentParser(prog="./dev bench joint", description=__doc__.splitlines()[0])
    parser.add_argument("--build", type=pathlib.Path, required=True)
    parser.add_argument("--seconds", type=float, default=60, help="for each row")
    parser.add_argument("--only", default="", help="models with this in their name")
    parser.add_argument("--page", action="store_true", help="write docs/Schedule.md")
    args = parser.parse_args()
    lines = [
        "| model | machine | one after the other | joint | gain | bound | its stages "
        "| joint stages |",
        "|---|---|---|---|---|---|---|---|",
    ]
    with tempfile.TemporaryDirectory(prefix="shardopt-joint-") as folder:
        for name, module in published.imported(args.build, folder, args.only):
            for machine in MACHINES:
                cells = row(args.build, module, machine, args.seconds, folder)
                cells = cells or ["does not fit", "", "", "", "", ""]
                lines.append(f"| {name} | {machine} | {' | '.join(cells)} |")
                print(lines[-1], flush=True)
    if args.page:
        PAGE.write_text(with_part(PAGE.read_text(), BEGIN, END, "\n".join(lines)))


if __name__ == "__main__":
    main()
