"""Dims, stages and order chosen together, beside one after the other.

For each model and machine the search says which strategy is best with so many
stages; `--llm-schedule-stages` orders it, and `shard-schedule --joint` looks for
more. Prints a table; --page writes it into docs/ScheduleResults.md. A row in which the
joint plan takes longer than the ordered strategy, or that longer than the
strategy as the cost model has it, is an error.
"""

import argparse
import json
import pathlib
import statistics
import subprocess
import sys
import tempfile

import published
from marked import with_part

ROOT = pathlib.Path(__file__).resolve().parents[1]
PAGE = ROOT / "docs/ScheduleResults.md"
BEGIN, END = "<!-- made by ./dev bench joint -->", "<!-- end of joint -->"
MACHINES = ("h100_sxm", "b200_sxm", "mi300x")
RING, CHUNKS, ROUNDS = "1,2,3", "1,2", 1
LIMITS = "pp=2 max-devices=32 threads=1"


def run(*command):
    return subprocess.run([str(word) for word in command], capture_output=True, text=True)


def spell(choice):
    """Its layers, micro-batches in flight and chunks: "60 + 34, 3 in flight"."""
    words = [" + ".join(str(n) for n in choice["stages"]) or "even"]
    if "microbatches" in choice:
        words.append(f"{choice['microbatches']} in flight")
    if choice["chunks"] > 1:
        words.append(f"{choice['chunks']} chunks")
    return ", ".join(words)


def check(what, result, alone):
    """Ends where joint <= ordered <= the strategy's own time is not so."""
    rows = alone["rings"]
    found = min(rows, key=lambda row: row["tpot_ms"])
    one, joint = result["sequential"], result["joint"]
    rounding = 1e-3  # times of ops are whole nanoseconds
    if not (
        result["bound_ms"] <= joint["planned_ms"] <= found["tpot_ms"] == one["planned_ms"]
        and joint["contended_ms"] <= found["contended_ms"] == one["contended_ms"]
        and found["tpot_ms"] <= found["contended_ms"] <= result["strategy_ms"] + rounding
    ):
        sys.exit(f"{what}: {result} contradicts itself or {found}")


def row(build, module, machine, seconds, folder, times):
    """Cells of the table; None where no plan fits. Adds to `times` those of `summary`."""
    planned, joint, alone = (
        pathlib.Path(folder, name) for name in ("planned.mlir", "joint.json", "alone.json")
    )
    search = f"--llm-search-sharding=simulator=roofline machine={machine} {LIMITS}"
    if run(build / "bin/shard-opt", module, search, "-o", planned).returncode:
        return None
    order = (
        f"--llm-schedule-stages=simulator=roofline machine={machine} threads=1 "
        f"ring={RING} chunks={CHUNKS} rounds={ROUNDS} report={alone}"
    )
    ordered = run(build / "bin/shard-opt", planned, order, "-o", "/dev/null")
    found = run(
        build / "bin/shard-schedule",
        planned,
        f"--machine={machine}",
        "--simulator=roofline",
        "--joint",
        f"--ring={RING}",
        f"--chunks={CHUNKS}",
        f"--rounds={ROUNDS}",
        f"--time-limit={seconds}",
        f"--report={joint}",
    )
    for process in (ordered, found):
        if process.returncode:
            sys.exit(process.stderr)
    result = json.loads(joint.read_text())
    check(f"{module}, {machine}", result, json.loads(alone.read_text()))
    one, best, bound = result["sequential"], result["joint"], result["bound_ms"]
    times.append((result["strategy_ms"], one["contended_ms"], best["contended_ms"]))
    gain = one["contended_ms"] / best["contended_ms"] - 1
    return [
        f"{result['strategy_ms']:.2f}",
        f"{one['contended_ms']:.2f}",
        f"{best['contended_ms']:.2f}" + ("" if result["settled"] else " …"),
        f"{100 * gain:.2f} %",
        f"{bound:.2f}",
        spell(one),
        spell(best),
    ]


def summary(rows):
    """What the rows say, in a sentence: (own, ordered, joint) milliseconds of each."""
    gains = sorted(100 * (ordered / joint - 1) for _, ordered, joint in rows)
    orders = sorted(100 * (own / ordered - 1) for own, ordered, _ in rows)
    nothing = sum(gain < 0.1 for gain in gains)
    return (
        f"In {nothing} of {len(rows)} rows the joint plan gains less than 0.1 % over the ordered strategy, "
        f"and {gains[-1]:.1f} % at most. Ordering alone gains {statistics.median(orders):.1f} % in the median "
        f"and {orders[-1]:.1f} % at most over the cost model, in which a stage does one thing at a time."
    )


def main():
    parser = argparse.ArgumentParser(prog="./dev bench joint", description=__doc__.splitlines()[0])
    parser.add_argument("--build", type=pathlib.Path, required=True)
    parser.add_argument("--seconds", type=float, default=60, help="for each row")
    parser.add_argument("--only", default="", help="models with this in their name")
    parser.add_argument("--page", action="store_true", help="write docs/ScheduleResults.md")
    args = parser.parse_args()
    lines = [
        "| model | machine | strategy | ordered | joint | gain | bound | its stages "
        "| joint stages |",
        "|---|---|---|---|---|---|---|---|---|",
    ]
    times = []
    with tempfile.TemporaryDirectory(prefix="shardopt-joint-") as folder:
        for name, module in published.imported(args.build, folder, args.only):
            for machine in MACHINES:
                cells = row(args.build, module, machine, args.seconds, folder, times)
                cells = cells or ["does not fit", "", "", "", "", "", ""]
                lines.append(f"| {name} | {machine} | {' | '.join(cells)} |")
                print(lines[-1], flush=True)
    if times:
        lines += ["", summary(times)]
        print(lines[-1])
    if args.page:
        PAGE.write_text(with_part(PAGE.read_text(), BEGIN, END, "\n".join(lines)))


if __name__ == "__main__":
    main()
