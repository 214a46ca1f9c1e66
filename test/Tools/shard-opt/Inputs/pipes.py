#!/usr/bin/env python3
"""Leaves a trace unread: the plan is written nevertheless, with a warning.

usage: pipes.py <shard-opt> <folder with dense.mlir>
"""

import os
import subprocess
import sys

shard_opt, folder = sys.argv[1:]
pipe = os.path.join(folder, "trace")
os.mkfifo(pipe)
search = subprocess.Popen(
    [
        shard_opt,
        os.path.join(folder, "dense.mlir"),
        f"--llm-search-sharding=simulator=roofline searcher=random budget=5000 trace={pipe}",
        "-o",
        os.path.join(folder, "plan.mlir"),
    ],
    stderr=subprocess.PIPE,
)
with open(pipe, "rb") as trace:
    trace.read(1000)
_, messages = search.communicate()
assert search.returncode == 0, (search.returncode, messages)
assert b"warning: " in messages and b"cannot write: Broken pipe" in messages, messages
