"""Feeds tokens to a program and keeps its caches between steps."""

import numpy as np

from execution.interpreter import Interpreter
from execution.slices import AXES, cut


class Session:
    """A program, on one device or on a grid, with its caches.

    weights: where its params come from, by assemble(name, source, layer, shape);
    prompts: how many sequences in all; length: positions that the caches hold.
    """

    def __init__(self, text, weights, prompts, length):
        self.weights, self.prompts = weights, prompts
        self.interpreter = Interpreter(text, self.parameter)
        self.devices = self.interpreter.devices
        (self.name,) = (
            name
            for name, op in self.interpreter.functions.items()
            if op.get("sym_visibility", "public") == "public"
        )
        function = self.interpreter.functions[self.name]
        (block,) = function.regions[0]
        self.arguments = [(a.get("llm.role"), a) for a in function["arg_attrs"]]
        self.results = [(a.get("llm.role"), a) for a in function["res_attrs"]]
        self.caches = [
            self.empty_cache(argument.type, attributes, length)
            for (role, attributes), argument in zip(self.arguments, block.arguments, strict=True)
            if role == "cache"
        ]

    def place(self, device):
        """(coordinate, size) of the grid's axes, each by the axis' name."""
        grid = self.interpreter.grid
        here, sizes = grid.coordinates(device), grid.shape
        return dict(zip(AXES, here)), dict(zip(AXES, sizes))

    def part(self, value, held, device):
        return cut(value, held, *self.place(device), self.prompts)

    def parameter(self, op, layer, device):
        """A param as a device holds it."""
        held = op.get("shardopt.slice")
        shape = tuple(held["shape"]) if held else op.results[0].type.shape
        name = held["name"] if held else op["param"]
        return self.part(self.weights.assemble(name, op["source"], layer, shape), held, device)

    def empty_cache(self, type_, attributes, length):
        """Zeros by device: [layers, sequences, positions, ...]."""
        held = attributes.get("shardopt.slice")
        sizes = iter((self.prompts, length))
        shape = held["shape"] if held else type_.shape
        whole = np.zeros([next(sizes) if d in (None, -1) else d for d in shape])
        caches = [self.part(whole, held, device) for device in self.devices]
        self.interpreter.check(f"cache {attributes}", type_, caches)
        return caches

    def step(self, tokens, positions):
        """Results of one call, [(role, slice, values by device)], caches kept.

        tokens, positions: those of all rows, prompt by prompt.
        """
        caches = iter(self.caches)
        given = {"tokens": tokens, "positions": positions}
        arguments = []
        for role, attributes in self.arguments:
            if role == "cache":
                arguments.append(next(caches))
                continue
            held = attributes.get("shardopt.slice")
            arguments.append([self.part(given[role], held, device) for device in self.devices])
        values = self.interpreter.run(self.name, arguments)
        results = [
            (role, attributes.get("shardopt.slice"), value)
            for (role, attributes), value in zip(self.results, values, strict=True)
        ]
        self.caches = [value for role, _, value in results if role == "cache"]
        return results

    def logits(self, tokens, positions):
        """Logits [prompts, vocabulary] of a step on one device."""
        results = self.step(tokens, positions)
        (ids,) = (values[0] for role, _, values in results if role == "token_ids")
        (_, (logits,)) = self.interpreter.trace["lm_head"][-1]
        np.testing.assert_array_equal(ids, logits.argmax(axis=-1))
        return logits
