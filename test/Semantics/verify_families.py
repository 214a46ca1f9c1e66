#!/usr/bin/python3
"""Executes tiny models of every family, sharded and whole, against Transformers.

    ./dev verify --families [--count 20] [--only gemma] [--seed 7] [--results FILE]
        [--page] [--draw 3] [--changes [--shard 0/4]]

Two models a family, with other options each, are made by utils/tiny_models.py in an
environment of the build folder, into which Transformers and Torch are installed once.
They decode, and prefill and decode on, unsharded, with the exact searcher's plans, and with
`count` random strategies each, half of them with the degrees of serving engines. `--page`
writes the rows of these families into the table of docs/ImportResults.md, and leaves the others.
With `--results` every model's result is a line of a file, and models that it has without a
failure, of that seed and with as many strategies, are not run again: so a run that was cut goes
on. `--draw` takes models whose options are drawn at random instead: what the importer refuses
is printed, and fails nothing. `--changes` changes the configs of these models in one key each,
and fails where a program is made that computes other numbers (changes.py). Exit status 1 if
a model of this run fails; where Transformers cannot be installed, a message says that nothing
was verified.
"""

import argparse
import json
import pathlib
import re
import subprocess
import sys
import tempfile

import tools
from changes import check_changes
from check_models import check
from tools import ROOT

sys.path += [str(ROOT / "bench"), str(ROOT / "utils")]

from marked import with_part  # noqa: E402
from tiny_families import FAMILIES  # noqa: E402

UTILS = ROOT / "utils"
PAGE = ROOT / "docs" / "ImportResults.md"
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
    for more in ([f"--draw={args.draw}"],) if args.draw else ([], ["--more"]):
        command = [python, UTILS / "tiny_models.py", folder, *more]
        command += [f"--only={args.only}", f"--seed={args.seed}"]
        tools.run(*command)
    return sorted(path.parent for path in folder.glob("*/io.safetensors"))


def verify(args, model, folder):
    """(largest relative error, runs that fail) of a model's programs; None if it is refused."""
    worst, failed = 0.0, 0
    importing = [args.shard_translate, "--import-hf", model / "config.json"]
    status, line = tools.last_line(*importing, "--phase=decode", "--context=16", "-o", "/dev/null")
    if status:
        print(f"{model.name}: refused: {line}", flush=True)
        return None
    for what, status, line in check(args, model, folder):
        failed += status != 0
        error = re.search(r"max_rel=(\S+)", line)
        worst = max(worst, float(error.group(1))) if error else worst
        print(f"{model.name} {what}: {line}", flush=True)
    return worst, failed


def known_results(args):
    """What `--results` has of this seed, by model: of several, the last."""
    path = args.results
    lines = path.read_text().splitlines() if path and path.exists() else []
    found = [result for result in map(json.loads, lines) if result["seed"] == args.seed]
    return {result["model"]: result for result in found}


def verify_all(args, models, folder):
    """The results of these models, in their order, known or made now."""
    known, results = known_results(args), []
    for model in models:
        result = known.get(model.name, {"count": -1})
        if result["count"] < args.count or result["failed"]:
            found = verify(args, model, folder)
            if found is None and args.draw:
                continue
            worst, failed = found or (None, 1)
            result = {"model": model.name, "seed": args.seed, "count": args.count}
            result.update(worst=worst, failed=failed)
            if args.results:
                with args.results.open("a") as out:
                    print(json.dumps(result), file=out, flush=True)
        results.append(result)
    return results


def row(family, results):
    worst = max(result["worst"] or 0 for result in results)
    failed = sum(result["failed"] for result in results)
    refused = sum(result["worst"] is None for result in results)
    count = min(result["count"] for result in results)
    said = f"{failed} runs" if failed else "none"
    said += f", {refused} models refused" if refused else ""
    return f"| {family} | {len(results)} | {count} | {worst:.1e} | {said} |"


def table(results, old=""):
    """The rows of all families, those of the table `old` where there is no result. A row
    of what is no family any more is left out."""
    families = {}
    for result in results:
        families.setdefault(re.sub(r"-(drawn)?\d+$", "", result["model"]), []).append(result)
    lines = ["| family | models | random strategies a program | largest error | fail |"]
    lines.append("|---|--:|--:|--:|---|")
    kept = [line for line in old.splitlines() if line.startswith("|") and line not in lines]
    rows = {line.split("|")[1].strip(): line for line in kept}
    rows = {family: line for family, line in rows.items() if family in FAMILIES}
    rows.update({family: row(family, found) for family, found in families.items()})
    return "\n".join(lines + [rows[family] for family in sorted(rows)])


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    tools.add_arguments(parser)
    parser.add_argument("--environment", type=pathlib.Path, required=True, help="its folder")
    parser.add_argument("--count", type=int, default=20, help="random strategies a program")
    parser.add_argument("--only", default="", help="families with this in their name")
    parser.add_argument("--draw", type=int, default=0, help="models a family with random options")
    parser.add_argument("--changes", action="store_true", help="change their configs in one key each")
    parser.add_argument("--shard", default="0/1", help="of changes every N-th, from the I-th on")
    parser.add_argument("--seed", type=int, default=7)
    parser.add_argument("--tolerance", default="", help="of the largest logit (2e-5)")
    parser.add_argument("--results", type=pathlib.Path, help="a file to go on from and to add to")
    parser.add_argument("--page", action="store_true", help="write rows of docs/ImportResults.md's table")
    args = parser.parse_args()
    if args.draw and args.page:
        parser.error("--page is of the models that are known, and --draw of others")

    python = environment(args.environment)
    if not python:
        print("skipped: Transformers could not be installed, so nothing was verified")
        return
    with tempfile.TemporaryDirectory() as made, tempfile.TemporaryDirectory() as folder:
        models = make_models(python, pathlib.Path(made), args)
        if args.changes:
            sys.exit(0 if check_changes(args, python, pathlib.Path(made), folder) else 1)
        results = list(verify_all(args, models, pathlib.Path(folder)))
    print(table(results))
    if args.page:
        page = PAGE.read_text()
        old = page.split(MARKS[0], 1)[1].split(MARKS[1], 1)[0]
        PAGE.write_text(with_part(page, *MARKS, table(results, old)))
    sys.exit(1 if any(result["failed"] for result in results) else 0)


main()
