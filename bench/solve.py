#!/usr/bin/env python3
"""Runs shard-solve on the instances of the contest, within its time limits.

What is measured is printed as Markdown and, when it was measured in full, written
between its markers in docs/SolveResults.md:

  table   cost, bound and time of each instance (the default)
  contest the scores of that table beside the teams of the contest
  penalties  the baseline without multipliers, for as much processor time
  parts   the cost and the bound where a part of the solver is left out
  curves  cost and bound over time, of several seeds
  dense   transformers on meshes, whose few nodes share scarce memory
  large   the reading of an instance of 1.3 GB, generated for it

With --rounds, rounds of search end a run instead of time: what is found then does
not depend on what else the machine does. With --keep=<folder>, the report and trace of
each run stay there, and a run that is there is not repeated.
"""

import argparse
import csv
import json
import os
import pathlib
import re
import signal
import statistics
import subprocess
import sys
import tempfile
import time

import solve_plot

ROOT = pathlib.Path(__file__).resolve().parent.parent
DOCS = ROOT / "docs/SolveResults.md"
CONTEST = ROOT / "bench/solve/contest.csv"

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
# Those that are measured unless others are named; the largest are so after reductions.
OF_PARTS = ["K", "S"]
LARGEST = ["K", "L", "M", "S"]
GRID = 20  # points of a curve that is drawn

# Mesh and seed of transformers (bench/solve/mesh_instance.py).
DENSE = [("2,16", 2), ("2,16", 3), ("2,16", 7), ("2,4,4", 1), ("2,4,4", 2), ("2,4,4", 5)]

PARTS = {
    "all": [],
    "no reductions": ["--without=reductions"],
    "no messages": ["--without=messages"],
    "no neighbourhoods": ["--without=neighbourhoods"],
    "no fixing": ["--without=fixing"],
    "no tree": ["--without=tree"],
    "no restarts": ["--without=restarts"],
    "penalties": ["--method=penalties"],
    "penalties, no polishing": ["--method=penalties", "--without=polishing"],
}


class Bench:
    def __init__(self, args):
        self.args = args
        self.tool = str(args.build.resolve() / "bin/shard-solve")
        self.data = pathlib.Path(os.environ.get("SHARDOPT_DATA", ROOT / "../shared/data"))

    def names(self, default):
        """Instances that are there."""
        names = self.args.names or default
        for name in names:
            if not self.path(name).exists():
                print(f"{self.path(name)}: not there, skipped", file=sys.stderr)
        return [name for name in names if self.path(name).exists()]

    def path(self, name):
        return self.data / "iopddl" / f"asplos-2025-iopddl-{name}.json.gz"

    def measure(self, path, *arguments, processor_seconds=None):
        """The report of a run, and the lines of its trace; it is told to end after its
        `processor_seconds`, if they are given."""
        with tempfile.TemporaryDirectory(prefix="shardopt-bench-") as scratch:
            folder = pathlib.Path(self.args.keep or scratch)
            folder.mkdir(parents=True, exist_ok=True)
            arguments = [f"--threads={self.args.threads}", *arguments]
            name = re.sub(r"[^\w.=,-]", "", pathlib.Path(path).name + "".join(arguments))
            report, trace = folder / f"{name}.json", folder / f"{name}.jsonl"
            # The report comes last: it is there if the run was not cut off.
            if not report.exists():
                command = [self.tool, path, f"--report={report}", f"--trace={trace}"]
                command += ["--progress=none", *arguments]
                end_after(command, processor_seconds)
            found = json.loads(report.read_text())
            lines = trace.read_text().splitlines()
        return found, [json.loads(line) for line in lines]

    def run_as_long(self, name, *arguments):
        """A run that has the processor time of all threads within the contest's limit, or some
        rounds: other load does not shorten it."""
        if self.args.rounds:
            return self.run(name, *arguments)
        limit = INSTANCES[name][0] * self.args.scale * self.args.threads
        path = str(self.path(name))
        return self.measure(path, "--time-limit=0", *arguments, processor_seconds=limit)

    def run(self, name, *arguments):
        limit = f"--time-limit={INSTANCES[name][0] * self.args.scale}"
        if self.args.rounds:
            limit = f"--iterations={self.args.rounds}"
        return self.measure(str(self.path(name)), limit, *arguments)

    def seeds(self):
        return range(self.args.seed, self.args.seed + self.args.seeds)


