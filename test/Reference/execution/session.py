"""Feeds tokens to a program and keeps its caches between steps."""

import numpy as np

from execution.interpreter import Interpreter
from execution.slices import MICRO, cut, degrees_of


def is_public(function):
    return function.get("sym_visibility", "public") == "public"


def list_layers(attribute):
    """The numbers of `#llm.layers<0-2, 60>`, of which a range is read as 0, -2."""
    numbers = []
    for value in attribute.values:
        numbers += [value] if value >= 0 else range(numbers[-1] + 1, 1 - value)
    return numbers


class Entry:
    """A function as its caller sees it: arguments and results with what they say."""

    def __init__(self, name, function):
        (block,) = function.regions[0]
        self.name = name
        given, made = function.get("arg_attrs"), function.get("res_attrs")
        self.arguments = [(a.get("llm.role"), a) for a in given or [{}] * len(block.arguments)]
        self.results = [(a.get("llm.role"), a) for a in made or []]
        self.types = [argument.type for argument in block.arguments]


class Session:
    """A program, on one device or on a grid, with its caches.

    weights: where its params come from, by assemble(name, source, layer, shape);
    prompts: how many sequences in all; length: positions that the caches hold.
    """

    def __init__(self, text, weights, prompts, length):
        self.weights, self.prompts = weights, prompts
        self.interpreter = Interpreter(text, self.parameter)
        self.devices = self.interpreter.all_devices
        (self.entry,) = (
            Entry(name, function)
            for name, function in self.interpreter.functions.items()
            if is_public(function)
        )
        self.caches = self.empty_caches(self.entry, self.devices, length)

    def place(self, device, micro=None):
        """(coordinate, size) of the degrees, each by its name.

        micro: (index, number) of a micro-batch, where rows are cut into them.
        """
        grid = self.interpreter.grid
        strategy = self.interpreter.module.get("shardopt.strategy") or {}
        here, sizes = degrees_of(grid.coordinates(device), grid.shape, strategy.get("axes"))
        if micro is not None:
            here[MICRO], sizes[MICRO] = micro
        return here, sizes

    def part(self, value, held, device, micro=None):
        return cut(value, held, *self.place(device, micro), self.prompts)

    def parameter(self, op, layer, device):
        """A param as a device holds it."""
        held, shape = op.get("shardopt.slice"), op.results[0].type.shape
        return self.weight(op["param"], op["source"], layer, held, shape, device)

    def weight(self, name, source, layer, held, shape, device):
        """The part of a weight that a device holds: all of it, of `shape`, without `held`."""
        if held:
            name, shape = held["name"], held["shape"]
        return self.part(self.weights.assemble(name, source, layer, tuple(shape)), held, device)

    def weight_argument(self, attributes, type_, device):
        """What `--llm-params-to-arguments` made an argument: a stack where it has layers."""
        name, source = attributes["llm.param"], attributes["llm.source"]
        held, layers = attributes.get("shardopt.slice"), attributes.get("llm.layers")
        if layers is None:
            return self.weight(name, source, None, held, type_.shape, device)
        shape = type_.shape[1:]
        numbers = list_layers(layers)
        return np.stack([self.weight(name, source, i, held, shape, device) for i in numbers])

    def empty_caches(self, entry, devices, length, micro=None):
        """Zeros by device, for each cache: [layers, sequences, positions, ...]."""
        caches = []
        for (role, attributes), type_ in zip(entry.arguments, entry.types, strict=True):
            if role != "cache":
                continue
            held = attributes.get("shardopt.slice")
            sizes = iter((self.prompts, length))
            shape = held["shape"] if held else type_.shape
            whole = np.zeros([next(sizes) if d in (None, -1) else d for d in shape])
            parts = [self.part(whole, held, device, micro) for device in devices]
            self.interpreter.check(f"cache {attributes}", type_, parts)
            caches.append(parts)
        return caches

    def call(self, entry, devices, tokens, positions, caches, micro=None):
        """Results of a function on some devices: [(role, slice, values by device)]."""
        caches = iter(caches)
        given = {"tokens": tokens, "positions": positions}
        arguments = []
        for (role, attributes), type_ in zip(entry.arguments, entry.types, strict=True):
            held = attributes.get("shardopt.slice")
            if role == "cache":
                arguments.append(next(caches))
            elif role == "param":
                values = [self.weight_argument(attributes, type_, device) for device in devices]
                self.interpreter.check(attributes["llm.param"], type_, values)
                arguments.append(values)
            else:
                arguments.append([self.part(given[role], held, d, micro) for d in devices])
        values = self.interpreter.run(entry.name, arguments, devices)
        return [
            (role, attributes.get("shardopt.slice"), value)
            for (role, attributes), value in zip(entry.results, values, strict=True)
        ]

    def step(self, tokens, positions):
        """Results of one call, [(role, slice, values by device)], caches kept.

        tokens, positions: those of all rows, prompt by prompt.
        """
        results = self.call(self.entry, self.devices, tokens, positions, self.caches)
        self.caches = [value for role, _, value in results if role == "cache"]
        return results

    def logits(self, tokens, positions):
        """Logits [prompts, vocabulary] of a step on one device."""
        results = self.step(tokens, positions)
        (ids,) = (values[0] for role, _, values in results if role == "token_ids")
        (_, (logits,)) = self.interpreter.trace["lm_head"][-1]
        np.testing.assert_array_equal(ids, logits.argmax(axis=-1))
        return logits


class StagedSession(Session):
    """A program cut into stages, each a function for one micro-batch.

    A step takes every micro-batch through all stages. There are as many as
    stages, or as sequences of an expert-parallel group if these are fewer.
    """

    def __init__(self, text, weights, prompts, length):
        self.weights, self.prompts = weights, prompts
        self.interpreter = Interpreter(text, self.parameter)
        functions = self.interpreter.functions
        stages = {f["shardopt.stage"]["index"]: name for name, f in functions.items()}
        self.stages = [Entry(stages[i], functions[stages[i]]) for i in range(len(stages))]
        _, sizes = self.place(0)
        assert len(self.stages) == sizes.get("pp", 1), "a stage for each coordinate"
        number = min(len(self.stages), -(-prompts // sizes.get("ep", 1)))
        self.micros = [(i, number) for i in range(number)]
        self.caches = {
            (i, micro): self.empty_caches(entry, self.devices_of(i), length, micro)
            for i, entry in enumerate(self.stages)
            for micro in self.micros
        }

    def devices_of(self, stage):
        devices = self.interpreter.all_devices
        return [d for d in devices if self.place(d)[0].get("pp", 0) == stage]

    def step(self, tokens, positions):
        """Results of all calls, [(role, slice, micro-batch, {device: value})], caches kept."""
        results = []
        for micro in self.micros:
            for i, entry in enumerate(self.stages):
                devices, caches = self.devices_of(i), self.caches[i, micro]
                made = self.call(entry, devices, tokens, positions, caches, micro)
                self.caches[i, micro] = [value for role, _, value in made if role == "cache"]
                results += [
                    (role, held, micro, dict(zip(devices, values))) for role, held, values in made
                ]
        left = sum(len(values) for values in self.interpreter.mail.values())
        assert left == 0, f"{left} values were sent and never received"
        return results
