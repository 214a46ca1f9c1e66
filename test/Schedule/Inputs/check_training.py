"""Compares reports of a training step in two placements.

The work of all devices is that of the model, whatever the chunks. A schedule is at least
as long as its bound, and no longer than an order of its own placement, all of which fit.
"""

import json
import sys

OWN = {2: ("1f1b", "1f1b_retimed", "zb1p"), 4: ("v_half", "v_min")}


def work(report):
    return sum(report["makespan"] - bubble for bubble in report["bubbles"])


def main():
    chunks = 2, 4
    reports = [json.load(open(path)) for path in sys.argv[1:]]
    if len({work(report) for report in reports}) != 1:
        sys.exit(f"work differs: {[work(report) for report in reports]}")
    for count, report in zip(chunks, reports):
        orders = [report["baselines"][name]["makespan"] for name in OWN[count]]
        if not report["lower_bound"] <= report["makespan"] <= min(orders):
            sys.exit(f"{report['lower_bound']}, {report['makespan']}, {orders}")
    print(
        f"the same work in {chunks[0]} and {chunks[1]} chunks,"
        " bounds below makespans below the orders that fit"
    )


if __name__ == "__main__":
    main()