def end_after(command, processor_seconds):
    """Runs a command to its end, or sends SIGTERM when it has used that much."""
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL)
    ticks = os.sysconf("SC_CLK_TCK")
    while processor_seconds and process.poll() is None:
        time.sleep(0.2)
        fields = pathlib.Path(f"/proc/{process.pid}/stat").read_text().rpartition(")")[2].split()
        if (int(fields[11]) + int(fields[12])) / ticks >= processor_seconds:
            process.send_signal(signal.SIGTERM)
            break
    if process.wait() not in (0, 128 + signal.SIGTERM):
        raise subprocess.CalledProcessError(process.returncode, command)


class Table:
    """Rows that are printed as they come, and kept."""

    def __init__(self, columns):
        self.lines = []
        self.add(columns)
        self.emit("|" + "---|" * len(columns))

    def add(self, cells):
        self.emit("| " + " | ".join(map(str, cells)) + " |")

    def emit(self, line):
        self.lines.append(line)
        print(line, flush=True)


def markers(what):
    return f"<!-- solve {what}: begin -->", f"<!-- solve {what}: end -->"


def block_of(what, text):
    begin, end = markers(what)
    return text.partition(begin)[2].partition(end)[0]


def write_block(what, lines, args):
    """Replaces what stands between the markers of `what`."""
    ended = f"{args.scale:g} of the time limits" if args.scale != 1 else "the whole time limits"
    if args.rounds:
        ended = f"{args.rounds} rounds"
    seeds = f", {args.seeds} seeds" if what == "curves" else ""
    threads = "1 thread" if args.threads == 1 else f"{args.threads} threads"
    notes = [] if what == "contest" else [f"{threads}, {ended}{seeds}:", ""]
    begin, end = markers(what)
    block = "\n".join([begin, "", *notes, *lines, "", end])
    pattern = re.compile(re.escape(begin) + ".*?" + re.escape(end), re.S)
    text = DOCS.read_text()
    if not pattern.search(text):
        sys.exit(f"{DOCS}: no markers of '{what}'")
    DOCS.write_text(pattern.sub(lambda _: block, text))
    print(f"written into {DOCS}", file=sys.stderr)


def seconds_when(trace, holds):
    """The seconds after which a trace was as wanted."""
    for entry in trace:
        if entry["cost"] is not None and holds(int(entry["cost"])):
            return f"{entry['seconds']:.1f}"
    return "-"


def run_table(bench):
    columns = ["", "cost", "bound", "gap", "ratio", "seconds"]
    table = Table([*columns, "first", "within 1 %", "memory"])
    for name in bench.names(INSTANCES):
        found, trace = bench.run(name, f"--seed={bench.args.seed}")
        cost = int(found["cost"])
        table.add(
            [
                name,
                cost,
                str(found["bound"]) + (", proved" if found["proved"] else ""),
                f"{100 * found['gap']:.3f} %",
                f"{cost / INSTANCES[name][1]:.4f}",
                f"{found['seconds']:.1f}",
                seconds_when(trace, lambda now: now < 10**18),
                seconds_when(trace, lambda now: now <= 1.01 * cost),
                f"{found['peak_memory_bytes'] / 1e6:.0f} MB",
            ]
        )
    return table.lines


def costs_of_table():
    """(cost, bound, proved) of each instance, as the page has them."""
    found = {}
    for line in block_of("table", DOCS.read_text()).splitlines():
        cells = [cell.strip() for cell in line.split("|")]
        if len(cells) > 3 and cells[1] in INSTANCES:
            bound, _, proved = cells[3].partition(",")
            found[cells[1]] = int(cells[2]), int(bound), bool(proved)
    return found


