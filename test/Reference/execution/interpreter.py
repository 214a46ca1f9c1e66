#!/usr/bin/python3
"""Executes modules of the `llm` dialect in NumPy, on one device or on many.

A program for a grid of devices runs in lockstep: every value is a list with an
entry a device, ordinary ops are computed device by device, and collectives on
whole lists. Without a grid there is one device. Everything is in f64, so that
what differs from another execution is never rounding here.
"""

import itertools
import math

import numpy as np

from execution import pieces  # noqa: F401 (registers its ops)
from execution import upstream  # noqa: F401 (registers its ops)
from execution.mlir_generic import parse
from execution.semantics import SEMANTICS, compute, enum, segments


class Grid:
    """Devices in row-major order over the axes of a grid."""

    def __init__(self, shape=()):
        self.shape = tuple(shape)
        self.devices = math.prod(self.shape)

    def coordinates(self, device):
        return tuple(int(c) for c in np.unravel_index(device, self.shape)) if self.shape else ()

    def groups(self, axes):
        """The groups of devices that differ along `axes` only, in that order."""
        others = [axis for axis in range(len(self.shape)) if axis not in axes]
        for fixed in itertools.product(*(range(self.shape[axis]) for axis in others)):
            members = []
            for moving in itertools.product(*(range(self.shape[axis]) for axis in axes)):
                place = dict(zip(others, fixed)) | dict(zip(axes, moving))
                index = [place[axis] for axis in range(len(self.shape))]
                members.append(int(np.ravel_multi_index(index, self.shape)))
            yield members


# ---------------------------------------------------------------------------
# Collectives: a list of values of a group's members -> a list of results
# ---------------------------------------------------------------------------


def all_reduce(op, values, kind=None):
    kind = kind or (enum(op["reduction"]) if "reduction" in op.attributes else "sum")
    total = {"sum": np.add, "max": np.maximum, "min": np.minimum}[kind].reduce(values)
    return [total] * len(values)


def all_gather(op, values):
    return [np.concatenate(values, axis=op["gather_axis"])] * len(values)


def all_slice(op, values):
    return [np.split(v, len(values), axis=op["slice_axis"])[i] for i, v in enumerate(values)]


def reduce_scatter(op, values):
    (total, *_) = all_reduce(op, values)
    return np.split(total, len(values), axis=op["scatter_axis"])


def all_to_all(op, values):
    n = len(values)
    parts = [np.split(value, n, axis=op["split_axis"]) for value in values]
    return [
        np.concatenate([parts[source][i] for source in range(n)], axis=op["concat_axis"])
        for i in range(n)
    ]


COLLECTIVES = {
    "shard.all_reduce": all_reduce,
    "shard.all_gather": all_gather,
    "shard.all_slice": all_slice,
    "shard.reduce_scatter": reduce_scatter,
    "shard.all_to_all": all_to_all,
}


def all_to_all_v(rows, send, recv):
    """Exchange of uneven numbers of rows in a group: lists with an entry a member."""
    n = len(rows)
    outgoing = [counts.reshape(n, -1).sum(axis=1) for counts in send]
    incoming = [counts.reshape(n, -1).sum(axis=1) for counts in recv]
    parts = []
    for own, counts in zip(rows, outgoing):
        assert counts.sum() == len(own), f"{counts.sum()} rows announced, {len(own)} held"
        parts.append(np.split(own, np.cumsum(counts)[:-1]))
    results = []
    for i in range(n):
        sent = [outgoing[source][i] for source in range(n)]
        assert list(incoming[i]) == sent, f"{list(incoming[i])} rows expected, {sent} sent"
        results.append(np.concatenate([parts[source][i] for source in range(n)]))
    return results


# ---------------------------------------------------------------------------
# The interpreter
# ---------------------------------------------------------------------------


