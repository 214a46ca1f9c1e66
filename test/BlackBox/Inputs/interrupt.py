"""Interrupts searches whose simulator hangs.

    interrupt.py <shard-opt> <model.mlir> <prefix of outputs>

The simulator says where it hangs, in a file, with the ids of its process and of
a child that no signal of a terminal would end.
"""

import os
import signal
import subprocess
import sys
import time

WORKER = r"""
import json, os, subprocess, sys, time
child = subprocess.Popen(["/bin/sh", "-c", "trap '' INT TERM HUP; sleep 1000"],
                         stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL)
for line in sys.stdin:
    message = json.loads(line)
    if "protocol" in message:
        answer = {"protocol": 1, "name": "slow"}
    elif message["id"] < 5:
        answer = {"id": message["id"], "valid": True, "throughput": 1, "tpot_ms": 1, "memory_gb": 1}
    else:
        # A worker is asked again when its answer was read: once both are here, all were.
        try:
            os.mkdir(sys.argv[1] + ".first")
        except FileExistsError:
            with open(sys.argv[1] + ".new", "w") as file:
                print(os.getpid(), child.pid, file=file)
            os.rename(sys.argv[1] + ".new", sys.argv[1])
        time.sleep(1000)
    print(json.dumps(answer), flush=True)
"""

shard_opt, model, prefix = sys.argv[1:]


def is_running(process):
    try:
        with open(f"/proc/{process}/stat") as file:
            return file.read().rsplit(")", 1)[1].split()[0] not in "ZX"
    except FileNotFoundError:
        return False


def interrupt(with_signal, exit_code):
    script, hanging = prefix + ".py", prefix + ".hanging"
    with open(script, "w") as file:
        file.write(WORKER)
    if os.path.exists(hanging):
        os.remove(hanging)
    if os.path.exists(hanging + ".first"):
        os.rmdir(hanging + ".first")
    options = (
        f"simulator={{exec:{sys.executable} {script} {hanging}}} simulator-workers=2 "
        f"searcher=random report={prefix}.json"
    )
    process = subprocess.Popen(
        [shard_opt, model, f"--llm-search-sharding={options}", "-o", f"{prefix}.out"],
        stderr=subprocess.DEVNULL,
    )
    while not os.path.exists(hanging):
        assert process.poll() is None, process.returncode
        time.sleep(0.01)
    with open(hanging) as file:
        left = [int(word) for word in file.read().split()]
    assert all(is_running(each) for each in left), left
    process.send_signal(with_signal)
    process.wait()
    assert process.returncode == exit_code, process.returncode
    # They were sent a signal, but take a moment to die.
    for _ in range(6000):
        if not any(is_running(each) for each in left):
            return
        time.sleep(0.01)
    sys.exit(f"still running: {left}")


interrupt(signal.SIGKILL, -signal.SIGKILL)
interrupt(signal.SIGTERM, 143)
interrupt(signal.SIGINT, 130)