def run_contest(bench):
    """Nothing runs: costs of the page, and those of the contest."""
    ours = costs_of_table()
    with CONTEST.open() as file:
        rows = [row for row in csv.DictReader(file) if row["instance"] in ours]
    teams = ["2nd", "3rd", "4th", "5th", "6th", "xla"]
    columns = ["", "shard-solve", "1st", *teams[:-1], "XLA", "bound", "published bound"]
    table, sums = Table(columns), [0.0] * (len(teams) + 2)
    for row in rows:
        cost, bound, proved = ours[row["instance"]]
        costs = [cost, INSTANCES[row["instance"]][1]]
        # Three digits of a cost may be below it.
        best = min(costs)
        costs += [max(best, float(row[team] or "inf")) for team in teams]
        scores = [best / one for one in costs]
        sums = [whole + score for whole, score in zip(sums, scores)]
        bounds = [f"{bound:.4g}" + (", proved" if proved else ""), row["lower_bound"]]
        table.add([row["instance"], *(f"{score:.3f}" for score in scores), *bounds])
    table.add(["sum", *(f"{whole:.3f}" for whole in sums), "", ""])
    return table.lines


def run_penalties(bench):
    """The cost after parts of the processor time, beside that of the page's table."""
    parts = (0.1, 0.25, 0.5, 1)
    columns = ["", "processor s", *(f"cost after {100 * part:g} %" for part in parts)]
    table, ours = Table([*columns, "over multipliers", "over the winner"]), costs_of_table()
    for name in bench.names(LARGEST):
        seed = f"--seed={bench.args.seed}"
        found, trace = bench.run_as_long(name, "--method=penalties", seed)
        # The load does not change over a run as much as from one run to another.
        points = [at(trace, "seconds", part * found["seconds"])[0] for part in parts]
        cost = points[-1]
        table.add(
            [
                name,
                f"{found['processor_seconds']:.0f}",
                *(f"{point:.6g}" for point in points),
                f"{cost / ours[name][0]:.4f}",
                f"{cost / INSTANCES[name][1]:.4f}",
            ]
        )
    return table.lines


def run_parts(bench):
    names = bench.names(OF_PARTS)
    table = Table(["", *(f"{name}: {what}" for name in names for what in ("cost", "bound"))])
    for part, arguments in PARTS.items():
        cells = [part]
        for name in names:
            found, _ = bench.run(name, *arguments, f"--seed={bench.args.seed}")
            cells += [found["cost"], found["bound"] or "none"]
        table.add(cells)
    return table.lines


def at(trace, what, most):
    """The last cost (as a number) and bound of a trace until some time or round."""
    cost, bound = float("inf"), 0
    for entry in trace:
        if entry[what] > most:
            break
        cost = int(entry["cost"]) if entry["cost"] is not None else cost
        bound = int(entry["bound"]) if entry["bound"] is not None else bound
    return cost, bound


def run_curves(bench):
    what = "iteration" if bench.args.rounds else "seconds"
    columns = ["", what, "least cost", "median", "largest", "median bound"]
    table, curves = Table(columns), {}
    for name in bench.names(LARGEST):
        traces = [bench.run(name, f"--seed={seed}")[1] for seed in bench.seeds()]
        limit = bench.args.rounds or INSTANCES[name][0] * bench.args.scale
        grid = [limit * k / GRID for k in range(1, GRID + 1)]
        curves[name] = grid, [[at(trace, what, most) for trace in traces] for most in grid]
        for part in (0.25, 0.5, 0.75, 1) if bench.args.rounds else (0.05, 0.1, 0.2, 0.5, 1):
            points = [at(trace, what, part * limit) for trace in traces]
            costs = [cost for cost, _ in points]
            table.add(
                [
                    name,
                    f"{part * limit:g}",
                    *(f"{cost:.6g}" for cost in (min(costs), statistics.median(costs))),
                    f"{max(costs):.6g}",
                    f"{statistics.median(bound for _, bound in points):.6g}",
                ]
            )
    if bench.args.plot:
        unit = "rounds" if bench.args.rounds else what
        solve_plot.plot(curves, f"{unit}, {bench.args.seeds} seeds", bench.args.plot)
    return table.lines


