#!/usr/bin/python3
"""Strategies that exercise a lowering: random, covering in some way, or all of them.

    strategies.py random model.mlir --shard-opt=build/bin/shard-opt [--count 200] ...
    strategies.py pairwise model.mlir --shard-opt=build/bin/shard-opt [--tp 2,4] ...

Prints one strategy a line, as `shard-run --strategies=` reads them. Strategies
that break a structural limit of the model are left out, by the word of
`--llm-evaluate-strategy`.
"""

import argparse
import itertools
import json
import pathlib
import random
import re
import subprocess
import sys
import tempfile

DIMS = (0, 1, 2)
BOTH = 3  # of a weight, where tp has a second axis


def numbers(text):
    return [int(item) for item in text.split(",")]


def pin(text):
    name, _, dim = text.partition("=")
    return name, [int(dim)]


def evaluate(shard_opt, module, strategies):
    """The metrics of strategies, in order."""
    with tempfile.TemporaryDirectory() as folder:
        listed, report = pathlib.Path(folder, "s.jsonl"), pathlib.Path(folder, "r.jsonl")
        write(listed, strategies)
        options = f"strategies={listed} report={report}"
        command = [shard_opt, module, f"--llm-evaluate-strategy=simulator=roofline {options}", "-o", "/dev/null"]
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
        return [json.loads(line) for line in report.read_text().splitlines()]


def legal(shard_opt, module, strategies):
    """Those of `strategies` that the program can be partitioned by."""
    strategies = list(strategies)
    results = evaluate(shard_opt, module, strategies)
    return [s for s, result in zip(strategies, results, strict=True) if result["valid"]]


def op_names(shard_opt, module):
    """The names of a module's ops, in the order of `dims`."""
    with tempfile.TemporaryDirectory() as folder:
        report = pathlib.Path(folder, "r.json")
        options = f"searcher=exact tp=1 ep=1 pp=1 batch=1 report={report}"
        command = [shard_opt, module, f"--llm-search-sharding=simulator=roofline {options}", "-o", "/dev/null"]
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        return list(json.loads(report.read_text())["best"]["strategy"]["dims"])


def has_grid(strategy, has_experts):
    """Whether the devices of a stage can be grouped by a strategy's degrees."""
    tp, ep = strategy["tp"], strategy["ep"]
    dp, cp, tp2 = strategy.get("dp", ep), strategy.get("cp", 1), strategy.get("tp2", 1)
    if (tp * dp) % ep or tp % cp:
        return False
    etp = tp * dp // ep

    def nests(part):
        return tp2 % part == 0 or part % tp2 == 0

    if tp2 > 1 and (tp % tp2 or tp2 == tp or not nests(cp) or (etp <= tp and not nests(etp))):
        return False
    if not has_experts:
        return ep == dp and "exchange" not in strategy
    return (tp % etp == 0 or etp % tp == 0) and (etp > tp or cp % etp == 0 or etp % cp == 0)


def written(degrees):
    """Degrees without those that have their default, as strategies are written."""
    defaults = {"dp": degrees["ep"], "cp": 1, "tp2": 1, "exchange": "all_to_all"}
    return {name: value for name, value in degrees.items() if value != defaults.get(name)}


def draw_degrees(rng, args, names):
    has_experts = any(name.endswith("dispatch") for name in names)
    while True:
        tp, ep, pp = (rng.choice(degrees) for degrees in (args.tp, args.ep, args.pp))
        degrees = {"tp": tp, "ep": ep, "pp": pp}
        if args.dp:
            degrees["dp"] = rng.choice(args.dp)
        if args.cp:
            degrees["cp"] = rng.choice(args.cp)
        if args.positions:
            degrees["cp"] = tp
        if args.tp2:
            degrees["tp2"] = rng.choice(args.tp2)
        if args.exchange:
            degrees["exchange"] = rng.choice(args.exchange)
        if not has_experts:
            degrees.pop("dp", None)
            degrees.pop("exchange", None)
        degrees = written(degrees)
        fits = tp * degrees.get("dp", ep) * pp <= args.most_ranks
        if fits and has_grid(degrees, has_experts):
            return degrees


def both_dims_ops(names):
    """Projections of networks, but for those of routed experts."""
    stacks = {name.rpartition(".")[0] for name in names if name.endswith("dispatch")}
    last = ("ffn_up", "ffn_down", "shared_up", "shared_down")
    return [
        name
        for name in names
        if name.endswith(last)
        and not (name.rpartition(".")[0] in stacks and name.endswith(last[:2]))
    ]


def draw_dims(rng, args, names, degrees):
    dims = {name: rng.choice(args.pin.get(name, DIMS)) for name in names}
    if degrees.get("cp", 1) > 1:  # of heads that are cut, or in prefill of whole ones
        wanted = 2 if args.positions else 0
        dims.update({name: wanted for name in names if name.endswith("attention")})
    if degrees.get("tp2", 1) > 1:
        own = [name for name in both_dims_ops(names) if name not in args.pin]
        dims.update({name: rng.choice((*DIMS, BOTH, BOTH, BOTH)) for name in own})
    return dims


