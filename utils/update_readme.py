#!/usr/bin/env python3
"""Writes what `./dev demo` prints into the README, or with --check compares.

The block stands between the two markers below. Lines that tell how long
something took differ from run to run and are compared without their numbers.
"""

import argparse
import difflib
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
BEGIN = "<!-- demo: begin, written by ./dev docs -->"
END = "<!-- demo: end -->"

DURATION = re.compile(r"\d+(\.\d+)? ?(s|ms)\b")
TIMED = re.compile(r"\b(wall|searched in|took)\b")


def timeless(text):
    """`text` with the durations of its timed lines taken out."""
    return [
        DURATION.sub("<time>", line) if TIMED.search(line) else line
        for line in text.splitlines()
    ]


def demo(build):
    """What the demo prints, with the build folder under its usual name."""
    result = subprocess.run(
        [ROOT / "utils/demo.sh", build],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    if result.returncode != 0:
        sys.exit(result.stdout)
    printed = result.stdout.replace(str(build), "build")
    return "".join(line.rstrip() + "\n" for line in printed.splitlines())


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--build", type=pathlib.Path, default=pathlib.Path("build"))
    parser.add_argument("--check", action="store_true", help="fail on a difference")
    args = parser.parse_args()

    readme = (ROOT / "README.md").read_text()
    head, rest = readme.split(BEGIN)
    shown, tail = rest.split(END)
    block = f"\n\n```text\n{demo(args.build)}```\n\n"

    if timeless(shown) == timeless(block):
        return 0
    if args.check:
        diff = difflib.unified_diff(
            timeless(shown), timeless(block), "README.md", "./dev demo", lineterm=""
        )
        print("\n".join(diff), file=sys.stderr)
        print("README.md shows another demo: run ./dev docs", file=sys.stderr)
        return 1
    (ROOT / "README.md").write_text(head + BEGIN + block + END + tail)
    return 0


if __name__ == "__main__":
    sys.exit(main())
