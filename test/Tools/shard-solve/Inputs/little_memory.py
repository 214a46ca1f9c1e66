"""Runs a command, with a compressed file of blanks that has no room, in little memory."""

import gzip
import resource
import subprocess
import sys

path, *command = sys.argv[1:]
megabyte = 1 << 20
with gzip.open(path, "wb", compresslevel=1) as file:
    for _ in range(256):
        file.write(b" " * megabyte)


def limit():
    resource.setrlimit(resource.RLIMIT_AS, (400 * megabyte, 400 * megabyte))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


result = subprocess.run([*command, path], preexec_fn=limit, capture_output=True, text=True)
print(f"exit {result.returncode}")
print(result.stderr, end="")
