#!/usr/bin/env python3
"""Holds --shard-auto-annotate on random linalg functions against an enumeration of all
strategies, whose rules and times are written here and in test/Reference, and executes what
upstream's shard-partition makes of it against NumPy."""

import argparse
import dataclasses
import itertools
import json
import math
import pathlib
import random
import re
import subprocess
import sys
import tempfile

import numpy as np

ROOT = pathlib.Path(__file__).resolve().parents[3]
sys.path[:0] = [str(ROOT / "test/Semantics"), str(ROOT / "test/Reference")]

import tools  # noqa: E402
from cost.machines import MACHINES  # noqa: E402
from cost.network import Network  # noqa: E402

KERNEL = 2e-6
PARTITION = (
    "builtin.module(func.func(sharding-propagation{traversal=forward-backward},shard-partition),"
    "canonicalize,cse)"
)
# Maps of operands and result over loops, kinds of loops, arithmetic of an element.
OPS = {
    "matmul": ([(0, 2), (2, 1)], (0, 1), "ppr", 2),
    "add": ([(0, 1), (0, 1)], (0, 1), "pp", 1),
    "bias": ([(0, 1), (1,)], (0, 1), "pp", 1),
    "transpose": ([(1, 0)], (0, 1), "pp", 0),
    "rows": ([(0, 1)], (0,), "pr", 1),
}
# Reshapes, which upstream does not partition: replicated, and nothing to do.
RESHAPES = ("collapse", "expand")


def text_of(shape):
    return "tensor<" + "".join(f"{size}x" for size in shape) + "f32>"


def affine(dims, loops):
    names = [f"d{i}" for i in range(loops)]
    return f"affine_map<({', '.join(names)}) -> ({', '.join(names[d] for d in dims)})>"


