"""What the degrees of serving engines are worth, from proved optima.

Searches every workload in the uniform space, in the serving space and for each
engine, and writes the throughputs into results.csv; --page makes the tables of
docs/DegreesMeasured.md of that file, and --check compares them.
"""

import argparse
import os
import pathlib
import sys
import tempfile
import time

from dims.cells import find_config
from dims.measure import Tools, in_all

from . import measure, page, prompts, two_dims
from .cells import all_cells


def record(args):
    cells = [cell for cell in all_cells() if args.only in str(cell)]
    missing = sorted({cell.model for cell in cells if not find_config(cell.model)})
    if missing or not cells:
        sys.exit(f"no config in SHARDOPT_DATA: {', '.join(missing)}" if missing else "no such cell")

    def note(done):
        print(f"\r{done} of {len(cells)} cells", end="", file=sys.stderr, flush=True)

    start = time.perf_counter()
    with tempfile.TemporaryDirectory(prefix="shardopt-degrees-") as scratch:
        tools = Tools(args.build, scratch)
        rows, _ = in_all(measure.search(tools), cells, tools, args.jobs, note)
        if not args.only:
            found, _ = in_all(
                prompts.search(tools), prompts.all_cells(), tools, args.jobs, note
            )
            prompts.write(found)
    print(f" in {time.perf_counter() - start:.0f} s", file=sys.stderr)
    for row in rows:
        print(f"{page.gain_text(row.gain()):>8}  {row.cell}: {row.degrees or 'no plan'}")
    unproved = [str(row.cell) for row in rows if not row.proved]
    if unproved:
        sys.exit(f"not proved: {'; '.join(unproved)}")
    if not args.only:
        measure.write(rows)


def record_two_dims(args):
    with tempfile.TemporaryDirectory(prefix="shardopt-degrees-") as scratch:
        two_dims.record(Tools(args.build, scratch), lambda done: print(done, file=sys.stderr))


def main():
    parser = argparse.ArgumentParser(
        prog="./dev bench degrees", description=__doc__.splitlines()[0]
    )
    parser.add_argument("--build", type=pathlib.Path, required=True)
    parser.add_argument("--jobs", type=int, default=os.cpu_count(), help="searches at a time")
    parser.add_argument("--only", default="", help="cells with this in their name; not recorded")
    parser.add_argument("--two-dims", action="store_true", help="only weights on both dims")
    parser.add_argument("--page", action="store_true", help="only write docs/DegreesMeasured.md")
    parser.add_argument("--check", action="store_true", help="only compare docs/DegreesMeasured.md")
    args = parser.parse_args()
    if not (args.page or args.check or args.two_dims):
        record(args)
    if not (args.page or args.check or args.only):
        record_two_dims(args)
    if not args.only:
        page.update(args.check)


if __name__ == "__main__":
    main()
