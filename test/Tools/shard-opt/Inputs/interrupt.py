#!/usr/bin/env python3
"""Interrupts a search and the evaluation of an endless list.

usage: interrupt.py <shard-opt> <model.mlir> <prefix of outputs>
"""

import os
import signal
import subprocess
import sys

shard_opt, model, prefix = sys.argv[1:]
STRATEGY = b'{"tp":4,"ep":1,"pp":2,"batch":64,"dims":[0,0,1,0,0,0,1,0,1]}\n'


def wait(process, number):
    _, error = process.communicate()
    assert process.returncode == 128 + number, (process.returncode, error)
    return error.decode()


def interrupt_search(asked):
    """After its first evaluations, which a pipe for the trace tells."""
    trace = prefix + ".trace"
    if os.path.exists(trace):
        os.remove(trace)
    os.mkfifo(trace)
    options = f"searcher=random budget=1000000000000 report={prefix}.json trace={trace}"
    process = subprocess.Popen(
        [shard_opt, model, f"--llm-search-sharding=simulator=roofline {options}", "-o", f"{prefix}.mlir"],
        stderr=subprocess.PIPE,
    )
    with open(trace, "rb") as lines:
        for line in lines:
            if b'"best": null' not in line:
                break
        process.send_signal(asked)
        for line in lines:
            pass
    os.remove(trace)
    wait(process, asked)


def interrupt_list():
    """While it reads from a pipe that never ends."""
    with open(prefix + ".list", "w") as kept:
        kept.write("kept\n")
    source = prefix + ".in"
    if os.path.exists(source):
        os.remove(source)
    os.mkfifo(source)
    process = subprocess.Popen(
        [shard_opt, model, f"--llm-evaluate-strategy=simulator=roofline strategies={source} report={prefix}.list"],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
    )
    signal.signal(signal.SIGPIPE, signal.SIG_IGN)
    with open(source, "wb") as lines:
        lines.write(STRATEGY * 100000)
        process.send_signal(signal.SIGTERM)
        try:
            while True:
                lines.write(STRATEGY * 1000)
        except BrokenPipeError:
            pass
        try:
            lines.flush()
        except BrokenPipeError:
            pass
    assert "interrupted after line" in wait(process, signal.SIGTERM)
    os.remove(source)


for asked in signal.SIGHUP, signal.SIGINT:
    interrupt_search(asked)
interrupt_list()
