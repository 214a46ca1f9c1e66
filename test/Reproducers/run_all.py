#!/usr/bin/env python3
"""Runs reproducers of what once broke; each must hold.

usage: run_all.py <build> <folder> [--jobs 2] [--only NAME] [--by-night NAME]

A reproducer is a script `NAME/repro.py` that runs in the root of the sources, finds the tools in
SHARDOPT_BIN and the package in SHARDOPT_PYTHON, and ends with 0 where nothing is broken. Each has a
temporary folder of its own. Prints what those say that do not hold, and how many do.
"""

import argparse
import concurrent.futures
import os
import pathlib
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
SECONDS = 120


def run(script, build):
    """(exit code, what it said) of a reproducer."""
    with tempfile.TemporaryDirectory() as scratch:
        tools = {"SHARDOPT_BIN": str(build / "bin"), "SHARDOPT_PYTHON": str(build / "python")}
        # No files beside the scripts, which may be read-only.
        tools["PYTHONDONTWRITEBYTECODE"] = "1"
        try:
            result = subprocess.run(
                [sys.executable, script],
                cwd=ROOT,
                env={**os.environ, **tools, "TMPDIR": scratch},
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                timeout=SECONDS,
            )
        except subprocess.TimeoutExpired:
            return 1, f"no end within {SECONDS} s"
    return result.returncode, result.stdout.decode(errors="replace")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("build", type=pathlib.Path)
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--only", default="", help="those with this in their name")
    parser.add_argument("--by-night", help="left out unless SHARDOPT_NIGHTLY is set")
    args = parser.parse_args()
    scripts = sorted(args.folder.glob("*/repro.py"))
    scripts = [script for script in scripts if args.only in script.parent.name]
    if args.by_night and "SHARDOPT_NIGHTLY" not in os.environ:
        scripts = [script for script in scripts if script.parent.name != args.by_night]
    held = 0
    with concurrent.futures.ThreadPoolExecutor(args.jobs) as pool:
        found = pool.map(lambda script: run(script, args.build.resolve()), scripts)
        for script, (code, said) in zip(scripts, found):
            held += code == 0
            if code:
                print(f"{script.parent.name}: exit code {code}\n{said}", flush=True)
    print(f"{held} of {len(scripts)} reproducers hold")
    sys.exit(0 if scripts and held == len(scripts) else 1)


main()
