#!/usr/bin/env python3
"""Ends a search by a signal in the middle, and runs it again over its checkpoint.

usage: kill.py <shard-opt> <model.mlir> <prefix of outputs> <SIGINT or SIGKILL>

Writes <prefix>.whole.* (never stopped) and <prefix>.again.* (stopped and
resumed): .mlir, .trace and .json.
"""

import os
import signal
import subprocess
import sys

shard_opt, model, prefix, name = sys.argv[1:]
SEARCH = "max-devices=8 searcher=annealing budget=3000"


def start(output, *options, trace):
    options = " ".join([SEARCH, f"report={prefix}.{output}.json", f"trace={trace}", *options])
    return subprocess.Popen(
        [shard_opt, model, f"--llm-search-sharding=simulator=roofline {options}", "-o", f"{prefix}.{output}.mlir"],
        stderr=subprocess.PIPE,
    )


def run(output, *options):
    process = start(output, *options, trace=f"{prefix}.{output}.trace")
    _, error = process.communicate()
    assert process.returncode == 0, error
    return error.decode()


def remove(path):
    if os.path.exists(path):
        os.remove(path)


pipe, checkpoint = prefix + ".pipe", prefix + ".log"
remove(pipe)
remove(checkpoint)
os.mkfifo(pipe)
process = start("again", f"checkpoint={checkpoint}", trace=pipe)
with open(pipe, "rb") as lines:
    lines.readline()  # the search waits for its reader, so it is in the middle
    process.send_signal(getattr(signal, name))
    for line in lines:
        pass
process.communicate()
assert process.returncode == (130 if name == "SIGINT" else -signal.SIGKILL)
os.remove(pipe)

with open(checkpoint, "rb") as file:
    logged = sum(line.endswith(b"\n") for line in file) - 1
assert 0 < logged < 3000, logged
error = run("again", f"checkpoint={checkpoint}")
assert f"resumed {logged} evaluations" in error, error
run("whole")
