"""Feeds tokens to an imported program and keeps its caches between steps."""

import numpy as np

from interpreter import Interpreter, Parameters


class Session:
    """A program on one device, with its caches.

    prompts: how many sequences; length: positions that the caches hold.
    """

    def __init__(self, text, tensors, prompts, length):
        self.interpreter = Interpreter(text, Parameters(tensors))
        (self.name,) = (
            name
            for name, op in self.interpreter.functions.items()
            if op.get("sym_visibility", "public") == "public"
        )
        function = self.interpreter.functions[self.name]
        (block,) = function.regions[0]
        self.roles = [attributes.get("llm.role") for attributes in function["arg_attrs"]]
        self.result_roles = [attributes.get("llm.role") for attributes in function["res_attrs"]]
        self.caches = []
        for role, argument in zip(self.roles, block.arguments, strict=True):
            if role == "cache":
                sizes = iter((prompts, length))
                shape = [next(sizes) if d is None else d for d in argument.type.shape]
                self.caches.append([np.zeros(shape)])

    def step(self, tokens, positions):
        """Logits of one call; tokens and positions are [rows]."""
        caches = iter(self.caches)
        given = {"tokens": [tokens], "positions": [positions]}
        arguments = [next(caches) if role == "cache" else given[role] for role in self.roles]
        results = self.interpreter.run(self.name, arguments)
        by_role = list(zip(self.result_roles, results, strict=True))
        self.caches = [value for role, value in by_role if role == "cache"]
        (ids,) = (value[0] for role, value in by_role if role == "token_ids")
        (_, (logits,)) = self.interpreter.trace["lm_head"][-1]
        np.testing.assert_array_equal(ids, logits.argmax(axis=-1))
        return logits