def count_layers(module):
    """Layers of a program, in its repeats."""
    return sum(map(int, re.findall(r"llm\.repeat (\d+)", pathlib.Path(module).read_text())))


def draw_cut(rng, layers, pp):
    """Layers of each stage, every cut as likely as any other."""
    ends = [0, *sorted(rng.sample(range(1, layers), pp - 1)), layers]
    return [end - begin for begin, end in zip(ends, ends[1:])]


def draw(rng, args, names):
    strategy = {**draw_degrees(rng, args, names), "batch": rng.choice(args.batch)}
    if args.cuts and strategy["pp"] <= args.layers:
        strategy["stages"] = draw_cut(rng, args.layers, strategy["pp"])
    strategy["dims"] = draw_dims(rng, args, names, strategy)
    return strategy


def random_strategies(args, names):
    """`count` legal strategies, each variable drawn alone."""
    rng = random.Random(args.seed)
    args.layers = count_layers(args.module)
    found = []
    for _ in range(100):
        candidates = [draw(rng, args, names) for _ in range(2 * args.count)]
        found += legal(args.shard_opt, args.module, candidates)
        if len(found) >= args.count:
            return found[: args.count]
    sys.exit(f"{args.module}: only {len(found)} legal strategies of 100 x {2 * args.count} drawn")


DEFAULTS = {
    "count": 200,
    "seed": 1,
    "tp": [2, 4],
    "ep": [1, 2],
    "pp": [1, 2],
    "dp": [],
    "cp": [],
    "tp2": [],
    "exchange": [],
    "batch": [1, 2, 3, 4, 5, 7],
    "pin": {},
    "most_ranks": 1 << 20,
    "cuts": False,
    "positions": False,
}


def sample(shard_opt, module, **options):
    """Random legal strategies of a module; options as on the command line."""
    args = argparse.Namespace(shard_opt=shard_opt, module=module, **{**DEFAULTS, **options})
    return random_strategies(args, op_names(shard_opt, module))


def write(path, strategies):
    """Writes a list as `shard-run --strategies=` reads it; the path."""
    pathlib.Path(path).write_text("".join(json.dumps(s) + "\n" for s in strategies))
    return path


def allowed_dims(args, names, degrees):
    """The dims that each op may have, beside 2 of all others."""
    candidates = [
        {**degrees, "dims": {**dict.fromkeys(names, 2), name: dim}}
        for name in names
        for dim in args.pin.get(name, DIMS)
    ]
    results = evaluate(args.shard_opt, args.module, candidates)
    allowed = {name: [] for name in names}
    for candidate, result in zip(candidates, results, strict=True):
        if result["valid"]:
            (odd,) = [n for n, d in candidate["dims"].items() if d != 2] or [None]
            for name in [odd] if odd else names:
                dim = candidate["dims"][name]
                if dim not in allowed[name]:
                    allowed[name].append(dim)
    return {name: sorted(dims) for name, dims in allowed.items()}


def cover(names, allowed, rng):
    """Assignments in which each pair of dims of each two ops occurs.

    Greedy (Cohen et al., The AETG System, 1997): ops in random order take the
    dim that covers most pairs with those before them.
    """
    missing = {
        ((a, x), (b, y))
        for a, b in itertools.combinations(names, 2)
        for x in allowed[a]
        for y in allowed[b]
    }
    order = {name: i for i, name in enumerate(names)}

    def pair(one, other):
        return (one, other) if order[one[0]] < order[other[0]] else (other, one)

    rows = []
    while missing:
        best, best_gain = None, 0
        for _ in range(10):
            (first, second) = rng.choice(sorted(missing))
            row = dict([first, second])
            for name in rng.sample(names, len(names)):
                if name in row:
                    continue
                gains = [
                    sum(pair((name, dim), other) in missing for other in row.items())
                    for dim in allowed[name]
                ]
                ties = [d for d, gain in zip(allowed[name], gains) if gain == max(gains)]
                row[name] = rng.choice(ties)
            gain = sum(
                pair(one, other) in missing for one, other in itertools.combinations(row.items(), 2)
            )
            if gain > best_gain:
                best, best_gain = row, gain
        rows.append({name: best[name] for name in names})
        missing -= {pair(a, b) for a, b in itertools.combinations(best.items(), 2)}
    return rows


def pairs_of_degrees(args):
    """Choices of (tp, ep, pp) in which each two values of two degrees occur."""
    axes = {"tp": args.tp, "ep": args.ep, "pp": args.pp}
    rows = cover(list(axes), axes, random.Random(args.seed))
    return sorted(tuple(row.values()) for row in rows)


