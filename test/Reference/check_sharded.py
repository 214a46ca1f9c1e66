#!/usr/bin/python3
"""Sharded programs against the unsharded one, on random strategies.

    check_sharded.py --shard-opt build/bin/shard-opt \\
        --shard-translate build/bin/shard-translate [--count 20] [--seed 1]

Each config of execution/small_models.py is imported, annotated, lowered by
--llm-insert-collectives, and executed on all devices in lockstep with random
weights, in prefill and in decode. Token ids, logits and caches of every device
must be its slice of the unsharded program's. The first op that differs is named.

The same program, cut by --llm-split-stages and with its weights made arguments,
is executed too, stage by stage and micro-batch by micro-batch.
"""

import argparse
import json
import pathlib
import random
import sys
import tempfile
import traceback
import zlib

import numpy as np

import tools
from cost.models import Model
from cost.strategies import Strategy
from execution.session import Session, StagedSession
from execution.slices import block_of, entries
from execution.small_models import CONFIGS, Weights
from workloads import ROOT

TOLERANCE = 1e-9  # of the largest value; all is computed in f64
STEPS = 5  # of decode, more than a window
LENGTH = 6  # of prompts, and positions of the caches beyond the steps


def draw(model, phase, rng):
    """A legal strategy of few devices, and a number of prompts."""
    tp, pp = rng.choice((1, 2, 2, 3, 4, 4, 5)), rng.choice((1, 1, 2, 2, 3, 5))
    ep = rng.choice([ep for ep in (1, 1, 2, 3, 4) if "moe" not in model.kinds or ep <= model.E])
    dims = []
    for name in model.op_names():
        legal = [0, 1, 2]
        split_pairs = model.mla or phase == "prefill" or model.dh % (2 * tp) != 0
        if name.endswith("attention") and split_pairs:
            legal = [0, 2]
        dims.append(rng.choice(legal))
    prompts = rng.choice((1, 3, 4, 5, 8))
    # The batch that costs are for need not be the number of prompts that come.
    batch = max(1, prompts + rng.choice((0, 0, 1, 3)))
    return Strategy(tp, ep, pp, batch, tuple(dims)), prompts


def global_value(description, values, session):
    """A marked value of the whole tensor-parallel group, by ep coordinate; or None."""
    if description["rows"] == "experts":
        return None
    layout, groups = description["layout"], {}
    for device, value in enumerate(values):
        place, grid = session.place(device)
        if place.get("pp", 0) == 0:
            groups.setdefault(place.get("ep", 0), []).append(value)
    result = {}
    for ep, parts in groups.items():
        if layout == "R":
            result[ep] = parts[0]
        elif layout == "P":
            result[ep] = sum(parts)
        elif layout == "T":
            result[ep] = np.concatenate(parts)
        else:
            columns = [entries(runs) for runs in description["order"]]
            whole = np.zeros((len(parts[0]), max(c.max() for c in columns) + 1))
            for part, held in zip(parts, columns):
                whole[:, held[held >= 0]] = part[:, held >= 0]
            result[ep] = whole
    return result


def first_difference(whole, sharded):
    """Words on the first marked value that is not the unsharded program's."""
    executions = {}
    grid = sharded.place(0)[1]
    for description, values in sharded.interpreter.marked:
        name = description["op"]
        execution = executions[name] = executions.get(name, -1) + 1
        known = whole.interpreter.trace.get(name)
        found = global_value(description, values, sharded)
        if known is None or execution >= len(known) or found is None:
            continue
        expected = known[execution][0][0]
        for ep, value in found.items():
            each = len(expected) // sharded.prompts
            own = block_of(sharded.prompts, ["ep"], {"ep": ep}, grid)
            part = expected[own.start * each : own.stop * each]
            value = value[: len(part)]  # in T, padding follows
            if value.shape != part.shape:
                return f"{name}, execution {execution}, ep {ep}: {value.shape}, not {part.shape}"
            if np.abs(value - part).max(initial=0) > 1e-6 * np.abs(expected).max():
                rows, columns = np.nonzero(np.abs(value - part) > 1e-6 * np.abs(expected).max())
                return (
                    f"{name}, execution {execution}, ep {ep}, layout {description['layout']}: rows "
                    f"{sorted(set(rows))}, columns {sorted(set(columns))[:8]}"
                )
    return "no marked value differs"


def difference(role, device, expected, part, found):
    """Words on a device's value that is not its part of the unsharded program's."""
    if part.shape != found.shape:
        return [f"{role} of device {device}: {found.shape}, not {part.shape}"]
    if np.abs(part - found).max(initial=0) > TOLERANCE * np.abs(expected).max():
        return [f"{role} of device {device} differs"]
    return []


def compare_results(whole, expected, sharded, inputs):
    """Steps the sharded program; words on what differs."""
    words = []
    for (role, _, one), (_, held, many) in zip(expected, sharded.step(*inputs), strict=True):
        for device in sharded.devices:
            part = sharded.part(one[0], held, device)
            words += difference(role, device, one[0], part, many[device])
    if words:
        words.append("first: " + first_difference(whole, sharded))
    return words


