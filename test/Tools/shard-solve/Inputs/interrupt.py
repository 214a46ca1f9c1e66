"""Runs a command until it says "multipliers", and ends it by SIGTERM."""

import signal
import subprocess
import sys

command = [*sys.argv[1:], "--progress=lines"]
process = subprocess.Popen(
    command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
)
for line in process.stderr:
    if "multipliers" in line:
        break
process.send_signal(signal.SIGTERM)
output, _ = process.communicate()
print("exit", process.returncode)
print(output)
