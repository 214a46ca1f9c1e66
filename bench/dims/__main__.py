"""Where dims pay: the proved optimum of each workload against Megatron's dims.

Prints the largest gains; --page writes docs/WhereDimsPay.md and its heat map.
"""

import argparse
import os
import pathlib
import subprocess
import sys
import tempfile
import time

from search import environment
from search.tools import Paths

from . import page
from .cells import ROOT, all_cells, find_config
from .measure import Tools, measure


def main():
    parser = argparse.ArgumentParser(prog="./dev bench dims", description=__doc__.splitlines()[0])
    parser.add_argument("--build", type=pathlib.Path, required=True)
    parser.add_argument("--jobs", type=int, default=os.cpu_count(), help="searches at a time")
    parser.add_argument("--only", default="", help="cells with this in their name")
    parser.add_argument("--page", action="store_true", help="write docs/WhereDimsPay.md")
    args = parser.parse_args()

    cells = [cell for cell in all_cells() if args.only in str(cell)]
    missing = sorted({cell.model for cell in cells if not find_config(cell.model)})
    if missing:
        print(f"skipped, no config in SHARDOPT_DATA: {', '.join(missing)}", file=sys.stderr)
        cells = [cell for cell in cells if cell.model not in missing]
    if not cells:
        sys.exit(f"no cell has '{args.only}' in its name")
    if args.page and len(cells) != len(all_cells()):
        sys.exit("--page needs every cell")

    def note(done):
        if sys.stderr.isatty():
            print(f"\r{done} of {len(cells)} cells", end="", file=sys.stderr, flush=True)

    start = time.perf_counter()
    with tempfile.TemporaryDirectory(prefix="shardopt-dims-") as scratch:
        tools = Tools(args.build, scratch)
        results, modules = measure(cells, tools, args.jobs, note)
        seconds = time.perf_counter() - start
        print(f"{len(results)} cells in {seconds:.0f} s", file=sys.stderr)
        for line in page.largest_gains(results, 20):
            print(line)
        if args.page:
            text = page.text(results, tools, modules)
            (ROOT / "docs/WhereDimsPay.md").write_text(text)
            table = pathlib.Path(scratch, "gains.csv")
            page.write_gains(results, table)
            draw(table, Paths.find(args.build, scratch))


def draw(table, paths):
    """The heat map, in the environment of the plots of the searchers."""
    why = environment.make(paths)
    if why:
        sys.exit(f"no heat map: {why}")
    command = [paths.environment_python(), "-m", "dims.plot", table, ROOT / "docs/figures/dims.svg"]
    subprocess.run(command, check=True, env={**os.environ, "PYTHONPATH": str(ROOT / "bench")})


if __name__ == "__main__":
    main()
