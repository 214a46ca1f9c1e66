#!/usr/bin/env python3
"""Runs the examples of Markdown pages, so that the pages stay true.

A block fenced as ```console holds commands behind "$ ", each followed by what
it prints (stdout and stderr); a line "…" stands for any number of lines, and
a command without output promises nothing but exit status 0. A block fenced as
```mlir is parsed, verified and printed by shard-opt, one fenced as ```python runs
with the package of the build. Where that was left out, what needs it is skipped,
with a message.

Commands run in a scratch folder that sees the tree's examples/ and machines/
and, as build/, the given build folder.
"""

import argparse
import pathlib
import re
import shutil
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent

FENCE = re.compile(r"^```(\w+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def blocks(path):
    """Yields (line number, language, text) for every fenced block of a page."""
    page = path.read_text()
    for match in FENCE.finditer(page):
        yield page.count("\n", 0, match.start(2)) + 1, match.group(1), match.group(2)


def commands(text):
    """Splits a console block into (offset of its line, command, lines printed)."""
    found = []
    continued = False
    for offset, line in enumerate(text.splitlines()):
        if continued:
            found[-1][1] += "\n" + line
        elif line.startswith("$ "):
            found.append([offset, line[2:], []])
        elif found:
            found[-1][2].append(line)
        if continued or line.startswith("$ "):
            continued = line.endswith("\\")
    return found


def agrees(wanted, printed):
    """Whether `printed` has the form of `wanted`, "…" being any lines."""
    pattern = "".join(
        "(?:.*\n)*" if line.strip() == "…" else re.escape(line) + "\n"
        for line in wanted
    )
    text = "".join(line.rstrip() + "\n" for line in printed)
    return re.fullmatch(pattern, text) is not None


def run_command(command, wanted, scratch):
    """None, or what is wrong with one command of a console block."""
    result = subprocess.run(
        ["bash", "-c", command],
        cwd=scratch,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    if result.returncode != 0:
        return f"exit status {result.returncode}\n{result.stdout}"
    while wanted and not wanted[-1].strip():
        wanted.pop()
    printed = result.stdout.rstrip("\n").splitlines()
    if wanted and not agrees(wanted, printed):
        return "prints something else:\n" + result.stdout
    return None


def parse_ir(text, build):
    """None, or what shard-opt says against an IR block."""
    result = subprocess.run(
        [build / "bin/shard-opt", "-"], input=text, capture_output=True, text=True
    )
    return result.stderr if result.returncode != 0 else None


def run_python(text, scratch):
    """None, or what a block of Python raises."""
    result = subprocess.run(
        ["/usr/bin/env", "PYTHONPATH=build/python", sys.executable, "-"],
        cwd=scratch,
        input=text,
        capture_output=True,
        text=True,
    )
    return result.stderr if result.returncode != 0 else None


def wrong_examples(page, scratch, build):
    """Yields (line number, what is wrong) for the examples of one page."""
    has_package = (build / "bin/shardopt").exists()
    for number, language, text in blocks(page):
        if not has_package and (language == "python" or "bin/shardopt " in text):
            print(f"{page}:{number}: skipped, the Python package was left out")
            continue
        if language == "python":
            why = run_python(text, scratch)
            if why:
                yield number, why
        if language == "mlir":
            why = parse_ir(text, build)
            if why:
                yield number, why
        if language == "console":
            for offset, command, wanted in commands(text):
                why = run_command(command, wanted, scratch)
                if why:
                    yield number + offset, f"'{command}' {why}"


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--build", type=pathlib.Path, default=ROOT / "build")
    parser.add_argument("--scratch", type=pathlib.Path, required=True)
    parser.add_argument("pages", nargs="+", type=pathlib.Path, help="page or folder")
    args = parser.parse_args()

    shutil.rmtree(args.scratch, ignore_errors=True)
    args.scratch.mkdir(parents=True)
    for name, target in [
        ("build", args.build.resolve()),
        ("examples", ROOT / "examples"),
        ("machines", ROOT / "machines"),
    ]:
        (args.scratch / name).symlink_to(target)

    pages = []
    for page in args.pages:
        pages += sorted(page.rglob("*.md")) if page.is_dir() else [page]
    failed = False
    for page in pages:
        for number, why in wrong_examples(page, args.scratch, args.build):
            failed = True
            print(f"{page}:{number}: {why}", file=sys.stderr)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
