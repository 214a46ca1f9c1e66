#!/usr/bin/python3
"""Executes tiny models of every family, sharded and whole, against Transformers.

    ./dev verify --families [--count 20] [--only gemma] [--seed 7] [--page]

Two models a family, with other options each, are made by utils/tiny_models.py in an
environment of the build folder, into which Transformers and Torch are installed once.
They decode, and prefill, unsharded, with the exact searcher's plans, and with `count`
random strategies a program, half of them with the degrees of serving engines. `--page`
writes the table of docs/Import.md. Exit status 1 if anything fails; where Transformers
cannot be installed, a message says that nothing was verified.
"""

import argparse
import pathlib
import re
import subprocess
import sys
import tempfile

import tools
from check_models import check
from tools import ROOT

sys.path.append(str(ROOT / "bench"))

from marked import with_part  # noqa: E402

UTILS = ROOT / "utils"
PAGE = ROOT / "docs" / "Import.md"
MARKS = ("<!-- families -->", "<!-- end of families -->")


def environment(folder):
    """The Python of an environment with Transformers, or None."""
    python = folder / "bin" / "python"
    wanted = (UTILS / "tiny_models.txt").read_text()
    done = folder / "installed.txt"
    if done.exists() and done.read_text() == wanted:
        return python
    commands = (
        ["/usr/bin/python3", "-m", "venv", "--clear", folder],
        [python, "-m", "pip", "install", "-q", "-r", UTILS / "tiny_models.txt"],
    )
    for command in commands:
        if subprocess.run([str(word) for word in command], stdout=sys.stderr).returncode:
            return None
    done.write_text(wanted)
    return python


def make_models(python, folder, args):
    """The folders of all models."""
    for more in ([], ["--more"]):
        command = [python, UTILS / "tiny_models.py", folder, *more]
        command += [f"--only={args.only}", f"--seed={args.seed}"]
        tools.run(*command)
    return sorted(path.parent for path in folder.glob("*/io.safetensors"))


def verify(args, model, folder):
    """(largest relative error, strategies that fail) of a model's programs."""
    worst, failed = 0.0, 0
    for phase, context in (("decode", 16), ("prefill", 7)):
        for what, status, line in check(args, model, phase, context, folder):
            failed += status != 0
            error = re.search(r"max_rel=(\S+)", line)
            worst = max(worst, float(error.group(1))) if error else worst
            print(f"{model.name} {phase}, {what}: {line}", flush=True)
    return worst, failed


def table(rows, count):
    lines = [
        f"| family | models | largest error | of {count} random strategies a program |",
        "|---|--:|--:|--:|",
    ]
    for family, results in rows.items():
        worst = max(error for error, _ in results)
        failed = sum(failed for _, failed in results)
        said = f"{failed} runs fail" if failed else "none fails"
        lines.append(f"| {family} | {len(results)} | {worst:.1e} | {said} |")
    return "\n".join(lines)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    tools.add_arguments(parser)
    parser.add_argument("--environment", type=pathlib.Path, required=True, help="its folder")
    parser.add_argument("--count", type=int, default=20, help="random strategies a program")
    parser.add_argument("--only", default="", help="families with this in their name")
    parser.add_argument("--seed", type=int, default=7)
    parser.add_argument("--tolerance", default="", help="of the largest logit (2e-5)")
    parser.add_argument("--page", action="store_true", help="write the table of docs/Import.md")
    args = parser.parse_args()

    python = environment(args.environment)
    if not python:
        print("skipped: Transformers could not be installed, so nothing was verified")
        return
    rows = {}
    with tempfile.TemporaryDirectory() as made, tempfile.TemporaryDirectory() as folder:
        for model in make_models(python, pathlib.Path(made), args):
            family = re.sub(r"-\d+$", "", model.name)
            rows.setdefault(family, []).append(verify(args, model, pathlib.Path(folder)))
    text = table(rows, args.count)
    print(text)
    if args.page:
        PAGE.write_text(with_part(PAGE.read_text(), *MARKS, text))
    sys.exit(1 if any(failed for results in rows.values() for _, failed in results) else 0)


main()
