#!/usr/bin/env python3
"""Fails unless two searches gave the same module, trace and report.

usage: same_search.py <prefix> <prefix>, each of .mlir, .trace and .json

Reports may differ in the time that was spent and in what was resumed.
"""

import json
import sys


def outputs(prefix):
    with open(prefix + ".json") as file:
        report = json.load(file)
    del report["wall_s"], report["resumed_evaluations"]
    texts = [open(prefix + suffix).read() for suffix in (".mlir", ".trace")]
    return [*texts, json.dumps(report)]


one, other = map(outputs, sys.argv[1:])
sys.exit(one != other)