class Graph:
    """A random function: arguments, ops in order, results that nobody reads."""

    def __init__(self, rng, size):
        self.shapes, self.arguments, self.pinned, self.ops = {}, [], set(), []
        scale = rng.choice((1, 64))
        dims = [scale * size for size in (4, 8, 12, 6)]
        count = itertools.count()

        def argument(shape):
            name = f"a{next(count)}"
            self.shapes[name] = shape
            self.arguments.append(name)
            if rng.random() < 0.4:
                self.pinned.add(name)
            return name

        def find(wanted):
            known = [name for name, shape in self.shapes.items() if wanted(shape)]
            return rng.choice(known[-3:]) if known and rng.random() < 0.75 else None

        for _ in range(size):
            kind = rng.choice([*OPS, *RESHAPES])
            if kind == "expand":
                x = find(lambda shape: len(shape) == 1 and shape[0] % 2 == 0) or argument((math.prod(rng.choices(dims, k=2)),))
                rows = rng.choice([n for n in (2, *dims) if self.shapes[x][0] % n == 0])
                columns = self.shapes[x][0] // rows
            else:
                x = find(lambda shape: len(shape) == 2) or argument((rng.choice(dims), rng.choice(dims)))
                rows, columns = self.shapes[x]
            if kind in RESHAPES:
                reads, shape, loops = [x], (rows, columns) if kind == "expand" else (rows * columns,), ()
            elif kind == "matmul":
                k = columns
                y = find(lambda s: len(s) == 2 and s[0] == k) or argument((k, rng.choice(dims)))
                reads, shape, loops = [x, y], (rows, self.shapes[y][1]), (rows, self.shapes[y][1], k)
            elif kind == "add":
                y = find(lambda s: s == (rows, columns)) or argument((rows, columns))
                reads, shape, loops = [x, y], (rows, columns), (rows, columns)
            elif kind == "bias":
                y = find(lambda s: s == (columns,)) or argument((columns,))
                reads, shape, loops = [x, y], (rows, columns), (rows, columns)
            elif kind == "transpose":
                reads, shape, loops = [x], (columns, rows), (columns, rows)
            else:
                reads, shape, loops = [x], (rows,), (rows, columns)
            name = f"v{next(count)}"
            self.shapes[name] = shape
            self.ops.append((name, kind, reads, loops))
        read = {name for _, _, reads, _ in self.ops for name in reads}
        self.results = [name for name, *_ in self.ops if name not in read]

    def module(self):
        arguments = ", ".join(
            f"%{name}: {text_of(self.shapes[name])}"
            + (" {shardopt.replicated}" if name in self.pinned else "")
            for name in self.arguments
        )
        types = ", ".join(text_of(self.shapes[name]) for name in self.results)
        lines = [f"func.func @main({arguments}) -> ({types}) {{", "  %zero = arith.constant 0.0 : f32"]
        for name, kind, reads, loops in self.ops:
            made = text_of(self.shapes[name])
            if kind in RESHAPES:
                sizes = f" output_shape [{', '.join(map(str, self.shapes[name]))}]" if kind == "expand" else ""
                source = text_of(self.shapes[reads[0]])
                lines.append(f"  %{name} = tensor.{kind}_shape %{reads[0]} [[0, 1]]{sizes} : {source} into {made}")
                continue
            maps, result, kinds, _ = OPS[kind]
            lines += [
                f"  %e_{name} = tensor.empty() : {made}",
                f"  %z_{name} = linalg.fill ins(%zero : f32) outs(%e_{name} : {made}) -> {made}",
            ]
            shown = ", ".join(affine(each, len(loops)) for each in (*maps, result))
            kinds = ", ".join('"parallel"' if each == "p" else '"reduction"' for each in kinds)
            inputs = ", ".join(f"%{each}" for each in reads)
            input_types = ", ".join(text_of(self.shapes[each]) for each in reads)
            block = ", ".join([*(f"%i{i}: f32" for i in range(len(reads))), "%o: f32"])
            body = {
                "matmul": ["%m = arith.mulf %i0, %i1 : f32", "%s = arith.addf %m, %o : f32", "%s"],
                "add": ["%s = arith.addf %i0, %i1 : f32", "%s"],
                "bias": ["%s = arith.addf %i0, %i1 : f32", "%s"],
                "transpose": ["%i0"],
                "rows": ["%s = arith.addf %i0, %o : f32", "%s"],
            }[kind]
            lines += [
                f"  %{name} = linalg.generic {{indexing_maps = [{shown}], iterator_types = [{kinds}]}} "
                f"ins({inputs} : {input_types}) outs(%z_{name} : {made}) {{",
                f"  ^bb0({block}):",
                *(f"    {line}" for line in body[:-1]),
                f"    linalg.yield {body[-1]} : f32",
                f"  }} -> {made}",
            ]
        results = ", ".join(f"%{name}" for name in self.results)
        return "\n".join([*lines, f"  return {results} : {types}", "}"]) + "\n"

    def computed(self, values):
        values = dict(values)
        for name, kind, reads, _ in self.ops:
            x = [values[each] for each in reads]
            values[name] = {
                "matmul": lambda: x[0] @ x[1],
                "add": lambda: x[0] + x[1],
                "bias": lambda: x[0] + x[1],
                "transpose": lambda: x[0].T,
                "rows": lambda: x[0].sum(1),
                "collapse": lambda: x[0].reshape(self.shapes[name]),
                "expand": lambda: x[0].reshape(self.shapes[name]),
            }[kind]()
        return [values[name] for name in self.results]


# --- the least cost, by enumeration -----------------------------------------------------


