#!/usr/bin/env python3
"""Writes an instance of the strategy-selection problem: a transformer on a mesh.

Each node is a tensor of an op. A strategy gives every axis of the mesh a dimension of
the op to split, or none; products are split over all axes or none. Sums that are split
are reduced over their axes, and tensors change layout between ops axis by axis, or by
gathering all. Weights live all the time, other tensors until they are last read. The
limit is a multiple of what the smallest usages need. The same seed draws the same
model, in the sizes of its dimensions and the speeds of the axes.
"""

import argparse
import gzip
import itertools
import json
import math
import random
import sys

INFINITE = 10**18
BYTES = 4  # of an element


class Program:
    """Ops in order, with the strategies of each and what edges between them cost."""

    def __init__(self, mesh, sizes, latency, speeds, most_split):
        self.mesh, self.sizes = mesh, sizes
        self.latency, self.speeds, self.most_split = latency, speeds, most_split
        self.nodes, self.edges = [], []
        self.tables = {}  # of edges between nodes that are alike, which layers repeat

    def bytes(self, dims):
        return BYTES * math.prod(self.sizes[dim] for dim in dims)

    def parts(self, layout):
        """Of a tensor whose layout has, for each axis, a dimension or None."""
        return math.prod(n for n, dim in zip(self.mesh, layout) if dim is not None)

    def collective(self, axis, size):
        n = self.mesh[axis]
        return self.latency + (n - 1) / n * size * self.speeds[axis]

    def change(self, dims, have, want):
        """What it costs to bring a tensor from one layout into another."""
        leaves = [a for a, dim in enumerate(have) if dim is not None and dim != want[a]]
        size, cost = self.bytes(dims) / self.parts(have), 0.0
        moves_one = sum(map(lambda a, b: a != b, have, want)) == 1
        for axis in leaves:
            if moves_one and want[axis] is not None:  # all to all
                return int(self.collective(axis, size))
            size *= self.mesh[axis]
            cost += self.collective(axis, size)
        return int(cost)

    def splits(self, loops):
        """All that gives each axis a loop that it divides, or none."""
        for split in itertools.product([None, *loops], repeat=len(self.mesh)):
            used = {loop for loop in split if loop}
            shares = {
                loop: math.prod(n for n, own in zip(self.mesh, split) if own == loop)
                for loop in used
            }
            if len(used) <= self.most_split and not any(
                self.sizes[loop] % share for loop, share in shares.items()
            ):
                yield split

    def add(self, dims, operands=(), summed=(), is_weight=False, is_product=False, follows=False):
        """A node for a tensor of `dims`; operands are (node, what its dims are called
        here). With `follows`, the layout is that of the first one."""
        number, strategies, costs = len(self.nodes), [], []
        for split in self.splits([*dims, *summed]):
            layout = tuple(dim if dim and dim in dims else None for dim in split)
            size = self.bytes(dims) / self.parts(layout)
            reduced = [axis for axis, dim in enumerate(split) if dim and dim in summed]
            cost = sum(2 * self.collective(axis, size) for axis in reduced)
            if is_product and split.count(None) not in (0, len(split)):
                cost = INFINITE
            strategies.append((split, layout))
            costs.append(int(cost))
        usages = [self.bytes(dims) // self.parts(layout) for _, layout in strategies]
        node = {"dims": dims, "summed": summed, "strategies": strategies, "costs": costs}
        node |= {"usages": usages, "begin": number, "end": number + 1, "weight": is_weight}
        self.nodes.append(node)
        for place, (operand, names) in enumerate(operands):
            self.connect(operand, number, names, follows and place == 0)
        return number

    def connect(self, operand, number, names, is_equal):
        source, node = self.nodes[operand], self.nodes[number]
        source["end"] = max(source["end"], number + 1)
        key = tuple((one["dims"], one["summed"]) for one in (source, node))
        key += (names, is_equal)
        if key not in self.tables:
            self.tables[key] = self.table(source, node, names, is_equal)
        self.edges.append(([operand, number], self.tables[key]))

    def table(self, source, node, names, is_equal):
        own_name, table = dict(zip(names, source["dims"])), []
        for _, have in source["strategies"]:
            for split, _ in node["strategies"]:
                want = tuple(own_name.get(dim) for dim in split)
                if is_equal:
                    table.append(0 if want == have else INFINITE)
                else:
                    table.append(self.change(source["dims"], have, want))
        return table

    def elementwise(self, *operands):
        dims = self.nodes[operands[0]]["dims"]
        named = [(node, self.nodes[node]["dims"]) for node in operands]
        return self.add(dims, named, follows=True)

    def product(self, dims, summed, *operands):
        return self.add(dims, operands, summed, is_product=True)

    def weight(self, dims):
        return self.add(dims, is_weight=True)

    def instance(self, tightness):
        end = len(self.nodes)
        intervals = [
            [0, end] if node["weight"] else [node["begin"], node["end"]] for node in self.nodes
        ]
        changes = [0] * (end + 1)
        for (begin, stop), node in zip(intervals, self.nodes):
            changes[begin] += min(node["usages"])
            changes[stop] -= min(node["usages"])
        nodes = {key: [node[key] for node in self.nodes] for key in ("costs", "usages")}
        return {
            "problem": {
                "name": "transformer on a mesh",
                "edges": {
                    "nodes": [members for members, _ in self.edges],
                    "costs": [table for _, table in self.edges],
                },
                "nodes": {"intervals": intervals, **nodes},
                "usage_limit": int(tightness * max(itertools.accumulate(changes))),
            }
        }


def add_norm(program, x):
    scale = program.weight("d")
    square = program.elementwise(x)
    mean = program.add("bs", [(square, "bsd")], summed="d")
    wide = program.add("bsd", [(program.elementwise(mean), "bs")])
    y = program.elementwise(x, wide)
    return program.elementwise(y, program.add("bsd", [(scale, "d")]))


def add_attention(program, y):
    q, k, v = [
        program.product("bshk", "d", (y, "bsd"), (program.weight("dhk"), "dhk")) for _ in range(3)
    ]
    q = program.elementwise(program.elementwise(q))
    k, v = program.elementwise(k), program.elementwise(v)
    # Positions of keys are a dimension of their own, of the same size.
    scores = program.elementwise(program.product("bhst", "k", (q, "bshk"), (k, "bthk")))
    mask = program.add("bhst", [(program.add("st"), "st")])
    scores = program.elementwise(scores, mask)
    most = program.add("bhs", [(scores, "bhst")], summed="t")
    scores = program.elementwise(scores, program.add("bhst", [(most, "bhs")]))
    scores = program.elementwise(scores)
    total = program.add("bhs", [(scores, "bhst")], summed="t")
    shares = program.elementwise(scores, program.add("bhst", [(total, "bhs")]))
    mixed = program.product("bshk", "t", (shares, "bhst"), (v, "bthk"))
    mixed = program.elementwise(mixed)
    weight = program.weight("hkd")
    return program.product("bsd", "hk", (mixed, "bshk"), (weight, "hkd"))


def add_feed_forward(program, y):
    h = program.product("bsf", "d", (y, "bsd"), (program.weight("df"), "df"))
    bias = program.add("bsf", [(program.weight("f"), "f")])
    h = program.elementwise(program.elementwise(program.elementwise(h, bias)))
    return program.product("bsd", "f", (h, "bsf"), (program.weight("fd"), "fd"))


def transformer(mesh, layers, seed, most_split=2):
    rng = random.Random(seed)
    sizes = {
        "b": rng.choice([8, 16, 32, 64]),
        "s": rng.choice([32, 64, 128, 256]),
        "d": rng.choice([512, 1024, 2048]),
        "h": rng.choice([8, 16]),
        "k": rng.choice([64, 128]),
        "f": rng.choice([2048, 4096, 8192]),
        "v": 32000,
    }
    sizes["t"] = sizes["s"]
    speeds = [rng.choice([1, 2, 4, 8]) / 64 for _ in mesh]
    program = Program(mesh, sizes, rng.choice([0, 10, 100]), speeds, most_split)
    words = program.weight("vd")
    x = program.add("bsd", [(program.add("bs"), "bs"), (words, "vd")], summed="v")
    for _ in range(layers):
        for block in (add_attention, add_feed_forward):
            y = program.elementwise(block(program, add_norm(program, x)))
            x = program.elementwise(y, x)
    program.product("bsv", "d", (add_norm(program, x), "bsd"), (words, "vd"))
    return program


def write(path, program, tightness):
    text = json.dumps(program.instance(tightness), separators=(",", ":")) + "\n"
    # Without a time in the header, so that the same instance has the same bytes.
    with open(path, "wb") as file, gzip.GzipFile("", "wb", 1, file, mtime=0) as packed:
        packed.write(text.encode())


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--mesh", default="2,16", help="sizes of axes (default: 2,16)")
    parser.add_argument("--layers", type=int, default=12)
    parser.add_argument("--most-split", type=int, default=2, help="dimensions of an op")
    parser.add_argument("--tightness", type=float, default=1.1)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("-o", dest="output", required=True, help="ends in .gz")
    args = parser.parse_args()
    mesh = [int(size) for size in args.mesh.split(",")]
    write(args.output, transformer(mesh, args.layers, args.seed, args.most_split), args.tightness)
    return 0


if __name__ == "__main__":
    sys.exit(main())
