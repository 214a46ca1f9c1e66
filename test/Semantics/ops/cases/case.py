"""What a case is: a function and what it is called with."""

import dataclasses

import numpy as np


@dataclasses.dataclass
class Case:
    """A function, by its arguments' types, its results' and its body.

    rows: the size that `?` stands for; arguments with others are given.
    """

    name: str
    arguments: str
    results: str
    body: str
    rows: int = 5
    given: dict = dataclasses.field(default_factory=dict)

    @property
    def types(self):
        """The type of each argument, by name."""
        pairs = (pair.split(":") for pair in split_types(self.arguments))
        return {name.strip()[1:]: type_.strip() for name, type_ in pairs}

    def text(self, function):
        """The case as a function of that name."""
        return f"func.func @{function}({self.arguments}) -> ({self.results}) {{\n{self.body}\n}}\n"

    def inputs(self):
        """The values of the arguments, in order."""
        rng = np.random.default_rng(7)
        return [self.input(rng, name, type_) for name, type_ in self.types.items()]

    def input(self, rng, name, type_):
        *shape, element = type_[len("tensor<") : -1].split("x")
        if name in self.given:
            return np.asarray(self.given[name], np.int32 if element == "i32" else np.float32)
        assert element in ("f32", "bf16"), f"{self.name}: give {name}"
        shape = [self.rows if d == "?" else int(d) for d in shape]
        return rng.normal(size=shape).astype(np.float32)


def split_types(text):
    """Splits at commas that are not inside of brackets."""
    parts, depth = [""], 0
    for letter in text:
        depth += (letter in "<([") - (letter in ">)]")
        if letter == "," and depth == 0:
            parts.append("")
        else:
            parts[-1] += letter
    return [part for part in parts if part.strip()]


# Ops that are written with a name.
NAMED = {
    "attention", "combine", "dispatch", "embedding", "ffn_down", "ffn_up", "gated_delta_net",
    "layer_norm", "linear",
    "lm_head", "mamba2", "mamba2_proj", "out_proj", "qkv_proj", "rms_norm", "router",
}  # fmt: skip


def op(name, mnemonic, operands, results, attributes="", *, form="", **options):
    """A case of a single op. operands: {"%name": type}; results: their types.

    form: how operands are written, if not one after the other. An index is a
    tensor of one integer to the caller.
    """
    arguments, lines = [], []
    for value, type_ in operands.items():
        if type_ != "index":
            arguments.append(f"{value}: {type_}")
            continue
        arguments.append(f"{value}t: tensor<1xi32>")
        lines += [
            f"  {value}z = arith.constant 0 : index",
            f"  {value}i = tensor.extract {value}t[{value}z] : tensor<1xi32>",
            f"  {value} = arith.index_cast {value}i : i32 to index",
        ]
    written = (form or ", ".join(["{}"] * len(operands))).format(*operands)
    kind = mnemonic.split()[0]
    called = f'{mnemonic} "{kind}"' if kind in NAMED else mnemonic
    types, outs = ", ".join(operands.values()), ", ".join(results)
    names = [f"%r{i}" for i in range(len(results))]
    lines += [
        f"  {', '.join(names)} = llm.{called} {written} {{{attributes}}} : ({types}) -> ({outs})",
        f"  return {', '.join(names)} : {outs}",
    ]
    return Case(name, ", ".join(arguments), outs, "\n".join(lines), **options)


def i32(*values):
    return np.array(values, np.int32)


def random(*shape, seed=1):
    return np.random.default_rng(seed).normal(size=shape)


X = "tensor<?x12xf32>"