class Costs:
    """Seconds on H100s of one NVLink domain, which compute `slower`. A layout has the dim that
    each axis of the mesh shards, or None; later axes cut the blocks of earlier ones."""

    def __init__(self, graph, mesh, slower):
        self.graph, self.mesh = graph, mesh
        known = MACHINES["h100_sxm"]
        self.machine = dataclasses.replace(
            known, flops=known.flops / slower, memory_bandwidth=known.memory_bandwidth / slower
        )
        self.network = Network(self.machine)
        self.distances = {}

    def blocks(self, layout, dim):
        return math.prod(n for n, each in zip(self.mesh, layout) if each == dim)

    def fits(self, shape, layout):
        return all(size % self.blocks(layout, dim) == 0 for dim, size in enumerate(shape))

    def layouts(self, shape):
        dims = (None, *range(len(shape)))
        return [each for each in itertools.product(dims, repeat=len(self.mesh)) if self.fits(shape, each)]

    def size(self, name, layout):
        cut = math.prod(n for n, each in zip(self.mesh, layout) if each is not None)
        return 4 * math.prod(self.graph.shapes[name]) / cut

    def steps(self, name, layout):
        """Layouts one collective or slice away, with its seconds."""
        held = self.size(name, layout)
        for axis, n in enumerate(self.mesh):
            now = layout[axis]
            if now is not None and now in layout[axis + 1 :]:
                continue
            for then in (None, *range(len(self.graph.shapes[name]))):
                next_one = (*layout[:axis], then, *layout[axis + 1 :])
                blocked = then is not None and then in layout[axis + 1 :]
                if then == now or blocked or not self.fits(self.graph.shapes[name], next_one):
                    continue
                if now is None:
                    yield next_one, 0.0
                elif then is None:
                    yield next_one, self.network.all_gather(held * n, n)
                else:
                    yield next_one, self.network.all_to_all(held, n)

    def reshard(self, name, made, wanted):
        """The least sum of steps, by relaxing all of them until nothing changes."""
        if (name, made) not in self.distances:
            found, before = {made: 0.0}, None
            while found != before:
                before = dict(found)
                for at, spent in before.items():
                    for there, seconds in self.steps(name, at):
                        found[there] = min(found.get(there, math.inf), spent + seconds)
            self.distances[name, made] = found
        return self.distances[name, made][wanted]

    def choices(self):
        """Of each argument the layouts, of each op (seconds, layouts of operands, layout of the result)."""
        whole = (None,) * len(self.mesh)
        for name in self.graph.arguments:
            known = [whole] if name in self.graph.pinned else self.layouts(self.graph.shapes[name])
            yield [(0.0, (), layout) for layout in known]
        for name, kind, reads, loops in self.graph.ops:
            if kind in RESHAPES:
                yield [(0.0, (whole,), whole)]
                continue
            maps, result, kinds, arithmetic = OPS[kind]
            found = []
            for cut in self.layouts(loops):  # axes shard loops, as they shard dims
                layouts = [tuple(each.index(loop) if loop in each else None for loop in cut) for each in maps]
                made = tuple(result.index(loop) if loop in result else None for loop in cut)
                moved = sum(map(self.size, reads, layouts)) + self.size(name, made)
                devices = math.prod(n for n, loop in zip(self.mesh, cut) if loop is not None)
                flops = arithmetic * math.prod(loops) / devices
                time = max(flops / self.machine.flops, moved / self.machine.memory_bandwidth) + KERNEL
                for n, loop in zip(self.mesh, cut):
                    if loop is not None and kinds[loop] == "r":
                        time += self.network.all_reduce(self.size(name, made), n)
                found.append((time, tuple(layouts), made))
            yield found

    def least(self):
        """The least sum over all combinations, as far as partial sums allow."""
        names = [*self.graph.arguments, *(name for name, *_ in self.graph.ops)]
        reads = [()] * len(self.graph.arguments) + [op[2] for op in self.graph.ops]
        options = [sorted(each, key=lambda one: one[0]) for each in self.choices()]
        whole = (None,) * len(self.mesh)
        rest = [sum(each[0][0] for each in options[index:]) for index in range(len(options) + 1)]
        best = math.inf

        def extend(index, layouts, gathered, spent):
            nonlocal best
            if spent + rest[index] >= best:
                return
            if index == len(names):
                for name in self.graph.results:
                    if (name, whole) not in gathered:
                        spent += self.reshard(name, layouts[name], whole)
                best = min(best, spent)
                return
            for seconds, wanted, made in options[index]:
                new = set(zip(reads[index], wanted)) - gathered
                extra = sum(self.reshard(name, layouts[name], layout) for name, layout in new)
                extend(index + 1, {**layouts, names[index]: made}, gathered | new, spent + seconds + extra)

        extend(0, {}, frozenset(), 0.0)
        return best


def slow_machine(slower, path):
    """A file of that machine: small graphs are worth sharding on it."""
    machine = json.loads((ROOT / "machines/h100_sxm.json").read_text())
    machine["compute"]["bf16_flops_per_s"] /= slower
    machine["memory"]["bandwidth_bytes_per_s"] /= slower
    path.write_text(json.dumps(machine))
    return path


# --- running ----------------------------------------------------------------------------


def on_three_axes(text, devices):
    """The grid of a runtime program, and a slice on each argument, as it is annotated."""
    text = text.replace(f"@grid(shape = {devices})", f"@grid(shape = 1x1x{devices})")
    text = re.sub(r"(split_axes = .*)", lambda found: found.group(1).replace("[0]", "[2]"), text)
    shardings = dict(re.findall(r"(%\w+) = shard.sharding @grid split_axes = (\[.*\]) ", text))
    for name, sharding in re.findall(r"shard.shard (%arg\d+) to (%\w+) :", text):
        axes = re.findall(r"\[([0-9]*)\]", shardings[sharding][1:-1])
        shape = re.search(rf"{name}: tensor<([0-9x]+)xf32>", text).group(1).split("x")
        dims = []
        for axis, size in zip(axes, map(int, shape)):
            block = size // devices
            runs = ", ".join(f"[array<i64: {i * block}, {block}, 1>]" for i in range(devices))
            dims.append(f'{{axis = "tp", runs = [{runs}]}}' if axis else "{}")
        said = f'shardopt.slice = {{dims = [{", ".join(dims)}], name = "{name[1:]}", shape = array<i64: {", ".join(shape)}>}}'
        text = re.sub(rf"({name}: tensor<[0-9x]+xf32>)(?: \{{shardopt.replicated\}})?", rf"\1 {{{said}}}", text, count=1)
    return text