def run_dense(bench):
    columns = ["mesh", "seed", "nodes", "edges", "strategies"]
    parts = {"": [], ", not tightened": ["--without=tightening"]}
    columns += [what + part for part in parts for what in ("cost", "bound", "gap", "cpu s")]
    table = Table(columns)
    with tempfile.TemporaryDirectory(prefix="shardopt-bench-") as scratch:
        for mesh, seed in DENSE:
            path = f"{scratch}/mesh-{mesh}-{seed}.json.gz"
            generator = [sys.executable, str(ROOT / "bench/solve/mesh_instance.py")]
            command = [*generator, f"--mesh={mesh}", f"--seed={seed}", "-o", path]
            subprocess.run(command, check=True)
            limit = "--time-limit=60"
            if bench.args.rounds:
                limit = f"--iterations={bench.args.rounds}"
            cells = []
            for part in parts.values():
                found, _ = bench.measure(path, limit, f"--seed={bench.args.seed}", *part)
                gap = "proved" if found["proved"] else f"{100 * found['gap']:.2f} %"
                cells += [found["cost"], found["bound"], gap]
                cells.append(f"{found['processor_seconds']:.0f}")
            sizes = [found["nodes"], found["edges"], found["reduced"]["strategies"]]
            table.add([mesh.replace(",", " x "), seed, *sizes, *cells])
    return table.lines


def run_large(bench):
    table = Table(["nodes", "text", "reading", "reductions", "whole", "cpu", "memory"])
    with tempfile.TemporaryDirectory(prefix="shardopt-bench-") as scratch:
        path = f"{scratch}/large.json"
        generator = [sys.executable, str(ROOT / "bench/generate_instance.py")]
        subprocess.run([*generator, "-o", path], check=True)
        size = os.path.getsize(path)
        found, _ = bench.measure(path, "--time-limit=600", "--iterations=1")
    phases = {phase["name"]: phase["seconds"] for phase in found["phases"]}
    table.add(
        [
            found["nodes"],
            f"{size / 1e9:.2f} GB",
            f"{phases['reading']:.1f} s",
            f"{phases['reductions']:.1f} s",
            f"{found['seconds']:.1f} s",
            f"{found['processor_seconds']:.1f} s",
            f"{found['peak_memory_bytes'] / 1e9:.2f} GB",
        ]
    )
    return table.lines


MEASUREMENTS = {
    "table": run_table,
    "contest": run_contest,
    "penalties": run_penalties,
    "parts": run_parts,
    "curves": run_curves,
    "dense": run_dense,
    "large": run_large,
}


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--build", type=pathlib.Path, default=ROOT / "build")
    parser.add_argument("--what", choices=MEASUREMENTS, default="table")
    parser.add_argument("--scale", type=float, default=1, help="of the time limits")
    parser.add_argument("--rounds", type=int, help="instead of time")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--seed", type=int, default=1, help="the first one")
    parser.add_argument("--seeds", type=int, default=10, help="of the curves")
    parser.add_argument("--plot", type=pathlib.Path, help="draw the curves into this SVG")
    parser.add_argument("--keep", help="a folder for reports and traces")
    parser.add_argument("--no-docs", action="store_true", help="print only")
    parser.add_argument("names", nargs="*", metavar="instance", help="default: all")
    args = parser.parse_args()
    for name in args.names:
        if name not in INSTANCES:
            sys.exit(f"unknown instance '{name}', known are: {', '.join(INSTANCES)}")
    lines = MEASUREMENTS[args.what](Bench(args))
    if (not args.names or args.what != "table") and not args.no_docs:
        write_block(args.what, lines, args)
    return 0


if __name__ == "__main__":
    sys.exit(main())
