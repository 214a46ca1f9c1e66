"""Checks that a search under misbehave.py lost what it had to lose.

    check_failures.py <report> <trace> <starts> <failure> <restarts: yes|no>
"""

import json
import sys

report_file, trace_file, starts_file, failure, restarts = sys.argv[1:]
report = json.load(open(report_file))
trace = [json.loads(line) for line in open(trace_file)]
fresh = [entry for entry in trace if not entry["repeated"]]
failed = [entry for entry in fresh if entry["strategy"]["pp"] == 2]

assert failed and len(failed) < len(fresh), "the test has to have both"
for entry in fresh:
    if entry["strategy"]["pp"] == 2:
        assert not entry["valid"] and entry["reason"] == "failed", entry
        assert entry["throughput"] == 0, entry
    else:
        assert entry["valid"] and entry["reason"] == "", entry

counts = {kind: n for kind, n in report["simulator_failures"].items() if n}
assert counts == {failure: len(failed)}, counts
assert report["evaluations"] == len(trace)
assert report["stopped"] == "budget", report["stopped"]
assert report["best"]["strategy"]["pp"] == 1
assert report["best"]["breakdown"] is None
assert report["best"]["memory_parts_gb"] is None
assert set(report["baselines"].values()) == {None}, report["baselines"]
assert report["bound"] is None and report["gap"] is None

# A worker that is in step is kept; one that starts after the last failure is
# only started if something was asked after it.
starts = len(open(starts_file).readlines())
after = fresh.index(failed[-1]) + 1 < len(fresh)
expected = 1 + (len(failed) - (not after) if restarts == "yes" else 0)
assert starts == expected, (starts, expected)