class Interpreter:
    """Runs functions of a module given in generic assembly.

    parameters(op, layer, device) gives the value of an `llm.param`; layer is
    its number in the checkpoint, None outside a repeat.
    """

    def __init__(self, text, parameters):
        (self.module,) = parse(text)
        self.parameters = parameters
        self.functions = {op["sym_name"]: op for op in self.module.body if op.name == "func.func"}
        self.grids = {
            op["sym_name"]: Grid(op["shape"]) for op in self.module.body if op.name == "shard.grid"
        }
        (self.grid,) = self.grids.values() or (Grid(),)
        self.all_devices = self.devices = list(range(self.grid.devices))
        self.mail = {}  # (source, destination) -> values that were sent, oldest first

    def run(self, name, arguments, devices=None):
        """Results of a function; arguments and results are lists by device.

        devices: those that run it, all of them by default; they have to be whole
        groups of every collective. What they send others find when they run.
        """
        (block,) = self.functions[name].regions[0]
        self.devices = self.all_devices if devices is None else list(devices)
        self.position = {device: i for i, device in enumerate(self.devices)}
        self.layer, self.window = None, None
        self.values = {}  # of every SSA value that has been computed
        self.trace = {}  # name of a fused op -> its results, an entry an execution
        self.marked = []  # (shardopt.value, values) in the order of execution
        return self.block(block, arguments)

    def block(self, block, arguments):
        """Runs a block; the operands of its terminator."""
        self.values.update(zip(block.arguments, arguments, strict=True))
        for op in block.ops[:-1]:
            operands = [self.values[operand] for operand in op.operands]
            results = self.op(op, operands)
            self.values.update(zip(op.results, results))
            if "shardopt.value" in op.attributes:
                self.marked.append((op["shardopt.value"], results[0]))
        return [self.values[operand] for operand in block.ops[-1].operands]

    def op(self, op, operands):
        """Results of an op, each a list by device."""
        if op.name == "llm.param":
            return [[self.parameters(op, self.layer, device) for device in self.devices]]
        if op.name == "llm.repeat":
            return self.repeat(op, operands)
        if op.name == "shard.process_multi_index":
            axes = op["axes"] or range(len(self.grid.shape))
            places = [self.grid.coordinates(device) for device in self.devices]
            return [[place[axis] for place in places] for axis in axes]
        if op.name == "llm.all_to_all_v" or op.name in COLLECTIVES:
            return [self.collective(op, operands)]
        if op.name == "shard.send":
            return [self.send(op, *operands)]
        if op.name == "shard.recv":
            return [self.receive(op, *operands)]
        if op.name not in SEMANTICS:
            raise NotImplementedError(f"line {op.line}: {op.name}")
        return self.compute(op, operands)

    def compute(self, op, operands):
        by_device, yielded = [], None
        if op.name == "tensor.pad":
            (block,) = op.regions[0]
            (yielded,) = self.block(block, [None] * len(block.arguments))
        for i, device in enumerate(self.devices):
            try:
                context = {"window": self.window, "padding": yielded and yielded[i]}
                by_device.append(compute(op, [o[i] for o in operands], context))
            except Exception as error:
                error.add_note(f"in {op.name}, line {op.line}, device {device}")
                raise
        results = [list(values) for values in zip(*by_device)]
        for result, values in zip(op.results, results):
            self.check(f"line {op.line}: {op.name}", result.type, values)
        if "name" in op.attributes:
            self.trace.setdefault(op["name"], []).append(results)
        return results

    @staticmethod
    def check(what, type_, values):
        """Asserts that the values of all devices have the declared sizes."""
        wanted = type_.shape
        for value in values if wanted is not None else ():
            found = np.shape(value)
            fits = len(found) == len(wanted) and all(
                want is None or want == size for want, size in zip(wanted, found)
            )
            assert fits, f"{what} gave {found}, declared {type_.text}"

    def collective(self, op, operands):
        results = [None] * len(self.devices)
        for group in self.grid.groups(op["grid_axes"]):
            places = [self.position[device] for device in group if device in self.position]
            if not places:
                continue
            assert len(places) == len(group), f"line {op.line}: {op.name} of a part of a group"
            members = [[operand[place] for place in places] for operand in operands]
            if op.name == "llm.all_to_all_v":
                values = all_to_all_v(*members)
            else:
                values = COLLECTIVES[op.name](op, *members)
            for place, value in zip(places, values):
                results[place] = value
        self.check(f"line {op.line}: {op.name}", op.results[0].type, results)
        return results

    def partner(self, op, device, coordinates):
        """The device of `device`'s group over the axes of `op` that has these coordinates."""
        place = list(self.grid.coordinates(device))
        for axis, coordinate in zip(op["grid_axes"], coordinates, strict=True):
            place[axis] = coordinate
        return int(np.ravel_multi_index(place, self.grid.shape))

    def send(self, op, values):
        for device, value in zip(self.devices, values):
            other = self.partner(op, device, op["destination"])
            self.mail.setdefault((device, other), []).append(value)
        return values

    def receive(self, op, likes):
        values = []
        for device, like in zip(self.devices, likes):
            mail = self.mail.get((self.partner(op, device, op["source"]), device))
            assert mail, f"line {op.line}: nothing was sent to device {device}"
            values.append(mail.pop(0))
            found, wanted = values[-1].shape, like.shape
            assert found == wanted, f"line {op.line}: device {device} got {found}, not {wanted}"
        return values

    def repeat(self, op, operands):
        names = ["init", "stacked*", "invariants*"]
        groups = segments(names, op, operands)
        residual, stacked, invariants = groups["init"], groups["stacked"], groups["invariants"]
        (block,) = op.regions[0]
        caches = len(op.results) - 1
        layers = [[] for _ in range(caches)]
        outer = self.layer, self.window
        for i in range(op["count"]):
            self.layer = op["layers"][i] if "layers" in op.attributes else i
            self.window = (op["windows"][i] or None) if "windows" in op.attributes else None
            slices = [[values[i] for values in stack] for stack in stacked]
            residual, *new = self.block(block, [residual, *slices, *invariants])
            for collected, value in zip(layers, new, strict=True):
                collected.append(value)
        self.layer, self.window = outer
        stacks = [[np.stack(values) for values in zip(*collected)] for collected in layers]
        return [residual, *stacks]


