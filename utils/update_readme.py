#!/usr/bin/env python3
"""Writes what the first command prints into README.md, and what `./dev demo` prints
into docs/Demo.md, or with --check compares.

Each stands between two markers. Lines that tell how long something took differ
from run to run and are compared without their numbers; whether there is a page
depends on a library that is not Debian's, so that its line is not compared.
"""

import argparse
import difflib
import pathlib
import re
import shlex
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent

DURATION = re.compile(r"\d+(\.\d+)? ?(s|ms)\b")
TIMED = re.compile(r"\b(wall|searched in|took)\b")
PAGE = re.compile(r"\bplan\.html\b")

FIRST = (
    "build/bin/shardopt plan examples/configs/llama-3.1-70b.json"
    " --machine h100_sxm --devices 8 --isl 4096 --osl 512 --tpot 30@p90 --ttft 2000@p90"
)


def timeless(text):
    """The lines of `text` that are compared, without durations where they are timed."""
    return [
        DURATION.sub("<time>", line) if TIMED.search(line) else line
        for line in text.splitlines()
        if not PAGE.search(line)
    ]


def printed(command, build, folder):
    """What a command prints, with the build folder under its usual name."""
    result = subprocess.run(
        command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, cwd=folder
    )
    if result.returncode != 0:
        sys.exit(result.stdout)
    lines = result.stdout.replace(str(build), "build").splitlines()
    return "".join(line.rstrip() + "\n" for line in lines)


def first(build):
    """The table that the first command prints, without what is next."""
    program, *arguments = shlex.split(FIRST)
    program = build.resolve() / pathlib.Path(program).relative_to("build")
    text = printed([program, *arguments], build, ROOT)
    return f"```console\n$ {FIRST}\n```\n\n```text\n{text.split(chr(10) + '  next ')[0].rstrip()}\n```"


def demo(build):
    """All that the demo prints."""
    text = printed([ROOT / "utils/demo.sh", build], build, None)
    return f"```text\n{text}```"


#: The page of each block, and what makes it.
BLOCKS = {"first": ("README.md", first), "demo": ("docs/Demo.md", demo)}


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--build", type=pathlib.Path, default=pathlib.Path("build"))
    parser.add_argument("--check", action="store_true", help="fail on a difference")
    args = parser.parse_args()

    differs = False
    for name, (page, make) in BLOCKS.items():
        begin = f"<!-- {name}: begin, written by ./dev docs -->"
        end = f"<!-- {name}: end -->"
        head, rest = (ROOT / page).read_text().split(begin)
        shown, tail = rest.split(end)
        block = f"\n\n{make(args.build)}\n\n"
        if timeless(shown) == timeless(block):
            continue
        differs = True
        if not args.check and "(no report," in block:
            print(f"{page} is not written: its report needs vl-convert-python "
                  "(utils/requirements.txt)", file=sys.stderr)
            continue
        if not args.check:
            (ROOT / page).write_text(head + begin + block + end + tail)
            continue
        diff = difflib.unified_diff(timeless(shown), timeless(block), page, name, lineterm="")
        print("\n".join(diff), file=sys.stderr)
        print(f"{page} shows another {name}: run ./dev docs", file=sys.stderr)
    return int(args.check and differs)


if __name__ == "__main__":
    sys.exit(main())
