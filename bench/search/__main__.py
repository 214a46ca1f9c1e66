"""The command line: ./dev bench search."""

import argparse
import collections
import pathlib
import signal
import sys
import tempfile

from . import bench, best_known, environment, ffn, manifest, page, reference, tools
from .bench import is_selected
from .measured import Measured
from .results import Results

FOLDER = pathlib.Path(__file__).resolve().parent


def seeds(text):
    """The seeds that "N" or "A-B" means."""
    first, dash, last = text.partition("-")
    return range(int(first), int(last) + 1) if dash else range(int(first))


def parse():
    parser = argparse.ArgumentParser(
        prog="./dev bench search",
        description="Compares the searchers; a stopped bench continues where it was.",
    )
    parser.add_argument("--build", type=pathlib.Path, default=tools.ROOT / "build")
    parser.add_argument(
        "--quick", action="store_true", help="2 seeds, 3 workloads, a table of its own"
    )
    parser.add_argument(
        "--only",
        action="append",
        default=[],
        metavar="TEXT",
        help="rows with TEXT in workload, simulator, searcher, variant, accounting "
        "or batch; several must all be there. Some batches "
        "are only measured where this names them: constants of, dims pay, calibrated, tight SLOs, learns, unlike",
    )
    parser.add_argument(
        "--seeds", type=seeds, metavar="N|A-B", help="only the first N seeds, or these"
    )
    parser.add_argument("--jobs", type=int, default=1, help="runs at a time (1)")
    parser.add_argument("--budget", type=int, default=manifest.BUDGET)
    parser.add_argument("--results", type=pathlib.Path, help="the table of results")
    parser.add_argument(
        "--redo", action="store_true", help="measure rows of other versions again"
    )
    parser.add_argument("--list", action="store_true", help="what is left, and its time")
    parser.add_argument(
        "--best-known", action="store_true", help="search black boxes with long runs"
    )
    parser.add_argument("--ffn", action="store_true", help="cost the plans of Figure 4")
    parser.add_argument("--page", action="store_true", help="write the page of docs")
    parser.add_argument("--pack", action="store_true", help="pack the table of results")
    parser.add_argument("--check", action="store_true", help="with --page: compare only")
    parser.add_argument(
        "--no-figures", action="store_true", help="with --page: keep the figures"
    )
    parser.add_argument("--docs", type=pathlib.Path, default=tools.ROOT / "docs")
    return parser.parse_args()


def estimated_cpu(jobs, results):
    """Seconds for `jobs`: by rows of the same searcher, or as declared."""
    measured = collections.defaultdict(list)
    for row in results.rows.values():
        kind = (row["searcher"], row["variant"], row["simulator"], row["accounting"])
        measured[kind].append(float(row["cpu_s"]))
    total = 0.0
    for job in jobs:
        kind = (*job.searcher.key, job.workload.simulator, job.accountings[0])
        known = measured.get(kind)
        # A call to a black box is half a millisecond at most.
        asking = job.budget * 0.0005 * job.workload.is_black_box
        total += sum(known) / len(known) if known else job.searcher.cpu_s + asking
    return total


def list_plan(plan, limits, args, results):
    """Prints what is left to be measured, batch by batch."""
    jobs = collections.defaultdict(list)
    for batch, job in manifest.jobs(plan, limits, args.budget, args.only):
        if is_selected(job, args.only, args.seeds, batch.title):
            jobs[batch.title].append(job)
    total = 0.0
    for title, batch in jobs.items():
        left = [job for job in batch if not bench.is_measured(job, results)]
        seconds = estimated_cpu(left, results)
        total += seconds
        print(f"{title:55} {len(left):5} of {len(batch):5} left {seconds / 60:7.1f} min")
    print(f"{'':55} {'':19} {total / 60:7.1f} min of CPU")


def measure(plan, limits, args, paths, results, references):
    """Measures what is left of a plan; whether nothing was skipped."""
    jobs = bench.select(
        manifest.jobs(plan, limits, args.budget, args.only), args.only, args.seeds
    )
    version = tools.version() if args.redo else None
    left = [job for job in jobs if not bench.is_measured(job, results, version)]
    print(f"{len(jobs) - len(left)} of {len(jobs)} runs are measured already")
    for name in sorted({job.searcher.environment for job in left if job.searcher.is_outside}):
        why = environment.make(paths, name)
        if why:
            print(f"optimisers of {environment.requirements(paths, name)} are skipped: {why}")
    return bench.Bench(paths, results, references).run(left, args.jobs)


def interrupt(*_):
    raise KeyboardInterrupt


def main():
    args = parse()
    signal.signal(signal.SIGTERM, interrupt)
    plan, limits = manifest.PLAN, {}
    table = args.results or FOLDER / "results.csv"
    if args.quick:
        plan, limits = manifest.QUICK_PLAN, manifest.QUICK_GROUPS
        table = args.results or args.build / "bench-search-quick.csv"
    results = Results.load(table)
    known = reference.load_best_known(reference.BEST_KNOWN)
    references = reference.References(results, known)
    with tempfile.TemporaryDirectory(prefix="shardopt-bench-") as scratch:
        paths = tools.Paths.find(args.build, scratch)
        if args.pack:
            results.pack()
            return 0
        if args.list:
            list_plan(plan, limits, args, results)
            return 0
        if args.page:
            return page.write(args, paths, results, references)
        if args.ffn:
            ffn.measure(paths)
            return 0
        if args.best_known:
            selected = [job for job in best_known.jobs() if is_selected(job, args.only)]
            best_known.search(paths, reference.BEST_KNOWN, selected)
            return 0
        is_complete = measure(plan, limits, args, paths, results, references)
        if args.quick:
            print(page.quick_tables(Measured(results, references, args.budget), plan))
        return 0 if is_complete else 1


if __name__ == "__main__":
    try:
        sys.exit(main())
    except KeyboardInterrupt:
        print("stopped; the next bench continues here", file=sys.stderr)
        sys.exit(130)