def execute(args, graph, annotated, devices, folder, seed):
    three, stock = folder / "three.mlir", folder / "stock.mlir"
    three.write_text(on_three_axes(annotated.read_text(), devices))
    if any(kind in RESHAPES for _, kind, *_ in graph.ops):
        # Upstream's propagation has no rule for them, and says so.
        done = subprocess.run(
            [args.mlir_opt, three, f"--pass-pipeline={PARTITION}", "-o", stock], capture_output=True, text=True
        )
        assert done.returncode and "sharding interface is not implemented" in done.stderr, done.stderr
        return None
    tools.run(args.mlir_opt, three, f"--pass-pipeline={PARTITION}", "-o", stock)
    rng, inputs, outputs = np.random.default_rng(seed), folder / "in", folder / "out"
    inputs.mkdir(exist_ok=True)
    values = {}
    for index, name in enumerate(graph.arguments):
        values[name] = rng.standard_normal(graph.shapes[name]).astype(np.float32)
        np.save(inputs / f"arg{index}.npy", values[name])
    tools.run(args.shard_run, stock, f"--inputs={inputs}", f"--dump={outputs}", "--steps=1")
    wanted = graph.computed({name: value.astype(np.float64) for name, value in values.items()})
    error = 0.0
    for index, each in enumerate(wanted):
        found = np.load(outputs / f"result{index}.npy").reshape(each.shape)
        error = max(error, np.abs(found - each).max() / np.abs(each).max())
    for file in (*inputs.iterdir(), *outputs.iterdir()):
        file.unlink()
    return error


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    for tool in ("shard-opt", "shard-run", "mlir-opt"):
        parser.add_argument(f"--{tool}", required=True)
    parser.add_argument("--count", type=int, default=200)
    parser.add_argument("--executed", type=int, default=50)
    parser.add_argument("--seed", type=int, default=1)
    args = parser.parse_args()
    rng, worst, sharded, refused, executed = random.Random(args.seed), 0.0, 0, 0, 0
    with tempfile.TemporaryDirectory() as place:
        folder = pathlib.Path(place)
        for case in range(args.count):
            mesh = rng.choice(((2,), (4,), (2, 2)))
            graph = Graph(rng, rng.randint(2, 6 if len(mesh) == 1 else 3))
            slower = rng.choice((1, 1e3, 1e5, 1e6))
            machine = slow_machine(slower, folder / "machine.json")
            program, annotated = folder / "graph.mlir", folder / "annotated.mlir"
            program.write_text(graph.module())
            remarks = folder / "remarks.yaml"
            tools.run(
                args.shard_opt, program, f"--shard-auto-annotate=mesh={'x'.join(map(str, mesh))} machine={machine}",
                "-o", annotated,
                "--remarks-filter=.*", "--remark-format=yaml", f"--remarks-output-file={remarks}",
            )
            said = dict(re.findall(r"(\w+): +'?([0-9.e+-]+|true|false)'?$", remarks.read_text(), re.M))
            wanted = Costs(graph, mesh, slower).least() * 1e6
            found = float(said["microseconds"])
            if abs(found - wanted) > 1e-4 * len(graph.ops) + 1e-6 * wanted:
                sys.exit(f"case {case}: {found} us, enumerated {wanted} us\n{graph.module()}")
            sharded += "[0]" in annotated.read_text()
            if len(mesh) == 1 and executed < args.executed:
                error = execute(args, graph, annotated, mesh[0], folder, case)
                if error is None:
                    refused += 1
                    continue
                executed += 1
                worst = max(worst, error)
                if error > 1e-5:
                    sys.exit(f"case {case}: wrong by {error}\n{annotated.read_text()}")
    print(
        f"{args.count} graphs, {sharded} of them sharded; {executed} executed, largest error {worst:.1e}; "
        f"{refused} with reshapes, which upstream refuses"
    )


if __name__ == "__main__":
    main()