def compare_stages(expected, staged, inputs):
    """Steps the program that is cut into stages; words on what differs."""
    # A cache has the name of the argument that it comes from, which are in order.
    caches = [value for role, _, (value,) in expected if role == "cache"]
    names = {
        attributes["shardopt.slice"]["name"]
        for entry in staged.stages
        for role, attributes in entry.results
        if role == "cache"
    }
    ordered = sorted(names, key=lambda name: int(name.removeprefix("arg")))
    wholes = dict(zip(ordered, caches, strict=True))
    wholes.update({role: value for role, _, (value,) in expected if role != "cache"})
    words, seen = [], set()
    for role, held, micro, values in staged.step(*inputs):
        name = held["name"] if role == "cache" else role
        seen.add(name)
        for device, found in values.items():
            part = staged.part(wholes[name], held, device, micro)
            what = f"stages, micro-batch {micro[0]}: {name}"
            words += difference(what, device, wholes[name], part, found)
    assert seen == set(wholes), f"stages return {seen}, not {set(wholes)}"
    return words


def split(args, annotated, passes, tp, slow):
    """The generic assembly of the stages of a program, with weights as arguments.

    slow: whether the network between tensor-parallel groups is so slow that a
    residual that all of a group hold is sent in parts and gathered.
    """
    machine = json.loads((ROOT / "machines/h100_sxm.json").read_text())
    if slow:
        machine["domain"]["devices"] = tp
        machine["network"]["bandwidth_bytes_per_s"] = 1e3
    with tempfile.NamedTemporaryFile("w", suffix=".json") as file:
        json.dump(machine, file)
        file.flush()
        last = [f"--llm-split-stages=machine={file.name}", "--llm-params-to-arguments"]
        return tools.generic(args.shard_opt, annotated, *passes, *last)


def check(args, config, phase, names, strategy, prompts):
    """Words on what differs between a sharded program and the unsharded one."""
    weights = Weights()
    tokens = np.random.default_rng(prompts).integers(config["vocab_size"], size=(prompts, LENGTH))
    module = tools.imported(args.shard_translate, config, phase, LENGTH, "--logits")
    whole = Session(tools.generic(args.shard_opt, module), weights, prompts, LENGTH + STEPS)
    passes = ["--llm-insert-collectives"]
    if args.optimize:
        passes.append("--llm-optimize-collectives")
    annotated = tools.annotate(module, dict(zip(names, strategy.dims)), strategy)
    text = tools.generic(args.shard_opt, annotated, *passes)
    if args.keep:
        pathlib.Path(args.keep).write_text(text)
    sharded = Session(text, weights, prompts, LENGTH + STEPS)
    text = split(args, annotated, passes, strategy.tp, slow=prompts % 2 == 0)
    if args.keep:
        pathlib.Path(args.keep).with_suffix(".stages.mlir").write_text(text)
    staged = StagedSession(text, weights, prompts, LENGTH + STEPS)

    def compare(inputs):
        expected = whole.step(*inputs)
        words = compare_results(whole, expected, sharded, inputs)
        return words + compare_stages(expected, staged, inputs)

    if phase == "prefill":
        return compare((tokens.reshape(-1), np.tile(np.arange(LENGTH), prompts)))
    begin = np.arange(prompts) % 3  # sequences of one batch are not equally long
    for i in range(STEPS):
        words = compare((tokens[:, i], begin + i))
        if words:
            return [f"step {i}"] + words
    return []


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    tools.add_arguments(parser)
    parser.add_argument("--count", type=int, default=20, help="strategies a model and phase")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--only", default="", help="models and phases with this in 'model phase'")
    parser.add_argument("--optimize", action="store_true", help="run --llm-optimize-collectives")
    parser.add_argument("--strategy", help="one strategy as JSON, with 'prompts', instead of random")
    parser.add_argument("--keep", help="where to leave the last lowered program, whole and in stages")
    args = parser.parse_args()

    wrong = 0
    for name, config in CONFIGS.items():
        model = Model(config)
        for phase in ("decode", "prefill"):
            title = f"{name} {phase}"
            if args.only not in title:
                continue
            rng = random.Random(args.seed + zlib.crc32(title.encode()))
            drawn = [draw(model, phase, rng) for _ in range(args.count)]
            if args.strategy:
                value = json.loads(args.strategy)
                drawn = [(Strategy.from_json(value, model), value["prompts"])]
            failed = 0
            for strategy, prompts in drawn:
                try:
                    words = check(args, config, phase, model.op_names(), strategy, prompts)
                except Exception as error:
                    words = traceback.format_exception(error)[-3:]
                if words:
                    failed += 1
                    spelled = {**strategy.to_json(), "prompts": prompts}
                    print(f"{title} {json.dumps(spelled)}")
                    print("  " + "\n  ".join(words))
            wrong += failed
            print(f"{title}: {failed} of {len(drawn)} differ", flush=True)
    sys.exit(1 if wrong else 0)


if __name__ == "__main__":
    main()
