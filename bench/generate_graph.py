#!/usr/bin/env python3
"""Writes graphs without a placement for shard-schedule, the same for a seed.

    bench/generate_graph.py random --ops=1000 --devices=8 --seed=1 -o graph.json

towers: two encoders that meet in a head. unet: a chain down and up with skips.
experts: layers of attention, a router, branches and a sum. random: layers, each
operator after some of the two layers before. inception: blocks of four branches of
one to three operators. hybrid: blocks with a gate beside a scan, and every fourth
one attention. Transfers take 1 to --transfer
between devices, and the parameters fill 1 / 1.3 of all memory.
"""

import argparse
import json
import random
import sys


class Builder:
    def __init__(self, seed, transfer):
        self.random = random.Random(seed)
        self.transfer = transfer
        self.ops, self.edges = [], []

    def add(self, after, least=2, most=16):
        index = len(self.ops)
        self.ops.append(
            {
                "id": f"op{index}",
                "time": self.random.randint(least, most),
                "parameter_bytes": self.random.randint(5, 20),
            }
        )
        for other in sorted(set(after)):
            self.edges.append(
                {
                    "from": f"op{other}",
                    "to": f"op{index}",
                    "bytes": self.random.randint(1, self.transfer),
                }
            )
        return index

    def chain(self, length, after):
        for _ in range(length):
            after = [self.add(after)]
        return after


def towers(builder, count):
    start = builder.add([])
    length = (count - 4) // 2
    ends = builder.chain(length, [start]) + builder.chain(length, [start])
    builder.chain(count - 1 - 2 * length, ends)


def unet(builder, count):
    depth = (count - 4) // 3
    skips, after = [], [builder.add([])]
    for _ in range(depth):
        after = [builder.add(after)]
        skips.append(builder.add(after))
    after = builder.chain(count - 1 - 3 * depth, after)
    for skip in reversed(skips):
        after = [builder.add([*after, skip])]


def experts(builder, count):
    after = [builder.add([])]
    while len(builder.ops) + 7 <= count:
        router = builder.add(builder.chain(1, after))
        after = [builder.add([builder.add([router]) for _ in range(4)])]
    builder.chain(count - len(builder.ops), after)


def layered(builder, count):
    width = max(3, round(count**0.5))
    for index in range(count):
        layer = index // width
        low, high = max(0, layer - 2) * width, layer * width
        pick = builder.random.randint(1, 3) if layer else 0
        builder.add([builder.random.randrange(low, high) for _ in range(pick)])


def inception(builder, count):
    after = [builder.add([])]
    while len(builder.ops) + 9 <= count:
        after = [builder.add([builder.chain(length, after)[0] for length in (1, 2, 3, 2)])]
    builder.chain(count - len(builder.ops), after)


def hybrid(builder, count):
    after, block = [builder.add([])], 0
    while len(builder.ops) + 6 <= count:
        block += 1
        start = builder.chain(1, after)
        gate = [] if block % 4 == 0 else builder.chain(1, start)
        after = [builder.add(builder.chain(4 - len(gate), start) + gate)]
    builder.chain(count - len(builder.ops), after)


SHAPES = {
    "towers": towers,
    "unet": unet,
    "experts": experts,
    "random": layered,
    "inception": inception,
    "hybrid": hybrid,
}


def generate(shape, count, devices, seed, transfer=5):
    builder = Builder(seed, transfer)
    SHAPES[shape](builder, count)
    total = sum(op["parameter_bytes"] for op in builder.ops)
    memory = int(1.3 * total / devices)
    return {
        "devices": [{"kind": "device", "memory": memory}] * devices,
        "ops": builder.ops,
        "edges": builder.edges,
    }


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("shape", choices=sorted(SHAPES))
    parser.add_argument("--ops", type=int, default=28)
    parser.add_argument("--devices", type=int, default=4)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--transfer", type=int, default=5, help="the longest")
    parser.add_argument("-o", default="-")
    args = parser.parse_args()
    graph = generate(args.shape, args.ops, args.devices, args.seed, args.transfer)
    text = json.dumps(graph) + "\n"
    if args.o == "-":
        sys.stdout.write(text)
    else:
        with open(args.o, "w") as file:
            file.write(text)


if __name__ == "__main__":
    main()
