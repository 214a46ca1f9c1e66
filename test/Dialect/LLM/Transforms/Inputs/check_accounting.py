#!/usr/bin/env python3
"""Checks what a search charged to its budget, from its trace.

usage: check_accounting.py <report.json> <trace.jsonl> --accounting <kind> --budget <n>
"""

import argparse
import json

# Strategies asked for at most where only new ones are charged, per budget.
MAX_ASKED = 25


def charged(kind, trace, number):
    """What the first `number` lines of `trace` charge."""
    if kind == "new":
        return sum(not line["repeated"] and not line["infeasible"] for line in trace[:number])
    return number + (trace[number - 1]["rejected"] if kind == "draws" else 0)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("report")
    parser.add_argument("trace")
    parser.add_argument("--accounting", required=True)
    parser.add_argument("--budget", type=int, required=True)
    args = parser.parse_args()
    with open(args.report) as file:
        report = json.load(file)
    with open(args.trace) as file:
        trace = [json.loads(line) for line in file]

    kind = args.accounting
    assert report["accounting"] == kind
    assert report["evaluations"] == len(trace)
    assert report["infeasible_evaluations"] == sum(line["infeasible"] for line in trace)
    for i in range(0, len(trace), 50):
        assert trace[i]["budgeted_evaluations"] == charged(kind, trace, i + 1)
    assert report["stopped"] == "budget"
    if kind == "new":
        assert report["budgeted_evaluations"] == trace[-1]["budgeted_evaluations"] <= args.budget
        assert report["budgeted_evaluations"] == args.budget or len(trace) == MAX_ASKED * args.budget
    else:
        assert report["budgeted_evaluations"] == args.budget
        assert trace[-1]["budgeted_evaluations"] <= args.budget
    # Hopeless is what no dims make feasible.
    assert all(
        line["reason"] in ("structural", "memory") for line in trace if line["infeasible"]
    )


if __name__ == "__main__":
    main()