def pairwise_strategies(args, names):
    """A covering set of dims for each of a covering set of tp, ep and pp."""
    rng = random.Random(args.seed)
    found = []
    for tp, ep, pp in pairs_of_degrees(args):
        degrees = {"tp": tp, "ep": ep, "pp": pp, "batch": max(args.batch)}
        for dims in cover(names, allowed_dims(args, names, degrees), rng):
            found.append({**degrees, "batch": rng.choice(args.batch), "dims": dims})
    return legal(args.shard_opt, args.module, found)


# (tp, dp, ep): experts cut finer than all else, as fine and less fine, over one
# axis of the stage and over two.
GRIDS = (
    *((4, 2, 4), (6, 2, 4), (3, 2, 6), (4, 1, 4), (4, 2, 8), (2, 4, 2), (3, 4, 2)),
    *((2, 6, 2), (1, 4, 2), (1, 6, 1), (2, 3, 1), (3, 2, 2), (4, 1, 1), (6, 2, 6)),
)


def grid_strategies(args, names):
    """For each grid, exchange and cp, `count` strategies of random dims; batches
    that the replicas do not divide, and such as leave some without a row."""
    rng = random.Random(args.seed)
    has_experts = any(name.endswith("dispatch") for name in names)
    found = []
    for (tp, dp, ep), exchange, cp in itertools.product(
        GRIDS, ("all_to_all", "gather") if has_experts else ("all_to_all",), (1, 2, 3)
    ):
        ep = ep if has_experts else dp
        degrees = {"tp": tp, "dp": dp, "ep": ep, "pp": 1, "cp": cp, "exchange": exchange}
        if tp * dp > args.most_ranks or not has_grid(written(degrees), has_experts):
            continue
        drawn = []
        while len(drawn) < args.count:
            strategy = written({**degrees, "pp": rng.choice(args.pp)})
            strategy["batch"] = rng.choice([3 * dp - 1, 2 * dp - 1, max(1, dp - 1)])
            strategy["dims"] = draw_dims(rng, args, names, strategy)
            drawn += legal(args.shard_opt, args.module, [strategy])
        found += drawn
    return found


def single_strategies(args, names):
    """Each dim of each op alone, all others replicated, by each choice of degrees."""
    axes = (args.tp, args.ep, args.pp, args.batch)
    found = []
    for tp, ep, pp, batch in itertools.product(*axes):
        for name, dim in itertools.product(names, DIMS):
            dims = {**dict.fromkeys(names, 2), name: dim}
            found.append({"tp": tp, "ep": ep, "pp": pp, "batch": batch, "dims": dims})
    return legal(args.shard_opt, args.module, found)


def all_strategies(args, names):
    """All legal strategies, of a small program."""
    axes = (args.tp, args.ep, args.pp, args.batch)
    found = [
        {"tp": tp, "ep": ep, "pp": pp, "batch": batch, "dims": dict(zip(names, dims))}
        for tp, ep, pp, batch in itertools.product(*axes)
        for dims in itertools.product(*(args.pin.get(name, DIMS) for name in names))
    ]
    return legal(args.shard_opt, args.module, found)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("kind", choices=["random", "pairwise", "single", "grids", "all"])
    parser.add_argument("module")
    parser.add_argument("--shard-opt", required=True)
    parser.add_argument("--count", type=int, default=DEFAULTS["count"])
    parser.add_argument("--seed", type=int, default=DEFAULTS["seed"])
    parser.add_argument("--tp", type=numbers, default=DEFAULTS["tp"])
    parser.add_argument("--ep", type=numbers, default=DEFAULTS["ep"])
    parser.add_argument("--pp", type=numbers, default=DEFAULTS["pp"])
    parser.add_argument("--dp", type=numbers, default=[], help="ep where nothing is said")
    parser.add_argument("--cp", type=numbers, default=[])
    parser.add_argument("--tp2", type=numbers, default=[])
    parser.add_argument("--exchange", type=lambda text: text.split(","), default=[])
    parser.add_argument("--batch", type=numbers, default=DEFAULTS["batch"])
    parser.add_argument("--most-ranks", type=int, default=DEFAULTS["most_ranks"])
    parser.add_argument("--cuts", action="store_true", help="stages of unlike layers")
    parser.add_argument(
        "--positions", action="store_true", help="prefill with positions cut over tp, heads whole"
    )
    parser.add_argument("--pin", type=pin, action="append", default=[], metavar="OP=DIM")
    args = parser.parse_args()
    args.pin = dict(args.pin)
    names = op_names(args.shard_opt, args.module)
    kinds = {
        "random": random_strategies,
        "pairwise": pairwise_strategies,
        "single": single_strategies,
        "grids": grid_strategies,
        "all": all_strategies,
    }
    make = kinds[args.kind]
    for strategy in make(args, names):
        print(json.dumps(strategy))


if __name__ == "__main__":
    main()
