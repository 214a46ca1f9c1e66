#!/usr/bin/python3
"""Compiled programs with a checkpoint's weights against Hugging Face.

    check_models.py --shard-opt=build/bin/shard-opt \\
        --shard-translate=build/bin/shard-translate --shard-run=build/bin/shard-run

Every folder of $SHARDOPT_DATA/hf-tiny (default: ../shared/data beside the
project), or of `--models`, has a config, weights, tokens and the logits of every
position that Transformers computed. Each model decodes all tokens from empty caches, and
decodes on from the caches of a prefill: unsharded, with an exact plan on four devices (in
decode by tensor parallelism alone, in prefill by any degrees), and with random strategies,
half of them with the degrees of serving engines. With --turns, one of these two in each
phase, the other one for the next model, but at night ($SHARDOPT_NIGHTLY) both.
"""

import argparse
import json
import os
import pathlib
import re
import sys
import tempfile

import tools
from strategies import sample, write
from tools import DATA, ROOT, all_lines, imported, last_line, run

sys.path.append(str(ROOT / "test" / "Reference"))

from execution.tolerance import tolerance_of  # noqa: E402

TOLERANCE = 2e-5  # of the largest logit
# Of decode, and of prefill that decode follows.
DEGREES = {"decode": "tp=4 ep=1 pp=1", "prefill": "tp=2,4 ep=1,2 pp=1,2 devices=4"}
CONTEXTS = {"decode": 16, "prefill": 7}


def check(args, model, turn, folder):
    """(phase and what, exit status, last line) of every run of a model."""
    io = model / "io.safetensors"
    against = [f"--weights={model}/model.safetensors", f"--tokens={io}", f"--expect={io}"]
    against.append(f"--tolerance={args.tolerance or tolerance_of(model, TOLERANCE)}")
    programs = {}
    for phase, context in CONTEXTS.items():
        path = folder / f"{model.name}.{phase}.mlir"
        programs[phase] = imported(args, model / "config.json", phase, context, path)
    for number, phase in enumerate(CONTEXTS):
        runs = ("plan", "random")
        if args.turns:
            runs = (runs[(turn + number) % 2],)
        for what, status, line in check_phase(args, phase, programs, runs, against, folder):
            yield f"{phase}, {what}", status, line


def planned(args, programs, folder):
    """The programs of the phases with their exact plans."""
    found = {}
    for phase, program in programs.items():
        found[phase] = folder / f"planned.{phase}.mlir"
        search = f"simulator=roofline searcher=exact batch=4 {DEGREES[phase]}"
        run(args.shard_opt, program, f"--llm-search-sharding={search}", "-o", found[phase])
    return found


def check_phase(args, phase, programs, runs, against, folder):
    """(what, exit status, last line) of every run of a phase: of prefill, with the decode
    behind it."""
    program = programs[phase]

    def command(paths):
        then = [f"--then={paths['decode']}"] if phase == "prefill" else []
        return [paths[phase], *then, *against]

    yield "unsharded", *last_line(args.shard_run, *command(programs))
    if "plan" in runs:
        plans = planned(args, programs, folder)
        yield f"exact plan, {DEGREES[phase]}", *last_line(args.shard_run, *command(plans))
    if "random" not in runs:
        return
    options = {"seed": args.seed, "batch": [4]}
    plain = args.count // 2
    drawn = sample(args.shard_opt, program, count=plain, tp=[2, 3, 4], **options) if plain else []
    options.update(tp=[1, 2, 4], dp=[1, 2, 4], ep=[1, 2, 4], cp=[1, 2])
    options["exchange"] = ["all_to_all", "gather"]
    drawn += sample(args.shard_opt, program, count=args.count - len(drawn), **options)
    strategies = write(folder / "strategies.jsonl", drawn)
    many = [args.shard_run, "--verify", f"--strategies={strategies}", *command(programs)]
    status, lines = all_lines(*many)
    for line in lines[:-1]:
        if "FAILED" in line:
            strategy = drawn[int(line.rpartition("line=")[2])]
            yield "one of them", 1, f"{line} {json.dumps(strategy)}"
    errors = [float(error) for line in lines for error in re.findall(r"max_rel=(\S+)", line)]
    worst = f", max_rel={max(errors):.2e}" if errors else ""
    yield f"{args.count} random strategies", status, lines[-1] + worst


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    tools.add_arguments(parser)
    parser.add_argument("--only", default="", help="models with this in their name")
    parser.add_argument("--except", dest="without", help="models that are left out")
    parser.add_argument("--count", type=int, default=6, help="random strategies a program")
    parser.add_argument("--turns", action="store_true", help="a plan or random strategies")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--tolerance", default="", help="of the largest logit (2e-5)")
    parser.add_argument("--models", type=pathlib.Path, default=DATA / "hf-tiny", help="their folder")
    args = parser.parse_args()
    args.turns = args.turns and "SHARDOPT_NIGHTLY" not in os.environ

    models = sorted(path.parent for path in args.models.glob("*/io.safetensors"))
    models = [model for model in models if args.only in model.name != args.without]
    if not models:
        print(f"skipped: no models in {args.models}")
    wrong = 0
    with tempfile.TemporaryDirectory() as folder:
        for turn, model in enumerate(models):
            for what, status, line in check(args, model, turn, pathlib.Path(folder)):
                wrong += status != 0
                print(f"{model.name} {what}: {line}", flush=True)
    sys.exit(1 if wrong else 0)


if __name__ == "__main__":
    main()
