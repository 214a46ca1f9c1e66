"""The compiler's tools, for what makes and runs programs."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path
from typing import Sequence

from .errors import ShardoptError


def find_tool(name: str) -> str:
    """The program `name` of the build tree that this package is in, or of PATH."""
    beside = Path(__file__).parents[2] / "bin" / name
    found = str(beside) if beside.exists() else shutil.which(name)
    if not found:
        raise ShardoptError(
            f"'{name}' is neither in {beside.parent} nor on PATH. The wheel does not contain "
            "it: run ./dev build in a checkout and add its build/bin to PATH"
        )
    return os.path.abspath(found)


def run_tool(
    name: str, args: Sequence[str], cwd: str
) -> "subprocess.CompletedProcess[str]":
    """Runs a tool in the folder `cwd` to its end; its output and errors are texts."""
    return subprocess.run(
        [find_tool(name), *args], capture_output=True, text=True, errors="replace", cwd=cwd
    )


def compiled(args: Sequence[str], cwd: str, failing: str) -> str:
    """What `shard-opt` prints, run in the folder `cwd`; where it fails, an error that begins
    with `failing`."""
    done = run_tool("shard-opt", args, cwd)
    if done.returncode != 0:
        raise ShardoptError(f"{failing}: {complaint(done)}")
    return done.stdout


def complaint(done: "subprocess.CompletedProcess[str]") -> str:
    """What a tool that failed said, or how it ended."""
    lines = [line for line in done.stderr.splitlines() if line.strip()]
    if done.returncode < 0:
        return f"it ended by signal {-done.returncode}"
    return lines[0] if lines else f"it ended with {done.returncode}"
