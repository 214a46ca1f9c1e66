"""Asks `./dev` for the help of each command, where programs that would install, configure or
build leave a mark."""

import os
import re
import subprocess
import sys
from pathlib import Path

root, place = Path(sys.argv[1]), Path(sys.argv[2])
mark = place / "started"
for name in ("apt-get", "sudo", "cmake", "ninja", "ctest", "pip", "git", "clang-format-22",
             "clang-tidy-22"):
    program = place / name
    program.write_text(f"#!/bin/sh\necho {name} >> {mark}\n")
    program.chmod(0o755)
env = {**os.environ, "PATH": f"{place}:{os.environ['PATH']}", "PRESET": "help"}


def ask(*words):
    done = subprocess.run([root / "dev", *words], env=env, capture_output=True, text=True)
    assert done.returncode == 0, (words, done.stderr)
    assert not mark.exists(), (words, mark.read_text())
    return done.stdout


usage = ask("help")
commands = re.findall(r"^  ([a-z]+)", usage, re.M)
assert len(set(commands)) > 10, commands
for command in dict.fromkeys(commands):
    said = ask(command, "--help")
    mine = [line for line in usage.splitlines() if re.match(rf"  {command}\b", line)]
    assert mine and all(line in said for line in mine), (command, said)
    assert ask(command, "-h") == said, command
for words in (("lint", "--all"), ("test", "--sanitize"), ("docs", "--site"), ("build", "shard-opt")):
    ask(*words, "--help")
# A script has its own words.
for words in (("bench", "search"), ("verify",), ("verify", "--families"), ("fuzz",)):
    assert "usage:" in ask(*words, "--help"), words
assert not (root / "build-help").exists()
