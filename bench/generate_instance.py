#!/usr/bin/env python3
"""Writes an instance of the strategy-selection problem (docs/Solve.md).

Nodes stand in a line and are joined with those shortly before them, or with their
copies of an earlier layer by an edge that wants equal strategies. Memory lives for
some nodes on; its limit is a multiple of what the smallest usages need. The default
is as large as the largest instance of the contest that is not public: 1.3 GB.
"""

import argparse
import gzip
import itertools
import random
import sys

INFINITE = 10**18


class Tables:
    """Cost tables as text. Few different ones of each shape are drawn, since
    drawing a hundred million numbers is slow."""

    VARIANTS = 64

    def __init__(self, rng, forbidden):
        self.rng, self.forbidden, self.pools = rng, forbidden, {}

    def make(self, sizes):
        count = 1
        for size in sizes:
            count *= size
        entries = [self.rng.randrange(10 ** self.rng.choice((3, 6, 9))) for _ in range(count)]
        for entry in range(1, count):
            if self.rng.random() < self.forbidden:
                entries[entry] = INFINITE
        return "[" + ",".join(map(str, entries)) + "]"

    def draw(self, *sizes):
        pool = self.pools.setdefault(sizes, [])
        if len(pool) < self.VARIANTS:
            pool.append(self.make(sizes))
            return pool[-1]
        return self.rng.choice(pool)

    def equality(self, size):
        if ("equal", size) not in self.pools:
            rows = [INFINITE] * (size * size)
            rows[:: size + 1] = [0] * size
            self.pools["equal", size] = "[" + ",".join(map(str, rows)) + "]"
        return self.pools["equal", size]


def write_array(out, key, elements):
    """`"key":[…]`, some elements at a time."""
    out.write(f'"{key}":[')
    first = True
    elements = iter(elements)
    while chunk := list(itertools.islice(elements, 4096)):
        out.write(("" if first else ",\n") + ",".join(chunk))
        first = False
    out.write("]")


def draw_edges(rng, args, sizes):
    """Pairs of nodes, or more, and whether they are to be equal."""
    edges = []
    for _ in range(round(args.nodes * args.degree / 2)):
        node = rng.randrange(1, args.nodes)
        other = node - rng.randint(1, min(node, args.reach))
        members = [other, node]
        is_equal = sizes[other] == sizes[node] and rng.random() < args.equal
        if not is_equal and args.wide and rng.random() < args.wide:
            members.append(rng.randrange(args.nodes))
        edges.append((members, is_equal))
    return edges


def write(out, args):
    rng = random.Random(args.seed)
    sizes = [rng.randint(2, args.strategies) for _ in range(args.nodes)]
    # The first strategy uses the least, and is permitted with all first ones.
    usages = [sorted(rng.randrange(1, 10**6) for _ in range(k)) for k in sizes]
    intervals = []
    for node in range(args.nodes):
        length = 0 if rng.random() < 0.1 else rng.randint(1, args.reach)
        intervals.append((node, node + length))

    changes = [0] * (args.nodes + args.reach + 1)
    for (begin, end), usage in zip(intervals, usages):
        changes[begin] += usage[0]
        changes[end] -= usage[0]
    limit = int(args.tightness * max(itertools.accumulate(changes)))

    edges = draw_edges(rng, args, sizes)
    tables = Tables(rng, args.forbidden)
    out.write('{"problem":{"name":"generated","edges":{')
    write_array(out, "nodes", (str(members) for members, _ in edges))
    out.write(",")
    write_array(
        out,
        "costs",
        (
            tables.equality(sizes[members[0]])
            if is_equal
            else tables.draw(*(sizes[member] for member in members))
            for members, is_equal in edges
        ),
    )
    out.write('},"nodes":{')
    write_array(out, "intervals", (f"[{begin},{end}]" for begin, end in intervals))
    out.write(",")
    write_array(out, "costs", (tables.draw(size) for size in sizes))
    out.write(",")
    write_array(out, "usages", map(str, usages))
    out.write(f'}},"usage_limit":{limit}}}}}\n')


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--nodes", type=int, default=62000)
    parser.add_argument("--degree", type=float, default=20, help="mean (default: 20)")
    parser.add_argument("--strategies", type=int, default=31, help="most of a node")
    parser.add_argument("--reach", type=int, default=200, help="of edges and memory")
    parser.add_argument("--equal", type=float, default=0.4, help="part of the edges")
    parser.add_argument("--wide", type=float, default=0, help="part of three nodes")
    parser.add_argument("--forbidden", type=float, default=0.05, help="part of the entries")
    parser.add_argument("--tightness", type=float, default=1.1)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("-o", dest="output", required=True, help="may end in .gz")
    args = parser.parse_args()
    opener = gzip.open if args.output.endswith(".gz") else open
    with opener(args.output, "wt") as out:
        write(out, args)
    return 0


if __name__ == "__main__":
    sys.exit(main())
