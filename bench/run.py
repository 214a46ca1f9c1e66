#!/usr/bin/env python3
"""Runs benchmarks and prints what was asked beside what was measured.

Every number is the median over several runs of whole processes. `ratio` is
measured / asked, of whichever limit is nearest; above 1 the limit is missed.
"""

import argparse
import os
import pathlib
import sys
import tempfile

from benchmarks import BENCHMARKS, Paths
from measure import median_cost

ROOT = pathlib.Path(__file__).resolve().parent.parent
COLUMNS = "{:28}{:>9}{:>9}{:>9}{:>9}{:>9}{:>8}"


def summary(benchmark):
    """The first line of what a benchmark says of itself."""
    return benchmark.__doc__.splitlines()[0]


def ratio(case, cost):
    """Measured over asked, of the nearest limit; None when nothing is asked."""
    ratios = []
    if case.cpu_s is not None:
        ratios.append(cost.cpu / case.cpu_s)
    if case.peak_mb is not None:
        ratios.append(cost.peak / 1e6 / case.peak_mb)
    return max(ratios, default=None)


def report(case, cost):
    """Prints the line of one case."""

    def shown(value, form):
        return form.format(value) if value is not None else "-"

    print(
        COLUMNS.format(
            case.name,
            shown(case.cpu_s, "{:g} s"),
            f"{cost.cpu:.3f} s",
            f"{cost.wall:.3f} s",
            shown(case.peak_mb, "{:g} MB"),
            f"{cost.peak / 1e6:.0f} MB",
            shown(ratio(case, cost), "{:.2f}"),
        ),
        flush=True,
    )


def report_growth(measured):
    """For inputs of several sizes: the time of an element, beside the smallest."""
    sized = [(case.size, cost.cpu) for case, cost in measured if case.size]
    for (small, small_cpu), (large, large_cpu) in zip(sized, sized[1:]):
        growth = large_cpu / small_cpu
        print(f"  {small} -> {large}: {growth:.1f} times the CPU (linear: {large // small})")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--build", type=pathlib.Path, default=ROOT / "build")
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--list", action="store_true", help="name the benchmarks")
    parser.add_argument("names", nargs="*", metavar="name", help="default: all")
    args = parser.parse_args()

    if args.list:
        for name, benchmark in BENCHMARKS.items():
            print(f"{name:20} {summary(benchmark)}")
        return 0
    for name in args.names:
        if name not in BENCHMARKS:
            sys.exit(f"unknown benchmark '{name}', known are: {', '.join(BENCHMARKS)}")

    data = pathlib.Path(os.environ.get("SHARDOPT_DATA", ROOT / "../shared/data"))
    paths = Paths(
        root=ROOT,
        bin=args.build.resolve() / "bin",
        data=data.resolve() if data.is_dir() else None,
    )
    with tempfile.TemporaryDirectory(prefix="shardopt-bench-") as scratch:
        os.chdir(scratch)
        for name in args.names or BENCHMARKS:
            print(f"\n{name}: {summary(BENCHMARKS[name])}")
            print(COLUMNS.format("", "asked", "CPU", "wall", "asked", "peak", "ratio"))
            measured = []
            for case in BENCHMARKS[name](paths):
                measured.append((case, median_cost(case.commands, args.runs)))
                report(*measured[-1])
            report_growth(measured)
    return 0


if __name__ == "__main__":
    sys.exit(main())
