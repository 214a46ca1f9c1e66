"""Mutated and odd-wired inputs for every format and pass, and random strategies executed.

    ./dev fuzz [minutes] [--seed 1] [--only KIND] [--case N]

A crash, a hang, more than 2 GB, a failure without a word or a result that differs from
the unsharded program's is a finding: it is made smaller and kept under build/fuzz,
with its command. The same seed gives the same inputs. Exit status 1 with findings.
"""

import argparse
import concurrent.futures
import itertools
import pathlib
import random
import resource
import shutil
import sys
import tempfile
import time

from fuzz import cases, findings, process
from fuzz.corpus import Corpus

TOOLS = (
    *("shard-opt", "shard-translate", "shard-run", "shard-reduce"),
    *("shard-solve", "shard-schedule"),
)


def draw_kind(rng, args):
    kinds = {
        kind: weight
        for kind, weight in cases.KINDS.items()
        if kind.__name__ not in args.skip and (not args.only or kind.__name__ in args.only)
    }
    return rng.choices(list(kinds), list(kinds.values()))[0]


def run_case(number, args, corpus, limits, parent):
    """Runs one case; (title, commands that ran, what was found)."""
    rng = random.Random(f"{args.seed}/{number}")
    kind = draw_kind(rng, args)
    title = f"{kind.__name__} {args.seed}/{number}"
    folder = pathlib.Path(tempfile.mkdtemp(dir=parent))
    steps = kind(cases.Case(rng, corpus, folder))
    outcome, count, found = None, 0, None
    while not found:
        try:
            command = steps.send(outcome)
        except StopIteration:
            break
        count += 1
        outcome = process.run(command.words, folder, limits)
        what = process.blame(command.words, outcome, limits)
        if what:
            found = (what, command, folder, title, limits, outcome)
    if not found:
        shutil.rmtree(folder)
    return title, count, found


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("minutes", type=float, nargs="?", default=10)
    parser.add_argument("--build", type=pathlib.Path, default="build")
    parser.add_argument("--seed", default="1")
    parser.add_argument("--jobs", type=int, default=1)
    names = [kind.__name__ for kind in cases.KINDS]
    for flag, what in (("--only", "these kinds of input"), ("--skip", "all kinds but these")):
        parser.add_argument(flag, action="append", default=[], choices=names, help=what)
    parser.add_argument("--case", type=int, help="one case, by its number")
    parser.add_argument("--cases", type=int, help="so many cases, however long they take")
    parser.add_argument("--seconds", type=float, default=60, help="that a command may take")
    parser.add_argument("--findings", type=pathlib.Path, help="where they go")
    parser.add_argument("--no-reduce", action="store_true")
    args = parser.parse_args()
    build = args.build.resolve()
    tools = {tool: build / "bin" / tool for tool in TOOLS}
    # Sanitizers reserve terabytes, and need several times the memory.
    sanitized = "SHARDOPT_SANITIZE:STRING=a" in (build / "CMakeCache.txt").read_text()
    limits = process.Limits(seconds=args.seconds)
    if sanitized:
        limits = process.Limits(args.seconds, 3 * limits.peak_bytes, 0)

    end = time.monotonic() + 60 * args.minutes
    numbers = itertools.count() if args.case is None else [args.case]
    if args.cases:
        numbers = range(args.cases)
    folder = (args.findings or build / "fuzz").resolve()
    kept = findings.Findings(folder, tools, reduces=not args.no_reduce)
    counts = {}
    with tempfile.TemporaryDirectory() as scratch:
        parent = pathlib.Path(scratch)
        corpus = Corpus(tools, parent / "corpus")
        with concurrent.futures.ThreadPoolExecutor(args.jobs) as pool:
            open_cases = set()
            for number in numbers:
                if not args.cases and time.monotonic() > end:
                    break
                open_cases.add(pool.submit(run_case, number, args, corpus, limits, parent))
                if len(open_cases) < 2 * args.jobs:
                    continue
                done, open_cases = concurrent.futures.wait(
                    open_cases, return_when=concurrent.futures.FIRST_COMPLETED
                )
                report(done, kept, counts)
            report(concurrent.futures.wait(open_cases).done, kept, counts)
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    minutes = (used.ru_utime + used.ru_stime) / 60
    total = f"{sum(counts.values())} commands, {len(kept.seen)} findings"
    print(f"{total} in {minutes:.1f} minutes of the processor: {counts}")
    return 1 if kept.seen else 0


def report(done, kept, counts):
    for future in done:
        title, count, found = future.result()
        kind = title.split()[0]
        counts[kind] = counts.get(kind, 0) + count
        folder = kept.add(*found) if found else None
        if folder:
            print(f"{title}: {found[0]}: {folder}", flush=True)
        if found:
            shutil.rmtree(found[2])


if __name__ == "__main__":
    sys.exit(main())