# ---------------------------------------------------------------------------
# Parameters from a checkpoint
# ---------------------------------------------------------------------------


class Parameters:
    """Global values of `llm.param` from the tensors of a checkpoint."""

    def __init__(self, tensors):
        self.tensors = tensors
        self.cache = {}

    def assemble(self, name, source, layer, shape):
        """What `source` describes, as a global tensor of `shape`."""
        key = (name, layer)
        if key not in self.cache:
            per_expert = "{expert}" in source["parts"][0]["pattern"]
            axis = source.get("axis", 0) + (1 if per_expert else 0)
            parts = [self.part(part, axis, layer, shape) for part in source["parts"]]
            blocks = (np.split(part, source.get("groups", 1), axis=axis) for part in parts)
            value = np.concatenate([block for group in zip(*blocks) for block in group], axis=axis)
            assert value.shape == shape, f"{name}: {value.shape}, declared {shape}"
            self.cache[key] = value
        return self.cache[key]

    def part(self, part, axis, layer, shape):
        pattern = part["pattern"]
        if "scales" in part:
            raise NotImplementedError(f"{pattern} is quantized in the checkpoint")
        if layer is not None:
            pattern = pattern.replace("{layer}", str(layer))
        if "{expert}" in pattern:
            names = [pattern.replace("{expert}", str(expert)) for expert in range(shape[0])]
            value = np.stack([self.tensors[name] for name in names]).astype(float)
        else:
            value = self.tensors[pattern].astype(float)
            if len(shape) == 1:  # listed by heads
                value = value.reshape(-1)
        if value.ndim > len(shape):
            value = value.squeeze()
        if part.get("transposed"):
            value = value.swapaxes(-1, -2)
        if part.get("deinterleave"):
            value = np.concatenate([value[..., 0::2], value[..., 1::2]], axis=-1)
        if "size" in part:
            begin = part.get("offset", 0)
            value = value.take(range(begin, begin + part["size"]), axis=axis)
        return value * part.get("factor", 1.0) + part.get("shift", 0.0)
